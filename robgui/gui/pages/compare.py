"""Compare: runs of one analysis side by side with linked axes, their difference, and a scoreboard over models."""

from __future__ import annotations

import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from robgui.gui.app.theme import Themed, set_heading, theme
from robgui.gui.pages.compare_views import link, view
from robgui.gui.pages.scoreboard import Headlines, Scoreboard
from robgui.gui.panels.panel import split_verdict
from robgui.gui.widgets.elided import ElidedBox
from robgui.gui.widgets.plain import Label, set_tip
from robgui.gui.widgets.plots import Caption
from robgui.report import each
from robgui.report.comparison import COMPARED, Bars, Comparable, Curves, Matrix, aligned, comparable, difference

if TYPE_CHECKING:
    from robgui.core.execution.run import Run
    from robgui.core.workspace import Workspace
    from robgui.gui.state.store import Store
    from robgui.gui.widgets.plots import Plot

NOTHING_YET = "Run the same analysis twice, with two models or on two inputs: both pictures and their difference are shown here."
SAME = "Nothing differs: both runs are of the same model with the same settings. Run a second model to compare."
HINT = "Click a cell to compare its run below, double-click to open it."
#: The open list of runs is at most so wide, in pixels; a longer name is cut in its middle.
_WIDEST_LIST = 640


