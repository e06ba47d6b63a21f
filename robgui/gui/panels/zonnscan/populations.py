"""The Populations panel: does the index tell two sets of inputs apart?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from robgui.core.text.words import number, percent
from robgui.gui.app.theme import theme
from robgui.gui.panels.panel import Panel
from robgui.gui.widgets.distributions import BINS, Distributions, bins_of
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.plots import Plot, beside, column
from robgui.gui.widgets.thumbs import Thumb, Thumbs, Views

if TYPE_CHECKING:
    from robgui.analyses.zonnscan import PopulationsResult
    from robgui.gui.state.store import Store

#: Inputs listed before the user has clicked a bar.
_HIGHEST = 20


class PopulationsPanel(Panel):
    """Two distributions of the index (Figures 3 and 4 of the paper) and the index as a detector."""

    analysis = "zonnscan_populations"
    title = "Populations"
    icon_name = "zonnscan"
    invitation = (
        "Does the index tell two sets of inputs apart? Press Run: the inputs that the gallery shows are compared with their "
        "adversarial twins, or one part of them with the rest."
    )
    explanation = (
        "For every input the index tells how unsure the model is in a small zone around it, from 0 (always sure) to 1. Bars show how "
        "many inputs of each set have which index: plain and blue for the first set, hatched and vermilion for the second. The lines "
        "count the share of inputs up to each value. Where the two differ, the index can be used as an alarm: Detector shows how many "
        "of the second set it catches for a given share of false alarms. AUC sums that up: 0.5 is guessing, 1 is perfect. Click a bar "
        "to see its inputs, and an input to choose it in the gallery."
    )

    def __init__(self, store: Store) -> None:
        self._chosen: tuple[bool, int] | None = None
        self._listed: object = None
        super().__init__(store)

    def build(self) -> QWidget:
        """Distribution and detector on the left, the inputs behind a bar on the right."""
        self.distributions = Distributions()
        self.detector = Plot("false alarms", "detected")
        self.detector.setMouseEnabled(x=False, y=False)
        self._guess = pg.PlotDataItem([0, 1], [0, 1])
        self._roc = pg.PlotDataItem()
        for item in (self._guess, self._roc):
            self.detector.addItem(item)
        self.views = Views({"Distribution": self.distributions, "Detector": self.detector})
        self._title = Label(wordWrap=True)
        self._title.setProperty("role", "quiet")
        self.thumbs = Thumbs("Inputs behind a bar", lines=2, width=16)
        self.figures = Label(wordWrap=True)
        self.distributions.clicked.connect(self.choose_bar)
        self.thumbs.pointed.connect(self.point_at)
        self.restyle()
        return column(beside(self.views, self._list()), self.figures)

    def _list(self) -> QWidget:
        box = QWidget()
        box.setFixedWidth(self.thumbs.width() + 8)
        layout = QVBoxLayout(box)
        layout.setContentsMargins(8, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self._title)
        layout.addWidget(self.thumbs, 1)
        return box

    def restyle(self) -> None:
        """The detector in the text colour, guessing as a dotted line."""
        self.distributions.restyle()
        self._roc.setPen(pg.mkPen(theme.colours.text, width=2))
        self._guess.setPen(pg.mkPen(theme.colours.quiet, width=1, style=Qt.PenStyle.DotLine))

    def draw(self, result: PopulationsResult) -> None:
        """Gives every item its new numbers."""
        self.distributions.show_values(result.index[~result.second], result.index[result.second], result.names, result.radius)
        self._roc.setData(result.false_alarms, result.detected)
        axes = self.detector.getPlotItem()
        axes.setLabel("bottom", f"false alarms (share of {result.names[0]})")
        axes.setLabel("left", f"detected (share of {result.names[1]})")
        self.figures.setText(_figures(result))
        self._show_inputs(result)

    def clear(self) -> None:
        """Back to the empty state; no bar is chosen."""
        super().clear()
        self._chosen = None
        self.distributions.choose(None)

    def choose_bar(self, second: bool, place: int) -> None:
        """Lists the inputs behind one bar; the same bar again lists the highest."""
        self._chosen = None if self._chosen == (second, place) else (second, place)
        self.distributions.choose(self._chosen)
        if self.result is not None:
            self._show_inputs(self.result)

    def table(self) -> dict[str, np.ndarray]:
        """One row per input."""
        result: PopulationsResult | None = self.result
        if result is None:
            return {}
        names = ("numbers", "second", "index", "half_width", "crossing", "predicted", "samples")
        return {"key": np.asarray(result.keys), **{name: np.asarray(getattr(result, name)) for name in names}}

    def pictures(self) -> dict[str, QWidget]:
        """Distribution and detector."""
        return {"distribution": self.distributions, "detector": self.detector}

    def _show_inputs(self, result: PopulationsResult) -> None:
        places, words = _behind(result, self._chosen)
        self._title.setText(words)
        thumbs = [Thumb(int(result.numbers[i]), _lines(result, i), _sentence(result, i)) for i in places]
        self.thumbs.show_inputs(thumbs, [result.thumbnails[i] for i in places], self.request)


def _behind(result: PopulationsResult, chosen: tuple[bool, int] | None) -> tuple[list[int], str]:
    """The inputs of a bar, or the highest of the first set, and what they are."""
    second, bar = chosen or (False, -1)
    among = result.second == second
    order = np.argsort(-np.nan_to_num(result.index), kind="stable")
    if chosen is None:
        return [int(i) for i in order if among[i]][:_HIGHEST], f"Highest of {result.names[0]}; click a bar for others."
    inside = among & (bins_of(np.nan_to_num(result.index)) == bar)
    places = [int(i) for i in order if inside[i]]
    what = f"{len(places):,} of {result.names[second]} from {number(bar / BINS)} to {number((bar + 1) / BINS)}."
    return places, what


def _lines(result: PopulationsResult, place: int) -> tuple[str, str]:
    return result.labels[int(result.predicted[place])], f"index {number(float(result.index[place]))}"


def _sentence(result: PopulationsResult, place: int) -> str:
    name, share = result.labels[int(result.predicted[place])], percent(float(result.crossing[place]))
    index, half = float(result.index[place]), float(result.half_width[place])
    return f"{result.keys[place]}: predicted {name}, index {number(index)} ± {number(half)}, {share} of the samples in another class"


def _figures(result: PopulationsResult) -> str:
    """What the two tests say, in words."""
    differ = "the sets differ" if result.ks_p < 1e-3 else "that may be chance"
    return (
        f"By chance two sets would look so different with probability {number(result.ks_p)}: {differ}. "
        f"As a detector: AUC {number(result.auc)} (0.5 guesses, 1 is perfect)."
    )
