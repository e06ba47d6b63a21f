"""The SRVR panel: in how much of the semantic space does each network keep the class?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from robgui.core.execution.analysis import Pace
from robgui.gui.app.theme import theme
from robgui.gui.panels.semantic.methods import NAMES, colour_of, symbol_of
from robgui.gui.panels.semantic.panel import ScenePanel
from robgui.gui.panels.semantic.stage import Stage
from robgui.gui.widgets.plots import Key, Legend, Plot, beside
from robgui.gui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from robgui.analyses.semantic import SrvrResult
    from robgui.gui.state.store import Store

#: The tables need not follow every Step.
TABLE_SECONDS = 0.3


class SrvrPanel(ScenePanel):
    """Semantic robustness volume ratio (Table 1 of the paper)."""

    analysis = "srvr"
    title = "SRVR"
    icon_name = "semantic"
    most_axes = 6
    invitation = (
        "Which network is the most robust? Open several networks of the same classes, choose an input or some meshes below and press Run: "
        "regions grow from the same starts for each of them, and the mean share of the range they fill is compared."
    )
    explanation = (
        "The semantic robustness volume ratio (SRVR) of a network is the mean share of the whole range of poses, lights or rotations that "
        "its regions fill: the larger, the more robust. The mean is over shapes, starts and methods, the same for every network; the "
        "thin line is its standard error, and the three symbols are the methods alone. The table counts what went wrong: regions that "
        "never grew (often because the network does not see the class at the start), regions that hit the end of the range and would "
        "have grown further, and regions that had not come to rest when the steps were used up. Many of these make the number less sure."
    )

    def __init__(self, store: Store) -> None:
        self._due = Pace(TABLE_SECONDS)
        self._names: tuple[str, ...] = ()
        super().__init__(store)

    def build(self) -> QWidget:
        """Bars above; the tables and the scene below."""
        self.plot = Plot("share of the range (%)", "")
        self._axis = self.plot.getPlotItem().getAxis("left")
        self._axis.setStyle(tickLength=0)
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.getPlotItem().getViewBox().invertY(True)
        self.bars = pg.BarGraphItem(x0=[0], y=[0], height=0.5, width=[0])
        self.errors = pg.ErrorBarItem(x=np.zeros(1), y=np.zeros(1), left=np.zeros(1), right=np.zeros(1), beam=0.15)
        self.dots = {method: pg.ScatterPlotItem(symbol=symbol_of(method), size=11) for method in NAMES}
        for item in (self.bars, self.errors, *self.dots.values()):
            self.plot.addItem(item)
        self.legend = Legend()
        self.sheet, self.shapes = Sheet("Networks, the most robust first"), Sheet("Share of the range for every shape")
        self.chart = beside(self.plot, self.legend)
        views: dict[str, QWidget] = {"Networks": self.sheet, "Shapes": self.shapes, "Scene": self.make_controls()}
        self.stage = Stage("Chart", self.chart, views)
        self.stage.split.setOrientation(Qt.Orientation.Vertical)
        self.restyle()
        return self.stage

    def restyle(self) -> None:
        """Bars quiet, methods in their colours with their symbols."""
        self.plot.restyle()
        self._axis.setTextPen(pg.mkPen(theme.colours.text))
        fill = pg.mkColor(theme.colours.accent)
        fill.setAlpha(120)
        self.bars.setOpts(brush=pg.mkBrush(fill), pen=pg.mkPen(theme.colours.accent))
        self.errors.setData(pen=pg.mkPen(theme.colours.text, width=1.5))
        keys = [Key("SRVR", pg.mkPen(fill, width=9)), Key("standard error", pg.mkPen(theme.colours.text, width=1.5))]
        for method, dots in self.dots.items():
            dots.setBrush(pg.mkBrush(colour_of(method)))
            dots.setPen(pg.mkPen(theme.colours.surface))
            keys.append(Key(NAMES[method], pg.mkPen(colour_of(method), width=0.1), symbol_of(method)))
        self.legend.show_keys(keys)

    def draw(self, result: SrvrResult) -> None:
        """Gives bars and tables their new numbers, the most robust network on top."""
        order = ranked(result)
        self._draw_bars(result, order)
        if bool(np.isfinite(result.volume).all()) or self._due.due():
            self.sheet.show_columns(self._columns(result))
            self.shapes.show_columns(self._by_shape(result, order))

    def _draw_bars(self, result: SrvrResult, order: np.ndarray) -> None:
        names = tuple(result.networks[m] for m in order)
        places = np.arange(len(order)) + 0.5
        shares, errors = 100 * np.nan_to_num(result.srvr[order]), 100 * np.nan_to_num(result.srvr_error[order])
        self.bars.setOpts(x0=np.zeros(len(order)), y=places, height=0.5, width=shares)
        self.errors.setData(x=shares, y=places, left=errors, right=errors)
        for method, dots in self.dots.items():
            known = method in result.methods
            values = 100 * result.by_method[order, result.methods.index(method)] if known else np.zeros(0)
            dots.setData(x=values[np.isfinite(values)], y=places[: len(values)][np.isfinite(values)])
        if names != self._names:
            self._names = names
            self._name_bars()
        most = np.nanmax(np.append(100 * result.by_method, shares + errors))
        self.plot.setRange(xRange=(0, _ceiling(float(most))), yRange=(0, len(order)), padding=0.02)

    def _name_bars(self) -> None:
        """Names beside the bars, cut in the middle where they would take more than a third of the plot."""
        metrics, room = self.fontMetrics(), max(80, self.width() // 4)
        words = [metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, room) for name in self._names]
        self._axis.setTicks([[(place + 0.5, name) for place, name in enumerate(words)]])

    def _columns(self, result: SrvrResult) -> dict[str, Any]:
        order = ranked(result)
        columns: dict[str, Any] = {
            "Network": [result.networks[m] for m in order],
            "SRVR %": 100 * result.srvr[order],
            "± %": 100 * result.srvr_error[order],
        }
        columns |= {
            "Never grew": result.never_grew[order],
            "Hit the range": result.hits[order],
            "Did not converge": result.unconverged[order],
            "Regions": result.regions[order],
            "Class not seen": result.bad_starts[order],
        }
        return columns | {f"{NAMES[method]} %": 100 * result.by_method[order, q] for q, method in enumerate(result.methods)}

    def _by_shape(self, result: SrvrResult, order: np.ndarray) -> dict[str, Any]:
        """The mean share of every shape, a column for each network."""
        classes = [result.labels[c] if c >= 0 else "" for c in result.target]
        volumes = 100 * result.volume.mean((2, 3))
        return {"Shape": list(result.shapes), "Class": classes} | {f"{result.networks[m]} %": volumes[m] for m in order}

    def table(self) -> dict[str, np.ndarray]:
        """One row per network."""
        return {} if self.result is None else {name: np.asarray(values) for name, values in self._columns(self.result).items()}

    def pictures(self) -> dict[str, QWidget]:
        """The bars."""
        return {"SRVR": self.chart}

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the legend leaves its room to the bars."""
        super().resizeEvent(event)
        self._name_bars()
        self.legend.setVisible(event.size().width() > 50 * self.fontMetrics().averageCharWidth())


def ranked(result: SrvrResult) -> np.ndarray:
    """The networks, the most robust first; those without a number yet stand last."""
    return np.argsort(-np.nan_to_num(result.srvr, nan=-1), kind="stable")


def _ceiling(most: float) -> float:
    """Where an axis of per cent ends: at a round number that rarely moves."""
    return next((end for end in (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, 75.0) if most <= end * 0.98), 100.0)