class Compare(Themed, QWidget):
    """A scoreboard over models; two runs beside each other and what differs.

    Attributes:
        shown: The ids of the two runs whose pictures are on show; empty before there are any.
    """

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._runs: list[Run] = []
        self.shown: tuple[str, ...] = ()
        self.headlines = Headlines(store)
        self.scoreboard = Scoreboard(store, self.headlines)
        self.analysis, self.first, self.second = QComboBox(), ElidedBox(), ElidedBox()
        for box, name in ((self.analysis, "Analysis"), (self.first, "First run"), (self.second, "Second run")):
            box.setAccessibleName(name)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(20 if box is self.analysis else 24)
            box.view().setTextElideMode(Qt.TextElideMode.ElideMiddle)
            box.currentTextChanged.connect(partial(set_tip, box))
        self._verdicts = [Label(wordWrap=True) for _ in range(2)]
        self._pictures = QWidget()
        self._grid = QGridLayout(self._pictures)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._empty = Label(NOTHING_YET, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self._empty.setProperty("role", "quiet")
        self._arrange()
        self._connect()
        self.refresh()

    def show_pair(self, first: Run, second: Run | None = None) -> None:
        """Compares ``first`` with ``second``, or with the newest other run of the same analysis."""
        self.refresh()
        if (place := self.analysis.findData(first.request.analysis)) < 0:
            return
        self.analysis.setCurrentIndex(place)
        self._fill_runs()
        if (place := self.first.findData(first.id)) < 0:
            return
        self.first.setCurrentIndex(place)
        if (chosen := second or self._partner(first)) is not None:
            self.second.setCurrentIndex(max(0, self.second.findData(chosen.id)))
        self._look()

    def take(self, run: Run | None, analysis: str, fingerprint: str) -> None:
        """Compares the run of a cell of the scoreboard: a model's name stands for its run of the analysis under comparison."""
        if run is None:
            known = self._store.analyses.get(analysis)
            self._store.say("info", f"{known.title if known is not None else 'Nothing'} has not been run with this model yet.")
            return
        if not analysis:
            run = next((other for other in self._runs if each.place(other.request, fingerprint) is not None), run)
        self.show_pair(self._partner(run) or run, run)

    def _partner(self, run: Run) -> Run | None:
        """What to lay beside ``run``: the first run on show if it is of the same analysis, else the newest of another model."""
        others = [
            other
            for other in self._store.history.runs
            if other.has_result and other.request.analysis == run.request.analysis and other.id != run.id
        ]
        shown = next((other for other in others if other.id == self.first.currentData()), None)
        return shown or next((other for other in others if other.request.models != run.request.models), others[0] if others else None)

    def refresh(self) -> None:
        """The analyses that have at least two runs to compare."""
        store = self._store
        counts = Counter(run.request.analysis for run in store.history.runs if run.has_result)
        wanted = [name for name in store.analyses if name in counts and name in COMPARED]
        if [self.analysis.itemData(i) for i in range(self.analysis.count())] != wanted:
            chosen = self.analysis.currentData()
            self.analysis.blockSignals(True)
            self.analysis.clear()
            for name in wanted:
                self.analysis.addItem(store.analyses[name].title, name)
            if chosen not in wanted:
                chosen = next((name for name in wanted if counts[name] > 1), chosen)
            self.analysis.setCurrentIndex(max(0, self.analysis.findData(chosen)) if wanted else -1)
            self.analysis.blockSignals(False)
        self._fill_runs()
        self._look()

    def _arrange(self) -> None:
        choice = QHBoxLayout()
        for words, box, stretch in (("Compare", self.analysis, 1), ("of", self.first, 2), ("with", self.second, 2)):
            label = Label(words)
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
        split.addWidget(self._board())
        split.addWidget(below)
        split.setChildrenCollapsible(False)
        split.setStretchFactor(0, 1)
        split.setStretchFactor(1, 3)
        split.setSizes([self.fontMetrics().height() * 9, 600])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 8)
        layout.addWidget(set_heading(Label("Compare"), "title"))
        layout.addWidget(split, 1)

    def _board(self) -> QWidget:
        hint = Label(HINT, wordWrap=True)
        hint.setProperty("role", "quiet")
        box = QWidget()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.scoreboard, 1)
        layout.addWidget(hint)
        return box

    def _connect(self) -> None:
        store = self._store
        self.scoreboard.run_pointed.connect(self.take)
        self.scoreboard.run_opened.connect(store.history.show_run)
        store.history.runs_changed.connect(self.refresh)
        store.ready.connect(self.refresh)
        self.analysis.currentIndexChanged.connect(lambda _: self._fill_runs())
        self.analysis.currentIndexChanged.connect(lambda _: self._look())
        for box in (self.first, self.second):
            box.currentIndexChanged.connect(lambda _: self._look())
        theme.changed.connect(self.look_changed)

    def _fill_runs(self) -> None:
        analysis = self.analysis.currentData()
        self._runs = [run for run in self._store.history.runs if run.has_result and run.request.analysis == analysis]
        for box, run_id in zip((self.first, self.second), self._pair(), strict=True):
            box.blockSignals(True)
            box.clear()
            for run in self._runs:
                box.addItem(self._name(run), run.id)
            box.setCurrentIndex(box.findData(run_id))
            box.blockSignals(False)
            set_tip(box, box.currentText())
            widest = max((box.fontMetrics().horizontalAdvance(box.itemText(i)) for i in range(box.count())), default=0)
            box.view().setMinimumWidth(min(widest + 4 * box.fontMetrics().averageCharWidth(), _WIDEST_LIST))

    def _pair(self) -> tuple[str, str]:
        """The runs to lay side by side: those chosen as long as they are there, else the newest that differ."""
        if not self._runs:
            return "", ""
        known = {run.id: run for run in self._runs}
        # one alone was nobody's choice
        first, second = (known.get(box.currentData()) if box.count() > 1 else None for box in (self.first, self.second))
        second = second or (self._other(first) if first is not None else self._runs[0])
        return (first or self._other(second)).id, second.id

    def _other(self, run: Run) -> Run:
        """The newest run beside ``run`` that asks for something else; if there is none, the newest repetition, or itself."""
        others = [other for other in self._runs if other.id != run.id]
        mark = run.request.fingerprint
        return next((other for other in others if other.request.fingerprint != mark), next(iter(others), run))

    def _name(self, run: Run) -> str:
        """When and what: the end of a long name is cut, so the time comes first."""
        created, today = time.localtime(run.created), time.localtime()
        day = "" if created[:3] == today[:3] else time.strftime("%d %b ", created)
        return f"{day}{time.strftime('%H:%M:%S', created)} {self._store.subject(run.request)}"

    def _look(self) -> None:
        """Reads the two results away from the GUI thread and draws them."""
        runs = [next((run for run in self._runs if run.id == box.currentData()), None) for box in (self.first, self.second)]
        for box in (self.first, self.second):
            set_tip(box, box.currentText())
        workspace = self._store.history.workspace
        enough = all(runs) and workspace is not None and len(self._runs) > 1
        self._pictures.setVisible(enough)
        self._empty.setVisible(not enough)
        for label, run in zip(self._verdicts, runs, strict=True):
            verdict = run.verdict if run is not None and enough else ""
            label.setText(split_verdict(verdict)[0])
            set_tip(label, verdict)
        first, second = runs
        self._store.pictures.drop("compare")
        if not enough or first is None or second is None or workspace is None:
            return
        wanted = (first.id, second.id)
        if wanted == self.shown:
            return
        names = (f"First: {_models(first)}", f"Second: {_models(second)}", "Second less first")
        alike = first.request.fingerprint == second.request.fingerprint
        self._store.pictures.run(lambda: _read(workspace, first, second), lambda it: self._show(wanted, names, it, alike), key="compare")

    def _show(self, wanted: tuple[str, ...], names: tuple[str, ...], both: tuple[Comparable, Comparable], alike: bool) -> None:
        self.shown = wanted
        self._parts = (names, both, alike)
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        views: list[Plot | None] = []
        for column, part in enumerate(_columns(*both, alike)):
            title = Caption()
            title.setAlignment(Qt.AlignmentFlag.AlignLeft)
            title.set_words(names[column])
            self._grid.addWidget(title, 0, column)
            widget, plot = view(part, differs=column == 2)
            self._grid.addWidget(widget, 1, column)
            self._grid.setColumnStretch(column, 1)
            views.append(plot)
        self._grid.setRowStretch(1, 1)
        link(views)

    def take_look(self) -> None:
        """Draws the pictures in the present theme."""
        if self.shown:
            self._show(self.shown, *self._parts)


def _columns(first: Comparable, second: Comparable, alike: bool) -> tuple[Comparable | str, ...]:
    """Both sides and their difference, with the same bars at the same places; words where two runs ``alike`` found the same."""
    left, right = aligned(first, second)
    change = difference(first, second)
    if alike and not isinstance(change, str) and _is_zero(change):
        return left, right, SAME
    return left, right, aligned(left, change)[1] if isinstance(change, Bars) else change


def _is_zero(change: Comparable) -> bool:
    if isinstance(change, Curves):
        arrays = list(change.lines.values())
    else:
        arrays = [change.values if isinstance(change, Matrix) else np.array(list(change.values.values()), float)]
    return not any(np.nan_to_num(array).any() for array in arrays)


def _models(run: Run) -> str:
    return ", ".join(model.name for model in run.request.models)


def _read(workspace: Workspace, first: Run, second: Run) -> tuple[Comparable, Comparable]:
    parts = [comparable(run.request.analysis, workspace.result(run.id)) for run in (first, second)]
    assert parts[0] is not None and parts[1] is not None
    return parts[0], parts[1]
