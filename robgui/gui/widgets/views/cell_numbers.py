"""CellNumbers: the values of a small matrix, written into its cells where they fit.

One item paints them all: an item for each, a hundred in a matrix of ten classes, cost more at every
Step than the rest of the picture.
"""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from robgui.core.view import Matrix
from robgui.core.view.cells import cell_number
from robgui.gui.widgets.heat import Heat

#: More cells than this are read by their colours and by pointing.
MOST = 144
#: Share of a cell that its number may fill.
_FILLED = 0.9
_DARK, _LIGHT = QColor("#000000"), QColor("#ffffff")


@dataclass(frozen=True)
class Number:
    """One of the numbers.

    Attributes:
        words: Its text.
        place: The middle of its cell.
        ink: Its colour.
    """

    words: str
    place: QPointF
    ink: QColor


class CellNumbers(pg.GraphicsObject):
    """Numbers over a heat map, hidden where there is no room.

    Attributes:
        numbers: In the order of the cells.
    """

    def __init__(self, heat: Heat) -> None:
        super().__init__()
        self.numbers: list[Number] = []
        self._heat: Heat = weakref.proxy(heat)  # Held strongly, neither would ever be freed.
        self._rect = QRectF()
        self._shape = (1, 1)
        self._halves: dict[str, float] = {}
        heat.plot.addItem(self, ignoreBounds=True)
        box = heat.plot.box
        box.sigResized.connect(self.fit)

    def show_matrix(self, view: Matrix) -> None:
        """Writes the values of ``view``; none of one that shows classes, has signs or is large."""
        values = view.values
        wanted = view.classes is None and not view.spots and 0 < values.size <= MOST
        self.prepareGeometryChange()
        self._rect = QRectF(*view.rect)
        if values.size:
            self._shape = (values.shape[0], values.shape[1])
        else:
            self._shape = (1, 1)
        if wanted:
            self.numbers = self._numbers(view)
        else:
            self.numbers = []
        self.fit()
        self.update()

    def fit(self) -> None:
        """Shows the numbers where the widest of them fits into a cell."""
        metrics = QFontMetrics(self._heat.plot.font())
        words = {number.words for number in self.numbers}
        # Measured here, once for equal words, and not at every paint.
        self._halves = {one: metrics.horizontalAdvance(one) / 2 for one in words}
        widest = 2 * max(self._halves.values(), default=0.0)
        box = self._heat.plot.box
        rows, columns = self._shape
        room = _FILLED * box.width() / columns, _FILLED * box.height() / rows
        self.setVisible(bool(words) and widest <= room[0] and metrics.height() <= room[1])

    def boundingRect(self) -> QRectF:
        """The whole matrix."""
        return self._rect

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Writes each number in the middle of its cell."""
        onto = painter.worldTransform()
        # In pixels: in units of the axes letters would be stretched and upside down.
        painter.setWorldTransform(QTransform())
        painter.setFont(self._heat.plot.font())
        metrics = painter.fontMetrics()
        # drawText begins at the baseline; this puts the digits into the middle of the cell.
        lift = (metrics.ascent() - metrics.descent()) / 2
        for number in self.numbers:
            middle = onto.map(number.place)
            painter.setPen(number.ink)
            painter.drawText(middle + QPointF(-self._halves[number.words], lift), number.words)

    def _numbers(self, view: Matrix) -> list[Number]:
        """A number for each value that is known; equal values share their words and ink."""
        left, bottom, width, height = view.rect
        rows, columns = view.values.shape
        known: dict[float, tuple[str, QColor]] = {}
        found = []
        for row, column in np.argwhere(np.isfinite(view.values)).tolist():
            value = float(view.values[row, column])
            if value not in known:
                known[value] = cell_number(view, value), self._ink(view, value)
            x = left + (column + 0.5) * width / columns
            y = bottom + (row + 0.5) * height / rows
            found.append(Number(known[value][0], QPointF(x, y), known[value][1]))
        return found

    def _ink(self, view: Matrix, value: float) -> QColor:
        """Black or white, whichever is easier to read on the colour of a value."""
        table = self._heat.image.lut
        low, high = view.levels
        if high > low and math.isfinite(value):
            share = (value - low) / (high - low)
        else:
            share = 0.0
        red, green, blue = table[round(255 * min(max(share, 0.0), 1.0))][:3]
        # Of the sRGB values as they are. By WCAG 2 black and white are read equally well on a grey
        # of 117.
        if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 115:
            return _DARK
        return _LIGHT
