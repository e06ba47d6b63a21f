"""A histogram: bars between edges instead of under names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from robgui.core.view import Bars, Series
from robgui.report.drawing import legend, ticks
from robgui.report.drawing.curves import place_with_marks, say_nothing
from robgui.report.drawing.look import Look, mixed
from robgui.report.drawing.plate import Area


def fill(row: Series, place: int, look: Look, *, stacked: bool) -> dict[str, Any]:
    """How the bars of a series are filled: pale with a strong edge, every second one hatched."""
    colour = look.colour(row.ink)
    if stacked:
        inner = colour
    else:
        # Pale, since series lie over each other and all must be seen through.
        inner = mixed(colour, look.ground, 0.35)
    if place % 2:
        hatch = {"hatch": "////"}
    else:
        hatch = {}
    return {"colour": inner, "edgecolor": colour, "linewidth": 1.2, **hatch}


def paint(view: Bars, area: Area) -> None:
    """Draws the bars of all series over each other, pale inside with a strong edge, or stacked."""
    assert view.edges is not None
    axes, look = area.axes(), area.look
    below = np.zeros(max(0, len(view.edges) - 1))
    tops = [below]
    for place, row in enumerate(view.series):
        values = np.nan_to_num(row.values)
        if view.stacked:
            base = below
        else:
            base = np.zeros_like(values)
        style = fill(row, place, look, stacked=view.stacked)
        # ``color`` would also set the edge, which is darker than the inside on purpose.
        style["facecolor"] = style.pop("colour")
        # matplotlib's stairs needs one edge more than it has values.
        if len(view.edges) > 1:
            axes.stairs(base + values, view.edges, baseline=base, fill=True, alpha=0.8, **style)
        tops.append(base + values)
        if row.low is not None and row.high is not None:
            tops.append(np.nan_to_num(row.high))
            _intervals(axes, view.edges, row, look)
        if view.stacked:
            below = base + values
    marks = [mark for mark in view.marks if math.isfinite(mark.at)]
    axes.set_xlim(ticks.limits(view.x, [view.edges]))
    axes.set_ylim(ticks.limits(view.value, [*tops, [mark.at for mark in view.levels], [0.0]]))
    if not math.isfinite(view.value.low):
        axes.set_ylim(bottom=min(0.0, float(min(top.min(initial=0.0) for top in tops))))
    for place, mark in enumerate(view.levels):
        axes.axhline(mark.at, color=look.colour(mark.ink), zorder=3, **legend.level_style(place))
    ticks.dress(axes, view.x, view.value, area, grid="y")
    if not any(top.any() for top in tops):
        say_nothing(axes, look)
    low, high = axes.get_xlim()
    place_with_marks(area, axes, [mark for mark in marks if low <= mark.at <= high])


def _intervals(axes: Axes, edges: np.ndarray, row: Series, look: Look) -> None:
    """Thin lines from the lower to the upper ends, in the middle of the bars."""
    assert row.low is not None and row.high is not None
    known = np.isfinite(row.values) & np.isfinite(row.low) & np.isfinite(row.high)
    middle = (edges[:-1] + edges[1:]) / 2
    axes.vlines(middle[known], row.low[known], row.high[known], color=look.text, linewidth=1.0)
