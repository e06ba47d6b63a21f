"""Curves: lines over one axis, with bands, marks and levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes

from robgui.core.view import Curves, Line, Mark
from robgui.core.view.flags import Flag, fly
from robgui.report.drawing import legend, ticks
from robgui.report.drawing.legend import LegendEntry
from robgui.report.drawing.look import LINES, MARKERS, SMALL, Look
from robgui.report.drawing.plate import Area
from robgui.report.lettering import elide, extent, line_height

#: Inches between two symbols of a line: of more points, only some have one.
_SYMBOL = 0.18
#: Inches between the names of two vertical lines.
_FLAG = 0.06
#: Instead of empty axes, which look like a result of zero.
NOTHING = "Nothing to show yet."


def height(view: Curves, width: float, large: bool) -> float:
    """How many inches the picture takes, without title, legend and note."""
    return plot_height(width, large)


def plot_height(width: float, large: bool) -> float:
    """The height of a plot whose content does not ask for one."""
    if large:
        # About 16 : 9, and a little higher where two stand side by side.
        return min(4.2, max(1.8, 0.54 * width))
    return min(2.9, max(1.7, 0.62 * width))


def entries(view: Curves, look: Look) -> list[LegendEntry]:
    """The legend."""
    named = [line for line in view.lines if line.name and not line.quiet]
    lines = [
        LegendEntry(line.name, legend.line(line.ink, look, **_style(line, look))) for line in named
    ]
    return legend.unsaid([*lines, *legend.levels(view.levels, look)], view.y)


def paint(view: Curves, area: Area) -> None:
    """Draws the lines and everything around them."""
    axes = area.axes()
    shown = [mark for mark in view.marks if math.isfinite(mark.at)]
    joined = any(line.line for line in view.lines)
    places = [*(_x(view, line) for line in view.lines), [mark.at for mark in shown]]
    # A line may run to the frame; symbols alone need room around the first and the last.
    x = ticks.limits(view.x, places, pad=0.0 if joined else 0.05)
    # Without an edge a curve at exactly 0 or 100 % would lie under the frame.
    y = ticks.limits(view.y, _heights(view), edge=0.02)
    _scale(axes, view, x, y)
    # Quiet lines first, so that none covers a strong one.
    for line in sorted(view.lines, key=lambda line: not line.quiet):
        _draw(axes, line, _x(view, line), area, y)
    for place, mark in enumerate(view.levels):
        style = legend.level_style(place)
        axes.axhline(mark.at, color=area.look.colour(mark.ink), zorder=1.5, **style)
    ticks.dress(axes, view.x, view.y, area, grid="y")
    if not any(np.isfinite(line.y).any() for line in view.lines):
        say_nothing(axes, area.look)
    within = [mark for mark in shown if min(x) <= mark.at <= max(x)]
    place_with_marks(area, axes, within)


def say_nothing(axes: Axes, look: Look) -> None:
    """The words of a picture without data."""
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": look.faded}
    axes.text(0.5, 0.5, NOTHING, transform=axes.transAxes, **style)


def place_with_marks(area: Area, axes: Axes, marks: Sequence[Mark]) -> None:
    """Fits axes into an area, with vertical lines whose names stand above the data like flags."""
    if not marks:
        area.fit(axes)
        return
    rows = 1
    for _ in range(2):  # Less height has other ticks, and with them another width.
        inner = area.less(top=rows * line_height(SMALL) + 0.05).fit(axes)
        flags = fly([_flag(area, axes, inner, mark) for mark in marks], _FLAG)
        taken = 1 + max(flag.row for flag in flags)
        if taken == rows:
            break
        rows = taken
    for flag in flags:
        colour = area.look.colour(flag.mark.ink)
        if flag.mark.ink.role in ("quiet", "other"):
            letters = area.look.faded
        else:
            letters = colour
        style = {"color": colour, "linestyle": LINES["dotted"]}
        axes.axvline(flag.mark.at, linewidth=1.2, zorder=1.6, **style)
        top = inner.top - (flag.row + 1) * line_height(SMALL) - 0.03
        area.plate.put(flag.words, flag.left, top, SMALL, colour=letters)
        area.plate.rule(flag.at, inner.top, flag.at, top, color=colour, linewidth=0.8)


def _flag(area: Area, axes: Axes, inner: Area, mark: Mark) -> Flag:
    """A flag on the side of its line where its words fit, or where there is more room."""
    # Through pixels: along a logarithmic axis equal steps are no equal values.
    corner = axes.transData.transform((mark.at, axes.get_ylim()[1]))
    at = inner.left + float(axes.transAxes.inverted().transform(corner)[0]) * inner.width
    before, after = at - 0.04 - area.left, area.right - at - 0.04
    left = extent(mark.name, SMALL) > after and before > after
    words = elide(mark.name, SMALL, before if left else after)
    width = extent(words, SMALL)
    if left:
        start = at - 0.04 - width
    else:
        start = at + 0.04
    return Flag(mark, words, at, start, start + width)


def _scale(axes: Axes, view: Curves, x: tuple[float, float], y: tuple[float, float]) -> None:
    axes.set_xscale("log" if view.x.log else "linear")
    axes.set_yscale("log" if view.y.log else "linear")
    axes.set(xlim=x, ylim=y)


def _x(view: Curves, line: Line) -> np.ndarray:
    if line.x is None:
        return view.at
    return line.x


def _heights(view: Curves) -> list[np.ndarray]:
    parts = [part for line in view.lines for part in (line.y, line.low, line.high)]
    arrays = [part for part in parts if part is not None]
    return [*arrays, np.array([mark.at for mark in view.levels])]


def _draw(
    axes: Axes,
    line: Line,
    x: np.ndarray,
    area: Area,
    limits: tuple[float, float],
) -> None:
    look, width = area.look, area.width
    colour = look.colour(line.ink)
    if line.steps:
        step: Literal["post"] | None = "post"
    else:
        step = None
    if line.low is not None and line.high is not None:
        floor, roof = sorted(limits)
        # A band may reach to infinity, which no file format can draw.
        low, high = (np.clip(edge, floor, roof) for edge in (line.low, line.high))
        axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0, step=step)
    style = _style(line, look)
    if line.steps:
        style["drawstyle"] = "steps-post"
    if style["marker"] and line.line:
        style["markevery"] = max(1, round(len(x) * _SYMBOL / width))
    # A symbol on the edge is drawn whole; what lies beyond the axes is not.
    known = line.y[np.isfinite(line.y)]
    beyond = ((known < min(limits)) | (known > max(limits))).any()
    style |= {"clip_on": not line.symbol or bool(beyond)}
    if line.quiet:
        # Above levels (1.5) and marks (1.6), below every line that is not quiet.
        style["zorder"] = 1.8
    else:
        # Where two lines run together, the gaps of a dashed one show the one below it.
        style["zorder"] = 2 + line.strong + 1.5 * (line.ink.dash != "solid")
    axes.plot(x, line.y, **style)


def _style(line: Line, look: Look) -> dict[str, Any]:
    # A line through one point has no length: it gets a symbol.
    alone = np.isfinite(line.y).sum() == 1 and not line.quiet
    width = 0.7 if line.quiet else 1.7
    return {
        "color": look.colour(line.ink),
        "alpha": 0.6 if line.quiet else 1.0,
        "linewidth": 2.8 if line.strong else width,
        "linestyle": LINES[line.ink.dash] if line.line else "none",
        "marker": MARKERS[line.symbol] or ("o" if alone else ""),
        "markersize": 4.5,
        "solid_capstyle": "round",
    }
