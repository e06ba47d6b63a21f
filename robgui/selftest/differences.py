"""How far two results of the same request are apart."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

#: Fields that tell how long something took; they differ from run to run.
_TIMES = ("seconds",)


def difference(one: Any, other: Any) -> float:
    """The largest difference between numbers of the two, relative if they are above 1.

    inf if their structure differs; times are ignored.
    """
    return max(_differences(one, other), default=0.0)


def _differences(one: Any, other: Any) -> Iterator[float]:
    if dataclasses.is_dataclass(one) and type(one) is type(other):
        for each in dataclasses.fields(one):
            if not each.name.endswith(_TIMES):
                yield from _differences(getattr(one, each.name), getattr(other, each.name))
    elif isinstance(one, dict) and isinstance(other, dict):
        yield 0.0 if one.keys() == other.keys() else math.inf
        for name in one.keys() & other.keys():
            yield from _differences(one[name], other[name])
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
        yield 0.0 if len(one) == len(other) else math.inf
        for pair in zip(one, other, strict=False):
            yield from _differences(*pair)
    elif _is_number(one) and _is_number(other):
        yield _of_numbers(np.asarray(one), np.asarray(other))
    else:
        yield 0.0 if one is other or bool(np.all(one == other)) else math.inf


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number | np.bool_) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "fiub"
    )


def _of_numbers(one: np.ndarray, other: np.ndarray) -> float:
    if one.shape != other.shape:
        return math.inf
    if not one.size:
        return 0.0
    one, other = one.astype(np.float64), other.astype(np.float64)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(all="ignore"):
        apart = np.abs(one - other) / np.maximum(1.0, np.abs(one))
    apart = np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))
    return float(apart.max())
