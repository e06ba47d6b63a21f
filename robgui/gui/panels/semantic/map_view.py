"""Pictures of a semantic map: a heat map over two parameters, or curves over one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QApplication, QStackedWidget, QVBoxLayout, QWidget

from robgui.gui.app.theme import LINES, theme
from robgui.gui.panels.semantic.preview import axis_title
from robgui.gui.widgets.heat import Heat
from robgui.gui.widgets.plots import Key, Legend, Plot, beside

if TYPE_CHECKING:
    from robgui.analyses.semantic import MapResult

#: In the chooser: the mean over all shapes, or over all networks.
MEAN = -1
#: Vermilion: where something fails.
_TRAP = "#D55E00"


class Marks:
    """Traps, starts and the chosen point on one plot; white rims keep them readable on any colour."""

    def __init__(self, plot: Plot) -> None:
        self.traps = pg.ScatterPlotItem(symbol="x", size=13, brush=pg.mkBrush(_TRAP), pen=pg.mkPen("w", width=1))
        self.starts = pg.ScatterPlotItem(symbol="star", size=14, brush=pg.mkBrush("w"), pen=pg.mkPen("k", width=1))
        self.rim = pg.ScatterPlotItem(symbol="o", size=19, brush=None, pen=pg.mkPen("w", width=4))
        self.point = pg.ScatterPlotItem(symbol="o", size=19, brush=None, pen=pg.mkPen("k", width=1.5))
        for item in (self.traps, self.starts, self.rim, self.point):
            item.setZValue(30)
            plot.addItem(item)

    def show_point(self, at: np.ndarray) -> None:
        """Rings around ``(k, 2)`` points, usually one or none."""
        self.rim.setData(pos=at)
        self.point.setData(pos=at)


class MapView(QWidget):
    """A map with its traps, the starts of regions and the chosen point.

    Signals:
        hovered: ``(row, column, network)`` of the cell under the mouse, or None; the network is -1 on a heat map.
        pointed: ``(row, column, add)`` of the cell that was clicked; ``add`` with Shift.
    """

    hovered = Signal(object)
    pointed = Signal(int, int, bool)

    def __init__(self) -> None:
        super().__init__()
        self.heat = Heat("", "", "score (0 to 1)")
        self.curves = Curves()
        self._marks = (Marks(self.heat.plot), Marks(self.curves.plot))
        self._result: MapResult | None = None
        self._stack = QStackedWidget()
        self._stack.addWidget(self.heat)
        self._stack.addWidget(self.curves)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        self.heat.hovered.connect(self._hovered)
        self.heat.clicked.connect(self._clicked)
        self.curves.hovered.connect(self._hovered)
        self.curves.clicked.connect(self._clicked)

    @property
    def flat(self) -> bool:
        """Whether the map has two axes."""
        return self._result is not None and len(self._result.axes) > 1

    @property
    def marks(self) -> Marks:
        """What is drawn on the picture on show."""
        return self._marks[0 if self.flat else 1]

    def show_map(self, result: MapResult, network: int, shape: int) -> None:
        """Shows one of the maps of a result, or a mean over networks or shapes."""
        self._result = result
        self._stack.setCurrentIndex(0 if self.flat else 1)
        if self.flat:
            item = self.heat.plot.getPlotItem()
            item.setLabel("bottom", axis_title(result.axes[0]))
            item.setLabel("left", axis_title(result.axes[1]))
            self.heat.show_values(scores_of(result, network, shape), rect_of(result.x, result.y))
        else:
            self.curves.show_curves(result, shape)
        self._show_traps(result, network, shape)

    def show_points(self, starts: Sequence[Sequence[float]], point: Sequence[float] | None) -> None:
        """Marks the starts of regions and the point that is looked at."""
        result = self._result
        if result is None:
            return
        self.marks.starts.setData(pos=self._drawn(starts))
        self.marks.show_point(self._drawn([] if point is None else [point]))

    def restyle(self) -> None:
        """Curves and axes in the present theme."""
        self.heat.plot.restyle()
        self.curves.restyle()

    def _show_traps(self, result: MapResult, network: int, shape: int) -> None:
        places = traps_of(result, network, shape, curves=not self.flat)
        at = result.traps.at[places]
        if not self.flat:
            at = np.column_stack([at, result.traps.score[places]]) if len(at) else np.zeros((0, 2))
        self.marks.traps.setData(pos=at)

    def _drawn(self, points: Sequence[Sequence[float]]) -> np.ndarray:
        """Points as they are drawn: of one value on the curve of the first network."""
        rows = [tuple(point) if self.flat else (point[0], self.curves.height_at(point[0])) for point in points]
        return np.array(rows, dtype=float).reshape(-1, 2)

    def _hovered(self, place: tuple[float, float] | None) -> None:
        result = self._result
        if place is None or result is None:
            self.hovered.emit(None)
            return
        row, column = nearest(result, *place)
        self.hovered.emit((row, column, MEAN if self.flat else self.curves.nearest(column, place[1])))

    def _clicked(self, x: float, y: float) -> None:
        if self._result is not None:
            add = bool(QApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.pointed.emit(*nearest(self._result, x, y), add)


class Curves(QWidget):
    """The score over one parameter: a curve for every network and, with several, their mean.

    Signals:
        hovered: ``(x, y)`` under the mouse, or None.
        clicked: ``(x, y)``.
    """

    hovered = Signal(object)
    clicked = Signal(float, float)

    def __init__(self) -> None:
        super().__init__()
        self.plot = Plot("", "score (0 to 1)")
        self.legend = Legend()
        self.lines: list[pg.PlotCurveItem] = []
        self._names: tuple[str, ...] = ()
        self._x, self._values = np.zeros(0), np.zeros((0, 0))
        self._span: tuple[float, float] = (0.0, 0.0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(beside(self.plot, self.legend))
        self.plot.scene().sigMouseMoved.connect(lambda position: self.hovered.emit(self._data(position)))
        self.plot.scene().sigMouseClicked.connect(self._pressed)

    def show_curves(self, result: MapResult, shape: int) -> None:
        """Shows one curve for each network on one shape, or on the mean of all shapes."""
        values, self._x = result.scores[:, :, 0, :], result.x
        self._values = values.mean(1) if shape == MEAN else values[:, shape]
        names = result.networks if len(result.networks) == 1 else (*result.networks, "mean of all (DSM)")
        if names != self._names:
            self._make(names)
        rows = [*self._values, self._values.mean(0)][: len(names)]
        for line, row in zip(self.lines, rows, strict=True):
            line.setData(result.x, row)
        self.plot.getPlotItem().setLabel("bottom", axis_title(result.axes[0]))
        span = (result.axes[0].low, result.axes[0].high)
        if span != self._span:
            self._span = span
            self.plot.setXRange(*span, padding=0.02)
            self.plot.setYRange(0, 1, padding=0.05)

    def height_at(self, x: float) -> float:
        """The score of the first network at a place."""
        return float(np.interp(x, self._x, np.nan_to_num(self._values[0])))

    def nearest(self, column: int, y: float) -> int:
        """The network whose curve is nearest to a height."""
        distance = np.nan_to_num(np.abs(self._values[:, column] - y), nan=np.inf)
        return int(np.argmin(distance))

    def restyle(self) -> None:
        """A colour and a line style for every network; the mean is dotted."""
        self.plot.restyle()
        pens = [self._pen(place) for place in range(len(self._names))]
        for line, pen in zip(self.lines, pens, strict=True):
            line.setPen(pen)
        metrics = self.fontMetrics()
        words = [metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, metrics.averageCharWidth() * 20) for name in self._names]
        self.legend.show_keys([Key(name, pen) for name, pen in zip(words, pens, strict=True)])

    def _make(self, names: tuple[str, ...]) -> None:
        for line in self.lines:
            self.plot.removeItem(line)
        self._names = names
        self.lines = [pg.PlotCurveItem(connect="finite") for _ in names]
        for line in self.lines:
            self.plot.addItem(line)
        self.restyle()

    def _pen(self, place: int) -> QPen:
        if place and place == len(self._names) - 1:
            return pg.mkPen(theme.colours.text, width=2.5, style=Qt.PenStyle.DotLine)
        return pg.mkPen(theme.class_colour(place), width=2, style=LINES[place % len(LINES)])

    def _pressed(self, event: Any) -> None:
        place = self._data(event.scenePos())
        if place is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(*place)

    def _data(self, position: Any) -> tuple[float, float] | None:
        box = self.plot.getPlotItem().getViewBox()
        if not box.sceneBoundingRect().contains(position) or not self._values.size:
            return None
        place = box.mapSceneToView(position)
        return place.x(), place.y()


def scores_of(result: MapResult, network: int, shape: int) -> np.ndarray:
    """The map ``(H, W)`` of a network and a shape; MEAN takes the mean over them."""
    scores = result.scores.mean(0) if network == MEAN else result.scores[network]
    return np.asarray(scores.mean(0) if shape == MEAN else scores[shape])


def traps_of(result: MapResult, network: int, shape: int, curves: bool) -> np.ndarray:
    """Places in the list of traps of those that lie on the map on show."""
    traps = result.traps
    if not len(traps.score):
        return np.zeros(0, dtype=int)
    same = traps.shape == shape if curves else (traps.network == network) & (traps.shape == shape)
    if network == MEAN and shape == MEAN:
        same = traps.network < 0
    return np.flatnonzero(same)


def rect_of(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float, float]:
    """x, y, width and height of the cells around these values."""
    dx, dy = (float(values[1] - values[0]) if len(values) > 1 else 1.0 for values in (x, y))
    return float(x[0]) - dx / 2, float(y[0]) - dy / 2, dx * len(x), dy * len(y)


def nearest(result: MapResult, x: float, y: float) -> tuple[int, int]:
    """Row and column of the cell at a place."""
    column = int(np.abs(result.x - x).argmin())
    return (0 if len(result.axes) < 2 else int(np.abs(result.y - y).argmin())), column
