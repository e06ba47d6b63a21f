"""Cursor: an upright line that the user drags along a plot, with its name and value at its foot."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication, QWidget

from robgui.core.text.words import number
from robgui.gui.app.theme import theme
from robgui.gui.widgets.plots import Plot
from robgui.gui.widgets.views.callout import Callout

#: Where its name stands, and its number among those of the picture, as shares of the height.
_FOOT, _NUMBER = 0.06, 0.5


class Cursor(pg.InfiniteLine):
    """Neither a curve's nor a mark's colour: in the ink of the text, and named.

    Args:
        name: What stands on it before its value.
        words: What it is for, for “What am I looking at?”.
        at: Where it begins.
    """

    def __init__(self, name: str, words: str, at: float) -> None:
        super().__init__(pos=at, angle=90, movable=True)
        self._name, self._words = name, words
        self.setZValue(5000)  # Its name is read above curves and marks.
        self.flag = pg.InfLineLabel(self, text="", position=_FOOT)
        self.sigPositionChanged.connect(self._write)
        self.restyle()

    def restyle(self) -> None:
        """The colours of the look in use."""
        colours = theme.colours
        self.setPen(pg.mkPen(colours.quiet, width=3))
        self.setHoverPen(pg.mkPen(colours.text, width=4))
        self.flag.setColor(colours.text)
        self.flag.fill = pg.mkBrush(colours.surface)
        self.flag.border = pg.mkPen(colours.quiet)
        self.flag.setFont(QApplication.font())
        self._write()

    def callout(self, plot: Plot, within: QWidget) -> Callout:
        """Its number in the picture, and what it is for."""
        area = plot.box.sceneBoundingRect()
        along = plot.box.mapViewToScene(QPointF(self.value(), 0)).x()
        spot = QPointF(along, area.top() + _NUMBER * area.height())
        return Callout(plot.mapTo(within, plot.mapFromScene(spot)), self._words)

    def _write(self, *_: Any) -> None:
        self.flag.setFormat(f"{self._name} {number(float(self.value()))}")
