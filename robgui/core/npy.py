"""The head of a NumPy array file, for several threads at once.

NumPy parses it with ``ast``, which in Python 3.11 fails now and then when two threads parse at the
same time.
"""

from __future__ import annotations

import threading
import tokenize
from typing import IO

import numpy as np

_parsing = threading.Lock()


def read_header(file: IO[bytes]) -> tuple[np.dtype, tuple[int, ...], bool]:
    """Type, shape, and whether the order is Fortran's.

    Numpy's own errors on a broken one, ValueError on an unknown version.
    """
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version}")
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    try:
        with _parsing:
            shape, fortran, dtype = read(file)
    except (tokenize.TokenError, MemoryError, RecursionError) as error:
        # numpy passes on what Python's parser raises, a lack of memory for brackets in brackets too
        raise ValueError(f"its header cannot be read ({error})") from error
    return dtype, tuple(int(side) for side in shape), bool(fortran)
