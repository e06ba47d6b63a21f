"""IDX files, the format of MNIST and its family, plain or compressed.

A file starts with two zero bytes, a byte for the type, a byte for the number of axes, and the axes
as big-endian 32-bit numbers; the values follow.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np

from robgui.core.dataset.arrays import Blocks, FileRows, Memory
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.formats.stacked import build
from robgui.core.dataset.limits import check_size, head, is_gzip, open_bytes, read_array, reading
from robgui.core.dataset.options import Options
from robgui.core.dataset.source import Shape
from robgui.core.errors import DataError

# The third byte, as on http://yann.lecun.com/exdb/mnist; 0x0A is not assigned.
_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_NAME = re.compile(
    r"idx\d?[-_.]ubyte(\.gz)?$|\.idx\d?(\.gz)?$|-(images|labels)-idx\d", re.IGNORECASE
)


def looks_like_idx(path: Path) -> bool:
    """Whether the name, or else the first bytes, are those of an IDX file."""
    if _NAME.search(path.name):
        return True
    start = head(path, 4)
    return len(start) == 4 and start[:2] == b"\0\0" and start[2] in _TYPES and 1 <= start[3] <= 4


def idx_files(names: list[str]) -> list[str]:
    """The names that are those of IDX files."""
    return [name for name in names if _NAME.search(name)]


def open_idx_folder(folder: Path, names: list[str], options: Options) -> Dataset:
    """Opens the images file of a folder: the test images, unless ``split`` says train."""
    wanted = [name for name in idx_files(names) if "label" not in name.casefold()] or idx_files(
        names
    )
    train = options.split == "train"
    wanted.sort(key=lambda name: (("train" in name.casefold()) != train, name))
    dataset = open_idx(folder / wanted[0], options)
    dataset.path = folder
    return dataset


def open_idx(path: Path, options: Options) -> Dataset:
    """Opens an images file with the labels file beside it, or vice versa."""
    beside = _partner(path)
    images, labels = (
        (beside, path) if "label" in path.name.casefold() and beside is not None else (path, beside)
    )
    blocks = _blocks(images)
    numbers = None if labels is None else _blocks(labels)
    if len(blocks.shape) < 2:
        raise DataError(
            f"{path}: this is a labels file and its images file is not beside it; put both into one"
            " folder."
        )
    if numbers is not None and len(numbers.shape) != 1:
        raise DataError(f"{labels}: a labels file has one axis, not the shape {numbers.shape}.")
    # IDX is a format of pictures: by their shape alone, narrow ones would pass for sequences.
    if len(blocks.shape) > 2 and options.kind is None:
        options = options.model_copy(update={"kind": "image"})
    values = None if numbers is None else numbers.take(np.arange(numbers.shape[0]))
    return build(blocks, images.name, path, options, values)


def _partner(path: Path) -> Path | None:
    """The labels file of an images file, or the images file of a labels file, beside it."""
    pattern = _pattern(path.name)
    if pattern is None:
        return None
    with reading(path):
        names = sorted(entry.name for entry in path.parent.iterdir())
    own = "label" in path.name.casefold()
    return next(
        (
            path.parent / name
            for name in names
            if _pattern(name) == pattern and ("label" in name.casefold()) != own
        ),
        None,
    )


def _pattern(name: str) -> str | None:
    """The common part of the names of an images file and its labels file."""
    lower = name.casefold().removesuffix(".gz")
    common = re.sub(r"images?|labels?", "*", lower)
    if common == lower:
        return None
    # The digit is the number of axes: 3 for images, 1 for labels. Some mirrors write
    # "images.idx3-ubyte", others "images-idx3-ubyte".
    return re.sub(r"[-_.]", "-", re.sub(r"idx\d", "idx", common))


def _blocks(path: Path) -> Blocks:
    with reading(path), open_bytes(path) as stream:
        # Sixteen bytes are four axes, the most that are read.
        dtype, shape = _header(stream.read(4), stream.read(16), path)
        offset = 4 + 4 * len(shape)
        if not is_gzip(path) and len(shape) > 1:
            size = path.stat().st_size
            # Without a bound on the whole: only single rows of it are ever in memory.
            if size - offset < check_size(dtype, shape, path, largest=2**62) * dtype.itemsize:
                raise DataError(
                    f"{path}: the file is shorter than the {shape[0]:,} items it declares; get a"
                    " complete copy."
                )
            check_size(dtype, shape[1:], path)
            return FileRows(path, offset, dtype, shape)
    # There is no seeking in a packed file, and labels are read whole anyway.
    with reading(path), open_bytes(path) as stream:
        stream.read(offset)
        return Memory(read_array(stream, dtype, shape, path))


def _header(start: bytes, axes: bytes, path: Path) -> tuple[np.dtype, Shape]:
    if (
        len(start) < 4
        or start[:2] != b"\0\0"
        or start[2] not in _TYPES
        or not 1 <= start[3] <= 4
        or len(axes) < 4 * start[3]
    ):
        raise DataError(
            f"{path}: this is not an IDX file, its first bytes are wrong; get a complete copy."
        )
    return np.dtype(_TYPES[start[2]]), struct.unpack(f">{start[3]}I", axes[: 4 * start[3]])
