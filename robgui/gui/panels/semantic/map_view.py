"""The picture of a semantic map, to point at: classes over two parameters, or curves over one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QApplication, QStackedWidget, QVBoxLayout, QWidget

from robgui.analyses.semantic.maps.curves import score_curves
from robgui.analyses.semantic.maps.views import score_map, winner_map
from robgui.core.view import Curves, Matrix
from robgui.gui.panels.semantic.map_facts import MEAN
from robgui.gui.panels.semantic.marks import PlotMarks
from robgui.gui.widgets.views import CurvesView, MatrixView

if TYPE_CHECKING:
    from robgui.analyses.semantic import MapParams, MapResult


class MapView(QWidget):
    """A map with the starts of regions and the chosen point over it.

    Signals:
        hovered: ``(row, column, network)`` of the cell under the mouse, or None; the network is
            MEAN over two parameters.
        pointed: ``(row, column, add)`` of the cell that was clicked; ``add`` with Shift.
    """

    hovered = Signal(object)
    pointed = Signal(int, int, bool)

    def __init__(self) -> None:
        super().__init__()
        self.matrix, self.curves = MatrixView(), CurvesView()
        self._marks = (PlotMarks(self.matrix.heat.plot), PlotMarks(self.curves.plot))
        self._result: MapResult | None = None
        self._stack = QStackedWidget()
        for widget in (self.matrix, self.curves):
            self._stack.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        self.matrix.heat.hovered.connect(self._hovered)
        self.matrix.heat.clicked.connect(self._clicked)
        # The curves' own signal names a line in words; the height of the mouse, which tells the
        # networks apart, is only in the scene's.
        self.curves.plot.scene().sigMouseMoved.connect(self._moved)
        self.curves.pointed.connect(lambda words: None if words else self.hovered.emit(None))
        self.curves.chosen.connect(lambda x: self._clicked(float(x), 0.0))

    @property
    def flat(self) -> bool:
        """Whether the map has two axes."""
        return self._result is not None and len(self._result.axes) > 1

    @property
    def marks(self) -> PlotMarks:
        """What the user has put on the picture on show."""
        return self._marks[0 if self.flat else 1]

    @property
    def view(self) -> Matrix | Curves:
        """The view on show."""
        view: Matrix | Curves = (self.matrix if self.flat else self.curves).view
        return view

    def show_map(self, result: MapResult, params: MapParams, network: int, shape: int) -> None:
        """Shows one of the maps of a result, or a mean over networks or shapes."""
        self._result = result
        self._stack.setCurrentWidget(self.matrix if self.flat else self.curves)
        if not self.flat:
            self.curves.show_view(score_curves(result, params, shape))
        elif network == MEAN or shape == MEAN:
            self.matrix.show_view(score_map(result, network, shape))
        else:
            self.matrix.show_view(winner_map(result, network, shape))

    def show_points(self, starts: Sequence[Sequence[float]], point: Sequence[float] | None) -> None:
        """Marks the starts of regions and the point that is looked at."""
        if self._result is not None:
            self.marks.show_starts([self._drawn(start) for start in starts])
            self.marks.show_point([] if point is None else [self._drawn(point)])

    def _drawn(self, point: Sequence[float]) -> tuple[float, float]:
        """A point as it is drawn: of one value on the curve of the first network."""
        if self.flat:
            return point[0], point[1]
        line = self.curves.view.lines[0]
        # A value that is not computed yet is NaN, where no mark could be drawn.
        return point[0], float(np.interp(point[0], self.curves.view.at, np.nan_to_num(line.y)))

    def _moved(self, position: Any) -> None:
        box = self.curves.plot.box
        if box.sceneBoundingRect().contains(position):
            place = box.mapSceneToView(position)
            self._hovered((place.x(), place.y()))

    def _hovered(self, place: tuple[float, float] | None) -> None:
        if place is None or self._result is None:
            self.hovered.emit(None)
            return
        row, column = nearest(self._result, *place)
        self.hovered.emit((row, column, MEAN if self.flat else self._network(column, place[1])))

    def _network(self, column: int, y: float) -> int:
        """The network whose curve is nearest to a height."""
        assert self._result is not None
        lines = self.curves.view.lines[: len(self._result.networks)]
        apart = [abs(float(line.y[column]) - y) for line in lines]
        # argmin takes a NaN for the smallest: a curve without a value here would always win.
        return int(np.argmin(np.nan_to_num(apart, nan=np.inf)))

    def _clicked(self, x: float, y: float) -> None:
        if self._result is not None:
            # The signals of the plots carry no modifiers.
            add = bool(QApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.pointed.emit(*nearest(self._result, x, y), add)


def nearest(result: MapResult, x: float, y: float) -> tuple[int, int]:
    """Row and column of the cell at a place."""
    column = int(np.abs(result.x - x).argmin())
    return (0 if len(result.axes) < 2 else int(np.abs(result.y - y).argmin())), column
