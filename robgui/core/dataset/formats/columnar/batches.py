"""Row groups of a Parquet or Arrow file, each read on demand.

The file is not memory-mapped: one cut short then raises an error instead of crashing the process.
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from robgui.core.dataset.formats.columnar.messages import read_directory, read_stream
from robgui.core.dataset.limits import LARGEST_ARRAY, first_line, sized
from robgui.core.errors import DataError
from robgui.core.regular import open_regular

#: Most columns and rows of such a table: labels are held in memory.
_MOST_COLUMNS = 10_000
_MOST_ROWS = 20_000_000
#: Rows of a Parquet file unpacked together: a few bytes can stand for long ones.
_AT_ONCE = 1024
#: Most that one byte of an Arrow file may unpack to; real data stay far below.
_MOST_GROWTH = 1100
#: A row group up to this size is read however small the file is.
_ALWAYS = 256 * 2**20


class Batches(ABC):
    """A table in groups of rows.

    Attributes:
        path: The file.
        counts: Rows in each group.
    """

    counts: list[int]

    def __init__(self, path: Path, arrow: ModuleType) -> None:
        self.path = path
        self._arrow = arrow
        self._lock = threading.Lock()
        self._file = open_regular(path)
        # The dataset has no ``close``: the file is closed once nothing refers to the table any
        # more.
        weakref.finalize(self, self._file.close)
        try:
            self._schema = self._start()
            # Names are decoded late; one that is not UTF-8 shall fail here, not in the middle of a
            # run.
            self._names = [_read_names(field) for field in self._schema]
        except (DataError, OSError, MemoryError):
            raise
        except Exception as error:  # The library raises many kinds of errors on a damaged file.
            raise DataError(
                f"{path}: this table cannot be read ({first_line(error)}); get a complete copy."
            ) from error
        if len(self._names) > _MOST_COLUMNS:
            raise DataError(f"{path}: the table has {len(self._names):,} columns.")
        if self.rows > _MOST_ROWS:
            raise DataError(
                f"{path}: the table has {self.rows:,} rows, more than {_MOST_ROWS:,}; open a part"
                " of it."
            )

    @abstractmethod
    def _start(self) -> Any:
        """Reads the table's description; returns its schema."""

    @abstractmethod
    def read(self, number: int, column: str) -> Any:
        """One column of one group."""

    def _refuse_packed(self, size: int, what: str) -> None:
        """Says that a part of the table would be too large when unpacked."""
        grown = _MOST_GROWTH * os.fstat(self._file.fileno()).st_size
        _refuse_large(self.path, size, what, min(LARGEST_ARRAY, max(_ALWAYS, grown)))

    @property
    def rows(self) -> int:
        """Rows of the whole table."""
        return sum(self.counts)

    @property
    def names(self) -> list[str]:
        """Of the columns."""
        return list(self._names)

    def column(self, name: str) -> Any:
        """A whole column."""
        parts = [self.read(number, name) for number in range(len(self.counts))]
        chunks = [
            chunk
            for part in parts
            for chunk in (part.chunks if isinstance(part, self._arrow.ChunkedArray) else [part])
        ]
        return self._arrow.chunked_array(chunks, type=self._type(name))

    def note(self, key: str) -> str:
        """A note beside the schema."""
        notes: dict[bytes, bytes] = self._schema.metadata or {}
        return notes.get(key.encode(), b"").decode("utf-8", "replace")

    def is_binary(self, name: str) -> bool:
        """Whether a column, or ``column.field``, holds bytes."""
        types = self._arrow.types
        known = self._type(name)
        return known is not None and (types.is_binary(known) or types.is_large_binary(known))

    def is_array(self, name: str) -> bool:
        """Whether a column holds lists of numbers, possibly nested."""
        return self._depth(name) > 0 and self.number_type(name) is not None

    def is_number(self, name: str) -> bool:
        """Whether a column holds numbers."""
        return self._depth(name) == 0 and self.number_type(name) is not None

    def is_text(self, name: str) -> bool:
        """Whether a column holds words."""
        types, known = self._arrow.types, self._type(name)
        # Categories of pandas come as dictionaries of words.
        if types.is_dictionary(known):
            known = known.value_type
        return bool(types.is_string(known) or types.is_large_string(known))

    def number_type(self, name: str) -> np.dtype | None:
        """The type of the numbers in a column, possibly inside lists.

        None if it holds something else.
        """
        known = self._type(name)
        while self._is_list(known):
            known = known.value_type
        types = self._arrow.types
        if types.is_integer(known) or types.is_floating(known) or types.is_boolean(known):
            found: np.dtype = np.dtype(known.to_pandas_dtype())
            return found
        return None

    def _depth(self, name: str) -> int:
        known, depth = self._type(name), 0
        while self._is_list(known):
            known, depth = known.value_type, depth + 1
        return depth

    def _is_list(self, known: Any) -> bool:
        types = self._arrow.types
        return bool(
            types.is_list(known) or types.is_large_list(known) or types.is_fixed_size_list(known)
        )

    def _type(self, name: str) -> Any:
        outer, dot, inner = name.rpartition(".")
        if name in self._names:
            return _storage(self._schema.field(name).type)
        if not dot or outer not in self._names:
            return None
        known = _storage(self._schema.field(outer).type)
        if not self._arrow.types.is_struct(known):
            return None
        return next((field.type for field in known if field.name == inner), None)


