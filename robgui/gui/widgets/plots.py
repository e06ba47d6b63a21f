"""pyqtgraph pieces that every panel uses: a plot in the present theme, a strip of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter, QPen, QPixmap, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from robgui.gui.app.theme import Themed, theme
from robgui.gui.widgets.plain import Label, set_tip

pg.setConfigOptions(antialias=True)


class PlainAxis(pg.AxisItem):
    """An axis whose name is shown letter by letter; pyqtgraph takes names for HTML."""

    def labelString(self) -> str:
        """The name and unit as HTML that shows them as they are."""
        said = {name: str(getattr(self, name) or "") for name in ("labelText", "labelUnits")}
        try:
            self.__dict__.update({name: escape(words) for name, words in said.items()})
            return str(super().labelString())
        finally:
            self.__dict__.update(said)


class Plot(Themed, pg.PlotWidget):
    """A plot with named axes and fixed ranges that follows the theme.

    Args:
        x: Name and unit of the horizontal axis.
        y: Name and unit of the vertical axis.
        x_range: Where the horizontal axis begins and ends.
        y_range: Where the vertical axis begins and ends.
    """

    def __init__(self, x: str, y: str, x_range: tuple[float, float] = (0, 1), y_range: tuple[float, float] = (0, 1)) -> None:
        super().__init__(enableMenu=False, axisItems={side: PlainAxis(side) for side in ("bottom", "left")})
        item = self.getPlotItem()
        item.hideButtons()
        item.showGrid(x=True, y=True, alpha=0.15)
        item.setLabel("bottom", x)
        item.setLabel("left", y)
        for side in ("bottom", "left"):
            item.getAxis(side).enableAutoSIPrefix(False)
        item.setXRange(*x_range, padding=0.05)
        item.setYRange(*y_range, padding=0.05)
        self.setAccessibleName(f"{y} against {x}")
        theme.changed.connect(self.look_changed)
        self.restyle()

    def take_look(self) -> None:
        """Takes over the present theme."""
        self.restyle()

    def restyle(self) -> None:
        """Background, axes and their names in the present theme."""
        colours = theme.colours
        self.setBackground(colours.surface)
        for side in ("bottom", "left"):
            axis = self.getPlotItem().getAxis(side)
            axis.setPen(pg.mkPen(colours.line))
            axis.setTextPen(pg.mkPen(colours.text))
            axis.setTickFont(self.font())
            axis.label.setDefaultTextColor(pg.mkColor(colours.text))


@dataclass(frozen=True)
class Key:
    """One line of a legend: how it is drawn and what it means."""

    words: str
    pen: QPen
    symbol: str = ""


#: Pixels between two rows of a legend, and between two things in one.
_GAP, _SPACE = 4, 6


class Legend(Themed, QScrollArea):
    """What each line means, beside the plot (or in a row below it, or two where one is too narrow), so that it never covers data."""

    def __init__(self, *, row: bool = False) -> None:
        super().__init__(widgetResizable=True, frameShape=QScrollArea.Shape.NoFrame)
        self._row = row
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Legend")
        self._keys: tuple[Key, ...] = ()
        self._shown: list[list[Key]] = []
        theme.changed.connect(self.look_changed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may take another number of rows."""
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """The width is known now."""
        super().showEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._row and self._rows() != self._shown:
            self._fill()

    def take_look(self) -> None:
        """Draws the samples anew."""
        self._fill()

    def show_keys(self, keys: Sequence[Key]) -> None:
        """Shows these lines, top to bottom."""
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self._fill()

    def _fill(self) -> None:
        page = QWidget()
        lines = QVBoxLayout(page)
        lines.setContentsMargins(8, 8, 0, 8)
        lines.setSpacing(_GAP)
        height = self.fontMetrics().height()
        self._shown = self._rows()
        for keys in self._shown:
            line = QHBoxLayout(spacing=_SPACE)
            for key in keys:
                sample = Label()
                sample.setPixmap(_sample(key, height))
                line.addWidget(sample)
                line.addWidget(Label(key.words))
            line.addStretch(1)
            lines.addLayout(line)
        lines.addStretch(1)
        self.setWidget(page)
        if self._row:
            self.setFixedHeight(max(1, len(self._shown)) * (height + _GAP) - _GAP + 16)
        else:
            self.setFixedWidth(page.sizeHint().width() + 24)

    def _rows(self) -> list[list[Key]]:
        """The keys of each row: one each beside a plot, below it as many as fit the width."""
        if not self._row or not self.isVisible():
            return [list(self._keys)] if self._row else [[key] for key in self._keys]
        rows: list[list[Key]] = []
        left = 0
        for key in self._keys:
            width = 2 * self.fontMetrics().height() + self.fontMetrics().horizontalAdvance(key.words) + 2 * _SPACE
            if not rows or width > left:
                rows.append([])
                left = self.viewport().width() - 8 + _SPACE
            rows[-1].append(key)
            left -= width
        return rows


