"""Reads files without trusting what they say about their size."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import json
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

import numpy as np

from robgui.core.errors import DataError
from robgui.core.regular import open_regular


def _memory() -> int:
    """Bytes of memory in this machine, 8 GiB if the system does not tell."""
    try:
        # Windows has no sysconf, hence AttributeError below.
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 8 * 2**30


#: Largest array held in memory; larger ones must be plain .npy or IDX files, which are read item by
#: item.
LARGEST_ARRAY = min(4 * 2**30, _memory() // 4)
#: Longest text of a table; its numbers take up to twelve times as much ("1,2" to a line).
LARGEST_TABLE = 128 * 2**20
#: Longest JSON document; its Python objects take up to twenty times as much ("[],[],…").
LARGEST_JSON = 128 * 2**20
#: Longest line of a table, in characters.
LARGEST_LINE = 4 * 2**20
#: A file up to this size is fingerprinted by its whole content, a larger one by its two ends.
_WHOLE = 64 * 2**20
_CHUNK = 2**20
#: Most that one byte of a compressed file may unpack to; deflate's own limit is 1,032.
_MOST_GROWTH = 1100
_GZIP = b"\x1f\x8b"
_BROKEN = (OSError, EOFError, zlib.error)


def sized(count: float) -> str:
    """A number of bytes for people."""
    for unit in ("bytes", "KB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    if count < 1e4:
        return f"{count:,.3g} GB"
    return f"{count:.0e} GB"


def first_line(error: Exception) -> str:
    """A library's error message, as part of one sentence."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:200].rstrip(".")


def is_gzip(path: Path) -> bool:
    """Whether the file starts like a gzip file, whatever its name."""
    return head(path, 2) == _GZIP


def head(path: Path, count: int) -> bytes:
    """The first bytes of a file."""
    with reading(path), open_regular(path) as file:
        return file.read(count)


@contextmanager
def reading(path: object) -> Iterator[None]:
    """Turns what the operating system and the decompressor raise into one sentence."""
    try:
        yield
    except MemoryError as error:
        raise DataError(
            f"{path}: there is not enough memory to read it; use a smaller file."
        ) from error
    except _BROKEN as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or first_line(error)
        raise DataError(
            f"{path}: the file cannot be read ({reason}); check that it is complete."
        ) from error


@dataclass(frozen=True)
class Member:
    """A small file inside an archive.

    Attributes:
        archive: The archive.
        name: Its name there.
        content: Reads it.
    """

    archive: Path
    name: str
    content: Callable[[], bytes]

    def __str__(self) -> str:
        return f"{self.archive}, {self.name}"

    @property
    def suffix(self) -> str:
        """As of a Path."""
        return PurePosixPath(self.name).suffix


def open_bytes(path: Path | Member) -> BinaryIO:
    """Opens a file, through gzip if it is compressed."""
    if isinstance(path, Member):
        return io.BytesIO(path.content())
    file = open_regular(path)
    start = file.read(2)
    file.seek(0)
    if start != _GZIP:
        return file
    unpacked = gzip.GzipFile(fileobj=file)
    # Closed with it; typeshed asks for less than it takes.
    unpacked.myfileobj = cast("io.FileIO", file)
    return cast("BinaryIO", unpacked)


