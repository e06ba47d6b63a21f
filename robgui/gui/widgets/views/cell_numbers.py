"""CellNumbers: the values of a small matrix, written into its cells where they fit."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QFontMetrics

from robgui.core.view import Matrix
from robgui.gui.widgets.heat import Heat

#: More cells than this are read by their colours and by pointing.
MOST = 144
#: Share of a cell that its number may fill.
_FILLED = 0.9
_DARK, _LIGHT = "#000000", "#ffffff"


class CellNumbers:
    """Texts over a heat map; they are kept for life and hidden where there is no room."""

    def __init__(self, heat: Heat) -> None:
        self._heat = heat
        self._items: list[pg.TextItem] = []
        self._shown = 0
        self._shape = (1, 1)
        box = heat.plot.getPlotItem().getViewBox()
        box.sigResized.connect(lambda *_: self.fit())
        box.sigRangeChanged.connect(lambda *_: self.fit())

    def show_matrix(self, view: Matrix) -> None:
        """Writes the values of ``view``; none of one that shows classes, has signs or is large."""
        values = view.values
        wanted = view.classes is None and not view.spots and 0 < values.size <= MOST
        cells = list(zip(*np.nonzero(np.isfinite(values)), strict=True)) if wanted else []
        while len(self._items) < len(cells):
            item = pg.TextItem(anchor=(0.5, 0.5))
            self._items.append(item)
            self._heat.plot.addItem(item, ignoreBounds=True)
        left, bottom, width, height = view.rect
        self._shape = (values.shape[0], values.shape[1]) if values.size else (1, 1)
        for item, (row, column) in zip(self._items, cells, strict=False):
            value = float(values[row, column])
            item.setText(view.scale.words(value), color=self._ink(view, value))
            item.setFont(self._heat.plot.font())
            x = left + (column + 0.5) * width / self._shape[1]
            item.setPos(x, bottom + (row + 0.5) * height / self._shape[0])
        self._shown = len(cells)
        self.fit()

    def fit(self) -> None:
        """Shows the numbers where the widest of them fits into a cell."""
        shown = self._items[: self._shown]
        metrics = QFontMetrics(self._heat.plot.font())
        words = (item.textItem.toPlainText() for item in shown)
        widest = max((metrics.horizontalAdvance(text) for text in words), default=0)
        box = self._heat.plot.getPlotItem().getViewBox()
        rows, columns = self._shape
        room = _FILLED * box.width() / columns, _FILLED * box.height() / rows
        fits = widest <= room[0] and metrics.height() <= room[1]
        for item in self._items:
            item.setVisible(False)
        for item in shown:
            item.setVisible(fits)

    def _ink(self, view: Matrix, value: float) -> str:
        """Black or white, whichever is easier to read on the colour of a value."""
        table = self._heat.image.lut
        low, high = view.levels
        share = (value - low) / (high - low) if high > low and math.isfinite(value) else 0.0
        red, green, blue = table[round(255 * min(max(share, 0.0), 1.0))][:3]
        return _DARK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 115 else _LIGHT
