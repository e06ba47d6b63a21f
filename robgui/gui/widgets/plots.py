"""Pieces that every panel uses: a plot in the present theme, a picture for Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QVBoxLayout, QWidget

from robgui.core.view import Axis
from robgui.gui.app.theme import Themed, theme
from robgui.gui.widgets.axes import ViewAxis

pg.setConfigOptions(antialias=True)
Range = tuple[float, float]
Names = Sequence[str]


class Plot(Themed, pg.PlotWidget):
    """A plot with named axes and fixed ranges that follows the theme; a double click undoes a zoom.

    Args:
        x: Name and unit of the horizontal axis.
        y: Name and unit of the vertical axis.
        x_range: Where the horizontal axis begins and ends.
        y_range: Where the vertical axis begins and ends.
    """

    def __init__(self, x: str, y: str, x_range: Range = (0, 1), y_range: Range = (0, 1)) -> None:
        self._axes = {side: ViewAxis(side) for side in ("bottom", "left")}
        super().__init__(enableMenu=False, axisItems=self._axes)
        self._frame: tuple[Range, Range, float] | None = None
        item = self.getPlotItem()
        item.hideButtons()
        self._head = -1
        self.set_head(0)
        item.showGrid(x=True, y=True, alpha=0.15)
        item.setLabel("bottom", x)
        item.setLabel("left", y)
        self.set_frame(x_range, y_range, padding=0.05)
        self.setAccessibleName(f"{y} against {x}")
        self.setMinimumSize(160, 110)
        self.scene().sigMouseClicked.connect(self._undo_zoom)
        theme.changed.connect(self.look_changed)
        self.restyle()

    def show_axes(self, x: Axis, y: Axis, columns: Names = (), rows: Names = ()) -> None:
        """Takes titles and numbers from two Axes, or names in place of the numbers."""
        self._axes["bottom"].show_axis(x, columns)
        self._axes["left"].show_axis(y, rows)
        self.setAccessibleName(f"{y.title} against {x.title}")

    def set_head(self, pixels: int) -> None:
        """Leaves room above the data, for words that name some of it."""
        if pixels != self._head:
            self._head = pixels
            layout = self.getPlotItem().layout
            # Half a number may reach beyond an axis.
            layout.setContentsMargins(2, max(8, pixels), 16, 2)
            layout.activate()  # Else all is painted now, and again when that is done.

    def set_titled(self, titled: bool) -> None:
        """Whether its axes have titles; the accessible name has them always."""
        for axis in self._axes.values():
            axis.set_titled(titled)

    def set_frame(self, x_range: Range, y_range: Range, padding: float = 0.0) -> None:
        """What is on show before the user zooms; the user's zoom stays while this is the same."""
        wanted = (x_range, y_range, padding)
        if wanted != self._frame:
            self._frame = wanted
            self.setRange(xRange=x_range, yRange=y_range, padding=padding)

    def apply_theme(self) -> None:
        """Takes over the present theme."""
        self.restyle()

    def restyle(self) -> None:
        """Background, axes and their names in the present theme."""
        colours = theme.colours
        self.setBackground(colours.surface)
        for axis in self._axes.values():
            axis.setPen(pg.mkPen(colours.line))
            axis.setTextPen(pg.mkPen(colours.text))
            axis.setTickFont(self.font())
            axis.label.setFont(self.font())
            axis.label.setDefaultTextColor(pg.mkColor(colours.text))

    def _undo_zoom(self, event: Any) -> None:
        if event.double() and self._frame is not None:
            x_range, y_range, padding = self._frame
            self.setRange(xRange=x_range, yRange=y_range, padding=padding)


def to_qimage(image: np.ndarray) -> QImage:
    """A uint8 picture ``(h, w, 3)`` as a QImage of its own."""
    pixels = np.ascontiguousarray(image)
    height, width = pixels.shape[:2]
    return QImage(pixels.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def column(*widgets: QWidget, stretch: int = 0) -> QWidget:
    """Widgets below each other, the one at ``stretch`` taking the room."""
    box = QWidget()
    layout = QVBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(2)  # in a small window the picture needs the room
    for place, widget in enumerate(widgets):
        layout.addWidget(widget, 1 if place == stretch else 0)
    return box
