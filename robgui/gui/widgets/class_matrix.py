"""A matrix of classes against classes: one image however many there are, with names, order and search."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from robgui.gui.app.theme import theme
from robgui.gui.widgets.heat import Heat


class ClassMatrix(QWidget):
    """Values for pairs of classes; the order of the classes can be changed, one of them can be searched.

    Signals:
        hovered: ``(a, b)``, the classes under the mouse, or None.
        pointed: ``(a, b)``, the classes of the cell that was clicked.
    """

    hovered = Signal(object)
    pointed = Signal(int, int)

    def __init__(self, scale: str) -> None:
        super().__init__()
        self.heat = Heat("", "", scale)
        plot = self.heat.plot
        self._axes = [plot.getPlotItem().getAxis(side) for side in ("left", "bottom")]
        plot.getPlotItem().getViewBox().invertY(True)
        self._mark = pg.PlotCurveItem(connect="finite")
        plot.addItem(self._mark)
        self._order = np.zeros(0, int)
        self._place = np.zeros(0, int)
        self._names: tuple[str, ...] = ()
        self._pair: tuple[int, int] | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.heat)
        self.heat.hovered.connect(lambda place: self.hovered.emit(None if place is None else self._classes(*place)))
        self.heat.clicked.connect(lambda x, y: self.pointed.emit(*self._classes(x, y)))
        theme.changed.connect(self.restyle)
        self.restyle()

    def show_matrix(self, values: np.ndarray, names: tuple[str, ...], order: np.ndarray, levels: tuple[float, float], scale: str) -> None:
        """Shows ``(m, m)`` with classes in ``order``; the user's zoom stays while the classes are the same."""
        if names != self._names or not np.array_equal(order, self._order):
            self._names, self._order = names, order
            self._place = np.argsort(order)
            for axis in self._axes:
                axis.set_names([names[c] for c in order])
        shown = values[np.ix_(order, order)].astype(np.float32)
        np.fill_diagonal(shown, np.nan)
        self.heat.show_values(shown, (0, 0, len(order), len(order)), levels)
        self.heat.bar.set_title(scale)
        self.point(self._pair)

    def point(self, pair: tuple[int, int] | None) -> None:
        """Frames the two cells of a pair."""
        self._pair = pair
        if pair is None or max(pair) >= len(self._place):
            self._mark.setData([], [])
            return
        a, b = self._place[pair[0]], self._place[pair[1]]
        outline = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0], [np.nan, np.nan]])
        corners = np.concatenate([outline + np.array([a, b]), outline + np.array([b, a])])
        self._mark.setData(corners[:, 0], corners[:, 1])

    def find_class(self, words: str) -> int | None:
        """Zooms to the first class whose name contains ``words``, and back to all for nothing; returns the class."""
        count = len(self._order)
        plot = self.heat.plot
        wanted = words.casefold().strip()
        found = next((c for c in self._order if wanted and wanted in self._names[c].casefold()), None)
        if found is None:
            plot.setRange(xRange=(0, count), yRange=(0, count), padding=0.01)
            return None
        middle, half = self._place[found] + 0.5, max(3.0, min(count / 2, 12.0))
        plot.setRange(xRange=(middle - half, middle + half), yRange=(middle - half, middle + half), padding=0)
        return int(found)

    def restyle(self) -> None:
        """The frame in the present theme."""
        self._mark.setPen(pg.mkPen(theme.colours.bad, width=3))
        self.heat.plot.restyle()

    def _classes(self, x: float, y: float) -> tuple[int, int]:
        last = len(self._order) - 1
        return int(self._order[min(last, int(y))]), int(self._order[min(last, int(x))])
