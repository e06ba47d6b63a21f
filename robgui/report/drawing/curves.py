"""Curves: lines over one axis, with bands, marks and levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes

from robgui.core.view import Curves, Line, Mark
from robgui.report.drawing import legend, ticks
from robgui.report.drawing.legend import Entry
from robgui.report.drawing.look import LINES, MARKERS, SMALL, Look
from robgui.report.drawing.plate import Area
from robgui.report.lettering import elide, extent, line_height

#: More points than this have a symbol at some of them only.
_MOST_SYMBOLS = 40
NOTHING = "Nothing to show yet."


def height(view: Curves, width: float, large: bool) -> float:
    """How many inches the picture takes, without title, legend and note."""
    return plot_height(width, large)


def plot_height(width: float, large: bool) -> float:
    """The height of a plot whose content does not ask for one."""
    return min(4.2, max(1.8, 0.54 * width)) if large else min(2.9, max(1.7, 0.62 * width))


def entries(view: Curves, look: Look) -> list[Entry]:
    """The legend."""
    lines = [Entry(line.name, _sample(line, look)) for line in view.lines if line.name and not line.quiet]
    return [*lines, *legend.levels(view.levels, look)]


def paint(view: Curves, area: Area) -> None:
    """Draws the lines and everything around them."""
    axes = area.axes()
    shown = [mark for mark in view.marks if math.isfinite(mark.at)]
    joined = any(line.line for line in view.lines)
    places = [*(_x(view, line) for line in view.lines), [mark.at for mark in shown]]
    x = ticks.limits(view.x, places, pad=0.0 if joined else 0.05)
    y = ticks.limits(view.y, _heights(view), edge=0.02)
    _scale(axes, view, x, y)
    for line in sorted(view.lines, key=lambda line: not line.quiet):
        _draw(axes, line, _x(view, line), area.look, y)
    for place, mark in enumerate(view.levels):
        axes.axhline(mark.at, color=area.look.colour(mark.ink), zorder=1.5, **legend.level_style(place))
    ticks.dress(axes, view.x, view.y, (area.width, area.height))
    axes.grid(axis="y", color=area.look.grid, linewidth=0.6)
    if not any(np.isfinite(line.y).any() for line in view.lines):
        say_nothing(axes, area.look)
    within = [mark for mark in shown if min(x) <= mark.at <= max(x)]
    place_with_marks(area, axes, within)


def say_nothing(axes: Axes, look: Look) -> None:
    """The words of a picture without data."""
    axes.text(0.5, 0.5, NOTHING, transform=axes.transAxes, ha="center", va="center", color=look.faded)


def place_with_marks(area: Area, axes: Axes, marks: Sequence[Mark]) -> None:
    """Fits axes into an area, with vertical lines whose names stand above the data like flags."""
    inner = area.fit(axes)
    if not marks:
        return
    flags = fly([_flag(area, axes, inner, mark) for mark in marks])
    rows = 1 + max(flag.row for flag in flags)
    inner = area.less(top=rows * line_height(SMALL) + 0.05).fit(axes)
    for flag in flags:
        colour = area.look.colour(flag.mark.ink)
        style = {"color": colour, "linestyle": LINES["dotted"]}
        axes.axvline(flag.mark.at, linewidth=1.2, zorder=1.6, **style)
        top = inner.top - (flag.row + 1) * line_height(SMALL) - 0.03
        area.plate.put(flag.words, flag.left, top, SMALL, colour=colour)
        area.plate.rule(flag.at, inner.top, flag.at, top, color=colour, linewidth=0.8)


@dataclass(frozen=True)
class Flag:
    """The name of a mark beside the upper end of its line; ``left``, ``right`` and ``at`` in inches."""

    mark: Mark
    words: str
    at: float
    left: float
    right: float
    row: int = 0

    def crosses(self, other: Flag) -> bool:
        """Whether the words touch, or the line of the higher one runs through the words of the lower one."""
        if self.row == other.row:
            return self.left < other.right + 0.06 and other.left < self.right + 0.06
        low, high = sorted((self, other), key=lambda flag: flag.row)
        return low.left - 0.03 < high.at < low.right + 0.03


def fly(flags: Sequence[Flag]) -> list[Flag]:
    """The flags in rows in which none crosses another; those that point to the left come last, above the others."""
    placed: list[Flag] = []
    for flag in sorted(flags, key=lambda flag: (flag.left < flag.at, -flag.at)):
        rows = (replace(flag, row=row) for row in range(len(flags)))
        free = (one for one in rows if not any(one.crosses(other) for other in placed))
        placed.append(next(free, replace(flag, row=len(placed))))
    return placed


def _flag(area: Area, axes: Axes, inner: Area, mark: Mark) -> Flag:
    """A flag to the right of its line; to the left where it would leave the area."""
    words = elide(mark.name, SMALL, 0.6 * area.width)
    corner = axes.transData.transform((mark.at, axes.get_ylim()[1]))
    at = inner.left + float(axes.transAxes.inverted().transform(corner)[0]) * inner.width
    width = extent(words, SMALL)
    left = at + 0.04
    if left + width > area.right:
        left = max(area.left, at - 0.04 - width)
    return Flag(mark, words, at, left, left + width)


def _scale(axes: Axes, view: Curves, x: tuple[float, float], y: tuple[float, float]) -> None:
    axes.set_xscale("log" if view.x.log else "linear")
    axes.set_yscale("log" if view.y.log else "linear")
    axes.set(xlim=x, ylim=y)


def _x(view: Curves, line: Line) -> np.ndarray:
    return view.at if line.x is None else line.x


def _heights(view: Curves) -> list[np.ndarray]:
    arrays = [array for line in view.lines for array in (line.y, line.low, line.high) if array is not None]
    return [*arrays, np.array([mark.at for mark in view.levels])]


def _draw(axes: Axes, line: Line, x: np.ndarray, look: Look, limits: tuple[float, float]) -> None:
    colour = look.colour(line.ink)
    step = "post" if line.steps else None
    if line.low is not None and line.high is not None:
        low, high = (np.clip(edge, *sorted(limits)) for edge in (line.low, line.high))
        axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0, step=step)  # type: ignore[arg-type]
    style = _style(line, look)
    if line.steps:
        style["drawstyle"] = "steps-post"
    if style["marker"] and line.line:
        style["markevery"] = max(1, len(x) // _MOST_SYMBOLS)
    axes.plot(x, line.y, zorder=1.8 if line.quiet else 2 + line.strong, **style)


def _style(line: Line, look: Look) -> dict[str, object]:
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


def _sample(line: Line, look: Look) -> object:
    return legend.line(line.ink, look, **_style(line, look))
