"""CSV tables."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from robgui.core.dataset import open_dataset
from robgui.core.errors import DataError


def table(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def test_a_table_gives_numbers_features_labels_and_names(tmp_path: Path):
    dataset = open_dataset(
        table(
            tmp_path / "a.csv", "width,height,species\n1,2.5,setosa\n3,-4e1,virginica\n5,6,setosa\n"
        )
    )
    assert (
        dataset.kind == "table"
        and dataset.shape == (2,)
        and dataset.features == ("width", "height")
    )
    np.testing.assert_array_equal(dataset.array(), np.float32([[1, 2.5], [3, -40], [5, 6]]))
    assert (
        dataset.labels is not None
        and dataset.labels.tolist() == [0, 1, 0]
        and dataset.names == ("setosa", "virginica")
    )
    assert dataset.key(0) == "row 2" and dataset.key(2) == "row 4"
    low, high = dataset.bounds()
    assert low.tolist() == [1, -40] and high.tolist() == [5, 6]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_delimiters_line_ends_and_encodings_are_found_out(
    tmp_path: Path, delimiter: str, end: str, encoding: str
):
    rows = [["größe", "b", "class"], ["1", "2", "süß"], ["3", "4", "bitter"]]
    dataset = open_dataset(
        table(tmp_path / "a.csv", end.join(delimiter.join(row) for row in rows) + end, encoding)
    )
    assert dataset.features == ("größe", "b") and dataset.names == ("bitter", "süß")
    assert dataset.array().tolist() == [[1, 2], [3, 4]]


def test_decimal_commas_are_understood_beside_semicolons(tmp_path: Path):
    assert open_dataset(table(tmp_path / "a.csv", "a;b\n1,5;2\n2;3,25\n")).array().tolist() == [
        [1.5, 2],
        [2, 3.25],
    ]


def test_a_compressed_table_opens(tmp_path: Path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert open_dataset(tmp_path / "a.csv.gz").array().tolist() == [[1, 2]]


@pytest.mark.parametrize("name", ["label", "Class", "TARGET", "y", "species"])
def test_a_named_label_column_is_found_wherever_it_stands(tmp_path: Path, name: str):
    dataset = open_dataset(table(tmp_path / "a.csv", f"a,{name},b\n1,0,5\n2,1,6\n"))
    assert (
        dataset.features == ("a", "b")
        and dataset.labels is not None
        and dataset.labels.tolist() == [0, 1]
    )


def test_the_last_column_of_words_is_the_label_and_the_others_are_left_out(tmp_path: Path):
    dataset = open_dataset(
        table(tmp_path / "a.csv", "town,a,sort,b\nParis,1,good,2\nRome,3,bad,4\n")
    )
    assert dataset.names == ("bad", "good") and dataset.features == ("a", "b")
    assert any("town" in note for note in dataset.notes)


def test_a_last_column_that_counts_classes_is_the_label(tmp_path: Path):
    dataset = open_dataset(
        table(tmp_path / "a.csv", "a,b,c\n" + "".join(f"{i},{i * i},{i % 2}\n" for i in range(10)))
    )
    assert (
        dataset.features == ("a", "b")
        and dataset.labels is not None
        and dataset.labels.tolist() == [0, 1] * 5
    )
    assert any("taken for the label" in note for note in dataset.notes)


def test_classes_counted_from_one_are_numbered_from_zero(tmp_path: Path):
    dataset = open_dataset(table(tmp_path / "a.csv", "a,class\n5,1\n6,3\n7,2\n"))
    assert (
        dataset.names == ("1", "2", "3")
        and dataset.labels is not None
        and dataset.labels.tolist() == [0, 2, 1]
    )


@pytest.mark.parametrize(
    ("cells", "names", "expected"),
    [
        ("123", "abc", [0, 1, 2]),
        ("123", "zabc", [1, 2, 3]),
        ("012", "abc", [0, 1, 2]),
        ("cab", "abc", [2, 0, 1]),
    ],
)
def test_given_class_names_are_those_of_the_labels(
    tmp_path: Path, cells: str, names: str, expected: list[int]
):
    path = table(tmp_path / "a.csv", "a,class\n" + "".join(f"5,{cell}\n" for cell in cells))
    dataset = open_dataset(path, names=list(names))
    assert (
        dataset.names == tuple(names)
        and dataset.labels is not None
        and dataset.labels.tolist() == expected
    )


def test_a_label_that_is_not_among_the_names_is_refused(tmp_path: Path):
    with pytest.raises(DataError, match="'dog' is not among the class names"):
        open_dataset(table(tmp_path / "a.csv", "a,class\n1,cat\n2,dog\n"), names=["cat", "cow"])


def test_more_rows_than_are_read_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("robgui.core.dataset.formats.delimited.rows.LARGEST_ROWS", 10)
    with pytest.raises(DataError, match="more than 10 rows"):
        open_dataset(table(tmp_path / "a.csv", "a,b\n" + "1,2\n" * 11))


def test_label_and_features_can_be_chosen(tmp_path: Path):
    path = table(tmp_path / "a.csv", "a,b,c,class\n1,2,0,x\n3,4,1,y\n")
    dataset = open_dataset(path, label="c", features="b,a")
    assert dataset.features == ("b", "a") and dataset.array().tolist() == [[2, 1], [4, 3]]
    assert dataset.labels is not None and dataset.labels.tolist() == [0, 1]
    for options in ({"label": "nope"}, {"features": ["nope"]}):
        with pytest.raises(DataError, match="no column"):
            open_dataset(path, **options)


def test_rows_with_missing_values_are_left_out_and_said(tmp_path: Path):
    dataset = open_dataset(
        table(
            tmp_path / "a.csv",
            "a,b,class\n1,2,x\n?,3,y\n4,NA,x\n5,6,\n7,oops,x\n8,9\n" + "1,1,x\n" * 20,
        )
    )
    assert dataset.array([0, 1]).tolist() == [[1, 2], [5, 6]]
    assert dataset.labels is not None and dataset.labels[:2].tolist() == [0, -1]
    assert {skipped.path: skipped.reason for skipped in dataset.skipped} == {
        "row 3": "a is missing",
        "row 4": "b is missing",
        "row 6": "'oops' is not a number",
        "row 7": "it has 2 cells, the header has 3",
    }
    assert any("2 of 24 rows" in note for note in dataset.notes)


def test_a_column_that_only_counts_rows_is_no_input(tmp_path: Path):
    dataset = open_dataset(table(tmp_path / "a.csv", "Id,a,class\n1,5,x\n2,6,y\n3,9,x\n"))
    assert dataset.features == ("a",) and any("counts the rows" in note for note in dataset.notes)


def test_a_table_without_header_numbers_its_columns(tmp_path: Path):
    dataset = open_dataset(table(tmp_path / "a.csv", "1.5,2\n3,4\n"))
    assert (
        dataset.features == ("column 1", "column 2")
        and len(dataset) == 2
        and "no header" in dataset.notes[0]
    )


def test_the_list_of_bad_rows_is_bounded(tmp_path: Path):
    dataset = open_dataset(table(tmp_path / "a.csv", "a,b\n" + "1,2\n" * 5 + "1\n" * 5000))
    assert len(dataset.skipped) == 1001 and "4,000 more" in dataset.skipped[-1].reason


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "a,b\n", "a,b\nx,y\n", "\0\0\0\0", "a,b\n,\n,\n", '"' + "x" * 200_000 + '"\n1\n'],
)
def test_files_that_are_no_tables_are_refused_in_one_sentence(tmp_path: Path, text: str):
    with pytest.raises(DataError) as error:
        open_dataset(table(tmp_path / "a.csv", text))
    assert "\n" not in str(error.value) and "a.csv" in str(error.value)


def test_an_endless_line_and_an_endless_text_are_refused(tmp_path: Path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"," * (5 * 2**20), 1))
    with pytest.raises(DataError, match="line is longer"):
        open_dataset(tmp_path / "a.csv.gz")
    with gzip.open(tmp_path / "b.csv.gz", "wb", compresslevel=1) as file:
        for _ in range(130):
            file.write(b"1,2\n" * 2**18)
    assert (tmp_path / "b.csv.gz").stat().st_size < 3e6
    with pytest.raises(DataError, match="more than 134 MB of text"):
        open_dataset(tmp_path / "b.csv.gz")


def test_a_thumbnail_shows_one_bar_per_column(tmp_path: Path):
    dataset = open_dataset(table(tmp_path / "a.csv", "a,b,class\n0,10,x\n10,0,y\n"))
    picture = dataset.thumbnail(0, 32)
    blue = (picture == (0, 114, 178)).all(2)
    assert picture.shape == (32, 32, 3) and blue[:, 0].sum() == 1 and blue[:, 20].all()


def test_a_table_without_a_header_keeps_its_first_row_also_when_the_class_is_a_word(tmp_path: Path):
    dataset = open_dataset(table(tmp_path / "a.csv", "1.5,2,yes\n3,4,no\n5,6,yes\n7,8,no\n"))
    assert dataset.array()[0].tolist() == [1.5, 2] and len(dataset) == 4
    assert dataset.names == ("no", "yes") and any("no header" in note for note in dataset.notes)


@pytest.mark.parametrize(
    "header", ["width,height,species", "0,1,species", "2020,2021,yes or no", "width,1,no"]
)
def test_a_header_stays_a_header(tmp_path: Path, header: str):
    dataset = open_dataset(table(tmp_path / "a.csv", f"{header}\n1,2,no\n3,4,yes\n"))
    assert dataset.features == tuple(header.split(",")[:2]) and len(dataset) == 2
