"""A heat map: a matrix of values as one image, with its scale of colours beside it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from robgui.core.view import Axis, diverging
from robgui.gui.app.theme import theme
from robgui.gui.widgets.hatching import Hatching
from robgui.gui.widgets.plots import Plot

Rect = tuple[float, float, float, float]


# Kept: pyqtgraph reads its maps from files, and every picture asks anew.
@lru_cache(maxsize=16)
def lookup(name: str, flipped: bool = False, dark: bool = False) -> np.ndarray:
    """The 256 colours ``(256, 4)`` uint8 of a map: magma, cividis, or diverging for differences.

    Args:
        name: Of the map.
        flipped: Turned round.
        dark: For the dark theme, where no difference is dark; the other maps are the same in both.
    """
    if name == "diverging":
        stops = np.array([QColor(colour).getRgb() for colour in diverging(dark)], float)
        places = np.linspace(0, 2, 256)
        # The last place is 2.0 exactly and belongs to the second pair of stops.
        below = np.minimum(places.astype(int), 1)
        share = (places - below)[:, None]
        table = stops[below] * (1 - share) + stops[below + 1] * share
    else:
        table = pg.colormap.get(name).getLookupTable(0.0, 1.0, 256, alpha=True)
    return np.ascontiguousarray(table[::-1] if flipped else table, np.uint8)


class Heat(QWidget):
    """A matrix of values as one image with named axes and a scale of colours.

    Nan is hatched. Levels are given, never guessed from what is on show, so a live picture does not
    flicker.

    Signals:
        hovered: ``(x, y)`` under the mouse, in the units of the axes; None when it has left.
        clicked: ``(x, y)`` in the units of the axes.
    """

    hovered = Signal(object)
    clicked = Signal(float, float)

    def __init__(self) -> None:
        super().__init__()
        self.plot = Plot("", "")
        self.plot.setMinimumSize(90, 80)  # beside its scale even in a narrow place
        self.plot.show_grid(False)
        # Rows first, as numpy has them: pyqtgraph by default takes the first axis for x.
        self.image = pg.ImageItem(axisOrder="row-major")
        self._table = lookup("magma")
        self.image.setLookupTable(self._table)
        self.plot.addItem(self.image)
        self.hatching = Hatching()
        self.plot.addItem(self.hatching, ignoreBounds=True)
        self.bar = Scale(Axis(""), self._table)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.plot, 1)
        layout.addWidget(self.bar)
        self._place: QRectF | None = None
        self.plot.scene().sigMouseMoved.connect(self._moved)
        self.plot.scene().sigMouseClicked.connect(self._pressed)

    def show_values(
        self, values: np.ndarray, rect: Rect, levels: tuple[float, float] = (0, 1)
    ) -> None:
        """Shows ``(rows, columns)`` with row 0 at the bottom in ``rect`` = x, y, width, height."""
        low, high = levels
        # Levels with equal ends would divide by zero.
        self._fill(values, (low, high if high > low else low + 1.0))
        self.place(rect)
        self.bar.set_levels(levels)

    def show_pixels(self, pixels: np.ndarray, rect: Rect) -> None:
        """Shows colours instead of values: uint8 ``(rows, columns, 4)``, row 0 at the bottom."""
        self._fill(pixels, None)
        self.place(rect)

    def coloured(self, values: np.ndarray, levels: tuple[float, float]) -> np.ndarray:
        """The colours of values, uint8 ``(rows, columns, 4)``; nan is transparent."""
        low, high = levels
        share = np.clip((values - low) / ((high - low) or 1.0), 0, 1)
        known = np.isfinite(share)
        pixels: np.ndarray = self._table[(255 * np.where(known, share, 0)).round().astype(int)]
        # Alpha too: the hatching below shows through.
        pixels[~known] = 0
        return pixels

    def _fill(self, picture: np.ndarray, levels: tuple[float, float] | None) -> None:
        if picture.size:
            self.image.setImage(picture, autoLevels=False, levels=levels)
        else:
            self.image.clear()

    def place(self, rect: Rect) -> None:
        """Where the picture lies; the axes move only when that has changed."""
        self._place = QRectF(*rect)
        # setRect divides by the size of the image, and without one there is none.
        if self.image.image is not None:
            self.image.setRect(self._place)
        self.hatching.set_place(self._place)
        x, y, width, height = rect
        self.plot.set_frame((x, x + width), (y, y + height), padding=0.01)

    def set_colours(self, table: np.ndarray) -> None:
        """Takes another map of 256 colours."""
        self._table = table
        self.image.setLookupTable(table)
        self.bar.set_table(table)

    def leaveEvent(self, event: QEvent) -> None:
        """The mouse has left."""
        super().leaveEvent(event)
        self.hovered.emit(None)

    def _moved(self, position: QPointF) -> None:
        place = self._data(position)
        self.hovered.emit(None if place is None else (place.x(), place.y()))

    def _pressed(self, event: Any) -> None:
        place = self._data(event.scenePos())
        # A double click undoes the zoom and chooses nothing.
        single = event.button() == Qt.MouseButton.LeftButton and not event.double()
        if place is not None and single:
            self.clicked.emit(place.x(), place.y())

    def _data(self, position: QPointF) -> QPointF | None:
        box = self.plot.box
        # The scene also tells of the mouse over an axis.
        if self._place is None or not box.sceneBoundingRect().contains(position):
            return None
        place: QPointF = box.mapSceneToView(position)
        if self._place.contains(place):
            return place
        return None


class Scale(QWidget):
    """The colours of a heat map with what they mean; never colour alone."""

    def __init__(self, axis: Axis, table: np.ndarray) -> None:
        super().__init__()
        self._axis = axis
        self._table = table
        self._levels = (0.0, 1.0)
        self.setAccessibleName(f"Colours: {axis.title}")
        # A change of theme is also told when the text has grown, by which the width is measured.
        theme.changed.connect(self._fit)
        self._fit()

    def set_levels(self, levels: tuple[float, float]) -> None:
        """Which values the first and the last colour stand for."""
        if levels != self._levels:
            self._levels = levels
            self._fit()

    def set_axis(self, axis: Axis) -> None:
        """What the colours mean, and how their values read."""
        if axis != self._axis:
            self._axis = axis
            self.setAccessibleName(f"Colours: {axis.title}")
            self._fit()

    def set_table(self, table: np.ndarray) -> None:
        """The 256 colours, that of the lowest value first."""
        if table is not self._table:
            self._table = table
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(self.width(), 120)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        line = self.fontMetrics().height()
        top = self._title_box().height() + line
        bar = QRectF(8, top, line, max(8.0, self.height() - top - line))
        # QImage copies nothing: this array must live until the image is drawn.
        table = np.ascontiguousarray(self._table[::-1])
        painter.drawImage(bar, QImage(table.data, 1, 256, 4, QImage.Format.Format_RGBA8888))
        painter.setPen(pg.mkPen(theme.colours.line))
        painter.drawRect(bar)
        painter.setPen(pg.mkPen(theme.colours.text))
        painter.drawText(self._title_box(), _TITLE, self._axis.title)
        for share, words in zip(_SHARES, self.words(), strict=True):
            y = bar.bottom() - share * bar.height()
            painter.drawText(QPointF(bar.right() + 6, y + line * 0.3), words)

    def words(self) -> list[str]:
        """Numbers beside the bar, from below."""
        low, high = self._levels
        return [self._axis.words(low + share * (high - low)) for share in _SHARES]

    def _title_box(self) -> QRectF:
        # As high as it likes: lines break by the width only.
        room = QRect(4, 4, self.width() - 6, 10_000)
        return QRectF(self.fontMetrics().boundingRect(room, _TITLE, self._axis.title))

    def _fit(self) -> None:
        """As wide as its numbers and the longest word of its title, within reason."""
        metrics = self.fontMetrics()
        numbers = max(metrics.horizontalAdvance(words) for words in self.words())
        words = [metrics.horizontalAdvance(word) for word in self._axis.title.split()]
        most = metrics.averageCharWidth() * 18
        title = max((min(word + 12, most) for word in words), default=0)
        wanted = max(numbers + metrics.height() + 20, title)
        self.setFixedWidth(max(wanted, metrics.averageCharWidth() * 13))
        self.update()


#: Where numbers stand beside the colours.
_SHARES = (0.0, 0.5, 1.0)
_TITLE = Qt.AlignmentFlag.AlignLeft.value | Qt.TextFlag.TextWordWrap.value
