"""Converts labels in files (words, numbers, one-hot rows) to class numbers and names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from robgui.core.dataset.formats.delimited.rows import read_rows
from robgui.core.dataset.limits import Member, read_json
from robgui.core.errors import DataError

#: A dataset with more classes than this uses the wrong column as its label.
LARGEST_CLASSES = 100_000
LABEL_COLUMNS = (
    "label",
    "labels",
    "class",
    "classid",
    "class_id",
    "target",
    "category",
    "species",
    "variety",
    "outcome",
    "diagnosis",
    "y",
    "type",
)
_FILE_COLUMNS = ("file", "filename", "file_name", "image", "image_name", "path", "id")
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "?"})
_DIGITS = re.compile(r"[0-9]+")


def natural(text: str) -> str:
    """Sorting key that puts "img2" before "img10": pads every number to the same width."""
    # Twenty digits exceed any number in a file name; the text itself breaks ties.
    return f"{_DIGITS.sub(_padded, text)}\0{text}"


def _padded(digits: re.Match[str]) -> str:
    return digits[0].zfill(20)


def label_numbers(
    values: Sequence[object], names: Sequence[str] = ()
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Class numbers ``(n,)`` (-1 for a missing label) and class names.

    Whole numbers are class numbers, except that 1 … k without 0 are counted from 1 unless ``names``
    has more than k; words are numbered by their place in ``names``, or else in natural order.
    """
    words = [_word(value) for value in values]
    known = {word for word in words if word}
    # All numbers, and none of them is itself a class name.
    if all(re.fullmatch(r"[0-9]{1,9}", word) for word in known) and not known & set(names):
        return _whole_numbers(words, {int(word) for word in known}, tuple(names))
    if names and not known <= set(names):
        raise DataError(
            f"the label {min(known - set(names))[:80]!r} is not among the class names; the names"
            f" are: {', '.join(names[:50])}."
        )
    order = tuple(names) or tuple(sorted(known, key=natural))
    if len(order) > LARGEST_CLASSES:
        raise DataError(
            f"the label has {len(order):,} different values; choose the column that holds the"
            " label.",
            option="label=COLUMN",
        )
    place = {word: number for number, word in enumerate(order)}
    return (
        np.array([place[word] if word else -1 for word in words], dtype=np.int64).reshape(-1),
        order,
    )


def _whole_numbers(
    words: Sequence[str], present: set[int], names: tuple[str, ...]
) -> tuple[np.ndarray, tuple[str, ...]]:
    count = len(present)
    if present and max(present) >= LARGEST_CLASSES:
        raise DataError(
            f"the label {max(present)} is larger than any class number; choose the column that"
            " holds the label.",
            option="label=COLUMN",
        )
    # 1 … k without a 0 counts from 1, unless more names say that 0 is merely absent.
    if present and present == set(range(1, count + 1)) and len(names) <= count:
        first = 1
    else:
        first = 0
    numbers = np.array(
        [int(word) - first if word else -1 for word in words], dtype=np.int64
    ).reshape(-1)
    return numbers, names or (tuple(str(number) for number in range(1, count + 1)) if first else ())


def label_rows(values: np.ndarray) -> np.ndarray | None:
    """The label matrix ``(n, classes)`` bool of 0/1 rows that are not all one-hot.

    None for any other array.
    """
    if (
        values.ndim != 2
        or values.shape[1] < 2
        or values.dtype.kind not in "biuf"
        or not np.isin(values, (0, 1)).all()
    ):
        return None
    # All one-hot is an ordinary label, not several.
    if (values.sum(1) == 1).all():
        return None
    return values.astype(bool)


