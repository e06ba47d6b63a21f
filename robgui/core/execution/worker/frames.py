"""Frames: JSON and raw arrays over a pipe, within bounds; nothing in them is executed.

A frame is a fixed head (magic, length of the header, length of the body), a JSON header, and the
bytes of its arrays one after the other. A worker is not trusted: sizes are checked before anything
is allocated, and a malformed frame raises FrameError.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from robgui.core.npz import Arrays

#: The largest header and body accepted, in bytes.
MOST_HEADER = 32 * 2**20
#: A result of two gigabytes would take seconds to send and could not be drawn.
MOST_BODY = 2 * 2**30
#: Shows at once that a process speaks another protocol; the digit counts its versions.
_MAGIC = b"rgf1"
_HEAD = struct.Struct("!4sIQ")
#: Alignment of arrays in the body: they can be used in place.
_ALIGNMENT = 64
#: No result has nearly as many arrays: beyond lies an attack on the reader.
_MOST_ARRAYS = 100_000
#: What every version of numpy can have.
_MOST_DIMENSIONS = 32
#: Plain numbers and text; never Python objects.
_DTYPE = re.compile(r"[<>|=](?:[biufcSU]\d{1,7}|[mM]8(?:\[\w{1,10}\])?)")


class FrameError(Exception):
    """What came is not a frame, or too large."""


class Pipe(Protocol):
    """An unbuffered binary file."""

    def readinto(self, buffer: Any, /) -> int | None: ...

    def write(self, data: Any, /) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Frame:
    """A message: JSON values, and arrays by name."""

    header: dict[str, Any]
    arrays: Arrays = field(default_factory=dict)


def write_frame(pipe: Pipe, frame: Frame) -> None:
    """Sends a frame; waits until the other side has taken it."""
    shapes = {name: [array.dtype.str, list(array.shape)] for name, array in frame.arrays.items()}
    # NaN is not JSON; arrays may hold it, plain numbers may not.
    header = json.dumps({**frame.header, "arrays": shapes}, allow_nan=False).encode()
    pieces = list(_pieces(frame.arrays))
    size = sum(len(piece) for piece in pieces)
    if len(header) > MOST_HEADER or size > MOST_BODY:
        raise FrameError(f"a message of {len(header) + size:,} bytes is too large to be sent")
    # Head and header in one write: most frames have no body and cost one system call.
    _write(pipe, _HEAD.pack(_MAGIC, len(header), size) + header)
    for piece in pieces:
        _write(pipe, piece)


def read_frame(pipe: Pipe) -> Frame | None:
    """The next frame; None if the other side is gone, even in the middle of one."""
    head = _read(pipe, _HEAD.size)
    if len(head) < _HEAD.size:
        return None
    magic, length, size = _HEAD.unpack(head)
    if magic != _MAGIC or length > MOST_HEADER or size > MOST_BODY:
        raise FrameError("it does not begin like one, or is too large")
    text = bytes(_read(pipe, length))
    body = _read(pipe, size)
    if len(text) < length or len(body) < size:
        return None
    header = _header(text)
    shapes = header.pop("arrays", {})
    return Frame(header, _arrays(shapes, body))


def _pieces(arrays: Arrays) -> Iterator[memoryview | bytes]:
    for array in arrays.values():
        flat = np.ascontiguousarray(array).reshape(-1)
        if flat.nbytes:
            yield flat.view(np.uint8).data
            # Fills up to the alignment, also after the last array: the reader counts it in.
            yield bytes(-flat.nbytes % _ALIGNMENT)


def _header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"its header is no JSON ({type(error).__name__})") from error
    if not isinstance(header, dict):
        raise FrameError("its header is no JSON object")
    return header


def _arrays(shapes: Any, body: memoryview) -> Arrays:
    if not isinstance(shapes, dict) or len(shapes) > _MOST_ARRAYS:
        raise FrameError("its list of arrays is malformed")
    arrays: Arrays = {}
    start = 0
    for name, described in shapes.items():
        dtype, shape = _described(described)
        count = math.prod(shape)
        size = count * dtype.itemsize
        # Checked against what came, not what was announced: an array never reaches beyond the body.
        if start + size > len(body):
            raise FrameError("an array is larger than what was sent")
        if size:
            flat = np.frombuffer(body, dtype, count, start)
        else:
            flat = np.empty(count, dtype)
        arrays[name] = flat.reshape(shape)
        start += size + -size % _ALIGNMENT
    return arrays


def _described(described: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    match described:
        case [str(name), list(shape)] if _DTYPE.fullmatch(name) and len(shape) <= _MOST_DIMENSIONS:
            # ``type``, not isinstance: True is an int to Python, and JSON has it.
            if all(type(side) is int and 0 <= side <= MOST_BODY for side in shape):
                try:
                    return np.dtype(name), tuple(shape)
                except TypeError as error:
                    raise FrameError(f"an array is of the unknown type {name}") from error
    raise FrameError("an array is described in a way that is not understood")


def _read(pipe: Pipe, size: int) -> memoryview:
    """``size`` bytes; fewer if the other side is gone."""
    view = np.empty(size, np.uint8).data  # Unlike a bytearray, not zeroed first.
    got = 0
    while got < size:
        count = pipe.readinto(view[got:])
        if not count:
            break
        got += count
    return view[:got]


def _write(pipe: Pipe, data: memoryview | bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[pipe.write(view) or 0 :]
