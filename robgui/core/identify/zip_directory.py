"""Reads the directory of a zip file without unpacking it or making an object per member.

A million names take a few seconds.
"""

from __future__ import annotations

import io
import struct
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from robgui.core.regular import open_regular

_END, _END_SIZE = b"PK\x05\x06", 22
_END64, _LOCATOR64 = b"PK\x06\x06", b"PK\x06\x07"
# Central directory header (APPNOTE 4.3.12); versions, time and date are passed over.
_ENTRY = struct.Struct("<4s4x2H4x3L5H2L")
_MAGIC = b"PK\x01\x02"
#: How far from the file's end the record may start, given the longest comment (64 KB).
_TAIL = _END_SIZE + 2**16
#: Largest directory in bytes; four million names fit.
_LARGEST = 512 * 2**20
# General purpose flags, bits 11 and 0 (APPNOTE 4.4.4).
_UTF8, _ENCRYPTED = 0x800, 0x1
#: All ones: the number is too large and stands in the zip64 field (APPNOTE 4.5.3).
_FULL = 2**32 - 1


class BrokenZipError(ValueError):
    """The file is not a zip file, is cut off, or contradicts itself."""


@dataclass
class Directory:
    """The members of a zip file that are files, in order.

    Attributes:
        names: As stored.
        offsets: Where each local header begins.
        packed: Compressed bytes.
        sizes: Bytes after unpacking, as declared.
        methods: How each is compressed; -1 for an encrypted one.
        checks: CRC-32 of each.
    """

    names: list[str] = field(default_factory=list)
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    packed: array[int] = field(default_factory=lambda: array("Q"))
    sizes: array[int] = field(default_factory=lambda: array("Q"))
    methods: array[int] = field(default_factory=lambda: array("i"))
    checks: array[int] = field(default_factory=lambda: array("I"))


def read_directory(path: Path, most: int | None = None) -> Directory:
    """The directory of a zip file, of at most ``most`` members.

    Raises:
        BrokenZipError: See there.
        OSError: The file cannot be read.
    """
    with open_regular(path) as file:
        length = file.seek(0, io.SEEK_END)
        start, size, shift = _place(file, length)
        file.seek(start)
        content = file.read(size)
    if len(content) != size:
        raise BrokenZipError("it is cut off")
    return _entries(content, length, shift, most)


def _place(file: BinaryIO, length: int) -> tuple[int, int, int]:
    """Where the directory begins, its length, and how many bytes precede the archive."""
    tail_start = max(0, length - _TAIL)
    file.seek(tail_start)
    tail = file.read(_TAIL)
    # From the end: a comment may contain the same four bytes.
    found = tail.rfind(_END)
    if found < 0 or len(tail) - found < _END_SIZE:
        raise BrokenZipError("it has no directory")
    end = tail_start + found
    # APPNOTE 4.3.16: bytes 12 and 16 are size and offset of the directory.
    size, offset = struct.unpack("<2L", tail[found + 12 : found + 20])
    # The zip64 locator, if any, stands right before the end record.
    if found >= 20:
        locator = tail[found - 20 : found]
    else:
        locator = b""
    if locator[:4] == _LOCATOR64:
        (place,) = struct.unpack("<Q", locator[8:16])
        file.seek(min(place, length))
        # The fixed fields of a zip64 end record; what may follow them is not needed.
        end64 = file.read(56)
        if len(end64) < 56 or end64[:4] != _END64:
            raise BrokenZipError("its directory is not where it says")
        # APPNOTE 4.3.14: the same two as 64-bit numbers.
        size, offset = struct.unpack("<2Q", end64[40:56])
        end = place
    # Where the directory really is, counted from the end; the stated offset is from the archive's
    # own start, which may follow a prefix (a self-extracting program).
    start = end - size
    if start < 0 or start < offset or size > _LARGEST:
        raise BrokenZipError("its directory is not where it says, or too large")
    return start, size, start - offset


def _entries(content: bytes, length: int, shift: int, most: int | None) -> Directory:
    found = Directory()
    place, end = 0, len(content)
    while place + _ENTRY.size <= end and (most is None or len(found.names) < most):
        magic, flags, method, check, packed, size, name_size, extra, comment, *_, offset = (
            _ENTRY.unpack_from(content, place)
        )
        if magic != _MAGIC:
            raise BrokenZipError("its directory is damaged")
        place += _ENTRY.size
        raw = content[place : place + name_size]
        if _FULL in (size, packed, offset):
            fields = content[place + name_size : place + name_size + extra]
            size, packed, offset = _large(fields, size, packed, offset)
        place += name_size + extra + comment
        # Names that end in a slash are folders.
        if raw.endswith(b"/"):
            continue
        if offset + shift + packed > length:
            raise BrokenZipError("a part lies beyond its end")
        # Without the flag, names are in the code page of the first PC.
        found.names.append(raw.decode("utf-8" if flags & _UTF8 else "cp437", "replace"))
        found.offsets.append(offset + shift)
        found.packed.append(packed)
        found.sizes.append(size)
        found.methods.append(-1 if flags & _ENCRYPTED else method)
        found.checks.append(check)
    return found


def _large(fields: bytes, size: int, packed: int, offset: int) -> tuple[int, int, int]:
    """Sizes beyond 4 GB, which are stored in an extra field."""
    place = 0
    while place + 4 <= len(fields):
        kind, many = struct.unpack_from("<2H", fields, place)
        if kind == 1 and many % 8 == 0 and place + 4 + many <= len(fields):
            values = list(struct.unpack_from(f"<{many // 8}Q", fields, place + 4))
            taken = [
                # Only fields that are full in the entry appear in the extra field, in this order.
                values.pop(0) if known == _FULL and values else known
                for known in (size, packed, offset)
            ]
            # Offsets are added up later; sums of 64-bit claims must still fit the arrays.
            if max(taken) < 2**62:
                return taken[0], taken[1], taken[2]
        place += 4 + many
    raise BrokenZipError("a part has no size")
