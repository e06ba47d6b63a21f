"""A path through a map: drawn with the mouse or chosen by the program, and played step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QPushButton

from robgui.gui.app.theme import icon, theme
from robgui.gui.widgets.inks import cosmetic

if TYPE_CHECKING:
    from robgui.analyses.semantic import MapResult
    from robgui.gui.widgets.plots import Plot

#: Pictures on the way, and milliseconds between two of them.
STEPS = 40
PACE_MS = 60
#: How far behind the nearest loss a path goes, as a share of its length.
BEYOND = 0.35
TOOL_TIP = (
    "Turns the picture along a path until the answer flips: your own, drawn with Ctrl held, or the"
    " shortest one to another class"
)


class Path(QObject):
    """Plays a path over a plot; the next step waits for the picture of the last one.

    Args:
        plot: What the path is drawn on.

    Attributes:
        play: The button that plays it.

    Signals:
        at: ``(x, y)``, where the path is now.
        asked: Asks for a path to play; none has been drawn.
    """

    at = Signal(object)
    asked = Signal()

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot)
        self._plot = plot
        self._points = np.empty((0, 2))
        self._drawing: list[tuple[float, float]] = []
        self._place, self._waits = 0, False
        self._rim, self._line = pg.PlotCurveItem(), pg.PlotCurveItem()
        # A white rim around a black line is seen on every colour of the map.
        self._rim.setPen(cosmetic(pg.mkColor("w"), 5))
        self._line.setPen(cosmetic(pg.mkColor("k"), 2))
        for item in (self._rim, self._line):
            item.setZValue(3000)
            plot.addItem(item, ignoreBounds=True)
        self.play = QPushButton("Play path", checkable=True, toolTip=TOOL_TIP)
        self.play.toggled.connect(self._toggled)
        self._clock = QTimer(self, interval=PACE_MS)
        self._clock.timeout.connect(self._next)
        # The viewport and not the plot: a QGraphicsView gets its mouse events there.
        plot.viewport().installEventFilter(self)
        theme.changed.connect(self._tint)
        self._tint()

    @property
    def points(self) -> np.ndarray:
        """``(n, 2)``, the places that are played one after the other."""
        return self._points

    def set_points(self, points: Sequence[Sequence[float]]) -> None:
        """The path, by its corners; fewer than two take it away."""
        corners = np.asarray(points, float).reshape(-1, 2)
        if len(corners) > 1:
            self._points = even(corners)
        else:
            self._points = np.empty((0, 2))
        for item in (self._rim, self._line):
            item.setData(self._points[:, 0], self._points[:, 1])

    def arrived(self) -> None:
        """The picture of the last step is on show: the next one may come."""
        self._waits = False

    def stop(self) -> None:
        """Stands still."""
        self.play.setChecked(False)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """With Ctrl held the mouse draws a path, which is then played."""
        if not isinstance(event, QMouseEvent):
            return False
        kinds, held = QEvent.Type, event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.type() is kinds.MouseButtonPress and held:
            self.stop()
            # Kept from the plot, which would move the map under a drag.
            self._drawing = [self._data(event.position())]
            return True
        if not self._drawing:
            return False
        if event.type() is kinds.MouseMove:
            self._drawing.append(self._data(event.position()))
            self.set_points(self._drawing)
            return True
        if event.type() is kinds.MouseButtonRelease:
            self._drawing = []
            self.play.setChecked(len(self._points) > 1)
            return True
        return False

    def _data(self, position: QPointF) -> tuple[float, float]:
        box = self._plot.box
        place = box.mapSceneToView(self._plot.mapToScene(position.toPoint()))
        (left, right), (low, high) = box.viewRange()
        # The mouse may leave the map while it draws; there is no pose out there.
        return float(np.clip(place.x(), left, right)), float(np.clip(place.y(), low, high))

    def _toggled(self, on: bool) -> None:
        if on and not len(self._points):
            self.asked.emit()
        if on and len(self._points):
            self._place, self._waits = 0, False
            self._clock.start()
        else:
            self._clock.stop()
            self.play.setChecked(False)
        self._tint()

    def _next(self) -> None:
        if self._waits:
            return
        if self._place >= len(self._points):
            self.stop()
            return
        self._waits = True
        x, y = self._points[self._place].tolist()
        self._place += 1
        self.at.emit((x, y))

    def _tint(self) -> None:
        playing = self.play.isChecked()
        self.play.setText("Stop" if playing else "Play path")
        self.play.setIcon(icon("stop" if playing else "run"))


def even(corners: np.ndarray) -> np.ndarray:
    """``STEPS`` places along the corners of a path, as far apart on the picture as one another."""
    # Axes have different units (degrees, shares): lengths are measured in parts of the path's
    # extent.
    spans = np.ptp(corners, axis=0)
    steps = np.diff(corners, axis=0) / np.where(spans > 0, spans, 1.0)
    along = np.concatenate(([0.0], np.cumsum(np.hypot(steps[:, 0], steps[:, 1]))))
    at = np.linspace(0.0, along[-1], STEPS)
    return np.column_stack([np.interp(at, along, corners[:, axis]) for axis in (0, 1)])


def to_another_class(result: MapResult, network: int, shape: int) -> list[tuple[float, float]]:
    """The shortest path from the scene as it stands to a pose of another class and a little beyond.

    Across the whole map if there is none.
    """
    low = np.array([axis.low for axis in result.axes])
    high = np.array([axis.high for axis in result.axes])
    start = np.clip([axis.default for axis in result.axes], low, high)
    rows, columns = np.nonzero(result.tops[network, shape] != result.target[shape])
    if not len(rows):
        return [tuple(low.tolist()), tuple(start.tolist()), tuple(high.tolist())]
    lost = np.column_stack((result.x[columns], result.y[rows]))
    away = np.hypot(*((lost - start) / (high - low)).T)
    # The start itself may be lost already; a path of no length shows nothing.
    away[away == 0] = np.inf
    end = lost[away.argmin()]
    far = np.clip(start + (end - start) * (1 + BEYOND), low, high)
    return [tuple(start.tolist()), tuple(far.tolist())]
