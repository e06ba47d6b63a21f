"""The members of a tar file, found by walking its headers.

Nothing is unpacked, and members get no object each.
"""

from __future__ import annotations

import gzip
import io
import re
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from robgui.core.dataset.limits import LARGEST_ARRAY, is_gzip, reading, sized
from robgui.core.errors import DataError
from robgui.core.regular import open_regular

# POSIX ustar: everything comes in blocks of 512 bytes.
_BLOCK = 512
#: Members of these types are plain files.
_PLAIN = b"0\x007"
#: Types of a long name, which is stored in one of two ways.
_LONG, _PAX, _GLOBAL = b"L", b"x", b"g"
#: Bytes of what describes a member.
_LARGEST_HEAD = 2**20
_MOST_MEMBERS = 20_000_000
#: A compressed tar is unpacked into memory: pictures hardly shrink, so more than this is a bomb.
_GROWTH, FREE = 20, 256 * 2**20
_CHUNK = 2**20
_RECORD = re.compile(rb"(\d{1,10}) ")


@dataclass
class TarMembers:
    """The plain files of a tar file.

    Attributes:
        path: The file.
        names: Of the members, in order.
        offsets: Where the content of each begins.
        sizes: Its bytes.
        complete: Whether the file ends as a tar file does.
        memory: The unpacked file where it is compressed.
    """

    path: Path
    names: list[str] = field(default_factory=list)
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    sizes: array[int] = field(default_factory=lambda: array("Q"))
    complete: bool = True
    memory: bytes | None = None

    def size(self, number: int) -> int:
        """Bytes of a member."""
        return int(self.sizes[number])

    def read(self, number: int) -> bytes:
        """The content of a member."""
        with reading(self.path), self.stream() as file:
            file.seek(self.offsets[number])
            content = file.read(self.sizes[number])
        if len(content) != self.sizes[number]:
            raise DataError("the archive ends before it; get a complete copy.")
        return content

    def stream(self) -> IO[bytes]:
        """The whole file, unpacked."""
        if self.memory is None:
            return open_regular(self.path)
        return io.BytesIO(self.memory)


def read_tar(path: Path) -> TarMembers:
    """Finds the members of a tar file, plain or compressed with gzip."""
    found = TarMembers(path, memory=_unpacked(path) if is_gzip(path) else None)
    with reading(path), found.stream() as file:
        length = file.seek(0, io.SEEK_END)
        file.seek(0)
        _walk(file, length, found)
    return found


def _unpacked(path: Path) -> bytes:
    """All of a compressed file, unless it grows like a bomb."""
    parts: list[bytes] = []
    total = 0
    with reading(path), open_regular(path) as packed:
        largest = min(LARGEST_ARRAY, FREE + _GROWTH * path.stat().st_size)
        with gzip.GzipFile(fileobj=packed) as stream:
            while part := stream.read(_CHUNK):
                total += len(part)
                if total > largest:
                    raise DataError(
                        f"{path}: unpacked it is larger than {sized(largest)}; unpack it with"
                        " gunzip and open the .tar file, which is read piece by piece."
                    )
                parts.append(part)
    return b"".join(parts)


def _walk(file: IO[bytes], length: int, found: TarMembers) -> None:
    name = b""
    size: int | None = None
    while header := file.read(_BLOCK):
        # A block of zeros ends the archive; what follows is padding.
        if header == bytes(_BLOCK):
            return
        if len(header) < _BLOCK or not _is_header(header):
            if not found.names:
                raise DataError(f"{found.path}: this is no tar file, or a damaged one.")
            found.complete = False
            return
        # Offsets in a ustar header: name 0, size 124, checksum 148, type 156, magic 257, prefix
        # 345.
        kind, here = header[156:157], file.tell()
        own = _number(header[124:136])
        # A PAX header may give the size of the next member, not of itself.
        if size is None or kind in (_LONG, _PAX, _GLOBAL):
            stored = own
        else:
            stored = size
        # Cut off: the members found so far are good, and are kept.
        if stored is None or here + stored > length:
            found.complete = False
            return
        if kind in (_LONG, _PAX):
            content = _head(file, stored, found.path)
            name, size = _described(content, kind, name, size)
        elif kind != _GLOBAL and kind in _PLAIN:
            found.names.append((name or _name(header)).decode("utf-8", "surrogateescape"))
            found.offsets.append(here)
            found.sizes.append(stored)
            if len(found.names) > _MOST_MEMBERS:
                raise DataError(f"{found.path}: the archive has more than {_MOST_MEMBERS:,} parts.")
        # A long name or size is for the next real member only.
        if kind not in (_LONG, _PAX):
            name, size = b"", None
        # Members are padded to whole blocks.
        file.seek(here + stored + -stored % _BLOCK)
    found.complete = False


def _head(file: IO[bytes], size: int, path: Path) -> bytes:
    if size > _LARGEST_HEAD:
        raise DataError(f"{path}: a name in the archive has {sized(size)}; it is damaged.")
    return file.read(size)


def _described(
    content: bytes, kind: bytes, name: bytes, size: int | None
) -> tuple[bytes, int | None]:
    """The name and size that an extra header gives to the next member."""
    if kind == _LONG:
        return content.rstrip(b"\0"), size
    place = 0
    while (record := _RECORD.match(content, place)) and int(record[1]) > len(record[0]):
        # "%d key=value\n", where the number counts itself, the blank and the line feed.
        key, _, value = content[record.end() : place + int(record[1]) - 1].partition(b"=")
        if key == b"path":
            name = value
        # Eighteen digits: more would overflow the offsets.
        elif key == b"size" and value.isdigit() and len(value) < 19:
            size = int(value)
        place += int(record[1])
    return name, size


def _is_header(header: bytes) -> bool:
    """Whether the checksum is right."""
    stated = _number(header[148:156])
    # The checksum is computed with its own field read as eight blanks (8 × 32).
    return stated == sum(header) - sum(header[148:156]) + 256


def _number(digits: bytes) -> int | None:
    if digits[0] & 0x80:  # Sizes beyond 8 GB are stored as a binary number.
        number = int.from_bytes(digits[1:], "big")
        if number < 2**62:
            return number
        return None
    text = digits.strip(b" \0")
    if re.fullmatch(rb"[0-7]{1,12}", text):
        return int(text, 8)
    return None


def _name(header: bytes) -> bytes:
    # The old format has 100 bytes for a name; ustar adds a prefix in front.
    name = header[:100].partition(b"\0")[0]
    if header[257:263] == b"ustar\0":
        prefix = header[345:500].partition(b"\0")[0]
    else:
        prefix = b""
    if prefix:
        return prefix + b"/" + name
    return name
