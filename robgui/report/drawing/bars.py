"""Bars with names: lying where the names are long, else standing; side by side or stacked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from robgui.core.view import Bars, Series
from robgui.report.drawing import histogram, legend, ticks
from robgui.report.drawing.curves import plot_height, say_nothing
from robgui.report.drawing.legend import LegendEntry
from robgui.report.drawing.look import SMALL, Look, on
from robgui.report.drawing.plate import Area
from robgui.report.lettering import extent

#: Inches of a lying bar, of the gap to the next name, and of the axis below.
_THICK, _BETWEEN, _BELOW = 0.19, 0.12, 0.62
#: More lying bars than this would make the picture higher than a page.
_MOST_LYING = 40
#: Up to this many bars say their number.
_MOST_NUMBERS = 40
#: Points of the numbers at the bars: smaller than any words, since there are many.
_LETTERS = 7.5
#: Inches that a name may take from the bars.
_NAME = 1.9


def height(view: Bars, width: float, large: bool) -> float:
    """How many inches the picture takes."""
    if view.edges is not None or not lying(view, width):
        return plot_height(width, large)
    # One lying bar alone would be flatter than its axis is high.
    return max(1.1, len(view.names) * _slot(view) + _BELOW)


def lying(view: Bars, width: float) -> bool:
    """Whether the bars lie: their names do not fit side by side."""
    if not 0 < len(view.names) <= _MOST_LYING:
        return False
    # 0.7 inches for the numbers at the left; a
    # fifth of each slot keeps two names apart.
    return max(extent(name, SMALL) for name in view.names) > 0.82 * (width - 0.7) / len(view.names)


def entries(view: Bars, look: Look) -> list[LegendEntry]:
    """The legend."""
    named = [(place, row) for place, row in enumerate(view.series) if row.name]
    rows = [LegendEntry(row.name, _sample(view, row, place, look)) for place, row in named]
    return legend.unsaid([*rows, *legend.levels(view.levels, look)], view.value)


def _sample(view: Bars, row: Series, place: int, look: Look) -> Patch:
    if view.edges is not None:
        return legend.patch(**histogram.fill(row, place, look, stacked=view.stacked))
    return legend.patch(**fill(row, place, look))


def fill(row: Series, place: int, look: Look) -> dict[str, str]:
    """Colour of a row of bars; every second one is hatched, so colour never stands alone."""
    colour = look.colour(row.ink)
    if not place % 2:
        return {"colour": colour}
    return {"colour": colour, "hatch": "////", "edgecolor": look.ground}


def paint(view: Bars, area: Area) -> None:
    """Draws the bars."""
    if view.edges is not None:
        histogram.paint(view, area)
        return
    axes = area.axes()
    lie = lying(view, area.width)
    ends = _ends(view)
    known = any(np.isfinite(end).any() for end in ends)
    # The length of a bar is its value only where the axis begins at zero.
    if known and not view.value.log:
        zero = [0.0]
    else:
        zero = []
    levels = [mark.at for mark in view.levels if known and math.isfinite(mark.at)]
    span = ticks.limits(view.value, [*ends, zero, levels])
    if lie:
        axes.set_xlim(_with_room(view, span))
    else:
        axes.set_ylim(span)
    if view.value.log and lie:
        axes.set_xscale("log")
    elif view.value.log:
        axes.set_yscale("log")
    _draw(axes, view, area.look, lie)
    _along(axes, view, area, lie)
    _levels(axes, view, area.look, lie)
    inner = area.fit(axes)
    if any(np.isfinite(row.values).any() for row in view.series):
        _numbers(axes, view, inner, lie)
    else:
        say_nothing(axes, area.look)


def _slot(view: Bars) -> float:
    if view.stacked:
        rows = 1
    else:
        rows = max(1, len(view.series))
    return rows * _THICK + _BETWEEN


def _ends(view: Bars) -> list[np.ndarray]:
    if view.stacked:
        if view.series:
            return [np.nansum([row.values for row in view.series], axis=0)]
        return []
    parts = [part for row in view.series for part in (row.values, row.low, row.high)]
    return [part for part in parts if part is not None]


def _with_room(view: Bars, span: tuple[float, float]) -> tuple[float, float]:
    """Some room beyond the longest bar for its number, unless the view says where it ends."""
    if math.isfinite(view.value.high) or view.value.log or view.stacked:
        return span
    # Enough for a number such as 12,345 at the usual width.
    return span[0], span[1] + 0.12 * (span[1] - span[0])


def _draw(axes: Axes, view: Bars, look: Look, lie: bool) -> None:
    count = 1 if view.stacked else max(1, len(view.series))
    # The bars of a name fill four fifths of its slot, so that slots are told apart.
    thick = 0.8 / count
    below = np.zeros(len(view.names))
    draw = axes.barh if lie else axes.bar
    for place, row in enumerate(view.series):
        aside = 0 if view.stacked else (place - (count - 1) / 2) * thick
        at = np.arange(len(view.names)) + aside
        style = dict(fill(row, place, look))
        style["color"] = style.pop("colour")
        if row.each:
            style["color"] = [look.colour(one) for one in row.each]  # type: ignore[assignment]
        side = "left" if lie else "bottom"
        start = {side: below} if view.stacked else {}
        # Not the whole thickness: a gap keeps the bars of two series apart.
        draw(at, row.values, 0.92 * thick, linewidth=0, **start, **style)  # type: ignore[arg-type]
        if view.stacked:
            below = below + np.nan_to_num(row.values)
        elif row.low is not None and row.high is not None:
            _errors(axes, at, row, look, lie)
    if not view.value.log:
        _level(axes, 0.0, lie, color=look.faded, linewidth=0.7)


def _level(axes: Axes, at: float, lie: bool, **style: Any) -> None:
    """A line at one value, across all bars."""
    if lie:
        axes.axvline(at, **style)
    else:
        axes.axhline(at, **style)


def _errors(axes: Axes, at: np.ndarray, row: Series, look: Look, lie: bool) -> None:
    assert row.low is not None and row.high is not None
    known = np.isfinite(row.values) & np.isfinite(row.low) & np.isfinite(row.high)
    lines = axes.hlines if lie else axes.vlines
    rim = [withStroke(linewidth=3.2, foreground=look.ground)]  # to be seen on a dark bar
    style: dict[str, Any] = {"color": look.text, "linewidth": 1.3, "path_effects": rim}
    lines(at[known], row.low[known], row.high[known], **style)


def _along(axes: Axes, view: Bars, area: Area, lie: bool) -> None:
    """Names along one side, numbers along the other."""
    if lie:
        x, y = (view.value, view.x)
    else:
        x, y = (view.x, view.value)
    ticks.dress(axes, x, y, area, grid="x" if lie else "y")
    count = len(view.names)
    if lie:
        # Turned round: matplotlib counts from below, and the first name stands on top.
        axes.set_ylim(count - 0.5, -0.5)
        most = min(_NAME, 0.4 * area.width)
        ticks.name_ticks(axes, "y", range(count), view.names, area.height - 0.5, most)
    else:
        # A slot is one wide, centred on its number; a
        # tenth more keeps the outer bars off the frame.
        axes.set_xlim(-0.6, max(count, 1) - 0.4)
        most = min(1.2, 0.4 * area.height)
        ticks.name_ticks(axes, "x", range(count), view.names, 0.85 * area.width, most)


def _levels(axes: Axes, view: Bars, look: Look, lie: bool) -> None:
    for place, mark in enumerate(view.levels):
        style: dict[str, Any] = {"color": look.colour(mark.ink), "zorder": 3}
        style |= legend.level_style(place)
        _level(axes, mark.at, lie, **style)


def _numbers(axes: Axes, view: Bars, inner: Area, lie: bool) -> None:
    """The number of each bar at its end or, stacked, inside it; only where there is room."""
    if len(view.names) * len(view.series) > _MOST_NUMBERS:
        return
    look = inner.look
    if view.stacked:
        _inside(axes, view, inner, lie)
        return
    thick = 0.8 / max(1, len(view.series))
    if not lie and not _fits(view, inner.width * thick / max(1, len(view.names))):
        return
    for place, row in enumerate(view.series):
        shift = (place - (len(view.series) - 1) / 2) * thick
        for at, value in enumerate(row.values):
            if row.high is None:
                high = value
            else:
                # fmax: where no bound is known the value itself counts.
                high = np.fmax(value, row.high[at])
            words = view.value.plain(float(value))
            _at_end(axes, at + shift, float(high), words, look, lie)


def _fits(view: Bars, room: float) -> bool:
    words = [view.value.plain(float(value)) for row in view.series for value in row.values]
    return max((extent(word, _LETTERS) for word in words), default=0.0) <= room


def _at_end(axes: Axes, at: float, end: float, words: str, look: Look, lie: bool) -> None:
    """A number just beyond the end of its bar, or inside it where the axis ends first."""
    if lie:
        limits = axes.get_xlim()
    else:
        limits = axes.get_ylim()
    if not math.isfinite(end):
        end = max(limits[0], 0.0)
    # Beyond this share of the axis a number would reach over its end.
    far = (end - limits[0]) / ((limits[1] - limits[0]) or 1) > 0.88
    away = -1 if far or end < 0 else 1
    style: dict[str, Any] = {
        "fontsize": _LETTERS,
        "color": look.text,
        "textcoords": "offset points",
    }
    style |= {"clip_on": False, "zorder": 4, "bbox": _behind_letters(look.ground)}
    if lie:
        side = "left" if away > 0 else "right"
        axes.annotate(words, (end, at), (3 * away, 0), va="center", ha=side, **style)
        return
    side = "bottom" if end >= 0 else "top"
    axes.annotate(words, (at, end), (0, 2 if end >= 0 else -2), ha="center", va=side, **style)


def _behind_letters(colour: str) -> dict[str, Any]:
    """A patch that keeps letters readable over lines and hatching."""
    # Not opaque: what lies below stays to be guessed.
    return {"facecolor": colour, "alpha": 0.85, "linewidth": 0, "pad": 0.8}


def _inside(axes: Axes, view: Bars, inner: Area, lie: bool) -> None:
    if lie:
        limits = axes.get_xlim()
    else:
        limits = axes.get_ylim()
    inches = (inner.width if lie else inner.height) / ((limits[1] - limits[0]) or 1)
    across = 0.8 * (inner.height if lie else inner.width) / max(1, len(view.names))
    below = np.zeros(len(view.names))
    for row in view.series:
        for at, value in enumerate(np.nan_to_num(row.values)):
            words = view.value.plain(float(value))
            # Inches: a little air beside the letters,
            # and the height of one line of them.
            room, need = value * inches, (extent(words, _LETTERS) + 0.06, 0.14)
            if lie:
                wide, high = (room, across)
            else:
                wide, high = (across, room)
            if value and wide >= need[0] and high >= need[1]:
                if lie:
                    centre = (below[at] + value / 2, at)
                else:
                    centre = (at, below[at] + value / 2)
                colour = inner.look.colour(row.ink)
                style: dict[str, Any] = {"fontsize": _LETTERS, "bbox": _behind_letters(colour)}
                style |= {"ha": "center", "va": "center", "color": on(colour)}
                axes.text(centre[0], centre[1], words, **style)
        below = below + np.nan_to_num(row.values)
