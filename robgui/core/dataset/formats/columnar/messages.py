"""Reads an Arrow file's message headers before the library unpacks anything.

A few bytes can stand for more memory than the machine has. An Arrow file describes each row group
in a flatbuffer: a table is a signed offset back to its list of fields, a vector is a length and its
items. The first eight bytes of a compressed buffer are its unpacked size, or -1 if it is stored as
it is.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import BinaryIO

# MessageHeader in Arrow's Message.fbs: 1 is a schema.
_DICTIONARY, _ROWS = 2, 3
# Precedes the length of a message since Arrow 0.15; older files begin with the length.
_CONTINUED = 0xFFFFFFFF
#: Bytes of one entry in a file's directory, and of one buffer in a message.
_BLOCK, _BUFFER = 24, 16
#: Largest description of a row group.
_LARGEST_HEADER = 64 * 2**20


@dataclass(frozen=True)
class Message:
    """One message of an Arrow file.

    Attributes:
        is_rows: Whether it holds rows, and not a schema or a dictionary.
        rows: How many.
        size: Bytes in memory when unpacked.
        start: Its place in the file.
        end: Where the next one starts.
    """

    is_rows: bool
    rows: int
    size: int
    start: int
    end: int


def read_stream(file: BinaryIO) -> list[Message]:
    """The messages of a stream, in order."""
    found, place = [], 0
    while (message := _read(file, place)) is not None:
        found.append(message)
        place = message.end
    return found


def read_directory(file: BinaryIO) -> tuple[list[Message], list[Message]]:
    """The dictionaries and row groups listed in the directory of a file."""
    end = file.seek(0, 2)
    # A file ends with its footer, the footer's length as an int32, and "ARROW1".
    length = struct.unpack("<i6s", _bytes(file, end - 10, 10))[0]
    footer = _Table.root(_bytes(file, end - 10 - length, length))
    # Fields of Footer in File.fbs: version, schema, dictionaries, recordBatches.
    return _named(file, footer, 2), _named(file, footer, 3)


def _named(file: BinaryIO, footer: _Table, field: int) -> list[Message]:
    found = []
    for place in footer.items(field, _BLOCK):
        # A Block is an int64 offset, an int32 length, four bytes of padding and an int64 body
        # length.
        message = _read(file, struct.unpack_from("<q", footer.data, place)[0])
        if message is None:
            raise ValueError("its directory names a group of rows that is not there")
        found.append(message)
    return found


def _read(file: BinaryIO, start: int) -> Message | None:
    """The message at a place; None at the end of a stream."""
    left = file.seek(0, 2) - start
    if left < 4:
        return None
    length, place = struct.unpack("<I", _bytes(file, start, 4))[0], start + 4
    if length == _CONTINUED:
        length, place = struct.unpack("<I", _bytes(file, place, 4))[0], place + 4
    if length == 0:
        return None
    header = _Table.root(_bytes(file, place, length))
    # Fields of Message: version, header_type, header, bodyLength.
    kind, body = header.number(1, "<B"), header.number(3, "<q")
    place += length
    if not 0 <= body <= left:
        raise ValueError("a group of rows is longer than the file")
    batch = header.table(2)
    if batch is not None and kind == _DICTIONARY:
        # Fields of DictionaryBatch: id, data.
        batch = batch.table(1)
    known = kind in (_DICTIONARY, _ROWS) and batch is not None
    if batch is not None and known:
        rows, size = _measured(file, batch, place)
    else:
        rows, size = (0, 0)
    return Message(kind == _ROWS, rows, size, start, place + body)


def _measured(file: BinaryIO, batch: _Table, body: int) -> tuple[int, int]:
    """Rows of a group, and its bytes in memory."""
    # Fields of RecordBatch: length, nodes, buffers, compression.
    packed, size = batch.table(3) is not None, 0
    for place in batch.items(2, _BUFFER):
        offset, length = struct.unpack_from("<qq", batch.data, place)
        unpacked = length
        if packed and length > 0:
            unpacked = struct.unpack("<q", _bytes(file, body + offset, 8))[0]
        # max: -1 stands for a buffer stored as it is, and a hostile file may claim less than it
        # holds.
        size += max(length, unpacked)
    rows = batch.number(0, "<q")
    if rows < 0:
        raise ValueError("a group has less than no rows")
    return rows, size


def _bytes(file: BinaryIO, place: int, length: int) -> bytes:
    """Bytes of the file, all of them."""
    if place < 0 or not 0 <= length <= _LARGEST_HEADER:
        raise ValueError("a part of it lies outside the file")
    file.seek(place)
    found = file.read(length)
    if len(found) != length:
        raise ValueError("it ends too early")
    return found


@dataclass(frozen=True)
class _Table:
    """A table of a flatbuffer."""

    data: bytes
    place: int

    @classmethod
    def root(cls, data: bytes) -> _Table:
        """The outermost table."""
        return cls(data, struct.unpack_from("<I", data)[0])

    def number(self, field: int, form: str) -> int:
        """A number; 0 where it is left out."""
        at = self._field(field)
        if at is None:
            return 0
        return int(struct.unpack_from(form, self.data, at)[0])

    def table(self, field: int) -> _Table | None:
        """A table within this one."""
        at = self._field(field)
        if at is None:
            return None
        return _Table(self.data, self._target(at))

    def items(self, field: int, size: int) -> range:
        """The places of a vector's items, each of ``size`` bytes."""
        at = self._field(field)
        if at is None:
            return range(0)
        start = self._target(at)
        count = struct.unpack_from("<I", self.data, start)[0]
        if count * size > len(self.data):
            raise ValueError("a list in it is longer than the file")
        return range(start + 4, start + 4 + count * size, size)

    def _field(self, field: int) -> int | None:
        known = self.place - struct.unpack_from("<i", self.data, self.place)[0]
        if not 0 <= known < len(self.data):
            raise ValueError("a part of it lies outside the file")
        # A vtable is its own size, the size of the table, then one offset per field, all 16 bits.
        # Fields at the end that are not set may be missing from it.
        if 6 + 2 * field > struct.unpack_from("<H", self.data, known)[0]:
            return None
        offset = struct.unpack_from("<H", self.data, known + 4 + 2 * field)[0]
        return self.place + offset if offset else None

    def _target(self, at: int) -> int:
        return at + int(struct.unpack_from("<I", self.data, at)[0])
