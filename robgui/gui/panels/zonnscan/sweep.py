"""The zoNNscan panel: index and class confidences against the radius, and samples at the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from robgui.core.text.words import number, percent
from robgui.gui.app.theme import theme
from robgui.gui.panels.panel import Panel
from robgui.gui.panels.zonnscan.pinned_sweep import Pinned, Reference
from robgui.gui.panels.zonnscan.sweep_tools import SweepTools
from robgui.gui.state.sending import Offer
from robgui.gui.widgets.plain import Label, set_tip
from robgui.gui.widgets.plots import Key, Legend, Plot, Strip, beside, column

if TYPE_CHECKING:
    from robgui.analyses.zonnscan import ZonnscanResult
    from robgui.gui.state.store import Store

#: A class gets a curve when its mean confidence reaches this share at some radius; more curves cannot be told apart.
WORTH_A_CURVE = 0.05
MOST_CURVES = 8
SAMPLES = 8


class ZonnscanPanel(Panel):
    """Radius sweep around one input (Figure 2 of the paper), live."""

    analysis = "zonnscan"
    title = "zoNNscan"
    icon_name = "zonnscan"
    invitation = (
        "How close are other classes to this input? Choose an input in the gallery and press Run: "
        "the curve appears at once and sharpens while it runs."
    )
    explanation = (
        "Each radius r stands for a zone around the chosen input: in zone linf, all inputs whose every value differs by at most r. "
        "The dotted line is the zoNNscan index: the mean uncertainty of the model over that zone, 0 when it is always sure, "
        "1 when it cannot tell the classes apart; the band around it is its 95 % confidence interval. Coloured lines are the mean "
        "confidence in each class that reaches 5 % somewhere. The line with triangles counts the share of samples that fall into another "
        "class than the input: a zone cut by a sharp boundary has a low index but a high share. The horizontal line is the uncertainty at "
        "the input itself, the dash-dotted vertical line the smallest radius at which a change of class was found. "
        "Drag the solid vertical line to see samples from the zone at that radius. Keep as reference leaves this run's index and share as "
        "thin lines, so that the next run, of another input or model or of the adversarial twin, can be compared with it."
    )

    def __init__(self, store: Store) -> None:
        self._curves: list[pg.PlotCurveItem] = []
        self._drawn: tuple[int, ...] = ()
        self._labels: tuple[str, ...] = ()
        self._sampled: tuple[object, float] | None = None
        self._largest = 0.0
        self._zone = ""
        self._narrow = False
        super().__init__(store)

    def build(self) -> QWidget:
        """The plot with its fixed items, the line of figures and the strip of samples."""
        self.plot = Plot("radius of the zone", "index · mean confidence")
        self.plot.getPlotItem().getAxis("left").setTicks([[(i / 5, f"{i / 5:.1f}") for i in range(6)]])
        self._legend = Legend()
        self._low = pg.PlotCurveItem(pen=None)  # a PlotDataItem without a pen has no path to fill to
        self._high = pg.PlotCurveItem(pen=None)
        self._band = pg.FillBetweenItem(self._low, self._high)
        self._index = pg.PlotCurveItem(connect="finite")
        self._crossing = pg.PlotDataItem(symbol="t1", symbolSize=7, pxMode=True)
        self._own = pg.InfiniteLine(angle=0)
        self.marker = pg.InfiniteLine(pos=0.1, angle=90, movable=True, bounds=(0, 1))
        self._change = pg.InfiniteLine(angle=90)
        for item in (self._low, self._high, self._band, self._own, self._crossing, self._index, self._change, self.marker):
            self.plot.addItem(item)
        self.marker.sigPositionChanged.connect(self._show_cursor)
        self.marker.sigPositionChangeFinished.connect(lambda _: self._tell_radius())
        self.plot.scene().sigMouseClicked.connect(self._clicked)
        self.figures = Label(wordWrap=True)
        self.strip = Strip(SAMPLES)
        self.reference = Reference(self.plot)
        self.tools = SweepTools(self.store)
        self.tools.keep.clicked.connect(self._keep)
        self.tools.forget.clicked.connect(lambda: self._refer(None))
        self.restyle()
        self.store.selection_changed.connect(self._selected)
        return column(beside(self.plot, self._legend), self.figures, self.strip, self.tools)

    def restyle(self) -> None:
        """Index black on light and white on dark, dotted as in the paper; the rest follows."""
        colours = theme.colours
        self._index.setPen(pg.mkPen(colours.text, width=2.5, style=Qt.PenStyle.DotLine))
        fill = pg.mkColor(colours.text)
        fill.setAlpha(40)
        self._band.setBrush(fill)
        self._crossing.setPen(self._crossing_pen())
        self._crossing.setSymbolBrush(pg.mkBrush(colours.quiet))
        self._crossing.setSymbolPen(pg.mkPen(colours.quiet))
        self._own.setPen(pg.mkPen(colours.quiet, width=1, style=Qt.PenStyle.DashDotLine))
        self._change.setPen(pg.mkPen(colours.text, width=1.25, style=Qt.PenStyle.DashDotDotLine))
        self.marker.setPen(pg.mkPen(colours.accent, width=2))
        self.marker.setHoverPen(pg.mkPen(colours.accent, width=4))
        self.reference.restyle()
        self._style_curves()

    def _crossing_pen(self) -> QPen:
        return pg.mkPen(theme.colours.quiet, width=1.5)

    def draw(self, result: ZonnscanResult) -> None:
        """Gives every item its new numbers."""
        self._choose_curves(result)
        self._low.setData(result.radii, result.ci_low)
        self._high.setData(result.radii, result.ci_high)
        self._index.setData(result.radii, result.index)
        self._crossing.setData(result.radii, result.crossing)
        for curve, label in zip(self._curves, self._drawn, strict=True):
            curve.setData(result.radii, result.mean_confidence[:, label])
        self._own.setValue(_own_index(result))
        self._change.setVisible(result.crossing_radius > 0)
        if result.crossing_radius > 0:
            self._change.setValue(result.crossing_radius)
        self._show_radii(float(result.radii.max()), result.zone)
        self._show_cursor()

    def _show_radii(self, largest: float, zone: str) -> None:
        """The axis ends at the largest radius; it moves only when another run asks for others."""
        if zone != self._zone:
            self._zone = zone
            self._name_axes()
        if largest != self._largest:
            self._largest = largest
            self.plot.setXRange(0, largest, padding=0.05)
            self.marker.setBounds((0, largest))

    def _name_axes(self) -> None:
        """Names as in the report; beside a narrow plot shorter ones."""
        from robgui.analyses.zonnscan.clouds import ZONE_WORDS

        item = self.plot.getPlotItem()
        item.setLabel("bottom", f"radius ({self._zone})" if self._narrow else f"radius of the zone ({ZONE_WORDS[self._zone]})")
        item.setLabel("left", "value" if self._narrow else "index · mean confidence")

    def table(self) -> dict[str, np.ndarray]:
        """One row per radius."""
        result: ZonnscanResult | None = self.result
        if result is None:
            return {}
        names = ("radii", "index", "ci_low", "ci_high", "crossing", "crossing_low", "crossing_high", "entropy_of_mean", "samples")
        columns = {name: np.asarray(getattr(result, name)) for name in names}
        for c, label in enumerate(result.labels):
            columns[f"mean_confidence {label}"] = result.mean_confidence[:, c]
        return columns

    def offers(self) -> Sequence[Offer]:
        """The input, and the nearest sample of another class."""
        result: ZonnscanResult | None = self.result
        if result is None or result.zone == "box":
            return ()
        offers = [Offer(f"The input, {result.input_name}", (result.input_name,), places=(0,))]
        if len(result.witness):
            name = f"{result.input_name} moved by {number(result.crossing_radius)}"
            offers.append(Offer("The nearest change of class", (name,), result.witness, places=(0,)))
        return offers

    def pictures(self) -> dict[str, QWidget]:
        """The plot and the strip of samples."""
        return {"sweep": self.plot, "samples": self.strip}

    def _choose_curves(self, result: ZonnscanResult) -> None:
        """One curve per class that matters; a class that has mattered in this run keeps its curve."""
        if result.labels != self._labels or result.predicted not in self._drawn:
            self._drawn, self._labels = (), result.labels
        wanted = _worth_drawing(result, self._drawn)
        if wanted != self._drawn or len(wanted) != len(self._curves):
            for curve in self._curves:
                self.plot.removeItem(curve)
            self._drawn = wanted
            self._curves = [pg.PlotCurveItem(connect="finite") for _ in wanted]
            for curve in self._curves:
                self.plot.addItem(curve)
            self._style_curves()

    def _style_curves(self) -> None:
        pens = [pg.mkPen(theme.class_colour(label), width=1.75, style=theme.class_line(label)) for label in self._drawn]
        for curve, pen in zip(self._curves, pens, strict=True):
            curve.setPen(pen)
        keys = [Key("zoNNscan index", self._index.opts["pen"]), Key("share in other classes", self._crossing_pen(), "t1")]
        keys += [Key("index at the input", self._own.pen), Key("class changes", self._change.pen)]
        keys += self.reference.keys()
        keys += [Key(self._labels[label], pen) for label, pen in zip(self._drawn, pens, strict=True)]
        self._legend.show_keys([replace(key, words=self._fitting(key.words)) for key in keys] if self._narrow else keys)

    def _fitting(self, words: str) -> str:
        """Words of the legend beside a narrow plot."""
        short = {"zoNNscan index": "index", "share in other classes": "other classes", "index at the input": "at the input"}
        room = 14 * self.fontMetrics().averageCharWidth()
        return self.fontMetrics().elidedText(short.get(words, words), Qt.TextElideMode.ElideRight, room)

    def _show_cursor(self, *_: object) -> None:
        result: ZonnscanResult | None = self.result
        if result is None:
            return
        place = int(np.abs(result.radii - self.marker.value()).argmin())
        self.figures.setText(_figures(result, place, self.reference, self._narrow))
        set_tip(self.figures, _figures(result, place, self.reference))
        self.strip.set_words([result.labels[c] if c >= 0 else "" for c in result.shown_class[place]])
        self._show_samples(result, float(result.radii[place]))

    def _show_samples(self, result: ZonnscanResult, radius: float) -> None:
        """Draws the samples again only when they are others: they do not change while a run goes on."""
        wanted = (self.request, radius)
        if wanted != self._sampled:
            self._sampled = wanted
            self.store.pictures.run(lambda: _sample_pictures(result, radius), self.strip.set_pictures, key="zonnscan samples")

    def clear(self) -> None:
        """Back to the empty state; a reference belongs to the workspace that was open."""
        super().clear()
        self._refer(None)

    def _keep(self) -> None:
        """The picture on show becomes the one that later runs are compared with."""
        if self.request is not None and self.result is not None:
            self._refer(Pinned(self.result, f"{self.result.input_name}, {self.request.models[0].name}"))

    def _refer(self, pinned: Pinned | None) -> None:
        self.reference.pin(pinned)
        self.tools.forget.setEnabled(pinned is not None)
        self._style_curves()
        self._show_cursor()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low window the samples leave their room to the plot, in a narrow one the words beside it do."""
        super().resizeEvent(event)
        line = self.fontMetrics().height()
        low = event.size().height() < 34 * line
        self.strip.set_height(2 if low else 4)
        narrow = event.size().width() < 44 * line
        if narrow != self._narrow:
            self._narrow = narrow
            self._style_curves()
            self._show_cursor()
            if self._zone:
                self._name_axes()

    def _clicked(self, event: Any) -> None:
        """A click into the plot brings the cursor there."""
        box = self.plot.getPlotItem().getViewBox()
        if box.sceneBoundingRect().contains(event.scenePos()):
            self.marker.setValue(box.mapSceneToView(event.scenePos()).x())
            self._tell_radius()

    def _tell_radius(self) -> None:
        self.store.select(self.store.selection.but(radius=float(self.marker.value())), origin=self)

    def _selected(self, selection: Any, origin: object) -> None:
        if origin is not self and selection.radius is not None:
            self.marker.setValue(selection.radius)


