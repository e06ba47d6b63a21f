"""Where the search looks, laid over the image, as opaque as the user wants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSlider, QVBoxLayout, QWidget

from robgui.core.view import Matrix
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.views.matrix import MatrixView, cell_at

if TYPE_CHECKING:
    from robgui.analyses.feature_game import FeatureGameResult

#: How much of the heat covers the image at first, in per cent.
USUAL = 65


class SaliencyOverlay(QWidget):
    """The saliency as heat over the image, with a slider for how much it covers.

    Signals:
        hovered: ``(column, row)`` of the pixel under the mouse; None when it has left.
    """

    hovered = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.map = MatrixView()
        self.under = pg.ImageItem(axisOrder="row-major")
        self.under.setZValue(-10)
        self.map.heat.plot.addItem(self.under, ignoreBounds=True)
        self.opacity = QSlider(Qt.Orientation.Horizontal, minimum=0, maximum=100, value=USUAL)
        self.opacity.setAccessibleName("Opacity of the heat")
        self.opacity.setToolTip("How much the heat covers the image")
        self.opacity.valueChanged.connect(self._fade)
        row = QHBoxLayout()
        row.addWidget(Label("Image"))
        row.addWidget(self.opacity, 1)
        row.addWidget(Label("Heat"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.map, 1)
        layout.addLayout(row)
        self.map.heat.hovered.connect(self._point)
        self._drawn: object = None
        self._fade()

    @property
    def view(self) -> Matrix:
        """What is on show."""
        shown: Matrix = self.map.view
        return shown

    def show_view(self, view: Matrix, result: FeatureGameResult) -> None:
        """The heat of ``view`` over the image of ``result``."""
        from robgui.core.dataset.picture import picture_of

        self.map.show_view(view)
        # The image stays the same during a run; only the heat above it changes.
        if result.input is not self._drawn:
            self._drawn = result.input
            pixels = picture_of(result.input, "image")
            self.under.setImage(np.ascontiguousarray(pixels[::-1]), autoLevels=False)
        self.under.setRect(QRectF(*view.rect))

    def tell(self, words: str) -> None:
        """Reads out what stands at the pointer."""
        self.map.tell(words)

    def _fade(self) -> None:
        self.map.heat.image.setOpacity(self.opacity.value() / 100)

    def _point(self, place: tuple[float, float] | None) -> None:
        if place is None or self.map.view is None:
            self.hovered.emit(None)
            return
        row, column = cell_at(self.map.view, *place)
        # Rows of a matrix are counted from below, those of an image from above.
        self.hovered.emit((column, self.map.view.values.shape[0] - 1 - row))
