"""MATLAB files: ``X`` and ``y`` as SVHN and many others have them, the items first or last."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from robgui.core.dataset.arrays import Memory
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.formats.matlab_file import read_values, read_variables
from robgui.core.dataset.formats.numpy_files import choose_keys
from robgui.core.dataset.formats.stacked import build
from robgui.core.dataset.limits import head
from robgui.core.dataset.options import Options
from robgui.core.dataset.source import Shape

_NEWEST = b"MATLAB 7.3"


def open_mat(path: Path, options: Options) -> Dataset:
    """Opens a .mat file of any version."""
    if head(path, len(_NEWEST)) == _NEWEST:
        from robgui.core.dataset.formats.hdf5 import open_matlab_73

        return open_matlab_73(path, options)
    known = read_variables(path)
    shapes: dict[str, Shape] = {name: variable.shape for name, variable in known.items()}
    inputs, labels = known_pair(shapes, options, path)
    values = read_values(path, known[inputs])
    if labels is None:
        numbers = None
    else:
        numbers = read_values(path, known[labels]).reshape(-1)
    if items_last(values.shape, None if numbers is None else len(numbers)):
        values = np.moveaxis(values, -1, 0)
    values = np.ascontiguousarray(values)
    return build(Memory(values), path.name, path, options, from_one(numbers))


def known_pair(shapes: dict[str, Shape], options: Options, path: Path) -> tuple[str, str | None]:
    """The arrays of inputs and labels; a MATLAB vector is a matrix with one row or column."""
    flat = {
        # MATLAB has no vectors: labels come as (1, n) or (n, 1).
        name: (math.prod(shape),) if len(shape) == 2 and 1 in shape else shape
        for name, shape in shapes.items()
    }
    inputs, labels = choose_keys(flat, options, path)
    if labels is None:
        counts = (shapes[inputs][0], shapes[inputs][-1])
        likely = [
            name
            for name, shape in flat.items()
            if name != inputs and len(shape) == 1 and shape[0] in counts
        ]
        named = [name for name in likely if name.casefold() in ("y", "label", "labels", "target")]
        labels = next(iter(named), likely[0] if len(likely) == 1 else None)
    return inputs, labels


def items_last(shape: Shape, labels: int | None) -> bool:
    """Whether the last axis of an array counts the items: MATLAB's images are h × w × c × n."""
    if labels is not None and (shape[0] == labels) != (shape[-1] == labels):
        return shape[-1] == labels
    # MATLAB stacks pictures along the last axis: height, width, channels, number.
    return len(shape) == 4 and shape[2] in (1, 3)


def from_one(labels: np.ndarray | None) -> np.ndarray | None:
    """MATLAB counts from 1: labels 1 … k without a 0 become 0 … k - 1."""
    if labels is None or labels.dtype.kind not in "iuf" or not labels.size:
        return labels
    # MATLAB counts from 1; only labels that use every number from 1 on are moved down.
    present = set(np.unique(labels).tolist())
    if present == set(range(1, len(present) + 1)):
        return labels.astype(np.int64) - 1
    return labels
