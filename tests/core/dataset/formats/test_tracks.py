"""Trajectories in JSON and CSV."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robgui.core.dataset import open_dataset
from robgui.core.errors import DataError

RECORDS = [
    {
        "icao24": "b",
        "timestamp": 2000,
        "latitude": 2.0,
        "longitude": 20.0,
        "callsign": "X",
        "track": 10.5,
        "squawk": None,
    },
    {
        "icao24": "a",
        "timestamp": 1000,
        "latitude": 5.0,
        "longitude": 50.0,
        "callsign": "Y",
        "track": 20.5,
        "squawk": None,
    },
    {
        "icao24": "b",
        "timestamp": 1000,
        "latitude": 1.0,
        "longitude": 10.0,
        "callsign": "X",
        "track": 30.5,
        "squawk": None,
    },
    {
        "icao24": "b",
        "timestamp": 3000,
        "latitude": None,
        "longitude": 30.0,
        "callsign": "X",
        "track": 40.5,
        "squawk": None,
    },
]


def document(path: Path, value: Any) -> Path:
    data = json.dumps(value).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("key", ["points", "track", "positions"])
def test_tracks_with_points_and_labels(tmp_path: Path, key: str):
    tracks = [
        {key: [[0, 1], [2, 3], [4, 5]], "label": "plane", "id": "first"},
        {key: [[6, 7]], "label": "boat"},
    ]
    dataset = open_dataset(document(tmp_path / "a.json", tracks))
    assert dataset.kind == "sequence" and dataset.shape is None and len(dataset) == 2
    assert (
        dataset.names == ("boat", "plane")
        and dataset.labels is not None
        and dataset.labels.tolist() == [1, 0]
    )
    assert dataset.lengths([0, 1]).tolist() == [3, 1] and [dataset.key(0), dataset.key(1)] == [
        "first",
        "track 1",
    ]
    assert dataset.array(None, (2, 2)).tolist() == [[[0, 1], [2, 3]], [[6, 7], [6, 7]]]
    assert dataset.array([0], (5, 2))[0].tolist() == [[0, 1], [2, 3], [4, 5], [4, 5], [4, 5]]


def test_points_with_names_give_the_columns(tmp_path: Path):
    dataset = open_dataset(
        document(
            tmp_path / "a.json",
            {
                "tracks": [
                    {"points": [{"x": 1, "y": 2, "who": "me"}, {"x": 3, "y": 4, "who": "me"}]}
                ]
            },
        )
    )
    assert dataset.features == ("x", "y") and dataset.shape == (2, 2) and dataset.labels is None


def test_lists_of_points_without_anything_else(tmp_path: Path):
    assert open_dataset(
        document(tmp_path / "a.json", [[[1, 2], [3, 4]], [[5, 6]]])
    ).lengths().tolist() == [2, 1]


def test_records_are_grouped_by_their_id_and_ordered_by_their_time(tmp_path: Path):
    dataset = open_dataset(document(tmp_path / "a.json.gz", RECORDS))
    assert [dataset.key(0), dataset.key(1)] == ["b", "a"] and dataset.features == (
        "latitude",
        "longitude",
        "track",
    )
    assert dataset.array([0], (2, 3))[0].tolist() == [[1, 10, 30.5], [2, 20, 10.5]]
    assert any("1 of 4 points" in note for note in dataset.notes)


def test_labels_come_from_a_file_by_id(tmp_path: Path):
    (tmp_path / "types.csv").write_text(
        "icao24,old_type,type\na,,A320\nb,B1,B738\nc,C,C\n", encoding="utf-8"
    )
    path = document(tmp_path / "a.json", RECORDS)
    dataset = open_dataset(path, labels=str(tmp_path / "types.csv"))
    assert (
        dataset.names == ("A320", "B738")
        and dataset.labels is not None
        and dataset.labels.tolist() == [1, 0]
    )
    other = open_dataset(path, labels=str(tmp_path / "types.csv"), label="old_type")
    assert other.names == ("B1",) and other.labels is not None and other.labels.tolist() == [0, -1]
    assert open_dataset(path, **other.options).fingerprint == other.fingerprint


@pytest.mark.parametrize("column", ["track_id", "icao24", "flight", "id"])
def test_a_csv_with_a_repeated_id_is_trajectories(tmp_path: Path, column: str):
    (tmp_path / "a.csv").write_text(
        f"{column},x,y,label\n7,0,1,u\n7,2,3,u\n9,4,5,v\n9,6,7,v\n", encoding="utf-8"
    )
    dataset = open_dataset(tmp_path / "a.csv")
    assert dataset.kind == "sequence" and dataset.shape == (2, 2) and dataset.features == ("x", "y")
    assert dataset.names == ("u", "v") and dataset.key(1) == "9"
    assert open_dataset(tmp_path / "a.csv", kind="table").kind == "table"


def test_the_id_column_can_be_named(tmp_path: Path):
    (tmp_path / "a.csv").write_text("who,x\na,1\nb,2\na,3\n", encoding="utf-8")
    assert open_dataset(tmp_path / "a.csv", id="who").lengths().tolist() == [2, 1]
    with pytest.raises(DataError, match="no column tells which track"):
        open_dataset(tmp_path / "a.csv", kind="sequence")


def test_records_without_an_id_are_a_table(tmp_path: Path):
    dataset = open_dataset(
        document(
            tmp_path / "a.json", [{"a": 1, "b": 2.5, "class": "x"}, {"a": 3, "b": 4, "class": "y"}]
        )
    )
    assert (
        dataset.kind == "table" and dataset.features == ("a", "b") and dataset.names == ("x", "y")
    )


def test_a_bad_track_is_left_out_and_listed(tmp_path: Path):
    tracks = [
        {"points": [[0, 1]]},
        {"points": [[0]]},
        {"points": "x"},
        {"points": [[0, None]]},
        {"points": []},
        3,
        {"points": [[1, 1e300]]},
    ]
    dataset = open_dataset(document(tmp_path / "a.json", tracks))
    assert len(dataset) == 1 and len(dataset.skipped) == 6


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        3,
        "x",
        [1, 2],
        [{}],
        [{"points": "x"}],
        {"tracks": []},
        [{"id": "a", "x": None}] * 2,
        [[]],
        [None],
    ],
)
def test_documents_without_tracks_are_refused_in_one_sentence(tmp_path: Path, value: Any):
    with pytest.raises(DataError) as error:
        open_dataset(document(tmp_path / "a.json", value))
    assert "a.json" in str(error.value) and "\n" not in str(error.value)


def test_a_json_bomb_is_refused(tmp_path: Path):
    with gzip.open(tmp_path / "a.json.gz", "wb", compresslevel=1) as file:
        for _ in range(130):
            file.write(b"[],[" * 2**18)
    with pytest.raises(DataError, match="more than 134 MB of text"):
        open_dataset(tmp_path / "a.json.gz")
    (tmp_path / "b.json").write_text("[" * 200_000, encoding="utf-8")
    with pytest.raises(DataError, match="not a JSON document"):
        open_dataset(tmp_path / "b.json")


def test_a_thumbnail_draws_the_way(tmp_path: Path):
    for names in (("longitude", "latitude"), ("a", "b")):
        points = [{names[0]: i, names[1]: i * i} for i in range(10)]
        picture = open_dataset(
            document(tmp_path / "a.json", [{"points": points}, {"points": points[:1]}])
        ).thumbnail(0, 64)
        assert picture.shape == (64, 64, 3) and 0 < (picture < 250).any(2).mean() < 0.3


def test_columns_that_do_not_fit_are_refused(tmp_path: Path):
    dataset = open_dataset(document(tmp_path / "a.json", [[[1, 2]]]))
    with pytest.raises(DataError, match="2 columns"):
        dataset.array(None, (4, 3))
    with pytest.raises(DataError, match="columns are named"):
        open_dataset(tmp_path / "a.json", features="x,y,z")
    assert np.array_equal(dataset.with_columns(["column 2"]).array(None, (1, 1)), [[[2]]])
