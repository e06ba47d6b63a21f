"""Parquet and Arrow tables: encoded images as Hugging Face stores them, arrays, or numbers.

They are read one row group at a time.
"""

from __future__ import annotations

import io
import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.encoded import EncodedImages
from robgui.core.dataset.formats.columnar.batches import (
    ArrowFile,
    ArrowStream,
    Batches,
    ParquetGroups,
)
from robgui.core.dataset.formats.delimited.grid import dataset_of
from robgui.core.dataset.formats.delimited.reading import Grid, text_columns
from robgui.core.dataset.formats.stacked import build
from robgui.core.dataset.labels import LABEL_COLUMNS, label_numbers
from robgui.core.dataset.limits import LARGEST_ARRAY, digest, first_line, head, sized
from robgui.core.dataset.options import Options
from robgui.core.dataset.source import Shape, Skips
from robgui.core.errors import DataError, MissingExtraError, RobguiError

_INPUTS = ("image", "img", "picture", "images", "pixel_values", "jpg", "png", "x", "data")
_LABELS = (*LABEL_COLUMNS, "fine_label", "coarse_label", "cls", "label_name", "class_name")
#: Row groups kept after reading.
_KEPT = 2
# A stream starts with the continuation marker of its first message, a file with "ARROW1".
_STREAM = b"\xff\xff\xff\xff"


def open_parquet(path: Path, options: Options) -> Dataset:
    """Opens a Parquet file."""
    return _open(ParquetGroups(path, _pyarrow(f"{path}: a Parquet file")), options)


def open_arrow(path: Path, options: Options) -> Dataset:
    """Opens an Arrow or Feather file, or the stream that Hugging Face writes."""
    arrow = _pyarrow(f"{path}: an Arrow file")
    kind = ArrowStream if head(path, 4) == _STREAM else ArrowFile
    return _open(kind(path, arrow), options)


def _pyarrow(what: str) -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError(what, "tables") from error
    return pa


def _open(batches: Batches, options: Options) -> Dataset:
    try:
        return _dataset(batches, options)
    except (RobguiError, MemoryError, OSError):
        raise
    except Exception as error:  # The library raises many kinds of errors on a damaged file.
        raise DataError(
            f"{batches.path}: this table cannot be read ({first_line(error)}); get a complete copy."
        ) from error


def _dataset(batches: Batches, options: Options) -> Dataset:
    if not batches.rows:
        raise DataError(f"{batches.path}: the table has no rows.")
    place = _input_column(batches, options)
    if place is None:
        return _numbers(batches, options)
    name = batches.names[place]
    label = _label_column(batches, name, options)
    if label is None:
        words = None
    else:
        words = batches.column(label).to_pylist()
    column = StoredColumn(batches, name)
    if _is_encoded(batches, name):
        source = EncodedColumn(column)
        source.check(batches.path)
        known = _known_names(batches, label)
        labels, names = _labels(words, options.names or known, batches.path)
        return Dataset(
            source,
            name=batches.path.name,
            path=batches.path,
            labels=labels,
            names=names,
            options=options.told(),
        )
    array = None
    if words is not None:
        # -1 is "no label" everywhere.
        array = np.array([-1 if word is None else word for word in words])
    return build(
        ArrayColumn(column),
        batches.path.name,
        batches.path,
        options,
        array,
        words=_known_names(batches, label),
    )


