"""The feature game on many images: how severe the examples are, image by image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from robgui.core.text.words import count, duration, number
from robgui.gui.app.theme import theme
from robgui.gui.panels.feature_game.plots import UNITS
from robgui.gui.panels.feature_game.stage import Stage
from robgui.gui.panels.panel import Panel
from robgui.gui.state.sending import Offer
from robgui.gui.widgets.plots import Key, Legend, Plot
from robgui.gui.widgets.sheet import Sheet
from robgui.gui.widgets.thumbs import MOST, Thumb, Thumbs, Views

if TYPE_CHECKING:
    from robgui.analyses.feature_game import FeatureGameBatchResult
    from robgui.gui.state.store import Store

#: Where the severity of each norm stands in the result.
SEVERITY_COLUMN = {"l0": 0, "l1": 2, "l2": 3, "linf": 4}
#: Most bars in the histogram.
_BINS = 30


class FeatureGameBatchPanel(Panel):
    """Games on many images, live."""

    analysis = "feature_game_batch"
    title = "Batch"
    icon_name = "feature-game"
    invitation = (
        "How many pixels does it take to change the class, image by image? Press Run: the game is played on images that the gallery "
        "shows, chosen at random, one after the other."
    )
    explanation = (
        "Each bar tells how many images change their class with so many changed pixels; the further left, the more fragile the model. "
        "The lines are mean and median. Images for which nothing was found are not in the bars, and that is no guarantee for them. "
        "Below, each image stands beside its example, the least severe first. Click one to choose it in the gallery, then play the game "
        "on it alone to see more."
    )

    def __init__(self, store: Store) -> None:
        self._listed: tuple[object, ...] = ()
        super().__init__(store)

    def build(self) -> QWidget:
        """The distribution on top; images and table below."""
        self.histogram = SeverityHistogram()
        self.images = Thumbs("Images beside their examples, least severe first", lines=4, width=28, grid=True)
        side = self.images.iconSize().height()
        self.images.setIconSize(QSize(2 * side + 2, side))
        self.sheet = Sheet("One row per image")
        self.views = Views({"Images": self.images, "Table": self.sheet})
        self.images.pointed.connect(self.point_at)
        self.sheet.pointed.connect(self._point_row)
        self._stage = Stage(self.histogram, "Severities", self.views, self.views, (1, 1))
        return self._stage

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low window the distribution is one of the tabs."""
        super().resizeEvent(event)
        self._stage.fold(event.size().height())

    def restyle(self) -> None:
        """The histogram follows."""
        self.histogram.restyle()

    def draw(self, result: FeatureGameBatchResult) -> None:
        """Gives the histogram, the images and the table their new numbers."""
        wanted = (self.request, int(result.played.sum()))
        if wanted == self._listed:
            return
        self._listed = wanted
        self.histogram.show_result(result)
        self.sheet.show_columns(_columns(result))
        order = _order(result)
        self.images.show_inputs(
            [_thumb(result, int(place)) for place in order[:MOST]],
            [_pair(result.thumbnails[place]) for place in order[:MOST]],
            self.request,
        )
        self.views.bar.setTabText(self.views.stack.indexOf(self.images), f"Images ({len(order):,})")

    def _point_row(self, row: int) -> None:
        result: FeatureGameBatchResult | None = self.result
        if result is not None:
            self.point_at(int(result.numbers[np.flatnonzero(result.played)[row]]))

    def table(self) -> dict[str, np.ndarray]:
        """One row per image."""
        result: FeatureGameBatchResult | None = self.result
        return {} if result is None else {name: np.asarray(values) for name, values in _columns(result).items()}

    def pictures(self) -> dict[str, QWidget]:
        """The distribution."""
        return {"severities": self.histogram}

    def offers(self) -> Sequence[Offer]:
        """The examples that the result holds, and the images they were made from."""
        result: FeatureGameBatchResult | None = self.result
        if result is None or not len(result.worst):
            return ()
        names = tuple(f"{result.keys[i]}, {count(int(result.severity[i, 0]), 'pixel')} changed" for i in result.worst)
        places = tuple(int(result.numbers[i]) for i in result.worst)
        found = np.flatnonzero(result.found_class >= 0)
        images = tuple(int(result.numbers[i]) for i in found)
        title = f"The {len(names):,} least severe examples" if len(found) > len(names) else f"All {len(names):,} examples"
        return (
            Offer("The least severe example", names[:1], result.worst_examples[:1], places=places[:1]),
            Offer(title, names, result.worst_examples, places=places),
            Offer(f"The {len(images):,} images that change class", tuple(result.keys[i] for i in found), places=images),
        )


