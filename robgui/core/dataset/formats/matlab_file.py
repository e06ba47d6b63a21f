"""The numeric arrays in a MATLAB file of version 5 to 7.2.

Read by hand: the file is a list of elements, and existing readers trust what a damaged one says
about its types. Cells, structures, text and sparse arrays are skipped.
"""

from __future__ import annotations

import io
import math
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from robgui.core.dataset.limits import check_size, reading, sized
from robgui.core.dataset.source import Shape
from robgui.core.errors import DataError
from robgui.core.regular import open_regular

# All numbers here are from "MAT-File Format", Level 5. The header: 116 bytes of text, 8 of
# subsystem data, 2 of version and 2 of byte order.
_HEADER = 128
# miMATRIX and miCOMPRESSED.
_MATRIX, _PACKED = 14, 15
#: Types of elements that hold numbers.
_STORED = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
#: Classes of arrays of numbers.
_CLASSES = {
    6: "f8",
    7: "f4",
    8: "i1",
    9: "u1",
    10: "i2",
    11: "u2",
    12: "i4",
    13: "u4",
    14: "i8",
    15: "u8",
}
# In the second byte of the array flags; an imaginary part would follow the real one.
_COMPLEX = 0x08
#: Enough bytes for the description of an array.
_LONGEST_HEAD = 4096
#: Elements walked through at most: of a damaged file each may claim to have no length.
_MOST_ELEMENTS = 10_000
_CHUNK = 2**20
#: Most that one byte of a compressed element may unpack to; deflate's own limit is 1,032.
_MOST_GROWTH = 1100


@dataclass(frozen=True, slots=True)
class Variable:
    """One array of numbers.

    Attributes:
        shape: As MATLAB has it.
        dtype: Of its values.
        stored: The type in which they are stored, often a smaller one.
        start: Where its element begins, behind the tag.
        size: Bytes of the element.
        packed: Whether the element is compressed.
        offset: Where the values begin in the element, unpacked.
    """

    shape: Shape
    dtype: np.dtype
    stored: np.dtype
    start: int
    size: int
    packed: bool
    offset: int


def read_variables(path: Path) -> dict[str, Variable]:
    """The numeric arrays in a file, by name; DataError if it is damaged."""
    found: dict[str, Variable] = {}
    with reading(path), open_regular(path) as file:
        length = file.seek(0, io.SEEK_END)
        file.seek(0)
        order = _order(file.read(_HEADER), path)
        place = _HEADER
        for _ in range(_MOST_ELEMENTS):
            file.seek(place)
            tag = file.read(8)
            if len(tag) < 8:
                break
            kind, size = struct.unpack(f"{order}2I", tag)
            if place + 8 + size > length:
                raise DataError(
                    f"{path}: this MATLAB file cannot be read (it ends too early); get a complete"
                    " copy."
                )
            name, variable = _variable(file, kind, size, place + 8, order)
            if variable is not None:
                found[name] = variable
            place += 8 + size
    return found


def read_values(path: Path, variable: Variable) -> np.ndarray:
    """The values of an array, in MATLAB's shape."""
    count = check_size(variable.dtype, variable.shape, path)
    size = count * variable.stored.itemsize
    with reading(path), open_regular(path) as file:
        file.seek(variable.start)
        if variable.packed:
            content = _unpacked(file, variable, variable.offset + size)[variable.offset :]
        else:
            content = _plain(file, variable, size)
    if len(content) != size:
        raise DataError(
            f"{path}: this MATLAB file cannot be read (an array ends too early); get a complete"
            " copy."
        )
    # MATLAB stores columns one after the other.
    values = np.frombuffer(content, variable.stored).reshape(variable.shape, order="F")
    return values.astype(variable.dtype.newbyteorder("="))


def _order(header: bytes, path: Path) -> str:
    # The writer stores the number 0x4D49, "MI"; read byte by byte, a little-endian file shows "IM".
    mark = header[126:128]
    if mark not in (b"IM", b"MI"):
        raise DataError(f"{path}: this MATLAB file cannot be read (its header is damaged).")
    if mark == b"IM":
        return "<"
    return ">"