def read_array(
    stream: IO[bytes], dtype: np.dtype, shape: tuple[int, ...], path: Path
) -> np.ndarray:
    """Reads exactly one array; memory is touched only as data really arrive."""
    values = check_size(dtype, shape, path)
    with reading(path):
        # What a gzip file can unpack to is bounded by deflate itself: a larger claim is a lie, and
        # is refused before memory is touched.
        if values * dtype.itemsize > _MOST_GROWTH * (path.stat().st_size + _CHUNK // _MOST_GROWTH):
            raise DataError(
                f"{path}: the file is far too short for the {sized(values * dtype.itemsize)} it"
                " declares; get a complete copy."
            )
        # np.empty reserves addresses; the system gives memory only as chunks are written.
        array = np.empty(values, dtype=dtype)
        if values and dtype.itemsize:
            view = array.reshape(-1).view(np.uint8).data
        else:
            view = memoryview(b"")
        done = 0
        while done < len(view):
            part = stream.read(min(_CHUNK, len(view) - done))
            if not part:
                raise DataError(
                    f"{path}: the file ends after {sized(done)} of {sized(len(view))}; get a"
                    " complete copy."
                )
            view[done : done + len(part)] = part
            done += len(part)
    return array.reshape(shape)


def check_size(
    dtype: np.dtype, shape: tuple[int, ...], path: Path, largest: int = LARGEST_ARRAY
) -> int:
    """Number of values of a declared array; DataError if it is too large to hold."""
    values = 1
    for side in shape:
        if side < 0:
            raise DataError(
                f"{path}: the file declares the impossible shape {shape}; get a complete copy."
            )
        values *= side
    if values * max(1, dtype.itemsize) > largest:
        raise DataError(
            f"{path}: the file declares {sized(values * dtype.itemsize)} of data, more than the"
            f" {sized(largest)} that are read at once; use a smaller file."
        )
    return values


def text_encoding(path: Path | Member, largest: int = LARGEST_TABLE) -> str:
    """Reads the file once to its end: UTF-8, UTF-16 with its mark, or else Windows-1252.

    Raises:
        DataError: The text is too large, is not text, or the file is broken.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    # "-sig" drops the mark that Excel puts in front, or it would be part of the first column's
    # name.
    encoding, total = "utf-8-sig", 0
    with reading(path), open_bytes(path) as stream:
        while part := stream.read(_CHUNK):
            # UTF-16 shows itself by its mark only.
            if total == 0 and part[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                encoding = "utf-16"
            total += len(part)
            if total > largest:
                raise DataError(
                    f"{path}: the file holds more than {sized(largest)} of text; use a smaller"
                    " file, or NPZ for large data."
                )
            if encoding == "utf-16":
                continue
            if b"\0" in part:
                raise DataError(f"{path}: this is not a text file; choose a CSV or JSON file.")
            # Not UTF-8 after all: Windows-1252 decodes anything, so the rest need not be tried.
            if encoding == "utf-8-sig" and not _decodes(decoder, part):
                encoding = "cp1252"
    return encoding


def _decodes(decoder: codecs.IncrementalDecoder, part: bytes) -> bool:
    try:
        decoder.decode(part)
    except UnicodeDecodeError:
        return False
    return True


@contextmanager
def open_text(path: Path | Member, largest: int = LARGEST_TABLE) -> Iterator[io.TextIOWrapper]:
    """Opens a text file in whatever encoding it has; line ends are kept."""
    encoding = text_encoding(path, largest)
    with reading(path), open_bytes(path) as stream:
        # newline="": a quoted cell of a CSV file may hold line ends of its own.
        yield io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="")


def lines(stream: io.TextIOWrapper, path: object) -> Iterator[str]:
    """The lines of a text, each of bounded length."""
    while line := stream.readline(LARGEST_LINE):
        if len(line) == LARGEST_LINE:
            raise DataError(
                f"{path}: a line is longer than {sized(LARGEST_LINE)}; this is not a table."
            )
        yield line


def read_json(path: Path | Member) -> object:
    """A JSON document."""
    with open_text(path, LARGEST_JSON) as stream:
        text = stream.read()
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{path}: this is not a JSON document robgui can read ({error}); correct the file."
        ) from error


def digest(path: Path) -> str:
    """Fingerprint of a file's content; of the ends and the size when it is large."""
    total = hashlib.blake2b(digest_size=16)
    with reading(path), open_regular(path) as file:
        size = file.seek(0, io.SEEK_END)
        total.update(str(size).encode())
        # Both ends: headers lie at the start, and what a download lost at the end.
        starts = (0,) if size <= _WHOLE else (0, size - _WHOLE // 2)
        for start in starts:
            file.seek(start)
            total.update(file.read(_WHOLE // len(starts)))
    return total.hexdigest()
