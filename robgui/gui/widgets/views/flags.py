"""PlotFlags: the names of the upright lines of a plot, above the data instead of in its legend."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any, cast

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from robgui.core.view import Mark
from robgui.core.view.flags import Flag, fly
from robgui.gui.app.theme import theme
from robgui.gui.widgets.inks import pen
from robgui.gui.widgets.plots import Plot

#: Pixels between a line and its name, between two names, and above the topmost row.
_BESIDE, _GAP, _ABOVE = 4, 10, 2


class PlotFlags(pg.GraphicsObject):
    """Stands in the scene of a plot, not in its data, and follows its zoom.

    Attributes:
        written: The flags as they are drawn; lines out of view have none.
    """

    def __init__(self, plot: Plot) -> None:
        super().__init__()
        self.written: list[Flag] = []
        self._marks: tuple[tuple[Mark, float], ...] = ()
        # Held strongly, neither would ever be freed.
        self._plot = cast(Plot, weakref.proxy(plot))
        self.setZValue(2000)
        # Not into the box: it clips what it holds, and the names stand above it.
        self.setParentItem(plot.centralWidget)
        plot.box.sigResized.connect(self.place)
        plot.box.sigXRangeChanged.connect(self.place)

    def show_marks(self, marks: Sequence[Mark], places: Sequence[float]) -> None:
        """Names these lines.

        Args:
            marks: The lines.
            places: Where they stand along the axis.
        """
        pairs = zip(marks, places, strict=True)
        wanted = tuple((mark, at) for mark, at in pairs if mark.name and math.isfinite(at))
        if wanted != self._marks:
            self._marks = wanted
            self.place()

    def place(self, *_: Any) -> None:
        """Finds a free row for each name that is in view, and makes room for the rows."""
        area, metrics = self._area(), QFontMetricsF(self._plot.font())
        places = [(mark, self._along(at)) for mark, at in self._marks]
        # Rounding may put a line at the very end of the axis just outside.
        seen = [(mark, x) for mark, x in places if area.left() - 1 <= x <= area.right() + 1]
        flags = fly([_flag(mark, x, area, metrics) for mark, x in seen], _GAP)
        # Making room resizes the box, whose signal comes back here: equal flags end that.
        if flags == self.written:
            return
        self.written = flags
        rows = 1 + max((flag.row for flag in self.written), default=-1)
        self._plot.set_head(math.ceil(rows * metrics.lineSpacing()) + (_ABOVE if rows else 0))
        self.prepareGeometryChange()
        self.update()

    def boundingRect(self) -> QRectF:
        """What is above the data: clicks below are for these."""
        area = self._area()
        return QRectF(area.left(), 0.0, area.width(), area.top())

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Writes the names, each on a short pole that its line goes on in."""
        top = self._area().top()
        painter.setFont(self._plot.font())
        metrics = QFontMetricsF(self._plot.font())
        for flag in self.written:
            # Row 0 is the lowest, next to the data.
            foot = top - _ABOVE - flag.row * metrics.lineSpacing()
            painter.setPen(pen(flag.mark.ink, 1.5, Qt.PenStyle.SolidLine))
            painter.drawLine(QPointF(flag.at, top), QPointF(flag.at, foot - metrics.ascent()))
            painter.setPen(pg.mkPen(theme.colours.text))
            painter.drawText(QPointF(flag.left, foot - metrics.descent()), flag.words)

    def _area(self) -> QRectF:
        """Where the data is."""
        area: QRectF = self._plot.box.sceneBoundingRect()
        return self.mapRectFromScene(area)

    def _along(self, at: float) -> float:
        """A place on the horizontal axis, in pixels."""
        there = self._plot.box.mapViewToScene(QPointF(at, 0.0))
        return self.mapFromScene(there).x()


def _flag(mark: Mark, at: float, area: QRectF, metrics: QFontMetricsF) -> Flag:
    """A flag on the side of its line where its words fit, or where there is more room."""
    before, after = at - _BESIDE - area.left(), area.right() - at - _BESIDE
    left = metrics.horizontalAdvance(mark.name) > after and before > after
    room = before if left else after
    words = metrics.elidedText(mark.name, Qt.TextElideMode.ElideMiddle, room)
    width = metrics.horizontalAdvance(words)
    if left:
        start = at - _BESIDE - width
    else:
        start = at + _BESIDE
    return Flag(mark, words, at, start, start + width)
