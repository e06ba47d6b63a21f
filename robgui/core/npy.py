"""The head of a NumPy array file, for several threads at once.

NumPy parses it with ``ast``, which in Python 3.11 fails now and then when two threads parse at the
same time.
"""

from __future__ import annotations

import io
import math
import threading
import tokenize
from typing import IO

import numpy as np

_parsing = threading.Lock()
#: A head has brackets for the shape and, of records, for lists of pairs with shapes of their own.
_DEEPEST = 8
#: NumPy itself takes no longer ones.
_LONGEST = 10_000


def read_header(file: IO[bytes]) -> tuple[np.dtype, tuple[int, ...], bool]:
    """Type, shape, and whether the order is Fortran's.

    Numpy's own errors on a broken one, ValueError on an unknown version.
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
        # numpy passes on what Python's parser raises
        raise ValueError(f"its header cannot be read ({error})") from error
    return dtype, tuple(int(side) for side in shape), bool(fortran)


def read_array(content: bytes) -> np.ndarray:
    """The array of a NumPy file; Python objects are never read.

    ValueError where it is damaged, or longer or shorter than its shape.
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
    """Brackets in brackets exhaust Python's parser, which calls that a lack of memory."""
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
