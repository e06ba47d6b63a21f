"""Compare: runs of one analysis side by side with linked axes, their difference, and a scoreboard over models."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QLabel, QSplitter, QVBoxLayout, QWidget

from robgui.gui.panels.heat import DIVERGING, Heat
from robgui.gui.panels.plots import Key, Legend, Plot
from robgui.gui.scoreboard import Headlines, Scoreboard
from robgui.gui.theme import set_heading, theme
from robgui.report.comparison import COMPARED, Bars, Comparable, Curves, Matrix, comparable, difference

if TYPE_CHECKING:
    from robgui.core.run import Run
    from robgui.core.workspace import Workspace
    from robgui.gui.store import Store

NOTHING_YET = "Run the same analysis twice, with two models or on two inputs: both pictures and their difference are shown here."


class Compare(QWidget):
    """Two runs beside each other and what differs.

    Signals:
        wants_run: A run to be shown in its panel.
    """

    wants_run = Signal(object)

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._runs: list[Run] = []
        self._shown: tuple[str, ...] = ()
        self.headlines = Headlines(store)
        self.scoreboard = Scoreboard(store, self.headlines)
        self.analysis, self.first, self.second = QComboBox(), QComboBox(), QComboBox()
        for box, name in ((self.analysis, "Analysis"), (self.first, "First run"), (self.second, "Second run")):
            box.setAccessibleName(name)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(14 if box is self.analysis else 24)
        self._verdicts = [QLabel(wordWrap=True) for _ in range(2)]
        self._pictures = QWidget()
        self._grid = QGridLayout(self._pictures)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._empty = QLabel(NOTHING_YET, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self._empty.setProperty("role", "quiet")
        self._arrange()
        self._connect()
        self.refresh()

    def show_pair(self, first: Run, second: Run | None = None) -> None:
        """Compares ``first`` with ``second``, or with the newest other run of the same analysis."""
        self.refresh()
        self.analysis.setCurrentIndex(max(0, self.analysis.findData(first.request.analysis)))
        self._fill_runs()
        self.first.setCurrentIndex(max(0, self.first.findData(first.id)))
        others = [run for run in self._runs if run.id != first.id]
        chosen = second or next((run for run in others if run.request.models != first.request.models), others[0] if others else None)
        if chosen is not None:
            self.second.setCurrentIndex(max(0, self.second.findData(chosen.id)))
        self._look()

    def refresh(self) -> None:
        """The analyses that have at least two runs to compare."""
        store = self._store
        names = {run.request.analysis for run in store.history.runs if run.has_result}
        wanted = [name for name in store.analyses if name in names and name in COMPARED]
        if [self.analysis.itemData(i) for i in range(self.analysis.count())] != wanted:
            chosen = self.analysis.currentData()
            self.analysis.blockSignals(True)
            self.analysis.clear()
            for name in wanted:
                self.analysis.addItem(store.analyses[name].title, name)
            self.analysis.setCurrentIndex(max(0, self.analysis.findData(chosen)) if wanted else -1)
            self.analysis.blockSignals(False)
        self._fill_runs()
        self._look()

    def _arrange(self) -> None:
        choice = QHBoxLayout()
        for words, box, stretch in (("Compare", self.analysis, 1), ("of", self.first, 2), ("with", self.second, 2)):
            label = QLabel(words)
            label.setBuddy(box)
            choice.addWidget(label)
            choice.addWidget(box, stretch)
        below = QWidget()
        lower = QVBoxLayout(below)
        lower.setContentsMargins(0, 8, 0, 0)
        lower.addLayout(choice)
        verdicts = QHBoxLayout()
        for label in self._verdicts:
            verdicts.addWidget(label, 1)
        lower.addLayout(verdicts)
        lower.addWidget(self._pictures, 1)
        lower.addWidget(self._empty, 1)
        split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(self.scoreboard)
        split.addWidget(below)
        split.setStretchFactor(1, 1)
        split.setSizes([self.fontMetrics().height() * 9, 600])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 8)
        layout.addWidget(set_heading(QLabel("Compare"), "title"))
        layout.addWidget(split, 1)

    def _connect(self) -> None:
        store = self._store
        store.history.runs_changed.connect(self.refresh)
        store.ready.connect(self.refresh)
        self.analysis.currentIndexChanged.connect(lambda _: self._fill_runs())
        self.analysis.currentIndexChanged.connect(lambda _: self._look())
        for box in (self.first, self.second):
            box.currentIndexChanged.connect(lambda _: self._look())
        theme.changed.connect(self._restyle)

    def _fill_runs(self) -> None:
        analysis = self.analysis.currentData()
        self._runs = [run for run in self._store.history.runs if run.has_result and run.request.analysis == analysis]
        for box, usual in ((self.first, 1), (self.second, 0)):
            chosen = box.currentData()
            box.blockSignals(True)
            box.clear()
            for run in self._runs:
                box.addItem(self._name(run), run.id)
            place = box.findData(chosen)
            box.setCurrentIndex(place if place >= 0 else min(usual, len(self._runs) - 1))
            box.blockSignals(False)

    def _name(self, run: Run) -> str:
        return f"{self._store.subject(run.request)}, {time.strftime('%H:%M:%S', time.localtime(run.created))}"

    def _look(self) -> None:
        """Reads the two results away from the GUI thread and draws them."""
        runs = [next((run for run in self._runs if run.id == box.currentData()), None) for box in (self.first, self.second)]
        workspace = self._store.history.workspace
        enough = all(runs) and workspace is not None and len(self._runs) > 1
        self._pictures.setVisible(enough)
        self._empty.setVisible(not enough)
        self._empty.setText(
            "Run the same analysis twice, with two models or two inputs: both pictures and their difference are shown here."
        )
        for label, run in zip(self._verdicts, runs, strict=True):
            label.setText(run.verdict if run is not None and enough else "")
        first, second = runs
        if not enough or first is None or second is None or workspace is None:
            return
        wanted = (first.id, second.id)
        if wanted == self._shown:
            return
        self._store.pictures.run(lambda: _read(workspace, first, second), lambda both: self._show(wanted, both), key="compare")

    def _show(self, wanted: tuple[str, ...], both: tuple[Comparable, Comparable]) -> None:
        self._shown = wanted
        self._parts = both
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        change = difference(*both)
        names = [self.first.currentText(), self.second.currentText(), "Second less first"]
        views: list[Plot | None] = []
        for column, part in enumerate((*both, change)):
            title = QLabel(names[column], wordWrap=True)
            self._grid.addWidget(title, 0, column)
            widget, plot = (QLabel(part, wordWrap=True), None) if isinstance(part, str) else _view(part, differs=column == 2)
            self._grid.addWidget(widget, 1, column)
            self._grid.setColumnStretch(column, 1)
            views.append(plot)
        self._grid.setRowStretch(1, 1)
        _link(views)

    def _restyle(self) -> None:
        if self._shown:
            self._show(self._shown, self._parts)


def _read(workspace: Workspace, first: Run, second: Run) -> tuple[Comparable, Comparable]:
    parts = [comparable(run.request.analysis, workspace.result(run.id)) for run in (first, second)]
    assert parts[0] is not None and parts[1] is not None
    return parts[0], parts[1]


def _view(part: Comparable, *, differs: bool) -> tuple[QWidget, Plot]:
    """The picture of one side, or of the difference; and its plot, to be linked with the others."""
    if isinstance(part, Matrix):
        heat = Heat(part.x_name, part.y_name, part.scale, DIVERGING if differs else "viridis")
        heat.show_values(part.values, part.rect, part.levels)
        return heat, heat.plot
    if isinstance(part, Curves):
        return _curves(part, differs)
    return _bars(part, differs)


def _curves(part: Curves, differs: bool) -> tuple[QWidget, Plot]:
    span = (-1.0, 1.0) if differs else (0.0, 1.0)
    values = np.concatenate([line[np.isfinite(line)] for line in part.lines.values()]) if part.lines else np.zeros(0)
    if len(values):
        span = (min(span[0], float(values.min())), max(span[1], float(values.max())))
    plot = Plot(part.x_name, part.y_name, (float(part.x.min()), float(part.x.max())), span)
    legend = Legend()
    pens = [
        pg.mkPen(theme.class_colour(i), width=2, style=style)
        for i, style in zip(range(len(part.lines)), 4 * [Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine], strict=False)
    ]
    for (_, line), pen in zip(part.lines.items(), pens, strict=False):
        plot.addItem(pg.PlotCurveItem(part.x, line, pen=pen, connect="finite"))
    if differs:
        plot.addItem(pg.InfiniteLine(0, angle=0, pen=pg.mkPen(theme.colours.quiet)))
    legend.show_keys([Key(name, pen) for name, pen in zip(part.lines, pens, strict=False)])
    box = QWidget()
    layout = QVBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(plot, 1)
    layout.addWidget(legend)
    legend.setMaximumHeight(legend.fontMetrics().height() * (2 * len(part.lines) + 1))
    return box, plot


def _bars(part: Bars, differs: bool) -> tuple[QWidget, Plot]:
    values = np.nan_to_num(np.array(list(part.values.values()), float))
    low, high = float(min(0.0, values.min(initial=0))), float(max(0.0, values.max(initial=0)))
    plot = Plot("", part.y_name, (-0.6, len(values) - 0.4), (low, high or 1.0))
    colour = theme.class_colour(1 if differs else 0)
    plot.addItem(pg.BarGraphItem(x=np.arange(len(values)), height=values, width=0.6, brush=colour, pen=pg.mkPen(theme.colours.line)))
    plot.getPlotItem().getAxis("bottom").setTicks([list(enumerate(part.values))])
    return plot, plot


def _link(plots: list[Plot | None]) -> None:
    """Both sides move together; the difference shares their horizontal axis, and for a matrix the vertical one too."""
    first = plots[0]
    for plot in plots[1:]:
        if first is not None and plot is not None:
            plot.setXLink(first)
    if first is not None and plots[1] is not None:
        plots[1].setYLink(first)
