"""Legend: what each line means, beside or below a picture and never over its data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QHelpEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QScrollArea, QToolTip, QWidget

from robgui.gui.app.theme import theme
from robgui.gui.widgets.elided import in_lines
from robgui.gui.widgets.plain import tip

#: Pixels between two things in a row, and around all.
_SPACE, _MARGIN = 6, 8
#: Widest words in characters; longer ones take a second line beside a picture. What does not fit
#: then either stands in the tool tip.
LONGEST = 32
#: A legend in rows shows at most this many; the others can be scrolled to.
MOST_ROWS = 4
#: A picture narrower than this many characters, or less than this many times as wide as high, has
#: its legend below.
WIDE, LANDSCAPE = 84, 1.4


@dataclass(frozen=True)
class LegendKey:
    """One line of a legend: how it is drawn and what it means.

    Attributes:
        words: What it means.
        pen: Of the line.
        symbol: pyqtgraph's name of the symbol on the line; empty for none.
        brush: Of a filled area or bar; None for a line.
        line: Whether there is a line, not the symbol alone.
    """

    words: str
    pen: QPen
    symbol: str = ""
    brush: QBrush | None = None
    line: bool = True


class Legend(QScrollArea):
    """Keys below each other beside a picture, or in as many rows below it as the width asks for.

    Attributes:
        page: Paints the keys.
    """

    def __init__(self, *, row: bool = False) -> None:
        super().__init__(widgetResizable=True, frameShape=QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Legend")
        self.page = _Page()
        self.setWidget(self.page)
        # A scroll area paints a ground of its own; the legend stands on that of the picture.
        self.viewport().setAutoFillBackground(False)
        self.page.setAutoFillBackground(False)
        self._row = row
        theme.changed.connect(self._fit)

    @property
    def keys(self) -> tuple[LegendKey, ...]:
        """What it shows."""
        return self.page.keys

    def show_keys(self, keys: Sequence[LegendKey]) -> None:
        """Shows these, the first one first."""
        # A live picture gives the same keys at every Step.
        if tuple(keys) != self.page.keys:
            self.page.keys = tuple(keys)
            self.setAccessibleDescription(", ".join(key.words for key in keys))
            self._fit()
            self.page.update()

    def set_row(self, row: bool) -> None:
        """Below the picture, or beside it."""
        if row != self._row:
            self._row = row
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may take another number of rows."""
        super().resizeEvent(event)
        # Its own setFixedHeight arrives here too, and rows break by the width only.
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _fit(self) -> None:
        # QWIDGETSIZE_MAX: undoes the fixed size of the other arrangement.
        page, most = self.page, 16_777_215
        page.row = self._row
        if self._row:
            rows = len(page.rows(self.viewport().width()))
            page.setMinimumHeight(page.height_of(rows))
            self.setMinimumWidth(0)
            self.setMaximumWidth(most)
            self.setFixedHeight(page.height_of(max(1, min(rows, MOST_ROWS))))
        else:
            page.setMinimumHeight(page.height_of(sum(page.lines(key) for key in page.keys)))
            self.setMinimumHeight(0)
            self.setMaximumHeight(most)
            # With room for a scroll bar that may not be there: its coming would narrow the words.
            self.setFixedWidth(page.column_width() + self.verticalScrollBar().sizeHint().width())
        page.update()


