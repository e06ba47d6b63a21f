"""Where the search looks, laid over the image, as opaque as the user wants."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSlider, QWidget

from robgui.core.view import Matrix
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.plots import column
from robgui.gui.widgets.views.matrix import MatrixView, cell_at

#: How much of the heat covers the image at first, in per cent.
USUAL = 65


class SaliencyOverlay(MatrixView):
    """The saliency as heat over the image, with a slider for how much it covers.

    Signals:
        hovered: ``(column, row)`` of the pixel under the mouse; None when it has left.
    """

    hovered = Signal(object)

    def __init__(self, *, mini: bool = False, later: bool = False) -> None:
        self._image: np.ndarray | None = None
        self._drawn: np.ndarray | None = None
        super().__init__(mini=mini, later=later)

    def build(self) -> None:
        """The map, with the image under it and the slider below it."""
        self.under = pg.ImageItem(axisOrder="row-major")
        # Under the heat, which stands at 0.
        self.under.setZValue(-10)
        self.opacity = QSlider(Qt.Orientation.Horizontal, minimum=0, maximum=100, value=USUAL)
        self.opacity.setAccessibleName("Opacity of the heat")
        self.opacity.setToolTip("How much the heat covers the image")
        super().build()
        self.heat.plot.addItem(self.under, ignoreBounds=True)
        self.heat.hovered.connect(self._point)
        self.opacity.valueChanged.connect(self._fade)
        self._fade()

    def put(self, picture: QWidget) -> None:
        """Puts the map above the slider."""
        box = QWidget()
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(Label("Image"))
        row.addWidget(self.opacity, 1)
        row.addWidget(Label("Heat"))
        super().put(column(picture, box))

    def lay_over(self, image: np.ndarray) -> None:
        """The image ``(channels, height, width)`` that the next map lies over."""
        self._image = image

    def draw(self, view: Matrix) -> None:
        """The heat over the image."""
        from robgui.core.dataset.picture import picture_of

        super().draw(view)
        # The image stays the same during a run; only the heat above it changes.
        if self._image is not None and self._image is not self._drawn:
            self._drawn = self._image
            pixels = picture_of(self._image, "image")
            # A plot counts its rows from below.
            self.under.setImage(np.ascontiguousarray(pixels[::-1]), autoLevels=False)
        self.under.setRect(QRectF(*view.rect))

    def _fade(self) -> None:
        self.heat.image.setOpacity(self.opacity.value() / 100)

    def _point(self, place: tuple[float, float] | None) -> None:
        if place is None or self.view is None:
            self.hovered.emit(None)
            return
        up, across = cell_at(self.view, *place)
        # Rows of a matrix are counted from below, those of an image from above.
        self.hovered.emit((across, self.view.values.shape[0] - 1 - up))