def _labels(
    words: list[Any] | None, names: tuple[str, ...], path: Path
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    if words is None:
        return None, names
    if all(isinstance(word, int) or word is None for word in words) and names:
        return np.array([-1 if word is None else word for word in words], np.int64), names
    try:
        return label_numbers(words, names)
    except DataError as error:
        raise error.at(path) from error


def _input_column(batches: Batches, options: Options) -> int | None:
    """The column of images or arrays; None if all are numbers or words."""
    lower = [name.casefold() for name in batches.names]
    if options.inputs:
        if options.inputs.casefold() not in lower:
            raise DataError(
                f"{batches.path}: there is no column {options.inputs!r}; the columns are:"
                f" {', '.join(batches.names[:50])}."
            )
        return lower.index(options.inputs.casefold())
    able = [
        place
        for place, name in enumerate(batches.names)
        if _is_encoded(batches, name) or batches.is_array(name)
    ]
    named = [lower.index(name) for name in _INPUTS if name in lower]
    return next((place for place in named if place in able), able[0] if able else None)


def _label_column(batches: Batches, inputs: str, options: Options) -> str | None:
    lower = {name.casefold(): name for name in batches.names if name != inputs}
    if options.label:
        if options.label.casefold() not in lower:
            raise DataError(
                f"{batches.path}: there is no column {options.label!r}; the columns are:"
                f" {', '.join(batches.names[:50])}."
            )
        return lower[options.label.casefold()]
    return next((lower[name] for name in _LABELS if name in lower), None)


def _is_encoded(batches: Batches, name: str) -> bool:
    # Hugging Face stores an image as a struct of "bytes" and "path".
    return batches.is_binary(name) or batches.is_binary(f"{name}.bytes")


def _known_names(batches: Batches, label: str | None) -> tuple[str, ...]:
    """The class names in the metadata that Hugging Face stores in a table."""
    try:
        features = json.loads(batches.note("huggingface") or "{}")["info"]["features"]
        names = features[label]["names"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()
    if all(isinstance(name, str) for name in names):
        return tuple(names)
    return ()


def _numbers(batches: Batches, options: Options) -> Dataset:
    """A table of numbers: rows, or points of tracks, as in a CSV file."""
    names = [name for name in batches.names if batches.is_number(name) or batches.is_text(name)]
    if batches.rows * max(1, len(names)) * 16 > LARGEST_ARRAY:
        size = sized(batches.rows * len(names) * 16)
        raise DataError(f"{batches.path}: the table needs {size} of memory; use a smaller one.")
    kinds = [batches.is_number(name) for name in names]
    columns = [name for name, number in zip(names, kinds, strict=True) if number]
    values = np.empty((batches.rows, len(columns)))
    for place, name in enumerate(columns):
        cells = batches.column(name).to_pylist()
        values[:, place] = [np.nan if cell is None else float(cell) for cell in cells]
    texts = {
        names[place]: [
            "" if cell is None else str(cell) for cell in batches.column(names[place]).to_pylist()
        ]
        for place in text_columns(names, kinds, options)
    }
    lines = np.arange(batches.rows)
    grid = Grid(batches.path, columns, values, texts, lines, skips=Skips())
    return dataset_of(grid, options)


class StoredColumn:
    """One column of a table, by row; a few row groups are cached."""

    def __init__(self, batches: Batches, name: str) -> None:
        self.batches = batches
        self.name = name
        self._starts = np.cumsum([0, *batches.counts])
        self._kept: OrderedDict[int, Any] = OrderedDict()
        self._lock = threading.Lock()

    def value(self, row: int) -> Any:
        """One cell as a Python value; DataError, without the place, if it cannot be read."""
        # "right": a row at the start of a group belongs to that group, and empty groups are passed
        # over.
        number = int(np.searchsorted(self._starts, row, side="right")) - 1
        with self._lock:
            try:
                if number not in self._kept:
                    self._kept[number] = self.batches.read(number, self.name)
                    while len(self._kept) > _KEPT:
                        self._kept.popitem(last=False)
                self._kept.move_to_end(number)
                return self._kept[number][row - int(self._starts[number])].as_py()
            except (RobguiError, MemoryError, OSError):
                raise
            except Exception as error:  # As above.
                raise DataError(f"its row cannot be read ({first_line(error)}).") from error


class EncodedColumn(EncodedImages):
    """Encoded images in one column."""

    def __init__(self, column: StoredColumn) -> None:
        self._column = column
        super().__init__(RowNames(column.batches.rows))

    def open(self, position: int) -> io.BytesIO:
        value = self._column.value(position)
        if isinstance(value, dict):
            content = value.get("bytes")
        else:
            content = value
        if not isinstance(content, bytes):
            raise DataError("the table holds no image here, at most its name.")
        return io.BytesIO(content)

    def where(self, position: int) -> str:
        return f"{self._column.batches.path}, {self.key(position)}"

    def size(self, position: int) -> int:
        return len(self.open(position).getbuffer())

    def content(self) -> str:
        return f"{digest(self._column.batches.path)}|{self._column.name}"


class RowNames(Sequence[str]):
    """The names row 0, row 1, … without storing a list of them."""

    def __init__(self, many: int) -> None:
        self._many = many

    def __len__(self) -> int:
        return self._many

    def __getitem__(self, place: Any) -> Any:
        if not 0 <= place < self._many:
            raise IndexError(place)
        return f"row {place}"


class ArrayColumn:
    """Arrays of one shape in one column, nested lists or flat."""

    def __init__(self, column: StoredColumn) -> None:
        self._column = column
        first = self._cell(0)
        if first.dtype.kind not in "biuf" or not first.size:
            raise DataError(
                f"{column.batches.path}: the column {column.name!r} holds no arrays of one shape;"
                " choose another with inputs.",
                option="inputs=COLUMN",
            )
        # By the schema: NumPy makes int64 of Python numbers, and images would no longer be bytes.
        self.dtype = column.batches.number_type(column.name) or first.dtype
        self.shape: Shape = (column.batches.rows, *first.shape)

    def take(self, positions: np.ndarray) -> np.ndarray:
        """The arrays at ``positions``."""
        rows = np.empty((len(positions), *self.shape[1:]), dtype=self.dtype)
        for place, position in enumerate(positions):
            value = self._cell(int(position))
            if value.shape != self.shape[1:]:
                raise DataError(
                    f"{self._column.batches.path}, row {int(position)}: its array has the shape"
                    f" {value.shape}, the first has {self.shape[1:]}."
                )
            rows[place] = value
        return rows

    def content(self) -> str:
        """Fingerprint of the file."""
        return f"{digest(self._column.batches.path)}|{self._column.name}"

    def _cell(self, row: int) -> np.ndarray:
        try:
            return np.asarray(self._column.value(row))
        except DataError as error:
            raise error.at(f"{self._column.batches.path}, row {row}") from error
