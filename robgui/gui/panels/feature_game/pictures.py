"""The three pictures of a feature game: keypoints, saliency, and the example with its changed pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QSizePolicy, QSlider, QVBoxLayout, QWidget

from robgui.core.dataset.picture import picture_of
from robgui.gui.app.theme import theme
from robgui.gui.widgets.heat import DIVERGING, InputView, lookup
from robgui.gui.widgets.plots import Caption

if TYPE_CHECKING:
    from robgui.analyses.feature_game import FeatureGameResult

#: The darkest part of the colour map would vanish on a black image.
_DARKEST = 0.3
#: A pixel so large on the screen is outlined along its edges, a smaller one at this distance.
_LARGE_PIXEL, _DISTANCE = 5, 4
#: Which saliency is shown.
SALIENCIES = {"now": "Now", "before": "Before the search", "change": "Change"}


class Cell(QWidget):
    """A picture with a line of words above and its controls below.

    Signals:
        pointed: ``(column, row)`` of the pixel that the user wants.
    """

    pointed = Signal(int, int)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.view = InputView(name)
        self.caption = Caption()
        self.controls = QHBoxLayout()
        self._cross = pg.ScatterPlotItem(symbol="+", size=19, pxMode=True)
        self._cross.setZValue(20)
        self.view.addItem(self._cross)
        self.view.setMinimumSize(60, 60)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.caption)
        layout.addWidget(self.view, 1)
        layout.addLayout(self.controls)
        self.view.pointed.connect(self._clicked)
        theme.changed.connect(self.restyle)

    def restyle(self) -> None:
        """The cross in the accent colour, with an edge that shows on any image."""
        self._cross.setPen(pg.mkPen("white", width=1))
        self._cross.setBrush(pg.mkBrush(theme.colours.accent))

    def mark(self, pixel: tuple[int, int] | None) -> None:
        """Puts the cross onto a pixel, or takes it away."""
        if pixel is None:
            self._cross.setData([], [])
        else:
            self._cross.setData([pixel[0] + 0.5], [pixel[1] + 0.5])

    def _clicked(self, column: int, row: int) -> None:
        self.pointed.emit(column, row)


class KeypointCell(Cell):
    """The image with a circle for every keypoint; a click takes the nearest one that has the pixel inside."""

    def __init__(self) -> None:
        super().__init__("Image with keypoints")
        self._keypoints = np.zeros((0, 4))
        self._drawn: object = None
        self._edges = pg.ScatterPlotItem(symbol="o", pxMode=False, brush=None)
        self.circles = pg.ScatterPlotItem(symbol="o", pxMode=False, brush=None)
        for item in (self._edges, self.circles):
            self.view.addItem(item)
        self.controls.addWidget(Ramp("weak", "strong"))
        self.restyle()

    def show_result(self, result: FeatureGameResult) -> None:
        """Draws image and circles; they do not change during a run."""
        if result.keypoints is self._drawn:
            return
        self._drawn = result.keypoints
        self._keypoints = points = result.keypoints
        self.view.show_picture(picture_of(result.input, "image"))
        strength = points[:, 3] / max(float(points[:, 3].max(initial=0.0)), 1e-12)
        colours = lookup("viridis")[np.round(255 * (_DARKEST + (1 - _DARKEST) * strength)).astype(int)]
        spots = {"x": points[:, 0] + 0.5, "y": points[:, 1] + 0.5, "size": np.maximum(points[:, 2], 1.0)}
        self._edges.setData(**spots, pen=pg.mkPen((0, 0, 0, 150), width=3.5))
        self.circles.setData(**spots, pen=[pg.mkPen(colour, width=1.2 + share) for colour, share in zip(colours, strength, strict=True)])
        what = "points of a grid" if result.keypoint_source == "grid" else "keypoints"
        self.caption.set_words(f"“{result.labels[result.original]}”, {len(points):,} {what}")

    def _clicked(self, column: int, row: int) -> None:
        points = self._keypoints
        far = np.hypot(points[:, 0] - column, points[:, 1] - row)
        inside = np.where(far <= np.maximum(points[:, 2] / 2, 1.5), far, np.inf)
        if len(points) and np.isfinite(inside.min()):
            column, row = (round(float(value)) for value in points[int(inside.argmin()), :2])
        self.pointed.emit(column, row)


class SaliencyCell(Cell):
    """The saliency over the image: as it is now, as it was before the first move, or the change."""

    def __init__(self) -> None:
        super().__init__("Saliency over the image")
        self.which = QComboBox()
        self.which.setAccessibleName("Which saliency")
        self.which.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for key, words in SALIENCIES.items():
            self.which.addItem(words, key)
        self.opacity = QSlider(Qt.Orientation.Horizontal, minimum=0, maximum=100, value=65)
        self.opacity.setAccessibleName("Opacity of the saliency")
        self.opacity.setToolTip("How much the heat map covers the image")
        self.opacity.setMinimumWidth(40)
        self.controls.addWidget(self.which, 3)
        self.controls.addWidget(self.opacity, 2)
        self._result: FeatureGameResult | None = None
        self._pictured: object = None
        self.which.currentIndexChanged.connect(self._redraw)
        self.opacity.valueChanged.connect(self._redraw)
        self.restyle()

    def show_result(self, result: FeatureGameResult) -> None:
        """Lays the saliency over the image; the colours mean the same before and after."""
        self._result = result
        if result.keypoints is not self._pictured:
            self._pictured = result.keypoints
            self.view.show_picture(picture_of(result.input, "image"))
        self._redraw()

    def _redraw(self, *_: object) -> None:
        result = self._result
        if result is None:
            return
        which, opacity = self.which.currentData(), self.opacity.value() / 100
        most = float(max(result.saliency.max(), result.initial_saliency.max())) or 1.0
        if which == "change":
            change = result.saliency - result.initial_saliency
            values, levels = change, (-(span := float(np.abs(change).max()) or 1.0), span)
        else:
            values, levels = (result.saliency if which == "now" else result.initial_saliency), (0.0, most)
        self.view.heat.setLookupTable(_change_colours() if which == "change" else lookup("viridis"))
        self.view.show_heat(values, opacity, levels)
        meaning = "saliency: gained blue, lost red" if which == "change" else "saliency"
        self.caption.set_words(meaning)


class ExampleCell(Cell):
    """The best example with its changed pixels outlined; a click takes the nearest changed pixel close by."""

    def __init__(self) -> None:
        super().__init__("Adversarial example")
        self._changed = np.zeros((0, 2), int)
        self._shape = (1, 1)
        self._drawn: tuple[object, ...] = ()
        self._edges, self.marks = pg.PlotCurveItem(connect="pairs"), pg.PlotCurveItem(connect="pairs")
        for item in (self._edges, self.marks):
            self.view.addItem(item)
        self.marked = QCheckBox("Mark changes", checked=True)
        self.marked.toggled.connect(lambda on: [item.setVisible(on) for item in (self._edges, self.marks)])
        self.controls.addWidget(self.marked)
        self.controls.addStretch(1)
        box = self.view.getPlotItem().getViewBox()
        box.sigRangeChanged.connect(lambda *_: self._outline())
        box.sigResized.connect(lambda *_: self._outline())
        self.restyle()

    def restyle(self) -> None:
        """Vermilion with a white edge: seen on any image."""
        super().restyle()
        self.marks.setPen(pg.mkPen(theme.class_colour(1), width=2))
        self._edges.setPen(pg.mkPen("white", width=4))

    def show_example(self, example: np.ndarray, changed: np.ndarray, words: str) -> None:
        """Shows an example ``(c, h, w)`` in [0, 1] and outlines its changed pixels ``(P, 2)``."""
        self.view.show_picture(picture_of(example, "image"))
        self._changed, self._shape = changed, (example.shape[1], example.shape[2])
        self._outline()
        self.caption.set_words(words)

    def _outline(self) -> None:
        """Large pixels are outlined along their edges, small ones at a distance at which they stay visible."""
        side = 1 / max(1e-9, self.view.getPlotItem().getViewBox().viewPixelSize()[0])
        away = 0 if side >= _LARGE_PIXEL else int(np.ceil(_DISTANCE / side))
        wanted = (self._changed.tobytes(), self._shape, away)
        if wanted != self._drawn:
            self._drawn = wanted
            x, y = outline(self._changed, self._shape, away)
            for item in (self._edges, self.marks):
                item.setData(x, y)

    def _clicked(self, column: int, row: int) -> None:
        reach = 9 * self.view.getPlotItem().getViewBox().viewPixelSize()[0]
        if len(self._changed):
            far = np.hypot(*(self._changed - (column, row)).T)
            if far.min() <= max(reach, 0.5):
                column, row = self._changed[int(far.argmin())].tolist()
        self.pointed.emit(column, row)


def outline(pixels: np.ndarray, shape: tuple[int, int], away: int) -> tuple[np.ndarray, np.ndarray]:
    """The line around pixels ``(P, 2)`` of an image ``(h, w)``, ``away`` pixels outside: pairs of x and of y."""
    margin = away + 1
    inside = np.zeros((shape[0] + 2 * margin, shape[1] + 2 * margin), bool)
    inside[pixels[:, 1] + margin, pixels[:, 0] + margin] = True
    for axis in (0, 1):
        inside = np.any([np.roll(inside, shift, axis) for shift in range(-away, away + 1)], axis=0)
    upright, flat = np.argwhere(inside[:, 1:] != inside[:, :-1]), np.argwhere(inside[1:] != inside[:-1])
    x = np.concatenate([np.repeat(upright[:, 1] + 1, 2), np.stack([flat[:, 1], flat[:, 1] + 1], 1).ravel()])
    y = np.concatenate([np.stack([upright[:, 0], upright[:, 0] + 1], 1).ravel(), np.repeat(flat[:, 0] + 1, 2)])
    return (x - margin).astype(float), (y - margin).astype(float)


def _change_colours() -> np.ndarray:
    """The diverging colours, clear where nothing has changed, so that the image stays visible."""
    table = lookup(DIVERGING).copy()
    table[:, 3] = np.round(255 * np.sqrt(np.abs(np.linspace(-1, 1, 256))))
    return table


class Ramp(QWidget):
    """The colours of the circles, from weak to strong."""

    def __init__(self, low: str, high: str) -> None:
        super().__init__()
        self._words = (low, high)
        self.setAccessibleName(f"Colours from {low} to {high}")
        self.setMinimumHeight(self.fontMetrics().height() + 4)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(pg.mkPen(theme.colours.quiet))
        low, high = (self.fontMetrics().horizontalAdvance(words) for words in self._words)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(self.rect(), middle | Qt.AlignmentFlag.AlignLeft, self._words[0])
        bar = QRectF(low + 8, self.height() / 2 - 4, max(8, min(160, self.width() - low - high - 16)), 8)
        table = np.ascontiguousarray(lookup("viridis")[int(255 * _DARKEST) :])
        painter.drawImage(bar, QImage(table.data, len(table), 1, 4 * len(table), QImage.Format.Format_RGBA8888))
        painter.drawText(self.rect().adjusted(int(bar.right()) + 8, 0, 0, 0), middle | Qt.AlignmentFlag.AlignLeft, self._words[1])
