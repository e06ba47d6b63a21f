"""The Thresholds panel: what changes with the threshold above which a neuron counts as active."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from robgui.gui.app.theme import theme
from robgui.gui.panels.panel import Panel
from robgui.gui.widgets.plots import Key, Legend, Plot, beside, column
from robgui.gui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from robgui.analyses.deepinspect import ThresholdsResult

#: Field of Sensitivity -> name in the legend, symbol, line.
CURVES = {
    "agreement": ("same pairs as at the reference", "o", Qt.PenStyle.SolidLine),
    "precision": ("precision", "s", Qt.PenStyle.DashLine),
    "recall": ("recall", "t1", Qt.PenStyle.DotLine),
    "aucec": ("area under the cost curve", "d", Qt.PenStyle.DashDotLine),
}


class ThresholdsPanel(Panel):
    """Agreement, precision, recall and ranking against the activation threshold (Tables 5 to 8 of the paper)."""

    analysis = "deepinspect_thresholds"
    title = "Activation thresholds"
    icon_name = "deepinspect"
    invitation = (
        "Does the list of confused classes depend on the activation threshold? Press Run: several thresholds are tried in one pass "
        "over the inputs that the gallery shows."
    )
    explanation = (
        "A neuron counts as active when its scaled output is above the threshold. Circles show how many of the reported pairs are the "
        "same as at the reference threshold (nearest to one half); a flat line means that the choice does not matter. With labels, "
        "squares and triangles show how many reported pairs are true and how many true ones are found, diamonds how good the whole "
        "ranking is; one half is chance. The table has the same for bias."
    )

    def build(self) -> QWidget:
        """The curves over the table."""
        self.plot = Plot("activation threshold", "share (0 to 1)")
        self._legend = Legend()
        self._lines = {name: pg.PlotDataItem(symbolSize=8) for name in CURVES}
        for line in self._lines.values():
            self.plot.addItem(line)
        self.sheet = Sheet("One row per threshold")
        self.sheet.setMaximumHeight(self.fontMetrics().height() * 12)
        self.restyle()
        return column(beside(self.plot, self._legend), self.sheet)

    def restyle(self) -> None:
        """One colour, line and symbol per curve."""
        keys = []
        for place, (name, (words, symbol, style)) in enumerate(CURVES.items()):
            pen = pg.mkPen(theme.class_colour(place), width=2, style=style)
            line = self._lines[name]
            line.setPen(pen)
            line.setSymbol(symbol)
            line.setSymbolBrush(pg.mkBrush(theme.class_colour(place)))
            line.setSymbolPen(pg.mkPen(theme.class_colour(place)))
            keys.append(Key(words, pen, symbol))
        self._legend.show_keys(keys)

    def draw(self, result: ThresholdsResult) -> None:
        """Gives every curve its new numbers."""
        for name, line in self._lines.items():
            values = np.asarray(getattr(result.confusion, name), float)
            known = np.isfinite(values)
            line.setData(result.thresholds[known], values[known])
        self.plot.setXRange(float(result.thresholds.min()), float(result.thresholds.max()), padding=0.08)
        self.sheet.show_columns(self.table())

    def table(self) -> dict[str, np.ndarray]:
        """One row per threshold."""
        result: ThresholdsResult | None = self.result
        if result is None:
            return {}
        columns = {"threshold": result.thresholds, "active neurons": result.active}
        for kind, sensitivity in (("confusion", result.confusion), ("bias", result.bias)):
            columns[f"{kind}: reported"] = sensitivity.reported
            columns[f"{kind}: same pairs"] = sensitivity.agreement
            if result.labelled:
                columns |= {f"{kind}: {name}": getattr(sensitivity, name) for name in ("precision", "recall", "aucec", "spearman")}
        return columns

    def pictures(self) -> dict[str, QWidget]:
        """The curves."""
        return {"thresholds": self.plot}
