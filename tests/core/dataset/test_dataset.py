"""What every dataset can do: views, selections, many threads."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from robgui.core.dataset import Dataset, from_arrays, open_dataset
from robgui.core.dataset.source import Skips
from robgui.core.errors import DataError

NAMES = ("T-shirt/top", "black and white", "shirt", "none")
TEN = from_arrays(
    np.arange(20, dtype=np.float32).reshape(10, 2),
    [0, 1, 2, 3, 0, 1, 2, 3, -1, 2],
    NAMES,
    name="ten",
)


@given(st.lists(st.integers(0, 9), max_size=12), st.data())
def test_a_subset_of_a_subset_is_the_composed_subset(first: list[int], data: st.DataObject):
    second = data.draw(st.lists(st.integers(0, len(first) - 1), max_size=12)) if first else []
    nested, direct = TEN.subset(first).subset(second), TEN.subset([first[i] for i in second])
    np.testing.assert_array_equal(nested.array(), direct.array())
    assert nested.labels is not None and direct.labels is not None
    assert (
        nested.labels.tolist() == direct.labels.tolist()
        and nested.fingerprint == direct.fingerprint
    )
    assert (
        nested.keys()
        == [nested.key(i) for i in range(len(nested))]
        == [f"row {first[i]}" for i in second]
    )


def test_the_fingerprint_of_a_subset_covers_its_indices():
    prints = {TEN.subset(indices).fingerprint for indices in ([0, 1], [1, 0], [0], [])}
    assert len(prints) == 4 and TEN.fingerprint not in prints
    assert TEN.subset(range(10)).fingerprint == TEN.fingerprint


@pytest.mark.parametrize("indices", [[10], [-1], [0, 99]])
def test_an_index_outside_is_named(indices: list[int]):
    for call in (
        TEN.array,
        TEN.subset,
        TEN.readable,
        lambda chosen: TEN.thumbnail(chosen[-1], 8),
        lambda chosen: TEN.key(chosen[-1]),
    ):
        with pytest.raises(DataError, match=f"no item {indices[-1]}; the dataset has 10 items"):
            call(indices)


def test_no_indices_give_an_empty_array():
    assert TEN.array([]).shape == (0, 2) and TEN.readable([])[1].shape == (0, 2)


def test_more_than_fits_into_memory_is_refused():
    many = from_arrays(np.zeros((100_000, 8, 8), np.uint8))
    with pytest.raises(DataError, match=r"60\.2 GB at once"):
        many.array(None, (3, 224, 224))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", list(range(10))),
        ("label=shirt", [2, 6, 9]),
        ("label = SHIRT", [2, 6, 9]),
        ("label~shirt", [0, 2, 4, 6, 9]),
        ("label!=2", [0, 1, 3, 4, 5, 7, 8]),
        ("label=none", [3, 7]),
        ("label=-1", [8]),
        ("label>=2", [2, 3, 6, 7, 9]),
        ('label="black and white"', [1, 5]),
        ("label=T-shirt/top and index<1", [0]),
        ("index<3", [0, 1, 2]),
        ("index>=8 AND index != 9", [8]),
        ("name~row", list(range(10))),
        ("name='row 7'", [7]),
        ("name!=row 7 and index>6", [8, 9]),
        ("label=1 and name~5", [5]),
    ],
)
def test_a_selection_finds_its_items(text: str, expected: list[int]):
    assert TEN.select(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "label",
        "label=",
        "colour=red",
        "index~3",
        "index<many",
        "name<3",
        "label<shirt",
        "label=trousers",
        "label=shirt and",
        "and",
        "=3",
    ],
)
def test_a_wrong_selection_is_explained_in_one_sentence(text: str):
    with pytest.raises(DataError) as error:
        TEN.select(text)
    assert (
        str(error.value).startswith("the selection")
        and "\n" not in str(error.value)
        and str(error.value).endswith(".")
    )


@given(st.text(alphabet="labeindxm =!<>~\"'039 \n", max_size=40))
def test_no_selection_raises_anything_else(text: str):
    with suppress(DataError):
        assert all(0 <= index < 10 for index in TEN.select(text))


def test_a_selection_by_label_needs_labels():
    with pytest.raises(DataError, match="has no labels"):
        from_arrays(np.zeros((2, 2))).select("label=1")


def test_relabelling_follows_the_names():
    other = TEN.relabelled(["None", "SHIRT", "black_and_white"])
    assert other.labels is not None and other.labels.tolist() == [-1, 2, 1, 0, -1, 2, 1, 0, -1, 1]
    assert other.names == ("None", "SHIRT", "black_and_white") and len(other.subset([1, 2])) == 2


def folder(path: Path, count: int) -> Dataset:
    for number in range(count):
        Image.new("RGB", (20, 10), (number, number, number)).save(path / f"{number}.png")
    (path / "7.png").write_bytes(b"broken")
    return open_dataset(path)


def test_many_threads_read_one_dataset(tmp_path: Path):
    files = folder(tmp_path, 40)
    np.save(
        tmp_path / "a.npy", np.arange(40, dtype=np.uint8)[:, None, None].repeat(8, 1).repeat(8, 2)
    )
    for dataset in (files, open_dataset(tmp_path / "a.npy", high=255, low=0)):

        def look(index: int, dataset: Dataset = dataset) -> tuple[int, int]:
            kept, items = dataset.readable([index], (1, 4, 4))
            return int(dataset.thumbnail(index, 16)[0, 0, 0]), (
                round(float(items[0, 0, 0, 0]) * 255) if kept else -1
            )

        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(look, list(range(40)) * 5))
        for place, (thumbnail, value) in enumerate(found):
            if dataset is not files or place % 40 != 7:
                assert thumbnail == value == place % 40
    assert [skipped.path for skipped in files.skipped] == ["7.png"]


def test_what_is_left_out_beyond_the_list_counts_once_however_often_it_is_read():
    skips = Skips()
    for _ in range(3):
        for number in range(Skips.LISTED + 500):
            skips.add(f"{number}.png", "it is damaged")
    *listed, rest = skips.all()
    assert len(listed) == Skips.LISTED and rest.reason == "and 500 more"
    assert skips.words("pets").startswith("1,500 files or rows of pets, the first: 0.png: ")


def test_more_than_can_be_counted_are_said_to_be_more(monkeypatch):
    monkeypatch.setattr(Skips, "COUNTED", 5)
    skips = Skips()
    for number in range(Skips.LISTED + 5):
        skips.add(f"{number}.png", "it is damaged")
    skips.add("1003.png", "it is damaged")
    assert skips.all()[-1].reason == "and 5 more"
    skips.add("last.png", "it is damaged")
    assert skips.all()[-1].reason == "and more than 5 more"
    assert skips.words("pets").startswith("more than 1,005 files or rows of pets")


def test_datasets_need_neither_torch_nor_qt():
    code = (
        "import sys, robgui.core.dataset; print('torch' in sys.modules, any('PySide' in name for"
        " name in sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    assert answer.stdout.split() == ["False", "False"]


def test_a_mask_chooses_items_as_numpy_does():
    dataset = from_arrays(np.zeros((4, 8, 8), np.uint8), [0, 1, 0, 1])
    assert dataset.labels is not None
    assert dataset.subset(dataset.labels == 1).keys() == ["image 1", "image 3"]
    assert len(dataset.array(dataset.labels == 0)) == 2
    with pytest.raises(DataError, match="one for each of 4 items"):
        dataset.subset([True, False])
