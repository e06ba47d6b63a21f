"""Regions as pictures: rectangles on a map, interval bars for one or more than two parameters, and loss curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont

from robgui.gui.app.theme import theme
from robgui.gui.panels.semantic.map_view import Marks, rect_of
from robgui.gui.panels.semantic.methods import NAMES, colour_of, pen_of, symbol_of
from robgui.gui.panels.semantic.preview import axis_title, with_unit
from robgui.gui.widgets.heat import Heat
from robgui.gui.widgets.plots import Plot

if TYPE_CHECKING:
    from robgui.analyses.semantic import Axis, RegionsResult

#: The map steps back so that the regions stand out.
_OPACITY = 0.75
#: Corner (right, top) at which a method writes its name, so that three names on one region do not cover each other.
_CORNERS = {"naive": (0, 1), "oir_b": (1, 1), "oir_w": (1, 0)}
#: Nearer than this share of the picture to its edge, a name stands inside of its region.
_NEAR = 0.16


#: Room for the bounds in words beside the bars, in characters.
_WORDS = 24


class OnMap(Heat):
    """Rectangles over two parameters, one colour and line for each method."""

    def __init__(self) -> None:
        super().__init__("", "", "score (0 to 1)")
        self.image.setOpacity(_OPACITY)
        self.marks = Marks(self.plot)
        self.rims = {method: pg.PlotCurveItem(connect="finite") for method in NAMES}
        self.lines = {method: pg.PlotCurveItem(connect="finite") for method in NAMES}
        self._words = {method: pg.TextItem(NAMES[method]) for method in NAMES}
        for place, method in enumerate(NAMES):
            self.rims[method].setZValue(9)
            self.lines[method].setZValue(10 + place)
            self._words[method].setZValue(20)
            for item in (self.rims[method], self.lines[method], self._words[method]):
                self.plot.addItem(item)
        self._ends: tuple[float, ...] = ()
        self.restyle()

    def show_background(self, axes: tuple[Axis, ...], x: np.ndarray, y: np.ndarray, score: np.ndarray) -> None:
        """The map below the regions; its axes are named and end where the ranges end."""
        item = self.plot.getPlotItem()
        item.setLabel("bottom", axis_title(axes[0]))
        item.setLabel("left", axis_title(axes[1]))
        self.show_values(score, rect_of(x, y))
        ends = (axes[0].low, axes[0].high, axes[1].low, axes[1].high)
        if ends != self._ends:
            self._ends = ends
            self.plot.setRange(xRange=ends[:2], yRange=ends[2:], padding=0.03)

    def show_regions(self, result: RegionsResult, step: int, start: int) -> None:
        """The regions after ``step`` steps, of one start or (below 0) of all."""
        for method in NAMES:
            rows = rows_of(result, method, start)
            outline = [_outline(result.axes, result.trace[row, step]) for row in rows]
            points = np.concatenate(outline) if outline else np.zeros((0, 2))
            self.rims[method].setData(points[:, 0], points[:, 1])
            self.lines[method].setData(points[:, 0], points[:, 1])
            self._name(method, result, step, rows)

    def restyle(self) -> None:
        """Colours of the methods in the present theme, on a rim that keeps them apart from the map."""
        self.plot.restyle()
        font = QFont(self.font())
        font.setBold(True)
        for method in NAMES:
            self.rims[method].setPen(pg.mkPen((255, 255, 255, 190), width=5))
            self.lines[method].setPen(pen_of(method, 3))
            self._words[method].setFont(font)
            self._words[method].setColor(colour_of(method))
            self._words[method].fill = pg.mkBrush(theme.colours.surface)

    def _name(self, method: str, result: RegionsResult, step: int, rows: np.ndarray) -> None:
        """Writes the name at a corner of the method's largest region."""
        words = self._words[method]
        words.setVisible(bool(len(rows)))
        if not len(rows):
            return
        sizes = np.prod(result.trace[rows, step, 1] - result.trace[rows, step, 0], axis=1)
        box = _boxes(result.axes, result.trace[rows[int(sizes.argmax())], step])[0]
        across, up = _CORNERS[method]
        low, high = (result.axes[0].low, result.axes[1].low), (result.axes[0].high, result.axes[1].high)
        shares = [(box[2 * p + side] - low[p]) / (high[p] - low[p]) for p, side in enumerate((across, up))]
        outward = [share > _NEAR if side == 0 else share < 1 - _NEAR for share, side in zip(shares, (across, up), strict=True)]
        # an anchor of 0 lets the text go to the right or down, 1 to the left or up
        level = float((up == 1) == outward[1])
        if across == 0:  # beside its region and not above it, where the name at the other corner of a narrow region may lie
            level = 0.0
        words.setAnchor((float((across == 0) == outward[0]), level))
        words.setPos(box[across], box[2 + up])


