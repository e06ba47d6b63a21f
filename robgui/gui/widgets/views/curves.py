"""Curves on the screen: lines with bands, marks and levels; hovering reads them out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsPathItem

from robgui.core.view import Axis, Curves, Ink, Line
from robgui.gui.app.theme import theme
from robgui.gui.widgets.inks import SYMBOLS, colour, pen
from robgui.gui.widgets.legend import LegendKey
from robgui.gui.widgets.views.callout import Callout
from robgui.gui.widgets.views.cursor import Cursor
from robgui.gui.widgets.views.plot_view import PlotView, scaled, span

#: Lines read out at once; more cannot be taken in.
MOST_READ = 4
#: A line this near to the pointer, in pixels, is pointed at.
NEAR = 14
#: More points than this have smaller symbols.
CROWD = 200
_WIDTHS = {"quiet": 1.0, "plain": 2.0, "strong": 3.0}


class CurvesView(PlotView):
    """Draws Curves; ``chosen`` gives the place on the horizontal axis that was clicked, a float."""

    kind = Curves

    def build(self) -> None:
        """A plot without lines, and the cursor of the pointer."""
        super().build()
        self.lines: list[LineItem] = []
        self._near: int | None = None
        self._added: list[Cursor] = []
        self._cursor = pg.InfiniteLine(angle=90)
        self._cursor.setVisible(False)
        self.plot.addItem(self._cursor, ignoreBounds=True)

    def draw(self, view: Curves) -> None:
        """Gives every line its new numbers."""
        self.plot.show_axes(view.x, view.y)
        while len(self.lines) < len(view.lines):
            self.lines.append(LineItem(self.plot, mini=self.mini))
        for place, item in enumerate(self.lines):
            item.show_line(view, view.lines[place] if place < len(view.lines) else None, place)
        keys = [item.key(line) for item, line in zip(self.lines, view.lines, strict=False)]
        keys = [key for key, line in zip(keys, view.lines, strict=True) if not line.quiet]
        keys += self.show_marks(view.marks, 90, view.x) + self.show_marks(view.levels, 0, view.y)
        self.show_keys(keys, view.y)
        self._cursor.setPen(pen(Ink("quiet"), 1))
        self._fit(view)

    def add_cursor(self, cursor: Cursor) -> None:
        """Puts a line that the user drags into the plot."""
        self._added.append(cursor)
        # Otherwise an automatic range would follow it.
        self.plot.addItem(cursor, ignoreBounds=True)

    def callouts(self) -> list[Callout]:
        """What its axes and its lines mean, and those that the user drags."""
        own = [one.callout(self.plot, self) for one in self._added]
        return [*super().callouts(), *own]

    def read(self, x: float, y: float) -> str:
        """The values of the lines that matter at the point nearest to the pointer."""
        view: Curves = self.view
        # Items of a former view with more lines stay, hidden, and have numbers still.
        places = [item.nearest(x) for item in self.lines[: len(view.lines)]]
        pairs = zip(self.lines, places, strict=False)
        known = [float(item.x[at]) for item, at in pairs if at is not None]
        if not known:
            return ""
        near = min(known, key=lambda value: abs(value - x))
        self._cursor.setValue(near)
        self._cursor.setVisible(True)
        self._point(self._line_at(x, y, places))
        order = [place for place in range(len(view.lines)) if not view.lines[place].quiet]
        if self._near is not None:
            order = [self._near, *(place for place in order if place != self._near)]
        shown = [self._words(place, near) for place in order]
        where = f"{view.x.name} {view.x.words(_back(view.x, near))}".strip()
        return f"{where}: {', '.join([words for words in shown if words][:MOST_READ])}"

    def hit(self, x: float, y: float) -> object | None:
        """The place on the horizontal axis."""
        return _back(self.view.x, x)

    def unpoint(self) -> None:
        """Takes the cursor away."""
        self._cursor.setVisible(False)
        self._point(None)

    def _words(self, place: int, x: float) -> str:
        """Name and value of one line at ``x``, with its band; nothing if it has none."""
        line, item, axis = self.view.lines[place], self.lines[place], self.view.y
        at = item.nearest(x)
        if at is None or not math.isfinite(float(line.y[at])):
            return ""
        band = ""
        if line.low is not None and line.high is not None and np.isfinite(line.low[at]):
            band = f" ({axis.words(float(line.low[at]))} to {axis.words(float(line.high[at]))})"
        return f"{line.name} {axis.words(float(line.y[at]))}{band}"

    def _line_at(self, x: float, y: float, places: list[int | None]) -> int | None:
        """The line that the pointer is on, if any."""
        box = self.plot.box
        height = abs(box.viewPixelSize()[1]) or 1.0
        best, least = None, NEAR * height
        for number, (item, at) in enumerate(zip(self.lines, places, strict=False)):
            if at is None:
                value = math.nan
            else:
                value = item.value_at(x)
            if math.isfinite(value) and abs(value - y) < least:
                best, least = number, abs(value - y)
        return best

    def _point(self, near: int | None) -> None:
        if near == self._near:
            return
        self._near = near
        for place, (item, line) in enumerate(zip(self.lines, self.view.lines, strict=False)):
            item.point(line, place == near)

    def _fit(self, view: Curves) -> None:
        shown = self.lines[: len(view.lines)]
        marks = scaled(view.x, np.array([mark.at for mark in view.marks], float))
        levels = scaled(view.y, np.array([mark.at for mark in view.levels], float))
        x_range = span(view.x, [*(item.x for item in shown), marks])
        y_range = span(view.y, [*(part for item in shown for part in item.heights), levels])
        x_ends, y_ends = _ends(view.x, x_range), _ends(view.y, y_range)
        # Limits first: those of the former view would cut the new frame.
        self.plot.box.setLimits(xMin=x_ends[0], xMax=x_ends[1], yMin=y_ends[0], yMax=y_ends[1])
        self.plot.set_frame(x_range, y_range)


def _ends(axis: Axis, shown: tuple[float, float]) -> tuple[float | None, float | None]:
    """How far an axis can be zoomed out: there are no sizes below 0 and no shares above 1.

    Other ends stay free: plots of two runs may share an axis and differ in their ends.
    """
    if axis.log or axis.low != 0:
        return None, None
    if axis.high == 1:
        return shown
    return shown[0], None


def _crowd(view: Curves) -> bool:
    """Whether there are many loose dots: dots of one size can be counted by eye."""
    return sum(line.y.size for line in view.lines if not line.line) > CROWD


class LineItem:
    """One line with its band and symbols, kept for life.

    Args:
        plot: Where it is drawn.
        mini: In a small picture symbols would hide the line that joins them.

    Attributes:
        curve: The line itself.
        band: The area between its bounds; None before it has any.
    """

    def __init__(self, plot: Any, *, mini: bool = False) -> None:
        self._mini = mini
        self.x = self.y = np.zeros(0)
        self.heights: list[np.ndarray] = []
        self._style: object = None
        self._crowded = False
        self._plot = plot
        # Nan is a gap in the line.
        self.curve = pg.PlotCurveItem(connect="finite")
        self.band: QGraphicsPathItem | None = None
        self._dots: Any = None
        plot.addItem(self.curve, ignoreBounds=True)

    def show_line(self, view: Curves, line: Line | None, place: int) -> None:
        """Takes the numbers of ``line``; None hides everything."""
        if line is None:
            for item in (self.band, self.curve, self._dots):
                if item is not None:
                    item.setVisible(False)
            return
        self.x = scaled(view.x, view.at if line.x is None else line.x)
        self.y = scaled(view.y, line.y)
        if line.steps:
            x, y = _steps(self.x, self.y)
        else:
            x, y = (self.x, self.y)
        self.curve.setData(x, y)
        self.curve.setVisible(line.line)
        self._show_band(self._area(view.y, line))
        self._show_dots(line)
        # Where two lines run together, the gaps of a dashed one show the one below it.
        above = 0 if line.quiet else 400 + 200 * (line.ink.dash != "solid")
        for depth, item in ((0, self.band), (1, self.curve), (2, self._dots)):
            if item is not None:
                # Bands below all lines and lines below all dots; an earlier line lies above a later
                # one.
                item.setZValue(depth * 1000 - place + above)
        self._crowded = len(self.x) > CROWD or (not line.line and len(self.x) > 1 and _crowd(view))
        self.point(line, False)

    def _show_band(self, area: QPainterPath) -> None:
        if self.band is None and not area.isEmpty():
            self.band = QGraphicsPathItem()
            self.band.setPen(QPen(Qt.PenStyle.NoPen))
            self._add(self.band)
        if self.band is not None:
            self.band.setPath(area)
            self.band.setVisible(True)

    def _show_dots(self, line: Line) -> None:
        wanted = bool(line.symbol) and not (self._mini and line.line)
        if self._dots is None and wanted:
            self._dots = pg.ScatterPlotItem(pxMode=True)
            self._add(self._dots)
        if wanted:
            dots = np.isfinite(self.x) & np.isfinite(self.y)
            self._dots.setData(self.x[dots], self.y[dots])
            self._dots.setVisible(True)
        elif self._dots is not None:
            self._dots.clear()

    def _add(self, item: Any) -> None:
        """Most lines have no band and no symbols: what is not needed is not made."""
        self._plot.addItem(item, ignoreBounds=True)
        self._style = None  # The new item has no colour yet.

    def point(self, line: Line, near: bool) -> None:
        """Draws the line as it is, or stronger while pointed at; a grey one then turns dark."""
        grey = line.quiet or line.ink.role in ("other", "quiet")
        if near and grey:
            ink = Ink("text")
        else:
            ink = line.ink
        width = _width(line) + (1.5 if near else 0.0)
        # A dot must be wider than the line it stands on, or it is not seen.
        size = theme.grown(6 if self._crowded else 8 + width)
        # The theme and, within size, the scale of the text: the pens depend on both.
        style = (ink, line.ink, width, line.symbol, size, theme.dark)
        if style == self._style:
            return  # Each of the following recomputes every point.
        self._style = style
        self.curve.setPen(pen(ink, width, _dash(line.ink)))
        if self.band is not None:
            self.band.setBrush(pg.mkBrush(colour(line.ink, 0.22)))
        if line.symbol and self._dots is not None:
            self._dots.setSymbol(SYMBOLS[line.symbol])
            self._dots.setSize(size)
            self._dots.setBrush(pg.mkBrush(colour(ink)))
            self._dots.setPen(pg.mkPen(colour(ink)))

    def key(self, line: Line) -> LegendKey:
        """The line in the legend."""
        symbol = SYMBOLS.get(line.symbol, "")
        return LegendKey(line.name, pen(line.ink, _width(line)), symbol, line=line.line)

    def nearest(self, x: float) -> int | None:
        """The point of the line nearest to ``x``; None when it has none."""
        if not self.x.size or not np.isfinite(self.x).any():
            return None
        return int(np.nanargmin(np.abs(self.x - x)))

    def value_at(self, x: float) -> float:
        """How high the line is at ``x``, between its points too."""
        known = np.isfinite(self.x) & np.isfinite(self.y)
        if not known.any():
            return math.nan
        # np.interp takes only an x that rises.
        order = np.argsort(self.x[known], kind="stable")
        return float(np.interp(x, self.x[known][order], self.y[known][order]))

    def _area(self, axis: Axis, line: Line) -> QPainterPath:
        """The band as an area, one piece for each stretch without a gap."""
        self.heights = [self.y]
        path = QPainterPath()
        if line.low is None or line.high is None:
            return path
        low, high = scaled(axis, line.low), scaled(axis, line.high)
        self.heights += [low, high]
        known = np.isfinite(low) & np.isfinite(high) & np.isfinite(self.x)
        for part in np.split(np.arange(known.size), np.flatnonzero(~known)):
            # Each piece but the first begins with the gap that it was split at.
            part = part[known[part]]
            if part.size > 1:
                around = np.concatenate([self.x[part], self.x[part][::-1]])
                edge = np.concatenate([high[part], low[part][::-1]])
                path.addPath(pg.arrayToQPath(around, edge))
        return path


def _steps(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A value holds until the next one."""
    # Each point twice, shifted by one: (x1, y0)
    # makes the corner between (x0, y0) and (x1, y1).
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]


def _width(line: Line) -> float:
    if line.quiet:
        return _WIDTHS["quiet"]
    return _WIDTHS["strong" if line.strong else "plain"]


def _dash(ink: Ink) -> Qt.PenStyle:
    return pen(ink).style()


def _back(axis: Axis, value: float) -> float:
    """A place along an axis as a value of it."""
    if axis.log:
        return 10.0**value
    return value