class SeverityHistogram(QWidget):
    """How many images have which severity, with mean and median."""

    def __init__(self) -> None:
        super().__init__()
        self.plot = Plot(UNITS["l0"], "images")
        self.plot.setMouseEnabled(x=False, y=False)
        self.bars = pg.BarGraphItem(x0=[0], width=1, height=[0])
        self.mean = pg.InfiniteLine(angle=90)
        self.median = pg.InfiniteLine(angle=90)
        for item in (self.bars, self.mean, self.median):
            self.plot.addItem(item)
        self._legend = Legend(row=True)
        self._words = ("mean", "median")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.plot, 1)
        layout.addWidget(self._legend)
        self.restyle()

    def restyle(self) -> None:
        """Bars in vermilion, the colour of what is adversarial; mean whole, median dashed."""
        self.bars.setOpts(brush=pg.mkBrush(theme.class_colour(1)), pen=pg.mkPen(theme.colours.surface, width=1))
        self.mean.setPen(pg.mkPen(theme.colours.text, width=2))
        self.median.setPen(pg.mkPen(theme.colours.accent, width=2, style=Qt.PenStyle.DashLine))
        self._legend.show_keys([Key(words, line.pen) for words, line in zip(self._words, (self.mean, self.median), strict=True)])

    def show_result(self, result: FeatureGameBatchResult) -> None:
        """Draws the severities found so far."""
        values = result.severity[np.isfinite(result.severity[:, 0]), SEVERITY_COLUMN[result.norm]]
        counts, edges = _bins(values, whole=result.norm == "l0")
        self.bars.setOpts(x0=edges[:-1], width=np.diff(edges), height=counts)
        for line, value in ((self.mean, result.mean), (self.median, result.median)):
            line.setVisible(bool(np.isfinite(value)))
            if np.isfinite(value):
                line.setValue(value)
        self._words = (f"mean {number(result.mean)}", f"median {number(result.median)}")
        self.restyle()
        self.plot.getPlotItem().setLabel("bottom", UNITS[result.norm])
        self.plot.setXRange(min(0.0, float(edges[0])), float(edges[-1]), padding=0.02)
        most = max(1, int(counts.max(initial=0)))
        self.plot.getPlotItem().getAxis("left").setTickSpacing(max(1, -(-most // 4)), max(1, -(-most // 4)))
        self.plot.setYRange(0, most, padding=0.12)
        self._legend.setVisible(bool(len(values)))


def _bins(values: np.ndarray, *, whole: bool) -> tuple[np.ndarray, np.ndarray]:
    """Counts and edges of the bars; pixels are counted one by one while there is room for it."""
    if not len(values):
        return np.zeros(1), np.array([0.0, 10.0 if whole else 1.0])
    if whole:
        most = int(values.max())
        width = max(1, -(-most // _BINS))
        edges = np.arange(0.5, most + width + 0.5, width)
    else:
        edges = np.linspace(0, float(values.max()) * 1.0001, _BINS + 1)
    return np.histogram(values, edges)[0], edges


def _order(result: FeatureGameBatchResult) -> np.ndarray:
    """The images that have been played, least severe first; those without an example stand last."""
    played = np.flatnonzero(result.played)
    return played[np.argsort(result.severity[played, SEVERITY_COLUMN[result.norm]], kind="stable")]


def _columns(result: FeatureGameBatchResult) -> dict[str, Sequence[Any] | np.ndarray]:
    rows = np.flatnonzero(result.played).tolist()
    columns: dict[str, Sequence[Any] | np.ndarray] = {
        "Image": [result.keys[i] for i in rows],
        "Class": [_label(result, int(result.predicted[i])) for i in rows],
        "Becomes": [_becomes(result, i) for i in rows],
    }
    columns |= {"Pixels": result.severity[rows, 0], "Calls": result.calls[rows], "Seconds": result.seconds[rows]}
    columns |= {name: result.severity[rows, place] for place, name in enumerate(("Values", "L1", "L2", "L∞"), 1)}
    return columns | {"Sure before": result.confidence_before[rows], "Sure after": result.confidence_after[rows]}


def _thumb(result: FeatureGameBatchResult, place: int) -> Thumb:
    lines: tuple[str, ...] = (result.keys[place], _change(result, place))
    if result.found_class[place] >= 0:
        severity = float(result.severity[place, SEVERITY_COLUMN[result.norm]])
        unit = ("pixel" if severity == 1 else "pixels") if result.norm == "l0" else {"l1": "L1", "l2": "L2", "linf": "L∞"}[result.norm]
        lines = (*lines, f"{number(severity)} {unit}" if result.norm == "l0" else f"{unit} {number(severity)}")
    if not result.skipped[place]:
        lines = (*lines, f"{int(result.calls[place]):,} calls, {duration(float(result.seconds[place]))}")
    return Thumb(int(result.numbers[place]), lines, ", ".join(lines))


def _label(result: FeatureGameBatchResult, which: int) -> str:
    return result.labels[which] if which >= 0 else "unknown"


def _change(result: FeatureGameBatchResult, place: int) -> str:
    arrow = " →" if result.found_class[place] >= 0 else ","
    return f"{_label(result, int(result.predicted[place]))}{arrow} {_becomes(result, place)}"


def _becomes(result: FeatureGameBatchResult, place: int) -> str:
    if result.skipped[place]:
        return "left out: has the target class"
    found = int(result.found_class[place])
    return result.labels[found] if found >= 0 else "none found"


def _pair(pair: np.ndarray) -> np.ndarray:
    """An image beside its example ``(2, h, w, 3)`` as one picture, the changed pixels framed."""
    factor = max(1, -(-96 // max(pair.shape[1:3])))
    image, example = (part.repeat(factor, 0).repeat(factor, 1) for part in pair)
    for y, x in np.argwhere((pair[0] != pair[1]).any(2)).tolist():
        _frame(example, x * factor, y * factor, factor)
    gap = np.full((len(image), 4, 3), 128, np.uint8)
    return np.ascontiguousarray(np.concatenate([image, gap, example], axis=1))


def _frame(picture: np.ndarray, left: int, top: int, size: int) -> None:
    """Frames a square of a uint8 picture in vermilion, just outside it."""
    vermilion = theme.class_colour(1)
    colour = (vermilion.red(), vermilion.green(), vermilion.blue())
    low_y, high_y = max(0, top - 1), min(picture.shape[0] - 1, top + size)
    low_x, high_x = max(0, left - 1), min(picture.shape[1] - 1, left + size)
    picture[[low_y, high_y], low_x : high_x + 1] = colour
    picture[low_y : high_y + 1, [low_x, high_x]] = colour