class Bars(Plot):
    """One row for each parameter with the bounds of every region; a single parameter is shown in its unit, with its score."""

    def __init__(self) -> None:
        super().__init__("share of the range (0 to 1)", "")
        self.getPlotItem().getAxis("left").setStyle(tickLength=0)
        self.score = pg.PlotCurveItem(connect="finite")
        self.lines = {method: pg.PlotCurveItem(connect="pairs") for method in NAMES}
        self.starts = pg.ScatterPlotItem(size=9)
        self._words: list[pg.TextItem] = []
        self._shown: object = None
        self._end = 1.0
        for item in (self.score, *self.lines.values(), self.starts):
            self.addItem(item)
        self.restyle()

    def show_regions(self, result: RegionsResult, step: int, start: int) -> None:
        """The bounds after ``step`` steps, of one start or (below 0) of all."""
        self._set_axes(result)
        rows = [int(row) for method in NAMES for row in rows_of(result, method, start)]
        places = {row: (place + 1) / (len(rows) + 1) for place, row in enumerate(rows)}
        for method in NAMES:
            ends = [end for row in rows_of(result, method, start) for end in self._bars(result, step, row, places[row])]
            points = np.array(ends).reshape(-1, 2)
            self.lines[method].setData(points[:, 0], points[:, 1])
        at = [self._scaled(result, p, result.start[row, p]) for row in rows for p in range(len(result.axes))]
        levels = [self._level(result, p, places[row]) for row in rows for p in range(len(result.axes))]
        symbols = [symbol_of(result.method[row]) for row in rows for _ in result.axes]
        self.starts.setData(x=at, y=levels, symbol=symbols)
        self._write(result, step, places if start >= 0 else {})

    def show_score(self, x: np.ndarray, score: np.ndarray) -> None:
        """The score over a single parameter; nothing for several."""
        self.score.setData(x, score)

    def restyle(self) -> None:
        """Methods in their colours, the score quiet."""
        super().restyle()
        if not hasattr(self, "lines"):  # the plot styles itself before it has any lines
            return
        for method, line in self.lines.items():
            line.setPen(pg.mkPen(colour_of(method), width=6, cap=Qt.PenCapStyle.FlatCap))  # a dashed bar would look like several
        self.score.setPen(pg.mkPen(theme.colours.quiet, width=1.5, style=Qt.PenStyle.DotLine))
        self.starts.setPen(pg.mkPen(theme.colours.text))
        self.starts.setBrush(pg.mkBrush(theme.colours.surface))
        for words in self._words:
            words.setColor(theme.colours.text)

    def _set_axes(self, result: RegionsResult) -> None:
        """Names and ends of the axes; they move only for another space."""
        if result.axes == self._shown:
            return
        self._shown, n = result.axes, len(result.axes)
        item = self.getPlotItem()
        if n == 1:
            axis = result.axes[0]
            item.setLabel("bottom", axis_title(axis))
            item.setLabel("left", "score (dotted, 0 to 1)")
            for side in ("left", "bottom"):
                item.getAxis(side).setTicks(None)
            self.setRange(xRange=(axis.low, axis.high), yRange=(0, 1), padding=0.04)
            return
        item.setLabel("bottom", "share of the range (0 to 1)")
        item.setLabel("left", "")
        item.getAxis("bottom").setTicks([[(tick / 5, f"{tick / 5:g}") for tick in range(6)]])
        names = [f"{a.title}\n{with_unit(a.low, '')} to {with_unit(a.high, a.unit)}" for a in result.axes]
        item.getAxis("left").setTicks([[(n - 1 - place + 0.5, name) for place, name in enumerate(names)]])
        self._end = 1.0
        self.setRange(xRange=(0, 1), yRange=(0, n), padding=0.03)

    def _bars(self, result: RegionsResult, step: int, row: int, place: float) -> Iterator[tuple[float, float]]:
        from robgui.analyses.semantic import pieces

        for p, axis in enumerate(result.axes):
            level = self._level(result, p, place)
            for low, high in pieces(axis, *(float(v) for v in result.trace[row, step, :, p])):
                yield self._scaled(result, p, low), level
                yield self._scaled(result, p, high), level

    def _write(self, result: RegionsResult, step: int, places: dict[int, float]) -> None:
        """Writes the bounds of one start beside its bars, where there is room for the words."""
        n = len(result.axes)
        wanted = [(row, p) for row in places for p in range(n)] if self._make_room(n, len(places)) else []
        while len(self._words) < len(wanted):
            words = pg.TextItem(color=theme.colours.text, anchor=(0.5, 1))
            self._words.append(words)
            self.addItem(words)
        for place, words in enumerate(self._words):
            words.setVisible(place < len(wanted))
            if place < len(wanted):
                row, p = wanted[place]
                low, high = (float(v) for v in result.trace[row, step, :, p])
                words.setText(f"{NAMES[result.method[row]]}: {with_unit(low, '')} to {with_unit(high, result.axes[p].unit)}")
                axis = result.axes[p]
                middle = min(max((low + high) / 2, axis.low), axis.high)  # a region across the seam may have its middle outside
                share = (middle - axis.low) / (axis.high - axis.low)
                words.setAnchor((0, 0.5) if n > 1 else (0 if share < 0.25 else 1 if share > 0.75 else 0.5, 1))
                words.setPos(1.01 if n > 1 else middle, self._level(result, p, places[row]))

    def _make_room(self, n: int, regions: int) -> bool:
        """Whether words fit beside the bars; if so, the axis goes on behind 1 to hold them."""
        box, metrics = self.getPlotItem().getViewBox(), self.fontMetrics()
        fits = bool(regions) and box.height() / (n * (regions + 1)) >= 0.8 * metrics.height()
        if n == 1:
            return fits
        words = metrics.averageCharWidth() * _WORDS
        fits = fits and box.width() > 2 * words
        end = 1 + words / (box.width() - words) if fits else 1.0
        if end != self._end:
            self._end = end
            self.setXRange(0, end, padding=0.03)
        return fits

    @staticmethod
    def _level(result: RegionsResult, p: int, place: float) -> float:
        """Height of a bar: parameters from the top down, regions within."""
        return len(result.axes) - 1 - p + 0.08 + 0.84 * (1 - place)

    @staticmethod
    def _scaled(result: RegionsResult, p: int, value: Any) -> float:
        axis = result.axes[p]
        return float(value) if len(result.axes) == 1 else (float(value) - axis.low) / (axis.high - axis.low)