def _sample(key: Key, height: int) -> QPixmap:
    """A short piece of the line as it is drawn in the plot."""
    picture = QPixmap(height * 2, height)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(key.pen)
    painter.drawLine(0, height // 2, height * 2, height // 2)
    if key.symbol:
        pg.graphicsItems.ScatterPlotItem.drawSymbol(
            _shifted(painter, height, height / 2), key.symbol, 8, pg.mkPen(key.pen.color()), pg.mkBrush(key.pen.color())
        )
    painter.end()
    return picture


def _shifted(painter: QPainter, x: float, y: float) -> QPainter:
    painter.translate(x, y)
    return painter


class Strip(QWidget):
    """A row of small pictures, each with a line of words below."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._pictures = [_Picture() for _ in range(count)]
        self._words = [Caption() for _ in range(count)]
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(4)
        for column, (picture, words) in enumerate(zip(self._pictures, self._words, strict=True)):
            grid.addWidget(picture, 0, column)
            grid.addWidget(words, 1, column, Qt.AlignmentFlag.AlignTop)
            grid.setColumnStretch(column, 1)

    def set_height(self, lines: int) -> None:
        """How tall the pictures are, in lines of text."""
        for picture in self._pictures:
            picture.setFixedHeight(lines * self.fontMetrics().height())

    def set_pictures(self, images: Sequence[np.ndarray]) -> None:
        """Shows uint8 images ``(h, w, 3)``; places that are left over stay empty."""
        for place, picture in enumerate(self._pictures):
            picture.set_image(images[place] if place < len(images) else None)

    def set_words(self, words: Sequence[str]) -> None:
        """Writes one line below each picture."""
        for place, (picture, label) in enumerate(zip(self._pictures, self._words, strict=True)):
            text = words[place] if place < len(words) else ""
            if label.words != text:
                label.set_words(text)
                picture.setAccessibleName(text)


class Caption(Label):
    """One line that is cut with an ellipsis where there is no room; the tool tip has it whole."""

    def __init__(self) -> None:
        super().__init__(alignment=Qt.AlignmentFlag.AlignCenter)
        self.words = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def set_words(self, words: str) -> None:
        """Writes this line."""
        self.words = words
        set_tip(self, words)
        self._fit()

    def resizeEvent(self, event: object) -> None:
        self._fit()

    def _fit(self) -> None:
        self.setText(self.fontMetrics().elidedText(self.words, Qt.TextElideMode.ElideRight, self.width()))


class _Picture(Label):
    """A picture that keeps its pixels square and takes the room there is."""

    def __init__(self) -> None:
        super().__init__(alignment=Qt.AlignmentFlag.AlignCenter)
        self._pixmap: QPixmap | None = None
        side = self.fontMetrics().height() * 4
        self.setMinimumWidth(side // 2)
        self.setFixedHeight(side)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_image(self, image: np.ndarray | None) -> None:
        self._pixmap = None if image is None else QPixmap.fromImage(to_qimage(image))
        self._fit()

    def resizeEvent(self, event: object) -> None:
        self._fit()

    def _fit(self) -> None:
        if self._pixmap is None:
            self.clear()
            return
        side = min(self.width(), self.height())
        smooth = self._pixmap.width() > side
        mode = Qt.TransformationMode.SmoothTransformation if smooth else Qt.TransformationMode.FastTransformation
        self.setPixmap(self._pixmap.scaled(side, side, Qt.AspectRatioMode.KeepAspectRatio, mode))


def to_qimage(image: np.ndarray) -> QImage:
    """A uint8 picture ``(h, w, 3)`` as a QImage of its own."""
    pixels = np.ascontiguousarray(image)
    height, width = pixels.shape[:2]
    return QImage(pixels.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def beside(left: QWidget, right: QWidget) -> QWidget:
    """``left`` takes the room, ``right`` what it needs."""
    box = QWidget()
    layout = QHBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    layout.addWidget(left, 1)
    layout.addWidget(right)
    return box


def column(*widgets: QWidget, stretch: int = 0) -> QWidget:
    """Widgets below each other, the one at ``stretch`` taking the room."""
    box = QWidget()
    layout = QVBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    for place, widget in enumerate(widgets):
        layout.addWidget(widget, 1 if place == stretch else 0)
    return box
