"""Inputs as lossless files: PNG if 256 levels are exact, else a NumPy array."""

from __future__ import annotations

import io

import numpy as np

from robgui.core.dataset.images import decode_image, decoding, unit_float
from robgui.core.errors import DataError
from robgui.core.npy import read_array

#: Largest input of a classifier.
LARGEST = 256_000_000
PNG, NPY = ".png", ".npy"
# In float32, as readers divide: the round trip is compared bit for bit.
_LEVELS = np.float32(255)


def to_file(x: np.ndarray, kind: str) -> tuple[str, bytes]:
    """An input in [0, 1] as the ending and the content of a file.

    Args:
        x: float32 ``shape``.
        kind: ``image``, ``table`` or ``sequence``.
    """
    values = np.ascontiguousarray(x, dtype=np.float32)
    if kind == "image":
        levels = _levels(values)
    else:
        levels = None
    if levels is not None:
        return PNG, _png(levels)
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, values, allow_pickle=False)
    return NPY, buffer.getvalue()


def from_file(name: str, content: bytes) -> np.ndarray:
    """Reads an input written by ``to_file``: float32 in [0, 1].

    Raises:
        DataError: It is damaged, or no such input; the sentence names the file.
    """
    if name.endswith(PNG):
        values = _pixels(name, content)
    else:
        values = _array(name, content)
    if not np.isfinite(values).all() or values.min(initial=0) < 0 or values.max(initial=1) > 1:
        raise DataError(f"{name} holds values outside 0 to 1; write the guard suite again.")
    return values


def _pixels(name: str, content: bytes) -> np.ndarray:
    with decoding(name):
        pixels = decode_image(io.BytesIO(content))
    return np.ascontiguousarray(unit_float(pixels).transpose(2, 0, 1))


def _array(name: str, content: bytes) -> np.ndarray:
    try:
        values = read_array(content)
    except ValueError as error:
        raise DataError(
            f"{name} is no array that can be read ({error}); write the guard suite again."
        ) from error
    if values.dtype != np.float32 or not values.size:
        raise DataError(f"{name} holds no input of a model; write the guard suite again.")
    return values


def _levels(x: np.ndarray) -> np.ndarray | None:
    """The bytes ``(h, w, c)`` that represent an image exactly; None if 256 levels are too few."""
    if x.ndim != 3 or x.shape[0] not in (1, 3):
        return None
    levels = np.rint(np.clip(x, 0, 1) * _LEVELS).astype(np.uint8)
    # A case must be the very input that was found, so PNG is used only if it loses nothing.
    exact = np.array_equal(unit_float(levels), x)
    if exact:
        return np.ascontiguousarray(levels.transpose(1, 2, 0))
    return None


def _png(levels: np.ndarray) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    if levels.shape[2] == 1:
        pixels = levels[:, :, 0]
    else:
        pixels = levels
    Image.fromarray(pixels).save(buffer, "png", optimize=True)
    return buffer.getvalue()
