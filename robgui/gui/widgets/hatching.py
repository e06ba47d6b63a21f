"""Hatching: lies under a heat map and is seen wherever the map is empty or pale."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QPainter

from robgui.core.view import Ink
from robgui.gui.widgets.inks import colour

#: Of the colour of a grid: strong enough to be seen through a pale cell.
_OPAQUE = 0.6


def hatched() -> QBrush:
    """What stands for "not known", in a map and in its legend."""
    return QBrush(colour(Ink("quiet"), _OPAQUE), Qt.BrushStyle.BDiagPattern)


class Hatching(pg.GraphicsObject):
    """A hatched rectangle whose lines are as far apart on the screen whatever the axes are."""

    def __init__(self) -> None:
        super().__init__()
        self._place = QRectF()
        # Under the image, which stands at 0 and is transparent where nothing is known.
        self.setZValue(-10)

    def set_place(self, place: QRectF) -> None:
        """Where it lies, in units of the axes."""
        if place != self._place:
            # Without it the scene keeps the old rectangle in its index, and parts of it stay on
            # screen.
            self.prepareGeometryChange()
            self._place = place

    def boundingRect(self) -> QRectF:
        return self._place

    def paint(self, painter: QPainter, *_: Any) -> None:
        on_screen = painter.transform().mapRect(self._place)
        painter.save()
        # In pixels: in units of the axes the pattern would be stretched with them.
        painter.resetTransform()
        painter.fillRect(on_screen, hatched())
        painter.restore()