def _variable(
    file: IO[bytes], kind: int, size: int, start: int, order: str
) -> tuple[str, Variable | None]:
    """The array that an element holds; None for any other element."""
    content = file.read(min(size, _LONGEST_HEAD))
    packed = kind == _PACKED
    shift = 0
    if packed:
        try:
            # Only the head is unpacked: the array behind it may have gigabytes.
            content = zlib.decompressobj().decompress(content, _LONGEST_HEAD)
        except zlib.error:
            return "", None
        if len(content) < 8:
            return "", None
        kind, shift = struct.unpack(f"{order}I", content[:4])[0], 8
    if kind != _MATRIX:
        return "", None
    try:
        return _described(content, shift, order, start, size, packed=packed)
    except (struct.error, IndexError, KeyError):
        return "", None


def _described(
    content: bytes, place: int, order: str, start: int, size: int, *, packed: bool
) -> tuple[str, Variable | None]:
    """Flags, shape and name of an array, and where its values are."""
    _, flags, place = _element(content, place, order)
    _, sides, place = _element(content, place, order)
    _, name, place = _element(content, place, order)
    if order == "<":
        # Class and flags are the two low bytes of one 32-bit number, so their place depends on the
        # order.
        class_, how = (flags[0], flags[1])
    else:
        class_, how = (flags[3], flags[2])
    shape = struct.unpack(f"{order}{len(sides) // 4}i", sides)
    kind, first, small = _tag(content, place, order)
    if how & _COMPLEX or min(shape, default=-1) < 0 or len(shape) > 8:
        return "", None
    dtype = np.dtype(order + _CLASSES[class_])
    stored = np.dtype(order + _STORED[kind])
    declared = math.prod(shape) * stored.itemsize
    if small[1] != declared or (not packed and first + declared > size):
        return "", None
    text = name.decode("latin1")
    return text, Variable(shape, dtype, stored, start, size, packed, first)


def _element(content: bytes, place: int, order: str) -> tuple[int, bytes, int]:
    """Type and content of a small element, and where the next one begins."""
    kind, first, (is_small, size) = _tag(content, place, order)
    if is_small:
        after = place + 8
    else:
        # Elements are padded to 8 bytes.
        after = first + size + -size % 8
    if first + size > len(content):
        raise IndexError(place)
    return kind, content[first : first + size], after


def _tag(content: bytes, place: int, order: str) -> tuple[int, int, tuple[bool, int]]:
    """Type of an element, where its content begins, whether it has the short form, and its size."""
    (word,) = struct.unpack_from(f"{order}I", content, place)
    # Small data element: the upper half is its size, 1 to 4, and its content takes the second word.
    if word >> 16:
        return word & 0xFFFF, place + 4, (True, word >> 16)
    (size,) = struct.unpack_from(f"{order}I", content, place + 4)
    return word, place + 8, (False, size)


def _plain(file: IO[bytes], variable: Variable, size: int) -> bytes:
    file.seek(variable.start + variable.offset)
    return file.read(min(size, variable.size))


def _unpacked(file: IO[bytes], variable: Variable, wanted: int) -> bytes:
    """The first ``wanted`` bytes of a compressed element."""
    if wanted > _MOST_GROWTH * (variable.size + _CHUNK // _MOST_GROWTH):
        raise DataError(
            f"the file is far too short for the {sized(wanted)} that an array in it declares."
        )
    unpacking = zlib.decompressobj()
    content = bytearray()
    left = variable.size
    while left and len(content) < wanted and not unpacking.eof:
        part = file.read(min(_CHUNK, left))
        left -= len(part)
        # Bounded: a few packed bytes can stand for any amount.
        content += unpacking.decompress(part, wanted - len(content))
        while unpacking.unconsumed_tail and len(content) < wanted:
            content += unpacking.decompress(unpacking.unconsumed_tail, wanted - len(content))
        if not part:
            break
    return bytes(content)