def _worth_drawing(result: ZonnscanResult, already: tuple[int, ...]) -> tuple[int, ...]:
    """The classes worth a curve: the predicted one, those drawn already, then by their largest mean confidence."""
    peaks = np.nan_to_num(result.mean_confidence).max(0)
    peaks[list(already)] += 1
    peaks[result.predicted] = 3
    order = np.argsort(-peaks, kind="stable")[:MOST_CURVES]
    return tuple(sorted(int(c) for c in order if peaks[c] >= WORTH_A_CURVE))


def _own_index(result: ZonnscanResult) -> float:
    """The index at r = 0 where it was asked for; the smallest radius otherwise."""
    return float(np.nan_to_num(result.index[int(result.radii.argmin())]))


def _figures(result: ZonnscanResult, place: int, reference: Reference, short: bool = False) -> str:
    """The figures at one radius, in words; those of the reference stand in place of the interval of the share."""
    half = (result.ci_high[place] - result.ci_low[place]) / 2
    index = f"index {result.index[place]:.3f} ± {half:.3f}"
    share = f"{percent(float(result.crossing[place]))} in another class"
    where = f"At r = {number(float(result.radii[place]))}"
    others = reference.figures(float(result.radii[place]))
    if others is None and short:
        return f"{where}: {index}, {share}."
    if others is None:
        interval = f"({percent(float(result.crossing_low[place]))} to {percent(float(result.crossing_high[place]))})"
        return f"{where}: {index}, {share} {interval}, {int(result.samples[place]):,} samples."
    return f"{where}: {index} ({others[0]}), {share} ({others[1]}); in brackets the reference: {others[2]}."


def _sample_pictures(result: ZonnscanResult, radius: float) -> list[np.ndarray]:
    from robgui.analyses.zonnscan import zone_samples
    from robgui.core.dataset.picture import picture_of

    return [picture_of(x, result.kind) for x in zone_samples(result, radius, SAMPLES)]
