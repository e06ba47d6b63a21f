"""A matrix of classes against classes: one image however many there are, with names, order and search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QVBoxLayout, QWidget

from robgui.gui.app.theme import theme
from robgui.gui.widgets.heat import Heat
from robgui.gui.widgets.plots import PlainAxis

#: A name is cut where it is wider than so many letters.
LONGEST_NAME = 14


class ClassAxis(PlainAxis):
    """An axis that names classes; as many as fit, cut with an ellipsis where they are long.

    Below a plot the names stand upright as soon as one of them is wider than its cell.
    """

    def __init__(self, side: str) -> None:
        self._names: Sequence[str] = ()
        self._side = side
        self._upright = False
        super().__init__(side)
        self.setStyle(tickLength=0)

    @property
    def upright(self) -> bool:
        """Whether the names stand upright."""
        return self._upright

    def set_names(self, names: Sequence[str]) -> None:
        """Class names in the order of the axis."""
        self._names = names
        self._fit()
        self.picture = None
        self.update()

    def tickValues(self, low: float, high: float, size: float) -> list[Any]:
        """The middles of the cells, every so many that their names do not touch."""
        low, high = sorted((low, high))  # an axis that runs down gives them the other way round
        lies = self._side == "bottom" and not self._upright
        room = 1.0 if lies else QFontMetrics(self.font()).height() * 1.2
        step = max(1, int(np.ceil((high - low) * room / max(size, 1))))
        first, last = max(0, int(np.floor(low))), min(len(self._names), int(np.ceil(high)))
        first += -first % step
        return [(step, [place + 0.5 for place in range(first, last, step)])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The names, shortened where they are long."""
        return [self._name(value) for value in values]

    def generateDrawSpecs(self, painter: Any) -> Any:
        """Where everything is drawn; names that stand upright have a rectangle that stands upright."""
        specs = super().generateDrawSpecs(painter)
        if specs is None or not self._upright:
            return specs
        line, ticks, _ = specs
        metrics, (low, high) = QFontMetrics(self.font()), self.range
        gap, length = self.style["tickTextOffset"][1], self._longest(metrics)
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip
        texts = []
        for _, _, end in ticks:
            name = self._name(low + (high - low) * end.x() / max(self.size().width(), 1))
            texts.append((QRectF(end.x() - metrics.height() / 2, end.y() + gap, metrics.height(), length), flags, name))
        return line, ticks, texts

    def drawPicture(self, painter: Any, line: Any, ticks: Any, texts: Any) -> None:
        """Draws what ``generateDrawSpecs`` has placed."""
        super().drawPicture(painter, line, ticks, () if self._upright else texts)
        for place, flags, name in texts if self._upright else ():
            painter.save()
            painter.translate(place.center().x(), place.top())
            painter.rotate(-90)
            painter.drawText(QRectF(-place.height(), -place.width() / 2, place.height(), place.width()), flags, name)
            painter.restore()

    def resizeEvent(self, event: Any = None) -> None:
        """Less room may turn the names."""
        super().resizeEvent(event)
        self._fit()

    def linkedViewChanged(self, view: Any, newRange: Any = None) -> None:
        """So may other classes on show."""
        super().linkedViewChanged(view, newRange)
        self._fit()

    def _fit(self) -> None:
        """Turns the names when the widest is wider than its cell, and takes the height that this needs."""
        if self._side != "bottom" or not self._names:
            return
        metrics, span = QFontMetrics(self.font()), abs(self.range[1] - self.range[0])
        self._upright = self._longest(metrics) + metrics.averageCharWidth() > self.size().width() / max(span, 1e-9)
        title = self.label.boundingRect().height() if self.label is not None and self.label.isVisible() else 0
        height = self._longest(metrics) + self.style["tickTextOffset"][1] + title if self._upright else None
        if height != self.fixedHeight:
            self.setHeight(height)

    def _longest(self, metrics: QFontMetrics) -> int:
        return max((metrics.horizontalAdvance(self._cut(name, metrics)) for name in self._names), default=0)

    def _name(self, value: float) -> str:
        place = int(np.floor(value))
        return self._cut(self._names[place], QFontMetrics(self.font())) if 0 <= place < len(self._names) else ""

    def _cut(self, name: str, metrics: QFontMetrics) -> str:
        return metrics.elidedText(name, Qt.TextElideMode.ElideRight, metrics.averageCharWidth() * LONGEST_NAME)

    def font(self) -> QFont:
        """The font of the names."""
        chosen: QFont | None = self.style["tickFont"]
        return chosen or super().font()


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
        self._axes = [ClassAxis("left"), ClassAxis("bottom")]
        plot.getPlotItem().setAxisItems({"left": self._axes[0], "bottom": self._axes[1]})
        plot.getPlotItem().showAxis("left")
        plot.getPlotItem().getViewBox().invertY(True)
        self._axes[0].setWidth(self.fontMetrics().averageCharWidth() * 14)
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
