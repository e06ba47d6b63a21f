"""What stands beside the matrix of classes: all distances with the threshold, the truth, and one pair in detail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from robgui.core.text.words import number
from robgui.gui.app.theme import theme
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.plots import Key, Legend, Plot

if TYPE_CHECKING:
    from robgui.analyses.deepinspect import Quality

_BINS = 60
#: So many pairs are drawn as dots; more cannot be told apart.
_DOTS = 20_000
NO_LABELS = "These data have no labels, so nobody can say which pairs are truly confused."


class Histogram(QWidget):
    """How many pairs have which value, and the limit beyond which they are reported; the limit can be dragged.

    Signals:
        limited: The limit that the user has dragged to.
    """

    limited = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self.plot = Plot("distance", "pairs")
        self.plot.setMouseEnabled(x=False, y=False)
        self._bars = pg.BarGraphItem(x0=[0], width=1, height=[0])
        self.line = pg.InfiniteLine(angle=90, movable=True)
        self.plot.addItem(self._bars)
        self.plot.addItem(self.line)
        self._hint = Label("Drag the line: pairs beyond it are reported.", wordWrap=True)
        self._hint.setProperty("role", "quiet")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.plot, 1)
        layout.addWidget(self._hint)
        self.line.sigPositionChangeFinished.connect(lambda: self.limited.emit(float(self.line.value())))
        theme.changed.connect(self.restyle)
        self.restyle()

    def show_values(self, values: np.ndarray, limit: float, name: str) -> None:
        """Shows the values of all pairs ``(P,)`` and the limit."""
        known = values[np.isfinite(values)]
        if not len(known):
            return
        counts, edges = np.histogram(known, _BINS)
        self._bars.setOpts(x0=edges[:-1], width=edges[1] - edges[0], height=counts)
        low, high = float(edges[0]), float(edges[-1])
        self.plot.setXRange(min(low, limit) if np.isfinite(limit) else low, high, padding=0.03)
        self.plot.setYRange(0, float(counts.max()), padding=0.05)
        self.plot.getPlotItem().setLabel("bottom", name)
        self.line.setBounds((None, None))
        if np.isfinite(limit):
            self.line.setValue(limit)
        self.line.setVisible(bool(np.isfinite(limit)))

    def restyle(self) -> None:
        """Bars quiet, the line in the accent colour."""
        self._bars.setOpts(brush=pg.mkBrush(theme.class_colour(0)), pen=pg.mkPen(theme.colours.surface, width=0.5))
        self.line.setPen(pg.mkPen(theme.colours.accent, width=2))
        self.line.setHoverPen(pg.mkPen(theme.colours.accent, width=4))


class Truth(QWidget):
    """Suspicion against true error, pair by pair."""

    def __init__(self) -> None:
        super().__init__()
        self.plot = Plot("distance", "true confusion")
        self._dots = pg.ScatterPlotItem(size=5, pxMode=True)
        self.plot.addItem(self._dots)
        self.words = Label(wordWrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.plot, 1)
        layout.addWidget(self.words)
        theme.changed.connect(self.restyle)
        self.restyle()

    def show_truth(self, suspicion: np.ndarray, truth: np.ndarray, quality: Quality | None, names: tuple[str, str]) -> None:
        """Shows the pairs ``(P,)``; without a truth it says so."""
        known = np.isfinite(suspicion) & np.isfinite(truth) if quality is not None else np.zeros(0, bool)
        if quality is None or not known.any():
            self._dots.setData([], [])
            self.words.setText(NO_LABELS)
            return
        places = np.flatnonzero(known)
        places = places[:: max(1, len(places) // _DOTS)]
        self._dots.setData(suspicion[places], truth[places])
        for set_range, values in ((self.plot.setXRange, suspicion[known]), (self.plot.setYRange, truth[known])):
            set_range(float(values.min()), float(values.max()) or 1.0, padding=0.05)
        self.plot.getPlotItem().setLabel("bottom", names[0])
        self.plot.getPlotItem().setLabel("left", names[1])
        correlation = f" Rank correlation of suspicion and truth {number(quality.spearman)}." if np.isfinite(quality.spearman) else ""
        self.words.setText(f"One dot per pair of classes, {known.sum():,} in all.{correlation}")

    def restyle(self) -> None:
        """Dots through which others can be seen."""
        dots = pg.mkColor(theme.class_colour(0))
        dots.setAlpha(140)
        self._dots.setBrush(pg.mkBrush(dots))
        self._dots.setPen(pg.mkPen(None))


class Ranking(QWidget):
    """How many true errors are found after inspecting so many pairs, the most suspicious first."""

    def __init__(self) -> None:
        super().__init__()
        self.plot = Plot("share of pairs inspected", "true errors found")
        self.plot.setMouseEnabled(x=False, y=False)
        self._lines = [pg.PlotCurveItem() for _ in range(4)]
        for line in self._lines:
            self.plot.addItem(line)
        self._legend = Legend()
        self._legend.setFixedHeight(self.fontMetrics().height() * 6)
        self.words = Label(wordWrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.plot, 1)
        layout.addWidget(self._legend)
        layout.addWidget(self.words)
        theme.changed.connect(self.restyle)
        self.restyle()

    def show_quality(self, quality: Quality | None) -> None:
        """Shows the curves; without a truth it says so."""
        if quality is None:
            for line in self._lines:
                line.setData([], [])
            self.words.setText(NO_LABELS)
            return
        for line, found in zip(self._lines, (quality.found, quality.found_mode, quality.found_optimal, quality.cost), strict=True):
            line.setData(quality.cost, found, connect="finite")
        self.words.setText(_quality_words(quality))

    def restyle(self) -> None:
        """Ours solid, the baselines dashed and dotted."""
        colours = theme.colours
        styles = (
            ("DeepInspect", colours.accent, Qt.PenStyle.SolidLine, 2.5),
            ("last-layer weights (MODE)", theme.class_colour(1), Qt.PenStyle.DashLine, 2),
            ("perfect order", theme.class_colour(2), Qt.PenStyle.DashDotLine, 1.5),
            ("random order", colours.quiet, Qt.PenStyle.DotLine, 1.5),
        )
        pens = [pg.mkPen(colour, width=width, style=style) for _, colour, style, width in styles]
        for line, pen in zip(self._lines, pens, strict=True):
            line.setPen(pen)
        self._legend.show_keys([Key(style[0], pen) for style, pen in zip(styles, pens, strict=True)])


def _quality_words(quality: Quality) -> str:
    parts = [f"{quality.hits:,} of {quality.reported:,} reported pairs are true, of {len(quality.true_pairs):,} true ones."]
    if np.isfinite(quality.aucec):
        parts.append(f"Area {number(quality.aucec)} (random 0.5, perfect {number(quality.aucec_optimal)}).")
    return " ".join(parts)
