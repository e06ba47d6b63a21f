"""Reads a pickle of plain values and arrays without executing anything.

Only texts, numbers, lists, dictionaries and numeric NumPy arrays come out. Nothing the pickle names
is imported: the few names that an array needs map to stand-ins of ours, and NumPy itself never sees
the file's claims.
"""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from robgui.core.dataset.limits import LARGEST_ARRAY, check_size, first_line, reading, sized
from robgui.core.errors import DataError
from robgui.core.loading.pickles import is_sound
from robgui.core.regular import read_regular

#: Largest pickle in bytes; the training part of CIFAR-100 has 155 MB.
_LARGEST = min(2**30, LARGEST_ARRAY)


def read_pickle(path: Path) -> dict[str, Any]:
    """The dictionary in a pickle, its keys as text.

    Raises:
        DataError: It is damaged, not a dictionary, or would import something.
    """
    with reading(path):
        content = read_regular(path, _LARGEST)
    # First: the unpickler in C trusts the lengths and memo numbers that a file states.
    if not is_sound(content):
        raise DataError(f"{path}: this pickle is damaged; get a complete copy.")
    try:
        found = _Plain(io.BytesIO(content), path).load()
        if not isinstance(found, dict):
            raise DataError(f"{path}: this pickle holds no dictionary of arrays.")
        return {_text(key): _value(value, path) for key, value in found.items()}
    except (DataError, MemoryError):
        raise
    except Exception as error:  # A damaged pickle raises anything at all.
        raise DataError(f"{path}: this pickle cannot be read ({first_line(error)}).") from error


@dataclass
class _Array:
    """An array as the pickle describes it."""

    state: tuple[Any, ...] = ()

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, tuple):
            self.state = state
        else:
            self.state = ()


@dataclass
class _Type:
    """A type of values as the pickle describes it."""

    code: str = ""
    order: str = "|"

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, tuple) and len(state) > 1 and isinstance(state[1], str | bytes):
            self.order = _text(state[1])


def _make_array(*_: Any) -> _Array:
    return _Array()


def _from_buffer(buffer: Any, type_: Any, shape: Any, order: Any) -> _Array:
    """An array as protocol 5 describes it."""
    if isinstance(buffer, bytes | bytearray):
        content = bytes(buffer)
    else:
        content = b""
    return _Array((1, shape, type_, order == "F", content))


def _make_type(code: Any = "", *_: Any) -> _Type:
    return _Type(_text(code))


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    """Bytes in a pickle meant for Python 2: text in latin1."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1", "bytes"):
        raise DataError("a text in the pickle has an encoding of its own.")
    return text.encode("latin1")


_KNOWN: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _make_array,
    # NumPy 2 renamed numpy.core to numpy._core; files of both are around.
    ("numpy._core.multiarray", "_reconstruct"): _make_array,
    ("numpy.core.numeric", "_frombuffer"): _from_buffer,
    ("numpy._core.numeric", "_frombuffer"): _from_buffer,
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): _make_type,
    ("_codecs", "encode"): _encode,
}


class _Plain(pickle.Unpickler):
    """Knows the names in ``_KNOWN`` and no others."""

    def __init__(self, file: io.BytesIO, path: Path) -> None:
        # latin1 maps every byte to one character, so the byte strings of Python 2 survive.
        super().__init__(file, encoding="latin1")
        self._path = path

    def find_class(self, module: str, name: str) -> Any:
        """Our own stand-in; the file cannot choose anything else."""
        if (module, name) not in _KNOWN:
            raise DataError(
                f"{self._path} is refused: this pickle would import {module[:80]}.{name[:80]}, and"
                " data need no code; convert it to NPZ where you trust it."
            )
        return _KNOWN[module, name]

    def persistent_load(self, pid: Any) -> NoReturn:
        raise DataError(f"{self._path} is refused: this pickle refers to something outside of it.")


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("latin1")
    return str(value)


def _value(value: Any, path: Path) -> Any:
    if isinstance(value, _Array):
        return _array(value, path)
    return value


def _array(found: _Array, path: Path) -> np.ndarray:
    """The array that a pickle describes: version, shape, type, order, bytes."""
    match found.state:
        case (_, tuple(shape), _Type() as type_, fortran, bytes() | str() as raw) if all(
            isinstance(side, int) and 0 <= side < 2**40 for side in shape
        ):
            if isinstance(raw, str):
                content = raw.encode("latin1")
            else:
                content = raw
        case _:
            raise DataError(f"{path}: an array in this pickle is not described as NumPy does.")
    if type_.code[:1] not in ("b", "i", "u", "f") or type_.code[1:] not in ("1", "2", "4", "8"):
        raise DataError(f"{path}: an array in this pickle does not hold plain numbers.")
    if type_.order in ("<", ">"):
        order = type_.order
    else:
        order = "|"
    # Single bytes have no byte order.
    dtype = np.dtype(f"{order if type_.code[1:] != '1' else '|'}{type_.code}")
    if check_size(dtype, shape, path) * dtype.itemsize != len(content):
        raise DataError(
            f"{path}: an array in this pickle has {sized(len(content))}, not what its shape"
            f" {shape} needs."
        )
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")
