"""Pieces that every panel uses: a plot in the present theme, a picture for Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QGraphicsGridLayout, QSizePolicy, QVBoxLayout, QWidget

from robgui.core.view import Axis
from robgui.gui.app.theme import Themed, theme
from robgui.gui.widgets.axes import ViewAxis

pg.setConfigOptions(antialias=True)
Range = tuple[float, float]
Names = Sequence[str]
#: How strong the lines of the grid are, of 255.
GRID = 38


class Plot(Themed, pg.GraphicsView):
    """A plot with named axes and fixed ranges that follows the theme; a double click undoes a zoom.

    Pyqtgraph's own plot brings menus, buttons and two more hidden axes, and takes three
    times as long to make.

    Args:
        x: Name and unit of the horizontal axis.
        y: Name and unit of the vertical axis.
        x_range: Where the horizontal axis begins and ends.
        y_range: Where the vertical axis begins and ends.

    Attributes:
        box: What lies between the axes, and its range.
    """

    def __init__(self, x: str, y: str, x_range: Range = (0, 1), y_range: Range = (0, 1)) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        # GraphicsView would zoom the whole scene with its axes; the box zooms the data alone.
        self.enableMouse(False)
        self.box = pg.ViewBox(enableMenu=False)
        self._axes = {side: ViewAxis(side) for side in ("bottom", "left")}
        self._frame: tuple[Range, Range, float] | None = None
        self._head = -1
        self._lay_out()
        self.set_head(0)
        self.show_grid(True)
        self.axis("bottom").setLabel(x)
        self.axis("left").setLabel(y)
        self.set_frame(x_range, y_range, padding=0.05)
        self.setAccessibleName(f"{y} against {x}")
        self.setMinimumSize(160, 110)
        self.scene().sigMouseClicked.connect(self._undo_zoom)
        theme.changed.connect(self.look_changed)
        self.restyle()

    def axis(self, side: str) -> ViewAxis:
        """The axis at the ``bottom`` or at the ``left``."""
        return self._axes[side]

    def addItem(self, item: Any, *, ignoreBounds: bool = False) -> None:
        """Draws ``item`` between the axes."""
        self.box.addItem(item, ignoreBounds=ignoreBounds)

    def show_grid(self, shown: bool) -> None:
        """Whether faint lines go across at every number."""
        for axis in self._axes.values():
            # False and not 0: pyqtgraph would draw an invisible grid.
            axis.setGrid(GRID if shown else False)

    def show_axes(self, x: Axis, y: Axis, columns: Names = (), rows: Names = ()) -> None:
        """Takes titles and numbers from two Axes, or names in place of the numbers."""
        self._axes["bottom"].show_axis(x, columns)
        self._axes["left"].show_axis(y, rows)
        self.setAccessibleName(f"{y.title} against {x.title}")

    def set_head(self, pixels: int) -> None:
        """Leaves room above the data, for words that name some of it."""
        if pixels != self._head:
            self._head = pixels
            # Half a number may reach beyond an axis.
            self._grid.setContentsMargins(2, max(8, pixels), 16, 2)
            self._grid.activate()  # Else all is painted now, and again when that is done.

    def set_titled(self, titled: bool) -> None:
        """Whether its axes have titles; the accessible name has them always."""
        for axis in self._axes.values():
            axis.set_titled(titled)

    def set_frame(self, x_range: Range, y_range: Range, padding: float = 0.0) -> None:
        """What is on show before the user zooms; the user's zoom stays while this is the same."""
        wanted = (x_range, y_range, padding)
        if wanted != self._frame:
            self._frame = wanted
            self.box.setRange(xRange=x_range, yRange=y_range, padding=padding)

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
            # The items of a scene do not take over the font of the widget that shows them.
            axis.setTickFont(self.font())
            axis.label.setFont(self.font())
            axis.label.setDefaultTextColor(pg.mkColor(colours.text))

    def _lay_out(self) -> None:
        """The box above one axis and beside the other, without any space between them."""
        middle = pg.GraphicsWidget()
        grid = self._grid = QGraphicsGridLayout()
        grid.setSpacing(0)
        grid.addItem(self.box, 0, 1)
        for side, place in (("left", (0, 0)), ("bottom", (1, 1))):
            axis = self._axes[side]
            axis.linkToView(self.box)
            axis.setZValue(0.5)  # above an image, whose grid would else be hidden
            grid.addItem(axis, *place)
        grid.setRowStretchFactor(0, 100)
        grid.setColumnStretchFactor(1, 100)
        middle.setLayout(grid)
        self.setCentralItem(middle)

    def _undo_zoom(self, event: Any) -> None:
        if event.double() and self._frame is not None:
            x_range, y_range, padding = self._frame
            self.box.setRange(xRange=x_range, yRange=y_range, padding=padding)


def to_qimage(image: np.ndarray) -> QImage:
    """A uint8 picture ``(h, w, 3)`` as a QImage of its own."""
    pixels = np.ascontiguousarray(image)
    height, width = pixels.shape[:2]
    # Copied: a QImage only borrows the array, which is gone when this returns.
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
