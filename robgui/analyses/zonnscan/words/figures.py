"""Wording of zoNNscan's numbers: never finer than the samples can tell."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import takewhile

from robgui.analyses.zonnscan.resolution import resolution
from robgui.core.text.words import number

#: Finest value given for a mean of many inputs.
FINEST_MEAN = 1e-3


def uncertainty(value: float, low: float, high: float, samples: float) -> str:
    """``0.12 ± 0.005``, or ``below 0.004`` if the samples cannot tell it from 0.

    Or a statement that there are too few samples.
    """
    least = resolution(samples)
    # The uncertainty is at most 1 anyway, so such a bound says nothing.
    if least >= 1:
        return "not known from so few"
    if value < least:
        return f"below {number(rounded_up(max(high, least)))}"
    return f"{number(value)} ± {number((high - low) / 2)}"


def mean_uncertainty(value: float) -> str:
    """The mean over many inputs; ``below 0.001`` rather than a number never measured."""
    if value < FINEST_MEAN:
        return f"below {number(FINEST_MEAN)}"
    return number(value)


def rounded_up(value: float) -> float:
    """One significant digit, rounded up: what is said to be below it really is."""
    if not 0 < value < 1:
        return value
    unit = 10.0 ** math.floor(math.log10(value))
    # Less 1e-9, else 0.07 / 0.01 = 7.000000000000001 would become 8.
    return min(1.0, math.ceil(value / unit - 1e-9) * unit)


def chance(p: float) -> str:
    """The p value of a test in words."""
    # No test gives 0: the number was too small for a double.
    if p > 0:
        return f"probability {number(p)}"
    return "a probability below 10⁻³⁰⁰"


def short_names(models: Sequence[str]) -> list[str]:
    """File names without their endings and their common beginning."""
    # Split after each _ or -: fashion_mlp and fashion_cnn share a word, mlp and mlq share none.
    parts = [re.split("(?<=[_-])", model.rpartition(".")[0] or model) for model in models]
    # The last word always stays, so no name becomes empty.
    heads = zip(*(part[:-1] for part in parts), strict=False)
    same = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, heads))
    return ["".join(part[same:]) for part in parts]
