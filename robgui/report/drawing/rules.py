"""Rules: the ticks, numbers, names and grid lines of a plot, measured and painted in one go.

matplotlib makes an object of five artists for every tick and lays each of them out several times,
which took as long as the rest of a drawing. It still says where the ticks are and how they read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis as PlotAxis
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform

from robgui.report.drawing.letters import Letters
from robgui.report.drawing.look import BODY, SMALL, Look
from robgui.report.lettering import POINTS, extent

#: Height of a line of letters with what hangs below it, and the distance of two lines, both in
#: sizes of the letters.
_HIGH, _NEXT = 1.2, 1.4
#: Points: a tick, the gap between it and its words, the gap before the name, the line of a tick and
#: of the grid.
TICK, _GAP, _BEFORE_NAME, _THICK, _GRID = 3.5, 3.5, 4.0, 0.7, 0.6
#: How far beyond the end of an axis its last tick may lie, as a share of it.
_ROUNDED = 1e-6
Which = Literal["x", "y"]


@dataclass
class Side:
    """How one side of a plot is lettered.

    Attributes:
        size: Of the words at the ticks, in points.
        turned: Whether these stand upright.
        tick: Length of a tick in points.
        right: Whether it is the right side instead of the left.
        name: Size of the axis's name, in points.
    """

    size: float = SMALL
    turned: bool = False
    tick: float = TICK
    right: bool = False
    name: float = BODY


class AxisRules(Artist):
    """Takes the place of both axes of a plot.

    Args:
        axes: The plot.
        look: Light or dark.

    Attributes:
        sides: Those that are lettered.
        grid: Across which axis lines are drawn; empty for none.
        texts: What was written when it was painted last.
    """

    def __init__(self, axes: Axes, look: Look) -> None:
        super().__init__()
        self._plot, self._look = axes, look
        self.sides: dict[Which, Side] = {"x": Side(), "y": Side()}
        self.grid: Which | Literal[""] = ""
        self.texts: list[Text] = []
        axes.add_artist(self)
        # Ticks and words stand outside the plot, to which an artist is clipped.
        self.set_clip_on(False)
        self.set_zorder(0.5)
        for side in (axes.xaxis, axes.yaxis):
            # Unseen, they still say where the ticks are and how they read.
            side.set_visible(False)

    def around(self, width: float, height: float) -> dict[str, float]:
        """How far everything stands out on each side of a plot of this size, in inches."""
        reach = dict.fromkeys(("left", "right", "top", "bottom"), 0.0)
        for which, side in self.sides.items():
            lies = which == "x"
            along, away = self._extents(which, side)
            places = _labels(self._axis(which))[1] * (width if lies else height)
            ends = (places, (width if lies else height) - places)
            before, after = ((along / 2 - end).max(initial=0.0) for end in ends)
            first, last, out = ("left", "right", "bottom") if lies else ("bottom", "top", "left")
            if side.right:
                out = "right"
            depth = _depth(side, away)
            if name := self._axis(which).get_label_text():
                lines = _HIGH + _NEXT * name.count("\n")
                depth += (_BEFORE_NAME + lines * side.name) / POINTS
            for edge, inches in ((first, before), (last, after), (out, depth)):
                reach[edge] = max(reach[edge], float(inches))
        return reach

    def draw(self, renderer: Any) -> None:
        """Paints lines and words where the plot lies now."""
        if not self.get_visible():
            return
        point = renderer.points_to_pixels(1.0)
        self.texts = [*self._words(point)]
        if self.grid:
            self._rule(renderer, self._grid_lines(), _GRID, self._look.grid)
        for which, side in self.sides.items():
            if side.tick:
                renderer.open_group(f"{which}ticks")
                self._rule(renderer, self._ticks(which, side.tick * point), _THICK, self._look.text)
                renderer.close_group(f"{which}ticks")
        for text in self.texts:
            text.draw(renderer)

    def _axis(self, which: Which) -> PlotAxis:
        if which == "x":
            return self._plot.xaxis
        return self._plot.yaxis

    def _extents(self, which: Which, side: Side) -> tuple[np.ndarray, np.ndarray]:
        """How far each label goes along its axis and away from it, in inches."""
        words = _labels(self._axis(which))[0]
        wide = np.array([extent(word, side.size) for word in words])
        high = np.full(len(words), _HIGH * side.size / POINTS)
        # Letters lie along x and stand across y unless they are turned.
        if (which == "x") == side.turned:
            return high, wide
        return wide, high

    def _rule(
        self, renderer: Any, lines: list[tuple[Any, Any]], points: float, colour: str
    ) -> None:
        if not lines:
            return
        pen = renderer.new_gc()
        pen.set_foreground(colour)
        pen.set_linewidth(points)
        # Onto whole pixels: a thin line between two of them is painted as two pale ones.
        pen.set_snap(True)
        corners = np.array(lines, float).reshape(-1, 2)
        codes = np.tile([Path.MOVETO, Path.LINETO], len(lines))
        renderer.draw_path(pen, Path(corners, codes), IdentityTransform())
        pen.restore()

    def _grid_lines(self) -> list[tuple[Any, Any]]:
        assert self.grid
        box = self._plot.bbox
        shares = _labels(self._axis(self.grid))[1]
        if self.grid == "x":
            return [((x, box.y0), (x, box.y1)) for x in box.x0 + shares * box.width]
        return [((box.x0, y), (box.x1, y)) for y in box.y0 + shares * box.height]

    def _ticks(self, which: Which, length: float) -> list[tuple[Any, Any]]:
        box = self._plot.bbox
        shares = _labels(self._axis(which))[1]
        if which == "x":
            return [((x, box.y0), (x, box.y0 - length)) for x in box.x0 + shares * box.width]
        if self.sides[which].right:
            start, end = box.x1, box.x1 + length
        else:
            start, end = box.x0, box.x0 - length
        return [((start, y), (end, y)) for y in box.y0 + shares * box.height]

    def _words(self, point: float) -> Iterator[Text]:
        """The labels of both sides and the names of the axes, in pixels."""
        for which, side in self.sides.items():
            gap = (side.tick + _GAP) * point
            away = _depth(side, self._extents(which, side)[1]) * POINTS * point
            away += _BEFORE_NAME * point
            if which == "x":
                yield from self._below(side, gap, away)
            else:
                yield from self._beside(side, gap, away)

    def _below(self, side: Side, gap: float, away: float) -> Iterator[Text]:
        box, (words, shares) = self._plot.bbox, _labels(self._plot.xaxis)
        style = {"ha": "center", "va": "top", "rotation": 90.0 * side.turned}
        for word, x in zip(words, box.x0 + shares * box.width, strict=True):
            yield self._text(x, box.y0 - gap, word, side.size, **style)
        name, middle = self._plot.get_xlabel(), box.x0 + box.width / 2
        yield self._text(middle, box.y0 - away, name, side.name, ha="center", va="top")

    def _beside(self, side: Side, gap: float, away: float) -> Iterator[Text]:
        box, (words, shares) = self._plot.bbox, _labels(self._plot.yaxis)
        if side.right:
            at, named, align, edge = box.x1 + gap, box.x1 + away, "left", "top"
        else:
            at, named, align, edge = box.x0 - gap, box.x0 - away, "right", "bottom"
        for word, y in zip(words, box.y0 + shares * box.height, strict=True):
            yield self._text(at, y, word, side.size, ha=align, va="center_baseline")
        style = {"ha": "center", "va": edge, "rotation": 90.0, "rotation_mode": "anchor"}
        middle = box.y0 + box.height / 2
        yield self._text(named, middle, self._plot.get_ylabel(), side.name, **style)

    def _text(self, x: float, y: float, words: str, size: float, **style: Any) -> Text:
        text = Letters(x, y, words, size, color=self._look.text, **style)
        figure = self._plot.get_figure(root=True)
        assert figure is not None
        text.set_figure(figure)
        return text


def rules_of(axes: Axes) -> AxisRules:
    """The rules of a plot."""
    return next(artist for artist in axes.artists if isinstance(artist, AxisRules))


def _depth(side: Side, away: np.ndarray) -> float:
    """How far ticks and labels stand out, in inches."""
    return (side.tick + _GAP) / POINTS + float(away.max(initial=0.0))


def _labels(axis: PlotAxis) -> tuple[list[str], np.ndarray]:
    """What stands at the ticks, and where on the axis that is, as a share of its length."""
    places = np.asarray(axis.get_majorticklocs(), float)
    words = axis.get_major_formatter().format_ticks(list(places))
    change = axis.get_transform().transform
    first, last = (float(end) for end in change(np.asarray(axis.get_view_interval(), float)))
    shares = (np.asarray(change(places), float) - first) / ((last - first) or 1.0)
    seen = (shares >= -_ROUNDED) & (shares <= 1 + _ROUNDED)
    return [word for word, is_seen in zip(words, seen, strict=True) if is_seen], shares[seen]