class Losses(Plot):
    """The loss that each region's steps began with, and a line where the timeline stands."""

    def __init__(self) -> None:
        super().__init__("step", "loss")
        self.lines = {method: pg.PlotCurveItem(connect="finite") for method in NAMES}
        self.cursor = pg.InfiniteLine(angle=90)
        for item in (*self.lines.values(), self.cursor):
            self.addItem(item)
        self._range: tuple[float, float] | None = None
        self._steps = self._count = 0
        self._starts = np.zeros((0, 0))
        self.restyle()

    def show_losses(self, result: RegionsResult, step: int, start: int, steps: int) -> None:
        """The losses so far of one start or of all, on an axis of ``steps``; the other axis grows with them."""
        count = result.loss.shape[1]
        for method in NAMES:
            rows = rows_of(result, method, start)
            x = np.tile(np.append(np.arange(count, dtype=float), np.nan), len(rows))
            y = np.concatenate([np.append(result.loss[row], np.nan) for row in rows]) if len(rows) else np.zeros(0)
            self.lines[method].setData(x, y)
        self.cursor.setValue(step)
        fresh = count < self._count or not np.array_equal(result.start, self._starts)
        self._starts, self._count = result.start, count
        if steps != self._steps:
            self._steps = steps
            self.setXRange(0, steps, padding=0.03)
        self._fit(result.loss, fresh)

    def restyle(self) -> None:
        """Methods in their colours and lines."""
        super().restyle()
        if not hasattr(self, "lines"):  # the plot styles itself before it has any lines
            return
        for method, line in self.lines.items():
            line.setPen(pen_of(method, 1.75))
        self.cursor.setPen(pg.mkPen(theme.colours.accent, width=1.5))

    def _fit(self, loss: np.ndarray, fresh: bool) -> None:
        known = loss[np.isfinite(loss)]
        if not len(known):
            return
        low, high = float(known.min()), float(known.max())
        if self._range is not None and not fresh:
            low, high = min(low, self._range[0]), max(high, self._range[1])
        if (low, high) != self._range:
            self._range = (low, high)
            self.setYRange(low, high if high > low else low + 1e-6, padding=0.06)


def rows_of(result: RegionsResult, method: str, start: int) -> np.ndarray:
    """The regions of a method, from one start or (below 0) from all."""
    same = np.array([name == method for name in result.method], dtype=bool)
    return np.flatnonzero(same & ((result.start_number == start) | (start < 0)))


def _boxes(axes: tuple[Axis, ...], bounds: np.ndarray) -> list[tuple[float, float, float, float]]:
    """Left, right, bottom and top of the parts of a region ``(2, 2)`` that lie on the map."""
    from robgui.analyses.semantic import pieces

    across, up = (pieces(axes[p], float(bounds[0, p]), float(bounds[1, p])) for p in (0, 1))
    return [(*x, *y) for x in across for y in up]


def _outline(axes: tuple[Axis, ...], bounds: np.ndarray) -> np.ndarray:
    """The rectangles of a region as one line with gaps."""
    parts = []
    for left, right, bottom, top in _boxes(axes, bounds):
        parts.append([(left, bottom), (right, bottom), (right, top), (left, top), (left, bottom), (np.nan, np.nan)])
    return np.array(parts).reshape(-1, 2)
