"""Numbers of zoNNscan as they are said: never finer than the samples can tell."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import takewhile

from robgui.analyses.zonnscan.resolution import resolution
from robgui.core.text.words import number

#: A mean of many inputs is not said more finely than this.
FINEST_MEAN = 1e-3


def uncertainty(value: float, low: float, high: float, samples: float) -> str:
    """``0.12 ± 0.005``, ``below 0.004`` where the samples cannot tell it from 0, or that so few
    samples tell nothing.
    """
    least = resolution(samples)
    if least >= 1:
        return "not known from so few"
    if value < least:
        return f"below {number(rounded_up(max(high, least)))}"
    return f"{number(value)} ± {number((high - low) / 2)}"


def mean_uncertainty(value: float) -> str:
    """The mean over many inputs; ``below 0.001`` rather than a number nobody has measured."""
    if value < FINEST_MEAN:
        return f"below {number(FINEST_MEAN)}"
    return number(value)


def rounded_up(value: float) -> float:
    """One significant digit, never less than the value: what is said to be below it is."""
    if not 0 < value < 1:
        return value
    unit = 10.0 ** math.floor(math.log10(value))
    return min(1.0, math.ceil(value / unit - 1e-9) * unit)


def chance(p: float) -> str:
    """The p value of a test in words."""
    if p > 0:
        return f"probability {number(p)}"
    return "a probability below 10⁻³⁰⁰"


def short_names(models: Sequence[str]) -> list[str]:
    """File names without their endings and without what all of them begin with."""
    parts = [re.split("(?<=[_-])", model.rpartition(".")[0] or model) for model in models]
    heads = zip(*(part[:-1] for part in parts), strict=False)
    same = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, heads))
    return ["".join(part[same:]) for part in parts]
