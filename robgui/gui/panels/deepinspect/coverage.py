"""The Coverage panel: whether coverage criteria tell classes apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from robgui.gui.app.theme import theme
from robgui.gui.panels.panel import Panel
from robgui.gui.widgets.class_matrix import ClassAxis
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.plots import Plot, column
from robgui.gui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from robgui.analyses.deepinspect import CoverageResult

CRITERIA = {
    "neuron": "Neuron coverage",
    "multisection": "k-multisection coverage",
    "boundary": "Boundary coverage",
    "strong": "Strong activation coverage",
    "top": "Top-k coverage",
}


class CoveragePanel(Panel):
    """Coverage criteria per class (the paper's first question)."""

    analysis = "deepinspect_coverage"
    title = "Coverage"
    icon_name = "deepinspect"
    invitation = (
        "Do coverage criteria, which many test tools count, tell the classes of this network apart? Press Run to see them class by class."
    )
    explanation = (
        "Each bar is one class: the share of neurons (or of sections of their ranges) that its inputs reach. If all bars are alike, "
        "coverage says nothing about which classes are confused, which is why DeepInspect looks at activation probabilities instead. "
        "The table adds every criterion; the verdict says whether the classes differ at all and by how much."
    )

    def build(self) -> QWidget:
        """The bars over the table."""
        self.criterion = QComboBox()
        self.criterion.setAccessibleName("Coverage criterion")
        for name, words in CRITERIA.items():
            self.criterion.addItem(words, name)
        self.criterion.currentIndexChanged.connect(lambda _: self.draw(self.result) if self.result is not None else None)
        self.plot = Plot("class", "coverage (share)")
        self.plot.setMinimumHeight(self.fontMetrics().height() * 12)
        self._axis = ClassAxis("bottom")
        self.plot.getPlotItem().setAxisItems({"bottom": self._axis})
        self._bars = pg.BarGraphItem(x=[0.5], height=[0], width=0.7)
        self.plot.addItem(self._bars)
        self.sheet = Sheet("One row per class")
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(Label("Criterion"))
        layout.addWidget(self.criterion)
        layout.addStretch(1)
        self.restyle()
        return column(row, self.plot, self.sheet, stretch=1)

    def restyle(self) -> None:
        """Bars in the first colour."""
        self._bars.setOpts(brush=pg.mkBrush(theme.class_colour(0)), pen=pg.mkPen(theme.colours.surface))
        self.plot.restyle()

    def draw(self, result: CoverageResult) -> None:
        """Gives the bars and the table their new numbers."""
        values = np.nan_to_num(getattr(result, str(self.criterion.currentData())))
        self._bars.setOpts(x=np.arange(len(values)) + 0.5, height=values, width=0.7)
        self._axis.set_names(result.classes)
        self.plot.setXRange(0, len(values), padding=0.02)
        self.plot.setYRange(0, 1, padding=0.02)
        self.sheet.show_columns(self.table())

    def table(self) -> dict[str, np.ndarray]:
        """One row per class."""
        result: CoverageResult | None = self.result
        if result is None:
            return {}
        columns: dict[str, np.ndarray] = {"class": np.asarray(result.classes), "predicted": result.counts}
        return columns | {words: getattr(result, name) for name, words in CRITERIA.items()} | {"different top sets": result.patterns}

    def pictures(self) -> dict[str, QWidget]:
        """The bars."""
        return {"coverage": self.plot}