class Keyed(QWidget):
    """A picture with its legend beside it, or below where that would leave too little width."""

    def __init__(self, picture: QWidget, legend: Legend) -> None:
        super().__init__()
        self._legend = legend
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self._row.addWidget(picture, 1)
        self._row.addWidget(legend)

    def minimumSizeHint(self) -> QSize:
        """That of a small picture: where there is little width the legend moves below."""
        return QSize(160, 160)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrow or high picture has its legend below."""
        super().resizeEvent(event)
        least = WIDE * self.fontMetrics().averageCharWidth()
        narrow = self.width() < max(least, LANDSCAPE * self.height())
        directions = QBoxLayout.Direction
        self._row.setDirection(directions.TopToBottom if narrow else directions.LeftToRight)
        self._legend.set_row(narrow)


class _Page(QWidget):
    """Paints the keys: a live picture changes them too often to recreate widgets."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: tuple[LegendKey, ...] = ()
        self.row = False

    def sizeHint(self) -> QSize:
        return QSize(self.column_width(), self.minimumHeight())

    def lines(self, key: LegendKey) -> int:
        """How many lines the words of a key take."""
        return len(self.wrapped(key))

    def height_of(self, rows: int) -> int:
        """Height of this many lines."""
        return rows * self._line() + 2 * _MARGIN

    def column_width(self) -> int:
        """Width of the widest key with its margins."""
        widest = max((self._width(key) for key in self.keys), default=0)
        return widest + _MARGIN

    def rows(self, width: int) -> list[list[LegendKey]]:
        """The keys of each row: one each in a column, else as many as fit the width."""
        if not self.row:
            return [[key] for key in self.keys]
        rows: list[list[LegendKey]] = []
        left = 0
        for key in self.keys:
            needed = self._width(key) + 2 * _SPACE
            if not rows or needed > left:
                rows.append([])
                left = width - _MARGIN + 2 * _SPACE
            rows[-1].append(key)
            left -= needed
        return rows

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for place, key in self.places():
            high = self.fontMetrics().height()
            _draw_sample(painter, key, QRectF(place.x(), place.y(), 2 * high, high))
            painter.setPen(pg.mkPen(theme.colours.text))
            words = place.adjusted(2 * high + _SPACE, 0, 0, 0)
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
            painter.drawText(words, int(flags), "\n".join(self.wrapped(key)))

    def event(self, event: QEvent) -> bool:
        """The whole words of a key that was cut."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = event.pos()
            words = next((key.words for box, key in self.places() if box.contains(at)), "")
            # Empty words take away the tip of the key before.
            QToolTip.showText(event.globalPos(), tip(words), self)
            return True
        return super().event(event)

    def places(self) -> list[tuple[QRectF, LegendKey]]:
        """Where each key stands."""
        found = []
        y = float(_MARGIN)
        for row in self.rows(self.width()):
            x, lines = float(_MARGIN), max(self.lines(key) for key in row)
            for key in row:
                width = self._width(key)
                found.append((QRectF(x, y, width, lines * self.fontMetrics().height()), key))
                x += width + 2 * _SPACE
            y += lines * self._line()
        return found

    def _line(self) -> int:
        return self.fontMetrics().height() + 4

    def wrapped(self, key: LegendKey) -> list[str]:
        """One line; two where the words are long and stand beside the picture."""
        metrics = self.fontMetrics()
        room = LONGEST * metrics.averageCharWidth()
        middle = Qt.TextElideMode.ElideMiddle  # The end of a name tells it from its neighbours.
        if self.row:
            # What takes two lines beside the picture takes one below it.
            return [metrics.elidedText(key.words, middle, 2 * room)]
        lines = in_lines(key.words, metrics, room)
        whole = " ".join(lines) == key.words
        if whole:
            return lines
        return [metrics.elidedText(key.words, middle, room)]

    def _width(self, key: LegendKey) -> int:
        metrics = self.fontMetrics()
        words = max(metrics.horizontalAdvance(line) for line in self.wrapped(key))
        return 2 * self.fontMetrics().height() + _SPACE + words + 2


def _draw_sample(painter: QPainter, key: LegendKey, place: QRectF) -> None:
    """A short piece of the line, or of the filled area, as it is drawn in the picture."""
    middle = place.center()
    painter.setPen(key.pen)
    if key.brush is not None:
        painter.setBrush(key.brush)
        painter.drawRect(place.adjusted(4, 3, -4, -3))
        painter.setBrush(Qt.BrushStyle.NoBrush)
    elif key.line:
        painter.drawLine(place.left(), middle.y(), place.right(), middle.y())
    if key.symbol:
        _draw_symbol(painter, key, middle)


def _draw_symbol(painter: QPainter, key: LegendKey, middle: Any) -> None:
    painter.save()
    painter.translate(middle)
    colour = key.pen.color()
    # By the function that draws the points, so the sample cannot differ from them.
    draw = pg.graphicsItems.ScatterPlotItem.drawSymbol
    draw(painter, key.symbol, 9, pg.mkPen(colour), pg.mkBrush(colour))
    painter.restore()
