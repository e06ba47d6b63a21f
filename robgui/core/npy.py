"""Reads NumPy array files safely from several threads.

NumPy parses the header with ``ast``, which on Python 3.11 fails now and then when two threads parse
at once.
"""

from __future__ import annotations

import io
import math
import threading
import tokenize
from typing import IO

import numpy as np

_parsing = threading.Lock()
#: Deepest nesting of a header: brackets for the shape and, for records, lists of pairs with shapes.
_DEEPEST = 8
#: Longest header; NumPy itself accepts no longer ones.
_LONGEST = 10_000


def read_header(file: IO[bytes]) -> tuple[np.dtype, tuple[int, ...], bool]:
    """Dtype, shape, and whether the order is Fortran's.

    A broken header raises NumPy's own errors, an unknown version ValueError.
    """
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version}")
    if version == (1, 0):
        read = np.lib.format.read_array_header_1_0
    else:
        read = np.lib.format.read_array_header_2_0
    _refuse_nesting(file, version)
    try:
        with _parsing:
            shape, fortran, dtype = read(file)
    except (tokenize.TokenError, RecursionError) as error:
        # NumPy passes on whatever Python's parser raises.
        raise ValueError(f"its header cannot be read ({error})") from error
    return dtype, tuple(int(side) for side in shape), bool(fortran)


def read_array(content: bytes) -> np.ndarray:
    """The array in a NumPy file; Python objects are never read.

    ValueError if it is damaged, or longer or shorter than its shape.
    """
    file = io.BytesIO(content)
    try:
        dtype, shape, fortran = read_header(file)
    except (EOFError, TypeError, OSError) as error:
        raise ValueError(str(error) or "its header cannot be read") from error
    values = content[file.tell() :]
    if dtype.hasobject:
        raise ValueError("Python objects are never read")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(values):
        raise ValueError("it is not as long as its shape")
    return np.frombuffer(values, dtype).reshape(shape, order="F" if fortran else "C")


def _refuse_nesting(file: IO[bytes], version: tuple[int, int]) -> None:
    """Rejects nested brackets, which exhaust Python's parser and surface as MemoryError."""
    start = file.tell()
    length = int.from_bytes(file.read(2 if version == (1, 0) else 4), "little")
    if length > _LONGEST:
        raise ValueError("its header is too long")
    depth = 0
    for sign in file.read(length):
        depth += (sign in b"([{") - (sign in b")]}")
        if depth > _DEEPEST:
            raise ValueError("the brackets of its header are nested too deeply")
    file.seek(start)
