"""How the three region methods look everywhere: naive orange, OIR_B blue, OIR_W green, each with its own line and symbol."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from robgui.gui.app.theme import theme

NAMES = {"naive": "naive", "oir_b": "OIR_B", "oir_w": "OIR_W"}
#: Method -> place among the colours, line, symbol.
_STYLES = {
    "naive": (4, Qt.PenStyle.SolidLine, "t"),
    "oir_b": (0, Qt.PenStyle.DashLine, "s"),
    "oir_w": (2, Qt.PenStyle.DashDotLine, "o"),
}


def colour_of(method: str) -> QColor:
    """The colour of a method in the present theme."""
    return theme.class_colour(_STYLES[method][0])


def pen_of(method: str, width: float = 2) -> QPen:
    """Its line."""
    return pg.mkPen(colour_of(method), width=width, style=_STYLES[method][1])


def symbol_of(method: str) -> str:
    """Its symbol."""
    return _STYLES[method][2]


class MethodKeys(QWidget):
    """The legend of the methods in one row."""

    def __init__(self) -> None:
        super().__init__()
        self._methods: tuple[str, ...] = tuple(NAMES)
        self.setAccessibleName("Legend: naive solid, OIR_B dashed, OIR_W dash-dotted")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        width = sum(metrics.horizontalAdvance(NAMES[m]) + metrics.height() * 3 for m in self._methods)
        return QSize(width, metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def show_methods(self, methods: Sequence[str]) -> None:
        """Names these methods."""
        if tuple(methods) != self._methods:
            self._methods = tuple(methods)
            self.updateGeometry()
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics = self.fontMetrics()
        line, x = metrics.height(), 2.0
        for method in self._methods:
            painter.setPen(pen_of(method, 2.5))
            painter.drawLine(QPointF(x, line / 2 + 2), QPointF(x + line * 1.8, line / 2 + 2))
            painter.setPen(QColor(theme.colours.text))
            x += line * 2.1
            painter.drawText(QPointF(x, metrics.ascent() + 2), NAMES[method])
            x += metrics.horizontalAdvance(NAMES[method]) + line * 0.9
