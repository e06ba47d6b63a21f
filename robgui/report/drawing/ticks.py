"""Axes with names, units, sane ticks and the range that the view or the data say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import (
    FixedLocator,
    Formatter,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from robgui.core.text.words import number, probability
from robgui.core.view import Axis
from robgui.report.drawing.plate import Area
from robgui.report.drawing.rules import TICK, AxisRules, Side, Which, rules_of
from robgui.report.lettering import clean, elide, extent

#: Inches that a tick takes at least, side by side and above each other.
_TICK_WIDE, _TICK_HIGH = 0.72, 0.36
#: Room beyond the data, as a share of the axis.
_PAD = 0.05


class TickWords(Formatter):
    """The numbers of an axis as people read them, with digits enough to tell neighbours apart."""

    def __init__(self, axis: Axis) -> None:
        self._axis = axis

    def __call__(self, value: float, pos: Any = None) -> str:
        return self._words(value, 3)

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        # Three digits are enough unless two ticks would read the same.
        for digits in range(3, 9):
            words = [self._words(value, digits) for value in values]
            if len(set(words)) == len(words):
                break
        return words

    def _words(self, value: float, digits: int) -> str:
        if self._axis.kind == "share":
            return f"{100 * value:.{digits}g} %".replace("-", "\N{MINUS SIGN}")
        if self._axis.kind == "probability":
            return probability(value, max(1, digits - 2))
        if digits == 3:
            plain = number(value)
        else:
            plain = f"{value:,.{digits}g}"
        if value < 0:
            return plain.replace("-", "\N{MINUS SIGN}", 1)
        return plain


def limits(
    axis: Axis,
    arrays: Iterable[Any],
    *,
    edge: float = 0.0,
    pad: float = _PAD,
) -> tuple[float, float]:
    """Where an axis begins and ends: as the view says, else as far as the data go.

    Args:
        axis: What the view says.
        arrays: The data.
        edge: Room beyond an end that the view says, as a share of the whole.
        pad: Room beyond the data.
    """
    parts = [np.ravel(np.asarray(array, float)) for array in arrays]
    values = np.concatenate(parts or [np.empty(0)])
    values = values[np.isfinite(values) & ((values > 0) | (not axis.log))]
    low, high = _stated(axis.low, axis), _stated(axis.high, axis)
    if not len(values) and not (math.isfinite(low) and math.isfinite(high)):
        if axis.log:
            values = np.array([0.1, 1.0])
        else:
            values = np.array([0.0, 1.0])
    known = (math.isfinite(low), math.isfinite(high))
    if known[0]:
        first = low
    else:
        first = float(values.min())
    if known[1]:
        last = high
    else:
        last = float(values.max())
    first, last = _apart(first, last, axis)
    pads = [edge if end else pad for end in known]
    if axis.log:
        decades = math.log10(last / first)
        return first / 10 ** (pads[0] * decades), last * 10 ** (pads[1] * decades)
    span = last - first
    return _within(axis, first - pads[0] * span, last + pads[1] * span, edge)


def _stated(end: float, axis: Axis) -> float:
    if axis.log and not end > 0:
        return math.nan
    return end


def _apart(low: float, high: float, axis: Axis) -> tuple[float, float]:
    """Two ends that differ."""
    if high > low:
        return low, high
    if axis.log:
        return low / 2, low * 2
    if axis.kind == "share" and 0 <= low <= 1:
        return 0.0, 1.0
    # A single value stands in the middle, a tenth of itself from both ends.
    half = abs(low) * 0.1 or 0.5
    return low - half, low + half


def _within(axis: Axis, low: float, high: float, edge: float) -> tuple[float, float]:
    """The same no further than the values can go."""
    if axis.kind == "share" and low >= -_PAD and high <= 1 + _PAD:
        return max(low, -edge), min(high, 1 + edge)
    return low, high


def dress(axes: Axes, x: Axis, y: Axis, area: Area, grid: Which | Literal[""] = "") -> None:
    """Names, units and ticks of both axes, which are about to fill an area.

    Args:
        axes: Whose.
        x: What the horizontal axis is.
        y: What the vertical axis is.
        area: How much room there is.
        grid: Across which axis lines are drawn.
    """
    size = (area.width, area.height)
    across, up = size[0] / _TICK_WIDE, size[1] / _TICK_HIGH
    for side, axis, room in ((axes.xaxis, x, across), (axes.yaxis, y, up)):
        side.set_label_text(clean(axis.title))
        if axis.log:
            _powers(side, axis, int(room))
        else:
            many = max(2, min(9, int(room)))
            whole = axis.kind == "count"
            # Steps that people count in: matplotlib's
            # own also go by 1.5, 3, 4, 6 and 8.
            side.set_major_locator(MaxNLocator(many, steps=[1, 2, 2.5, 5, 10], integer=whole))
            side.set_major_formatter(TickWords(axis))
    AxisRules(axes, area.look).grid = grid


def _powers(side: Any, axis: Axis, room: int) -> None:
    """Ticks of an axis in powers of ten; between them 2 and 5 where it has few."""
    low, high = sorted(side.get_view_interval())
    if low > 0:
        decades = math.log10(high / low)
    else:
        decades = 1
    # A decade or two with powers alone would show two ticks on the whole axis.
    subs = (1.0, 2.0, 5.0) if decades < 2.5 and 3 * decades <= room else (1.0,)
    side.set_major_locator(LogLocator(subs=subs, numticks=max(3, min(9, room)) + 2))
    side.set_major_formatter(TickWords(axis))
    # A logarithmic scale brings minor ticks of its own.
    side.set_minor_locator(NullLocator())
    side.set_minor_formatter(NullFormatter())


def name_ticks(
    axes: Axes,
    which: Which,
    places: Sequence[float],
    names: Sequence[str],
    inches: float,
    most: float,
) -> None:
    """Names instead of numbers along a side.

    Args:
        axes: Whose.
        which: ``x`` or ``y``.
        places: Where the names stand.
        names: They are cut in the middle where they are too long.
        inches: How long the side is.
        most: How much room a name may take away from the picture, in inches.
    """
    side = axes.xaxis if which == "x" else axes.yaxis
    slot = inches / max(1, len(names))
    # Names nearer than a line of letters would cover
    # each other: then every second, third, … stands.
    every = max(1, math.ceil(0.155 / slot))
    shown = list(range(0, len(names), every))
    # With its leading a line of 8.5 points takes 0.16 inches.
    size = 8.5 if slot * every > 0.17 else 7.5
    # The rest is the gap between two names.
    own = 0.92 * slot * every
    longest = max((extent(names[i], size) for i in shown), default=0.0)
    lying = which == "x" and longest <= own
    room = own if lying else most
    words = [elide(names[i], size, room) for i in shown]
    side.set_major_locator(FixedLocator([float(places[i]) for i in shown]))
    side.set_major_formatter(FuncFormatter(_of(words)))
    tick = 0 if every == 1 else TICK
    rules_of(axes).sides[which] = Side(size, which == "x" and not lying, tick)


def _of(words: Sequence[str]) -> Any:
    return lambda value, place: words[place] if place is not None and place < len(words) else ""
