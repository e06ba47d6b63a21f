"""Datasets that are one array: from_arrays, NPY and NPZ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from robgui.core.dataset import images
from robgui.core.dataset.arrays import (
    ArrayImages,
    Blocks,
    Layout,
    Memory,
    TableRows,
    Tracks,
    flat_image,
)
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.labels import label_array, label_rows
from robgui.core.dataset.limits import LARGEST_ARRAY, check_size
from robgui.core.dataset.options import Options
from robgui.core.dataset.source import Shape, Skips, Source
from robgui.core.errors import DataError
from robgui.core.model.settings import Kind

T = TypeVar("T")
#: Items examined to find the values of black and white, if not all are in memory.
_SAMPLE = 1024
_SAMPLE_BYTES = 256 * 2**20


def from_arrays(
    array: Any,
    labels: Any = None,
    names: Sequence[str] = (),
    name: str = "inputs",
    *,
    kind: Kind | None = None,
    lengths: Any = None,
    features: Sequence[str] = (),
) -> Dataset:
    """A dataset of inputs in memory; the first axis counts them.

    Args:
        array: Images ``(n, h, w)``, ``(n, c, h, w)`` or ``(n, h, w, c)``, a table ``(n, d)`` or
            sequences ``(n, t, f)``. Bytes 0-255, or floats 0-1 or 0-255 for images.
        labels: Class numbers, words or one-hot rows, one per input; rows of several 1 make a label
            matrix.
        names: Class names.
        name: What to call the dataset.
        kind: What one input is, when the shape does not tell.
        lengths: Number of points of each sequence, when they are padded.
        features: Column names of a table or of sequences.
    """
    values = np.asarray(array)
    check_numbers(values.dtype, name)
    options = Options(kind=kind, names=tuple(names), features=tuple(features))
    return build(
        Memory(values),
        name,
        None,
        options,
        None if labels is None else np.asarray(labels),
        None if lengths is None else np.asarray(lengths),
    )


def build(
    blocks: Blocks,
    name: str,
    path: Path | None,
    options: Options,
    labels: np.ndarray | None = None,
    lengths: np.ndarray | None = None,
    words: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Dataset:
    """The dataset of an array: kind and layout from its shape and type, labels as class numbers.

    ``words`` are class names from the file; those in the options take precedence. ``notes`` say
    what was left out.
    """
    where = str(path or name)
    _check_shape(blocks.shape, labels, where)
    numbers, matrix, names = _read_labels(labels, options.names or tuple(words), where)
    if lengths is not None and options.kind is None:
        kind = "sequence"
    else:
        kind = kind_of(blocks.shape, blocks.dtype, options)
    source: Source
    features: Sequence[str] = ()
    keep = np.arange(blocks.shape[0])
    if kind == "image":
        source = _image_source(blocks, options, where)
    else:
        check_size(np.dtype(np.float32), blocks.shape, Path(where), LARGEST_ARRAY // 4)
        values = blocks.take(keep).astype(np.float32)
        features = _features(values.shape[-1], options, where)
        source, keep = (_table_source if kind == "table" else _track_source)(
            values, lengths, features, where
        )
    return Dataset(
        source,
        name=name,
        path=path,
        labels=None if numbers is None else numbers[keep],
        label_matrix=None if matrix is None else matrix[keep],
        names=names,
        features=features,
        notes=notes,
        options=options.told(),
    )


def _check_shape(shape: Shape, labels: np.ndarray | None, where: str) -> None:
    """Refuses an array that is not a list of inputs, or whose labels do not match in number."""
    if len(shape) < 2:
        raise DataError(
            f"{where}: the array has shape {shape}, which is one row of numbers; "
            "inputs have two axes or more, and the first counts them."
        )
    if 0 in shape:
        raise DataError(
            f"{where}: the array has shape {shape} and is empty; it needs at least one input."
        )
    if labels is not None and labels.shape[:1] != shape[:1]:
        raise DataError(
            f"{where}: there are {labels.shape[0] if labels.ndim else 1:,} labels for"
            f" {shape[0]:,} inputs; the two must be equal."
        )


def _read_labels(
    labels: np.ndarray | None, names: tuple[str, ...], where: str
) -> tuple[np.ndarray | None, np.ndarray | None, tuple[str, ...]]:
    """Class numbers, or a matrix if an input may have several classes, and the class names."""
    if labels is None:
        return None, None, names
    matrix = label_rows(labels)
    if matrix is None:
        numbers, names = label_array(labels, names, where)
        return numbers, None, names
    if names and len(names) != matrix.shape[1]:
        raise DataError(
            f"{where}: there are {len(names)} class names for {matrix.shape[1]} columns of labels;"
            " the two must be equal."
        )
    return None, matrix, names


def kind_of(shape: Shape, dtype: np.dtype, options: Options) -> Kind:
    """What an array of this shape and type holds, unless the options say."""
    if options.kind is not None:
        return options.kind
    if len(shape) == 2:
        # Bytes only: a table of floats may happen to have 64 or 784 columns.
        if dtype == np.uint8 and flat_image(shape[1]):
            return "image"
        return "table"
    if len(shape) == 3:
        # Sequences have few columns; pictures are rarely narrower than 8 pixels.
        if dtype.kind in "bu" or min(shape[1:]) >= 8:
            return "image"
        return "sequence"
    return "image"


def image_layout(shape: Shape, where: str) -> Layout:
    """Where the channels of an image of this ``shape`` are."""
    if len(shape) == 1:
        if flat_image(shape[0]) is None:
            raise DataError(
                f"{where}: rows of {shape[0]} values are no square images; give the array its"
                " shape, or the kind table."
            )
        return "flat"
    if len(shape) == 2:
        return "hw"
    if len(shape) != 3:
        raise DataError(
            f"{where}: an image has two or three axes, not {len(shape)}; the shape of one item is"
            f" {shape}."
        )
    first, _, last = shape
    # Pictures have 1, 3 or 4 channels. If both ends fit or neither does, the shorter axis it is.
    usual = (1, 3, 4)
    if (first in usual) != (last in usual):
        if first in usual:
            return "chw"
        return "hwc"
    if first <= last:
        return "chw"
    return "hwc"


def _image_source(blocks: Blocks, options: Options, where: str) -> ArrayImages:
    layout = image_layout(blocks.shape[1:], where)
    low, high = options.low, options.high
    if low is None or high is None:
        count = blocks.shape[0]
        sampled = min(
            count,
            _SAMPLE,
            max(
                1, _SAMPLE_BYTES * count // max(1, blocks.dtype.itemsize * math.prod(blocks.shape))
            ),
        )
        if isinstance(blocks, Memory):
            # All of it: it is in memory, and a sample could miss the few bright pixels.
            sample = blocks.values
        else:
            sample = blocks.take(np.unique(np.linspace(0, count - 1, sampled).astype(int)))
        try:
            guess = images.value_range(sample)
        except DataError as error:
            raise error.at(where) from error
        low, high = guess[0] if low is None else low, guess[1] if high is None else high
    if not high > low:
        raise DataError(f"{where}: white ({high:.4g}) must be more than black ({low:.4g}).")
    return ArrayImages(blocks, layout, low, high, where)


def _table_source(
    values: np.ndarray, lengths: np.ndarray | None, features: Sequence[str], where: str
) -> tuple[Source, np.ndarray]:
    if values.ndim != 2:
        raise DataError(
            f"{where}: a table has two axes (rows, columns), not the shape {values.shape}."
        )
    skips = Skips()
    finite = np.isfinite(values)
    for row in np.flatnonzero(~finite.all(1)):
        skips.add(f"row {row}", f"{features[int(np.argmin(finite[row]))]} is not a finite number")
    keep = np.flatnonzero(finite.all(1))
    if not len(keep):
        raise DataError(f"{where}: no row holds finite numbers only; correct the file.")
    return TableRows(values[keep], keep, skips), keep


def _track_source(
    values: np.ndarray, lengths: np.ndarray | None, features: Sequence[str], where: str
) -> tuple[Source, np.ndarray]:
    if values.ndim != 3:
        raise DataError(
            f"{where}: sequences have three axes (inputs, points, columns), not the shape"
            f" {values.shape}."
        )
    count, longest, columns = values.shape
    if lengths is None:
        sizes = np.full(count, longest)
    else:
        sizes = lengths.reshape(-1)
    if (
        sizes.shape != (count,)
        or sizes.dtype.kind not in "iu"
        or (sizes < 1).any()
        or (sizes > longest).any()
    ):
        raise DataError(
            f"{where}: the lengths must be {count:,} whole numbers from 1 to {longest}."
        )
    # ``(n, t)``: True for points, False for padding, which may hold NaN.
    inside = np.arange(longest) < sizes[:, None]
    points = values[inside]
    if not np.isfinite(points).all():
        raise DataError(f"{where}: some points are not finite numbers; correct the file.")
    starts = np.concatenate([[0], np.cumsum(sizes.astype(np.int64))])
    return Tracks(
        points.reshape(-1, columns),
        starts,
        [f"sequence {place}" for place in range(count)],
        features,
    ), np.arange(count)


def _features(columns: int, options: Options, where: str) -> tuple[str, ...]:
    if options.features and len(options.features) != columns:
        raise DataError(
            f"{where}: {len(options.features)} column names were given for {columns} columns."
        )
    return options.features or tuple(f"column {place}" for place in range(1, columns + 1))


def check_numbers(dtype: np.dtype, where: str) -> None:
    """Refuses arrays of anything but numbers."""
    # A long double has another layout on every platform.
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        if dtype.hasobject:
            what = "Python objects, which are never executed"
        else:
            what = f"values of type {dtype}"
        raise DataError(f"{where}: the array holds {what}; save it as plain numbers.")
