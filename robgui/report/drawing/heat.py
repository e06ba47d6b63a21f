"""The picture of a matrix on any axes, and the bar that says what its colours mean."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.ticker import MaxNLocator

from robgui.core.view import (
    Axis,
    Matrix,
    class_ink,
    class_pixels,
    colour_map,
    diverging,
    empty_words,
    see_through,
)
from robgui.report.drawing import legend
from robgui.report.drawing.legend import LegendEntry
from robgui.report.drawing.look import SMALL, Look, mixed
from robgui.report.drawing.plate import Area, fitting
from robgui.report.drawing.rules import AxisRules, Side
from robgui.report.drawing.ticks import TickWords

#: More cells than this in a line are drawn together, the worst of them in front.
MOST_CELLS = 500
#: Classes that the legend names, those with most cells first.
_NAMED_CLASSES = 12
#: Inches of the colour bar itself, without its numbers.
_BAR = 0.14


def colours(view: Matrix, look: Look) -> ScalarMappable:
    """How the values become colours: the worst is furthest from the ground."""
    return shades(view.worst, view.levels, look)


def shades(worst: str, levels: tuple[float, float], look: Look) -> ScalarMappable:
    """The colours of values between two levels."""
    name, turned = colour_map(worst, look.dark)
    low, high = (float(level) for level in levels)
    if not (math.isfinite(low) and math.isfinite(high)):
        low, high = 0.0, 1.0
    if high <= low:
        # A matrix of one value would divide by zero.
        high = low + (abs(low) or 1.0)
    table: Colormap
    if name == "diverging":
        table = LinearSegmentedColormap.from_list("diverging", diverging(look.dark))
    else:
        table = mpl.colormaps[f"{name}_r" if turned else name]
    return ScalarMappable(Normalize(low, high, clip=True), table)


def paint(axes: Axes, view: Matrix, look: Look) -> None:
    """Draws the cells; where nothing is known the ground is hatched."""
    small = coarse(view)
    x, y, width, height = view.rect
    if view.guessed is not None or empty_words(view):
        axes.patch.set(facecolor=look.unknown, **_hatching(look))
    if small.classes is not None:
        pixels = class_pixels(small, look.dark)
    else:
        pixels = _pixels(small, look)
    if pixels.size:
        # Row 0 below, as views count; imshow puts it on top. Its usual equal aspect would move the
        # axes out of the place that the layout gave them.
        style: dict[str, Any] = {"aspect": "auto", "interpolation": "nearest"}
        axes.imshow(pixels, origin="lower", extent=(x, x + width, y, y + height), **style)


def _pixels(view: Matrix, look: Look) -> np.ndarray:
    """``(rows, columns, 4)`` uint8, transparent where nothing is known."""
    known = np.ma.masked_invalid(view.values)
    return see_through(np.array(colours(view, look).to_rgba(known, bytes=True)), view)


def coarse(view: Matrix) -> Matrix:
    """A matrix with more cells than dots: each dot takes the worst of its cells; none is lost."""
    times = [math.ceil(side / MOST_CELLS) or 1 for side in view.values.shape]
    # Classes cannot be ranked, so none of them may stand for a block.
    if max(times) == 1 or view.classes is not None:
        return view
    fewer: dict[str, Any] = {"values": _worst_of(_blocks(view.values, times), view.worst)}
    if view.guessed is not None:
        fewer["guessed"] = np.nanmax(_blocks(view.guessed, times), axis=-1) > 0
    return replace(view, **fewer, place=view.rect, rows=(), columns=(), spots=())


def note(view: Matrix) -> str:
    """What to know about a matrix that was drawn with fewer dots than cells."""
    times = max(math.ceil(side / MOST_CELLS) for side in view.values.shape)
    if times <= 1 or view.classes is not None:
        return ""
    if view.worst == "neither":
        told = "their mean"
    else:
        told = "the worst of them"
    return f"Each dot stands for up to {times} × {times} cells and shows {told}."


def _blocks(values: np.ndarray, times: list[int]) -> np.ndarray:
    """``(rows, columns, cells of a block)``, nan beyond the edge."""
    rows, columns = (math.ceil(side / many) for side, many in zip(values.shape, times, strict=True))
    wide = np.full((rows * times[0], columns * times[1]), np.nan)
    wide[: values.shape[0], : values.shape[1]] = values
    cells = wide.reshape(rows, times[0], columns, times[1]).transpose(0, 2, 1, 3)
    return cells.reshape(rows, columns, -1)


def _worst_of(blocks: np.ndarray, worst: str) -> np.ndarray:
    known = np.isfinite(blocks).any(-1)
    if worst == "middle":
        # Of differences the largest either way is the one to see.
        place = np.abs(np.nan_to_num(blocks)).argmax(-1)
    elif worst == "low":
        # Not nanargmin, which raises where a block is empty.
        place = np.where(np.isfinite(blocks), blocks, np.inf).argmin(-1)
    elif worst == "high":
        place = np.where(np.isfinite(blocks), blocks, -np.inf).argmax(-1)
    else:
        total = np.nan_to_num(blocks).sum(-1) / np.maximum(1, np.isfinite(blocks).sum(-1))
        return np.where(known, total, np.nan)
    return np.where(known, np.take_along_axis(blocks, place[..., None], -1)[..., 0], np.nan)


@dataclass(frozen=True)
class Bar:
    """The colour bar at the right of an area.

    Attributes:
        axes: The bar itself.
        title: What the colours mean, whole.
        left: What is left of the area beside it.
    """

    axes: Axes
    title: str
    left: Area

    def beside(self, place: Area) -> None:
        """Makes the bar as high as what it stands beside."""
        own = replace(place.inside(self.axes), top=place.top, height=place.height)
        own = replace(own, left=min(own.left, place.right + 0.1))
        self.axes.set_position(own.bounds())
        self.axes.set_ylabel(fitting(self.title, place.height, SMALL))
        self.axes.yaxis.set_major_locator(_steps(place.height))


def bar(area: Area, shade: ScalarMappable, scale: Axis, worst: str) -> Bar:
    """Draws the colour bar at the right of an area."""
    place = area.less(left=area.width - _BAR)
    axes = place.axes()
    low, high = shade.get_clim()
    # As many steps as a colour map of matplotlib has.
    ramp = shade.to_rgba(np.linspace(low, high, 256)[:, None], bytes=True)
    axes.imshow(ramp, origin="lower", extent=(0, 1, low, high), aspect="auto")
    axes.set(xlim=(0, 1), ylim=(low, high), xticks=[])
    rules = AxisRules(axes, area.look)
    rules.sides = {"y": Side(right=True, name=SMALL)}
    axes.yaxis.set_major_locator(_steps(area.height))
    axes.yaxis.set_major_formatter(TickWords(scale))
    axes.spines[:].set_visible(False)
    title = _bar_title(scale, worst)
    axes.set_ylabel(fitting(title, 0.7 * area.height, SMALL))
    words = rules.around(place.width, place.height)["right"]
    axes.set_position(area.less(left=area.width - _BAR - words, right=words).bounds())
    return Bar(axes, title, area.less(right=_BAR + words + 0.1))


def _steps(height: float) -> MaxNLocator:
    # A number every 0.4 inches can be read; more than six say no more.
    return MaxNLocator(max(2, min(6, int(height / 0.4))))


def _bar_title(scale: Axis, worst: str) -> str:
    """What the colours mean, with the end that is worst."""
    end = {"low": " (low is worst)", "high": " (high is worst)"}.get(worst, "")
    return f"{scale.title}{end}"


def entries(view: Matrix, look: Look) -> list[LegendEntry]:
    """The legend: classes by hue, what is not known, signs."""
    found = []
    if view.classes is not None:
        found += _classes(view, look)
    elif words := empty_words(view):
        found.append(_unknown(words, look))
    if view.guessed is not None:
        found.append(_unknown("not computed, as a coarser cell", look))
    return [*found, *legend.spots(view.spots, look)]


def _classes(view: Matrix, look: Look) -> list[LegendEntry]:
    assert view.classes is not None
    numbers, cells = np.unique(view.classes, return_counts=True)
    by_cells = [int(numbers[i]) for i in np.argsort(-cells, kind="stable") if numbers[i] >= 0]
    named = []
    for number in by_cells[:_NAMED_CLASSES]:
        sample = legend.patch(look.colour(class_ink(view, number)))
        named.append(LegendEntry(_class_name(view, number), sample))
    if more := len(by_cells[_NAMED_CLASSES:]):
        named.append(LegendEntry(f"… and {more} more classes", legend.patch("none")))
    fading = legend.patch(mixed(look.text, look.ground, 0.35))
    named.append(LegendEntry(f"intensity: {view.scale.title}", fading))
    if words := empty_words(view):
        return [*named, _unknown(words, look)]
    return named


def _class_name(view: Matrix, number: int) -> str:
    if number < len(view.class_names):
        return view.class_names[number]
    return f"class {number}"


def _unknown(words: str, look: Look) -> LegendEntry:
    return LegendEntry(words, legend.patch(look.unknown, **_hatching(look)))


def _hatching(look: Look) -> dict[str, Any]:
    """How the ground is hatched where nothing is known."""
    return {"hatch": "////", "edgecolor": mixed(look.text, look.ground, 0.2)}
