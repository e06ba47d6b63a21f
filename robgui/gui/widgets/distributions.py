"""Two distributions of the index side by side: histograms with the share below each value over them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from robgui.core.text.words import number
from robgui.gui.app.theme import theme
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.plots import Plot

#: Bars over [0, 1]: as in the figures of the report.
BINS = 25
#: Original blue, adversarial vermilion; the numbers are those of the first two classes.
_FIRST, _SECOND = 0, 1


class Distributions(QWidget):
    """Bars of two sets beside each other in every bin, and their empirical distribution functions.

    Signals:
        clicked: ``(second, bin)``: the user wants to see the inputs behind a bar.
    """

    clicked = Signal(bool, int)

    def __init__(self, y: str = "share of inputs") -> None:
        super().__init__()
        self.plot = Plot("index", y)
        self.plot.getPlotItem().getAxis("left").setTicks([[(i / 4, f"{i / 4:g}") for i in range(5)]])
        self.plot.setMouseEnabled(x=False, y=False)
        left = np.arange(BINS) / BINS
        nothing = np.zeros(BINS)
        self.bars = tuple(pg.BarGraphItem(x0=left + (0.08 + 0.42 * i) / BINS, width=0.4 / BINS, height=nothing) for i in range(2))
        self.lines = tuple(pg.PlotDataItem() for _ in range(2))
        self._frame = pg.BarGraphItem(x0=[0], width=0.42 / BINS, height=[0])
        for item in (*self.bars, self._frame, *self.lines):
            self.plot.addItem(item)
        self._keys = tuple(_KeyLabel() for _ in range(2))
        self._chosen: tuple[bool, int] | None = None
        self._shares = (nothing, nothing)
        self.plot.scene().sigMouseClicked.connect(self._click)
        self._lay_out()
        self.restyle()

    def _lay_out(self) -> None:
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(0)
        for key in self._keys:
            self._row.addWidget(key)
        self._row.addStretch()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(self._row)
        layout.addWidget(self.plot, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_keys()

    def _fit_keys(self) -> None:
        """What the sets look like stands in one row, or in two where that is too long."""
        wide = sum(key.sizeHint().width() for key in self._keys) <= self.width()
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)

    def restyle(self) -> None:
        """First set plain with a whole line, second set hatched with a dashed line."""
        for i, (bars, line) in enumerate(zip(self.bars, self.lines, strict=True)):
            colour = theme.class_colour((_FIRST, _SECOND)[i])
            bars.setOpts(pen=pg.mkPen(colour, width=1), brush=_brush(i, colour))
            line.setPen(pg.mkPen(colour, width=2, style=(Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine)[i]))
            self._keys[i].show_look(_brush(i, colour), line.opts["pen"])
        self._frame.setOpts(pen=pg.mkPen(theme.colours.text, width=2.5), brush=None)

    def show_values(self, first: np.ndarray, second: np.ndarray, names: tuple[str, str], radius: float, unit: str = "inputs") -> None:
        """Draws the index of both sets; values that are not known yet (nan) are left out."""
        shares = []
        for values, name, bars, line, key in zip((first, second), names, self.bars, self.lines, self._keys, strict=True):
            known = np.sort(values[np.isfinite(values)])
            share = np.bincount(bins_of(known), minlength=BINS) / max(1, len(known))
            bars.setOpts(height=share)
            steps = np.repeat(np.r_[0.0, known, 1.0], 2)[1:]
            line.setData(steps, np.repeat(np.r_[np.arange(len(known) + 1) / max(1, len(known)), 1.0], 2)[:-1] if len(known) else steps * 0)
            mean = f", mean {number(float(known.mean()))}" if len(known) else ""
            key.show_words(f"{name}: {len(known):,} {unit}{mean}")
            shares.append(share)
        self._shares = (shares[0], shares[1])
        self._fit_keys()
        self.plot.getPlotItem().setLabel("bottom", f"index at radius {number(radius)}")
        self._show_chosen()

    def choose(self, chosen: tuple[bool, int] | None) -> None:
        """Frames one bar, or none."""
        self._chosen = chosen
        self._show_chosen()

    def _show_chosen(self) -> None:
        self._frame.setVisible(self._chosen is not None)
        if self._chosen is not None:
            second, place = self._chosen
            self._frame.setOpts(x0=[(place + 0.07 + 0.42 * second) / BINS], height=[max(0.01, float(self._shares[second][place]))])

    def _click(self, event: Any) -> None:
        """Anywhere above or on a bar counts, so that a short one can be hit."""
        box = self.plot.getPlotItem().getViewBox()
        x = box.mapSceneToView(event.scenePos()).x() * BINS
        if box.sceneBoundingRect().contains(event.scenePos()) and 0 <= x < BINS:
            self.clicked.emit(x % 1 >= 0.49, int(x))


def bins_of(values: np.ndarray) -> np.ndarray:
    """The bar each value in [0, 1] belongs to."""
    return np.clip((values * BINS).astype(np.int64), 0, BINS - 1)


def _brush(which: int, colour: QColor) -> QBrush:
    if which:
        return QBrush(colour, Qt.BrushStyle.BDiagPattern)
    fill = QColor(colour)
    fill.setAlpha(120)
    return QBrush(fill)


class _KeyLabel(QWidget):
    """What one set looks like and how it is called."""

    def __init__(self) -> None:
        super().__init__()
        self._sample, self._words = Label(), Label()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 16, 0)
        layout.setSpacing(4)
        layout.addWidget(self._sample)
        layout.addWidget(self._words)
        layout.addStretch()

    def show_words(self, words: str) -> None:
        if self._words.text() != words:
            self._words.setText(words)

    def show_look(self, brush: QBrush, pen: QPen) -> None:
        side = self.fontMetrics().height()
        picture = QPixmap(QSize(2 * side, side))
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setPen(QPen(pen.color(), 1))
        painter.setBrush(brush)
        painter.drawRect(QRect(1, 2, side - 4, side - 5))
        painter.setPen(pen)
        painter.drawLine(side, side // 2, 2 * side, side // 2)
        painter.end()
        self._sample.setPixmap(picture)
