"""Validates what is asked of a dataset: which items, and in which shape."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robgui.core.dataset.limits import LARGEST_ARRAY, sized
from robgui.core.dataset.source import Shape
from robgui.core.errors import DataError
from robgui.core.text import words

Indices = Sequence[int] | np.ndarray


def numbers(indices: Indices, count: int, where: str) -> np.ndarray:
    """Indices as whole numbers; a mask becomes the places where it is True.

    Args:
        indices: Numbers from 0, or one True or False for each item.
        count: How many items there are.
        where: What to call the data in an error.
    """
    given: np.ndarray = np.asarray(indices)
    if given.dtype == np.bool_:
        if given.shape != (count,):
            raise DataError(
                f"{where}: a choice by True and False needs one for each of"
                f" {words.count(count, 'item')}, not the shape {given.shape}."
            )
        return np.flatnonzero(given)
    try:
        # Python integers beyond 64 bits make an object array, whose cast overflows.
        return given.astype(np.int64).reshape(-1)
    except OverflowError:  # Larger than any count of items.
        raise DataError(
            f"{where}: there is no item with so large a number; the dataset has"
            f" {words.count(count, 'item')}, counted from 0."
        ) from None


def possible_shape(shape: Shape | None, own: Shape | None, count: int, where: str) -> Shape:
    """The shape for ``count`` items: the one asked for, or their own."""
    if shape is None:
        target = own
    else:
        target = tuple(int(side) for side in shape)
    if target is None:
        raise DataError(f"{where}: the items differ in size; give the shape they shall have.")
    if any(side < 1 for side in target):
        raise DataError(
            f"{where}: the shape {target} is impossible; every size must be at least 1."
        )
    if count * math.prod(target) * 4 > LARGEST_ARRAY:  # Bytes of a float32.
        raise DataError(
            f"{where}: {count:,} items of shape {target} need"
            f" {sized(4 * count * math.prod(target))} at once; choose fewer items or read them"
            " in batches."
        )
    return target