def label_array(
    values: np.ndarray, names: Sequence[str], where: str
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Labels from an array: numbers ``(n,)`` or ``(n, 1)``, one-hot ``(n, classes)``, or words."""
    if values.ndim == 2 and values.shape[1] > 1 and values.dtype.kind in "biuf":
        if not (np.isin(values, (0, 1)).all() and (values.sum(1) == 1).all()):
            raise DataError(
                f"{where}: the labels have shape {values.shape} and are not 0 and 1; give one label"
                " per item."
            )
        return values.argmax(1).astype(np.int64), tuple(names)
    if values.ndim == 2:
        flat = values.reshape(len(values), -1)[:, 0]
    else:
        flat = values
    if flat.ndim != 1:
        raise DataError(f"{where}: the labels have shape {values.shape}; give one label per item.")
    if flat.dtype.kind in "US":
        return label_numbers(
            [
                word.decode("utf-8", "replace") if isinstance(word, bytes) else str(word)
                for word in flat
            ],
            names,
        )
    if (
        not np.isfinite(flat).all()
        or (flat != np.floor(flat)).any()
        or (flat < -1).any()
        or (flat >= LARGEST_CLASSES).any()
    ):
        raise DataError(
            f"{where}: the labels are not class numbers; they must be whole numbers from 0 on (-1"
            " for unknown)."
        )
    return flat.astype(np.int64), tuple(names)


def _word(value: object) -> str:
    if value is None:
        return ""
    # Before the numbers, since bool is one; and never "True", which would be a word.
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    word = str(value).strip()
    if word.casefold() in _MISSING:
        return ""
    # Spreadsheets write 3 as 3.0.
    return re.sub(r"^(\d+)\.0*$", r"\1", word)


@dataclass(frozen=True, slots=True)
class LabelFile:
    """A labels file: a label per key (file name, track id), and class names if it has them."""

    labels: dict[str, str]
    names: tuple[str, ...] = ()

    def find(self, key: str) -> str:
        """The label of a file or track, by its full name, its last part, or that without suffix.

        "" if none.
        """
        path = PurePosixPath(key)
        # The strictest first: two folders may hold files of the same name.
        for name in (key, path.name, path.stem):
            if name in self.labels:
                return self.labels[name]
        return ""


def read_label_file(path: Path | Member, column: str = "", key_column: str = "") -> LabelFile:
    """Reads ``labels.csv`` or ``labels.json``.

    The first has columns file and label; the second is {file: label}, or records with both.
    """
    if path.suffix.casefold() == ".json":
        document = read_json(path)
        if isinstance(document, dict) and all(
            isinstance(value, str | int) for value in document.values()
        ):
            return LabelFile({str(key): _word(value) for key, value in document.items()})
        if not (
            isinstance(document, list)
            and document
            and all(isinstance(row, dict) for row in document)
        ):
            raise DataError(
                f'{path}: a labels file holds file names with their labels, for example {{"a.png":'
                ' "cat"}.'
            )
        header = [str(key) for key in document[0]]
        rows = [[_word(row.get(name)) for name in header] for row in document]
    else:
        table = read_rows(path)
        header, rows = table.header, [row for _, row in table.rows if len(row) == len(table.header)]
    return _label_file(path, header, rows, column, key_column)


def _label_file(
    path: object, header: list[str], rows: list[list[str]], column: str, key_column: str
) -> LabelFile:
    lower = [name.casefold() for name in header]
    if len(header) < 2:
        raise DataError(f"{path}: a labels file needs two columns, the file name and the label.")
    key = next(
        (lower.index(name) for name in (key_column.casefold(), *_FILE_COLUMNS) if name in lower), 0
    )
    if column and column.casefold() not in lower:
        raise DataError(
            f"{path}: there is no column {column!r}; the columns are: {', '.join(header[:50])}."
        )
    label = next(
        (
            lower.index(name)
            for name in (column.casefold(), *LABEL_COLUMNS, "name")
            if name in lower and lower.index(name) != key
        ),
        -1,
    )
    if not (label >= 0):
        # Without a telling header, the last column that is not the key.
        label = max(place for place in range(len(header)) if place != key)
    number = next(
        (
            place
            for place, name in enumerate(lower)
            if name.endswith("index") and place not in (key, label)
        ),
        None,
    )
    keys = [row[key].strip().replace("\\", "/").removeprefix("./") for row in rows]
    words = [_word(row[label]) for row in rows]
    if number is not None and not column:
        return _numbered(keys, [row[number].strip() for row in rows], words)
    return LabelFile(dict(zip(keys, words, strict=True)))


def _numbered(keys: list[str], numbers: list[str], words: list[str]) -> LabelFile:
    """A file with class numbers and class names: the numbers are the labels."""
    if not all(re.fullmatch(r"\d{1,5}", number) for number in numbers):
        return LabelFile(dict(zip(keys, words, strict=True)))
    names = {int(number): word for number, word in zip(numbers, words, strict=True)}
    known = tuple(names.get(number, str(number)) for number in range(max(names, default=-1) + 1))
    return LabelFile(
        {key: str(int(number)) for key, number in zip(keys, numbers, strict=True)}, known
    )
