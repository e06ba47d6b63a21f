"""Views of two sets of values side by side, shared by three of the analyses."""

from __future__ import annotations

import math

import numpy as np

from robgui.core.text.words import number
from robgui.core.view import Axis, Bars, Ink, Mark, Series

#: Bars over [0, 1].
#: Steps of 0.04.
BINS = 25
#: The first set is what there was, the second what was made of it.
INKS = (Ink("original"), Ink("changed"))


def histogram(
    title: str,
    sets: tuple[np.ndarray, np.ndarray],
    names: tuple[str, str],
    radius: float,
    what: str,
) -> Bars:
    """What share of each set has which uncertainty; values that are not finite are left out.

    Args:
        title: Of the picture.
        sets: Uncertainties of the two sets.
        names: What the sets are called.
        radius: Of the zones.
        what: What is counted: ``inputs``.
    """
    edges = np.linspace(0, 1, BINS + 1)
    known = [values[np.isfinite(values)] for values in sets]
    series, marks = [], []
    for values, name, ink in zip(known, names, INKS, strict=True):
        # Shares, not counts: the sets may differ in size.
        shares = np.histogram(np.clip(values, 0, 1), edges)[0] / max(1, len(values))
        series.append(Series(f"{name}: {len(values):,} {what}", shares, ink))
        if len(values):
            mean = float(values.mean())
        else:
            mean = math.nan
        if math.isfinite(mean):
            marks.append(Mark(mean, f"mean of {name}", ink))
    return Bars(
        title=title,
        value=Axis(f"share of {what}", kind="share", low=0),
        names=(),
        series=tuple(series),
        edges=edges,
        x=Axis(
            f"uncertainty within radius {number(radius)}", low=0, high=1, remark="0 sure, 1 unsure"
        ),
        marks=tuple(marks),
    )