def _read_names(field: Any) -> str:
    """Reads a column's name and those of its fields: fails here if one is not text."""
    known = _storage(field.type)
    for place in range(known.num_fields):
        _read_names(known.field(place))
    return str(field.name)


def _storage(known: Any) -> Any:
    """The storage type of an extension type, for example Hugging Face's fixed-size arrays."""
    return getattr(known, "storage_type", known)


def _valid(column: Any) -> Any:
    """A column with validated offsets and lengths, which the library would otherwise trust."""
    column.validate(full=True)
    return column


class ParquetGroups(Batches):
    """The row groups of a Parquet file."""

    def _start(self) -> Any:
        import pyarrow.parquet as parquet

        # Pre-buffering reads ahead in background threads, which pays off for remote storage only.
        self._table = parquet.ParquetFile(self._file, pre_buffer=False)
        about = self._table.metadata
        self.counts = [about.row_group(number).num_rows for number in range(about.num_row_groups)]
        return self._table.schema_arrow

    def read(self, number: int, column: str) -> Any:
        """One column of one row group."""
        # A claim of the file. It is checked first because it is cheap, and measured below because
        # it may be false.
        size = self._table.metadata.row_group(number).total_byte_size
        _refuse_large(self.path, size, "group of rows", LARGEST_ARRAY)
        parts, held = [], 0
        with self._lock:
            for batch in self._table.iter_batches(
                _AT_ONCE, row_groups=[number], columns=[column], use_threads=False
            ):
                parts.append(batch.column(column))
                held += parts[-1].nbytes
                _refuse_large(self.path, held, "group of rows", LARGEST_ARRAY)
        return _valid(self._arrow.chunked_array(parts, type=self._schema.field(column).type))


class ArrowFile(Batches):
    """The record batches of an Arrow file, which has a directory of them."""

    def _start(self) -> Any:
        self._reader = self._arrow.ipc.open_file(self._file)
        words, self._messages = read_directory(self._file)
        self.counts = [message.rows for message in self._messages]
        # The library unpacks all dictionaries together with the first row group.
        self._refuse_packed(sum(message.size for message in words), "dictionary")
        return self._reader.schema

    def read(self, number: int, column: str) -> Any:
        """One column of one record batch."""
        self._refuse_packed(self._messages[number].size, "group of rows")
        with self._lock:
            return _valid(self._reader.get_batch(number).column(column))


class ArrowStream(Batches):
    """The record batches of an Arrow stream, found by reading through it once."""

    def _start(self) -> Any:
        self._messages = [one for one in read_stream(self._file) if one.is_rows]
        self.counts = [message.rows for message in self._messages]
        self._file.seek(0)
        self._source = self._arrow.PythonFile(self._file, mode="r")
        schema = self._arrow.ipc.open_stream(self._source).schema
        if any(self._arrow.types.is_dictionary(field.type) for field in schema):
            raise DataError(
                f"{self.path}: a stream with dictionaries cannot be read piece by piece; save it"
                " as Parquet."
            )
        return schema

    def read(self, number: int, column: str) -> Any:
        """One column of one record batch."""
        self._refuse_packed(self._messages[number].size, "group of rows")
        ipc = self._arrow.ipc
        with self._lock:
            self._file.seek(self._messages[number].start)
            message = ipc.read_message(self._source)
            return _valid(ipc.read_record_batch(message, self._schema).column(column))


def _refuse_large(path: Path, size: int, what: str, most: int) -> None:
    """Says that a part of the table is larger than what is read at once."""
    if size > most:
        raise DataError(
            f"{path}: a {what} has {sized(size)} when unpacked, more than is read at once; write"
            " the file in smaller groups of rows."
        )
