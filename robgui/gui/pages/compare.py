"""Compare: two runs side by side with their difference, and a scoreboard over models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from robgui.core.execution.likeness import differences, incomparable
from robgui.core.text.compared import compared
from robgui.core.view import View
from robgui.gui.app.theme import set_heading
from robgui.gui.pages.board import Board
from robgui.gui.pages.compare_columns import Columns, matching
from robgui.gui.pages.compare_runs import (
    NOTHING_ALIKE,
    NOTHING_RUN,
    NOTHING_YET,
    Pair,
    box_row,
    fill_box,
    models_of,
    moment_of,
    most_useful,
    other_run,
    partner,
    run_boxes,
    views_of,
)
from robgui.gui.panels.verdict_line import VerdictLine
from robgui.gui.widgets.plain import Label, tip, unbroken
from robgui.gui.widgets.tab_rows import MOST_ROWS, TabRows
from robgui.gui.widgets.when_seen import WhenSeen

if TYPE_CHECKING:
    from robgui.core.execution.run import Run
    from robgui.core.workspace import Workspace
    from robgui.gui.state.store import Store

#: Lower than this many lines of text, scoreboard and pictures take turns; still lower, the pictures
#: take the room of what each run says by itself, which stands in the tips of their names.
_LOW, _LOWEST = 62, 52


class Compare(WhenSeen, QWidget):
    """A scoreboard over models; two runs beside each other and what differs.

    Signals:
        wants: The analysis whose panel to show: it has not been run with the model in use.

    Attributes:
        shown: The ids of the two runs whose pictures are on show; empty before there are any.
        columns: The pictures.
        empty: Says what to do while there is nothing to compare.
    """

    wants = Signal(str)

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._runs: list[Run] = []
        self.shown: tuple[str, ...] = ()
        self._pairs: list[tuple[View, View]] = []
        self._alike, self._refusal, self._asked = False, "", False
        self.board = Board(store)
        self.scoreboard = self.board.scoreboard
        self.analysis, self.first, self.second = run_boxes()
        self.answer = set_heading(Label(wordWrap=True), "verdict")
        self.answer.setAccessibleName("Which one does better")
        self.verdicts = [VerdictLine(brief=True) for _ in range(2)]
        self.tabs = TabRows()
        self.switch = TabRows()
        self.switch.setAccessibleName("What is compared")
        for words in ("Two runs", "All models"):
            self.switch.addTab(words)
        self._low, self.columns = False, Columns()
        self.empty = Label(NOTHING_YET, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.empty.setProperty("role", "quiet")
        self._arrange()
        self._connect()
        self.when_seen(self.refresh)

    def show_pair(self, first: Run, second: Run | None = None) -> None:
        """Compares ``first`` with ``second``, or with the newest other run of the same analysis."""
        self._asked = True
        self.refresh()
        chosen = second or partner(first, self._store.history.runs, self.first.currentData())
        if self._choose(first, chosen):
            self.switch.setCurrentIndex(0)
        self._look()

    def _choose(self, first: Run, second: Run | None) -> bool:
        """Puts two runs into the boxes; False if the first is not among what can be compared."""
        if (place := self.analysis.findData(first.request.analysis)) < 0:
            return False
        self.analysis.setCurrentIndex(place)
        self._fill_runs()
        if (place := self.first.findData(first.id)) < 0:
            return False
        self.first.setCurrentIndex(place)
        if second is not None:
            self.second.setCurrentIndex(max(0, self.second.findData(second.id)))
        return True

    def take(self, run: Run | None, analysis: str, fingerprint: str) -> None:
        """Compares the run of a cell of the scoreboard.

        A model's name stands for its run of the analysis on show.
        """
        if run is None:
            known = self._store.analyses.get(analysis)
            title = known.title if known is not None else "Nothing"
            self._store.say("info", f"{title} has not been run with this model yet.")
            return
        if not analysis:
            own = (one for one in self._runs if one.request.place_of(fingerprint) is not None)
            run = next(own, run)
        beside = partner(run, self._store.history.runs, self.first.currentData())
        self.show_pair(beside or run, run)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A low page has no room for the scoreboard above the pictures: they take turns."""
        super().resizeEvent(event)
        line = self.fontMetrics().height()
        self._low = self.height() < _LOW * line
        self.tabs.set_most_rows(1 if self.height() < _LOWEST * line else MOST_ROWS)
        self._take_turns()
        self._show_verdicts()

    def _take_turns(self) -> None:
        pair, models = self._parts
        pair.setVisible(not self._low or self.switch.currentIndex() == 0)
        models.setVisible(not self._low or self.switch.currentIndex() == 1)
        self.switch.setVisible(self._low)

    def _go_and_run(self, analysis: str, fingerprint: str) -> None:
        """Puts a model into use and shows the form: what has not been run is one click away."""
        library = self._store.library
        model = next((one for one in library.models if one.fingerprint == fingerprint), None)
        if model is None:
            self._store.say("warning", "This model is not open; open it to run the analysis.")
            return
        library.use_model(model)
        self.wants.emit(analysis)

    def _changed(self) -> None:
        self.when_seen(self.refresh)

    def refresh(self) -> None:
        """The analyses that have runs to compare."""
        store = self._store
        counts = Counter(run.request.analysis for run in store.history.runs if run.has_result)
        wanted = [name for name in store.analyses if name in counts]
        if [self.analysis.itemData(i) for i in range(self.analysis.count())] != wanted:
            chosen = self.analysis.currentData()
            with QSignalBlocker(self.analysis):
                self.analysis.clear()
                for name in wanted:
                    self.analysis.addItem(store.analyses[name].title, name)
                if chosen not in wanted:
                    chosen = next((name for name in wanted if counts[name] > 1), chosen)
                self.analysis.setCurrentIndex(
                    max(0, self.analysis.findData(chosen)) if wanted else -1
                )
        self._fill_runs()
        if not self._asked and not self.shown:
            self._begin()
        self._look()

    def _begin(self) -> None:
        """Until the user asks for something: the most useful comparison, else the scoreboard."""
        runs = self._store.history.runs
        pair = most_useful(runs)
        if pair is not None:
            self._choose(*pair)
        with QSignalBlocker(self.switch):
            self.switch.setCurrentIndex(1 if pair is None and self.analysis.count() else 0)
        line = self.fontMetrics().height()
        self._split.setSizes([9 * line, 600] if pair is not None else [600, 9 * line])
        self._take_turns()

    def _arrange(self) -> None:
        below, above = QWidget(), self.board
        self._parts = (below, above)
        lower = QVBoxLayout(below)
        lower.setContentsMargins(0, 2, 0, 0)
        lower.setSpacing(4)
        lower.addLayout(box_row(self.analysis, self.first, self.second))
        lower.addWidget(self.answer)
        verdicts = QHBoxLayout()
        verdicts.setSpacing(24)
        for line in self.verdicts:
            verdicts.addWidget(line, 1, Qt.AlignmentFlag.AlignTop)
        lower.addLayout(verdicts)
        lower.addWidget(self.tabs)
        lower.addWidget(self.columns, 1)
        lower.addWidget(self.empty, 1)
        split = self._split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(above)
        split.addWidget(below)
        split.setChildrenCollapsible(False)
        split.setStretchFactor(0, 1)
        split.setStretchFactor(1, 3)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 4, 12, 4)
        head = QHBoxLayout()
        head.addWidget(set_heading(Label("Compare"), "title"))
        head.addWidget(self.switch, 1)
        layout.addLayout(head)
        layout.addWidget(split, 1)

    def _connect(self) -> None:
        store = self._store
        self.scoreboard.run_pointed.connect(self.take)
        self.scoreboard.run_opened.connect(store.history.show_run)
        self.scoreboard.run_wanted.connect(self._go_and_run)
        for signal in (store.ready, store.history.runs_changed):
            signal.connect(self._changed)
        self.analysis.currentIndexChanged.connect(lambda _: self._fill_runs())
        self.analysis.currentIndexChanged.connect(lambda _: self._look())
        self.tabs.currentChanged.connect(lambda _: self._turn())
        self.switch.currentChanged.connect(self._ask)
        for box in (self.first, self.second):
            box.currentIndexChanged.connect(lambda _: self._look())
        for asking in (self.analysis.activated, self.first.activated, self.second.activated):
            asking.connect(self._ask)

    def _ask(self, *_: object) -> None:
        """The user has chosen something: nothing else comes in its place."""
        self._asked = True
        self._take_turns()

    def _fill_runs(self) -> None:
        analysis = self.analysis.currentData()
        runs = self._store.history.runs
        self._runs = [run for run in runs if run.has_result and run.request.analysis == analysis]
        subject = self._store.subjects.words
        words = {run.id: f"{moment_of(run)} {subject(run.request)}" for run in self._runs}
        for box, run_id in zip((self.first, self.second), self._pair(), strict=True):
            fill_box(box, words, run_id)

    def _pair(self) -> tuple[str, str]:
        """The runs to compare: the chosen ones while they exist, else the newest that differ."""
        if not self._runs:
            return "", ""
        known = {run.id: run for run in self._runs}
        # A single one was not chosen.
        boxes = (self.first, self.second)
        first, second = (known.get(box.currentData()) if box.count() > 1 else None for box in boxes)
        if first is None and second is None and (pair := most_useful(self._runs)) is not None:
            first, second = pair
        second = second or (other_run(first, self._runs) if first is not None else self._runs[0])
        other = first or (None if second is None else other_run(second, self._runs))
        return "" if other is None else other.id, "" if second is None else second.id

    def _look(self) -> None:
        """Reads the two results away from the GUI thread and draws them."""
        boxes = (self.first, self.second)
        first, second = (
            next((run for run in self._runs if run.id == box.currentData()), None) for box in boxes
        )
        for box in boxes:
            box.setToolTip(tip(box.currentText()))
        workspace = self._store.history.workspace
        enough = (
            first is not None
            and second is not None
            and workspace is not None
            and len(self._runs) > 1
        )
        for widget in (self.columns, self.tabs):
            widget.setVisible(enough)
        self.empty.setVisible(not enough)
        if self._runs:
            self.empty.setText(NOTHING_ALIKE if len(self._runs) > 1 else NOTHING_YET)
        else:
            self.empty.setText(NOTHING_RUN)
        self._store.pictures.drop("compare")
        self._answer(first if enough else None, second if enough else None)
        if not enough or first is None or second is None or workspace is None:
            return
        if (first.id, second.id) != self.shown:
            self._read(workspace, first, second)

    def _answer(self, first: Run | None, second: Run | None) -> None:
        """Which one does better, and what each says; nothing if they cannot be compared."""
        said = [None if run is None else self._store.history.shown(run) for run in (first, second)]
        words = ""
        if first is not None and second is not None:
            numbers = tuple(None if one is None else one.number for one in said)
            if not incomparable(first.request, second.request):
                words = compared((models_of(first), models_of(second)), (numbers[0], numbers[1]))
        self.answer.setText(unbroken(words))
        self.answer.setVisible(bool(words))
        for line, one, slot in zip(self.verdicts, said, self.columns.slots, strict=False):
            line.show_verdict(one)
            slot.said = "" if one is None else one.text
        self._show_verdicts()

    def _show_verdicts(self) -> None:
        low = self.height() < _LOWEST * self.fontMetrics().height()
        for line in self.verdicts:
            line.setVisible(line.verdict is not None and not low)

    def _read(self, workspace: Workspace, first: Run, second: Run) -> None:
        known, wanted = self._store.analyses[first.request.analysis], (first.id, second.id)
        apart = differences(first.request, second.request)
        change = "; ".join(["Second minus first", *apart])
        names = (f"First: {self._called(first)}", f"Second: {self._called(second)}", change)
        alike = first.request.fingerprint == second.request.fingerprint
        refusal = incomparable(first.request, second.request)

        def show(both: Pair) -> None:
            self.shown, self._alike, self._refusal = wanted, alike, refusal
            self.columns.set_names(names)
            self._show(*both)

        self._store.pictures.run(
            lambda: views_of(workspace, known, first, second), show, key="compare"
        )

    def _called(self, run: Run) -> str:
        """Its models and its status."""
        said = self._store.history.shown(run)
        sign = "" if said is None else f"{said.status.sign} "
        return f"{sign}{models_of(run)}"

    def _show(self, first: Sequence[View], second: Sequence[View]) -> None:
        """A tab for each view that both runs have; the one on show stays on show."""
        self._pairs = matching(first, second)
        titles = [pair[0].title for pair in self._pairs]
        before = self.tabs.tabText(max(0, self.tabs.currentIndex()))
        with QSignalBlocker(self.tabs):
            while self.tabs.count():
                self.tabs.removeTab(0)
            for title in titles:
                self.tabs.addTab(title)
            self.tabs.setCurrentIndex(titles.index(before) if before in titles else 0)
        self.tabs.setVisible(len(titles) > 1)
        self._turn()

    def _turn(self) -> None:
        place = self.tabs.currentIndex()
        pair = self._pairs[place] if 0 <= place < len(self._pairs) else None
        self.columns.show_pair(pair, alike=self._alike, refusal=self._refusal)
