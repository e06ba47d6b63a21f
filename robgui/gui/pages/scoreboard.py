"""The scoreboard: one row per question, one column per model, each cell the newest verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QAbstractItemView

from robgui.core.execution.likeness import differences
from robgui.core.model.accuracy import measured
from robgui.core.workspace.speaking import speakers
from robgui.gui.pages.missing import Missing, missing
from robgui.gui.pages.scoreboard_cells import (
    Known,
    RightAnswers,
    ScoreCell,
    ground_of,
    in_lines,
    ink_of,
    measured_in,
    most_asked,
    rank_of,
    tip_of,
    verdict_words,
    words_of,
)
from robgui.gui.widgets.sheets.filling_sheet import FillingSheet
from robgui.gui.widgets.sheets.sheet import Cells
from robgui.gui.widgets.when_seen import WhenSeen

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run
    from robgui.core.model.card import ModelCard
    from robgui.gui.state.store import Store

#: This many questions can be seen without scrolling, however small the window.
LEAST_ROWS = 3
#: Before the columns of the models: the question, what the numbers are, and on which inputs it was
#: asked.
BEFORE = 3


class Scoreboard(WhenSeen, FillingSheet):
    """What every analysis found for every model.

    A cell leads to its run, the name of an analysis to its newest one.

    Attributes:
        analyses: The analysis of each row, before the user has sorted them; empty for a row of all.

    Signals:
        run_pointed: ``(run, analysis, fingerprint of the model)`` of the cell that was clicked;
            None for the run where there is none.
        run_opened: The run of the cell that was double-clicked or entered.
        run_wanted: ``(analysis, fingerprint of the model)`` of such a cell without a run.
        verdict_changed: The overall verdict, in one sentence.
    """

    widest = 38
    run_pointed = Signal(object, str, str)
    run_opened = Signal(object)
    run_wanted = Signal(str, str)
    verdict_changed = Signal(str)

    def __init__(self, store: Store) -> None:
        super().__init__("Scoreboard: one row per analysis, one column per model")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self._store = store
        self.analyses: list[str] = []
        self._compared: list[_ModelColumn] = []
        self._questions: dict[str, Request | None] = {}
        for signal in (
            store.ready,
            store.history.runs_changed,
            store.history.findings_changed,
            store.library.models_changed,
            store.library.datasets_changed,
        ):
            signal.connect(self._changed)
        self.clicked.connect(self._point)
        self.activated.connect(self._open)
        self.when_seen(self.refresh)
        self.setMinimumHeight(self._height_of(LEAST_ROWS))

    def _changed(self) -> None:
        self.when_seen(self.refresh)

    def refresh(self) -> None:
        """Fills in what is known by now; models without any answer come last."""
        self._compared, self.analyses, self._questions = self._models(), [], {}
        self._compared.sort(key=lambda column: self._last("", column) is None)
        titles: list[str] = []
        measures: list[str] = []
        asked: list[str] = []
        lines: list[list[Known]] = []
        for name, known in self._store.analyses.items():
            cells = self._cells(name)
            if any(cells):
                titles.append(known.title)
                measures.append(measured_in(cells))
                asked.append(self._asked_of(name))
                lines.append(cells)
                self.analyses.append(name)
        if right := self._right_answers():
            titles, measures = ["Right answers", *titles], ["Inputs that are right", *measures]
            asked = [self._data, *asked]
            lines, self.analyses = [right, *lines], ["", *self.analyses]
        each = [[line[place] for line in lines] for place in range(len(self._compared))]
        self.verdict_changed.emit(verdict_words(self.names(), each))
        columns = [Cells("Analysis", titles), Cells("Measured", measures), Cells("On", asked)]
        if lines:
            looks = (words_of, ink_of, tip_of, rank_of, True, ground_of)
            titled = zip(map(in_lines, self.names()), each, strict=True)
            columns += [Cells(title, cells, *looks) for title, cells in titled]
        self.show_cells(columns)

    def _asked_of(self, analysis: str) -> str:
        """On which inputs the models of a row were asked."""
        question = self._question(analysis)
        if question is None:
            return ""
        return self._store.subjects.inputs(question)

    @property
    def _data(self) -> str:
        dataset = self._store.library.dataset
        if dataset is None:
            return ""
        return dataset.name

    def _right_answers(self) -> list[Known]:
        """How often each open model is right on the data in use; nothing where that is unknown."""
        dataset = self._store.library.dataset
        if dataset is None:
            return []
        by_name = {model.fingerprint: model.content for model in self._store.library.models}
        found: list[Known] = []
        for column in self._compared:
            content = next((by_name[one] for one in column.fingerprints if one in by_name), "")
            if content:
                counted = measured(content, dataset.fingerprint)
            else:
                counted = None
            found.append(None if counted is None else RightAnswers(counted))
        if any(found):
            return found
        return []

    def names(self) -> list[str]:
        """The models of the columns, from left to right."""
        return [column.name for column in self._compared]

    def missing(self) -> Missing:
        """The runs that would tell every open model's answer to the question of each row."""
        questions = {
            name: question
            for name in filter(None, self.analyses)
            if (question := self._question(name)) is not None
        }
        return missing(self._store, questions, self._answered)

    def _answered(self, analysis: str, model: ModelCard, question: Request) -> bool:
        """Whether a run tells what an open model says to a question."""
        column = next(
            column for column in self._compared if model.fingerprint in column.fingerprints
        )
        runs = self._runs(analysis, column)
        return any(not differences(question, run.request) for run, _ in runs)

    def _question(self, analysis: str) -> Request | None:
        """What a row asks: what most models have answered, of equals the worst known."""
        if analysis not in self._questions:
            self._questions[analysis] = self._asked_most(analysis)
        return self._questions[analysis]

    def _asked_most(self, analysis: str) -> Request | None:
        told = [self._parted(analysis, column)[0] for column in self._compared]
        return most_asked(
            [[run.request for run, _ in own] for own in told],
            [self._gravity(found) for found in next((own for own in told if own), [])],
        )

    def _gravity(self, found: tuple[Run, str]) -> tuple[bool, int, float]:
        """The order of what runs say of a model, the worst first."""
        run, fingerprint = found
        said = self._store.history.shown(run)
        if said is None:
            return True, 0, 0.0
        return ScoreCell(said.of(run.request.place_of(fingerprint) or 0), "").rank

    def run_at(self, index: QModelIndex) -> Run | None:
        """The run behind a cell: the one that speaks for its model.

        Beside the analysis' name it is that of any model.
        """
        found = self._found(index)
        if found is None:
            return None
        return found[0]

    def _found(self, index: QModelIndex) -> tuple[Run, str] | None:
        """The run of a cell and its model; None for right answers, which no run tells."""
        analysis = self._analysis(index)
        place = index.column() - BEFORE
        if place >= 0:
            columns = self._compared[place : place + 1]
        else:
            columns = self._compared
        found = (self._newest(analysis, column) for column in columns) if analysis else iter(())
        return next((one for one in found if one is not None), None)

    def _height_of(self, rows: int) -> int:
        """With header, frame and the bar for scrolling sideways."""
        header, bar = self.horizontalHeader().sizeHint(), self.horizontalScrollBar().sizeHint()
        around = header.height() + bar.height() + 2 * self.frameWidth()
        return around + rows * self.verticalHeader().defaultSectionSize()

    def _fingerprint(self, index: QModelIndex) -> str:
        """The model of a column, as it ran last; empty beside the name of an analysis."""
        found, place = self._found(index), index.column() - BEFORE
        if found is not None:
            return found[1]
        if place >= 0:
            return next(iter(self._compared[place].fingerprints))
        return ""

    def _analysis(self, index: QModelIndex) -> str:
        """The analysis of a row; empty for right answers."""
        return self.analyses[self._model.order[index.row()]]

    def _point(self, index: QModelIndex) -> None:
        if analysis := self._analysis(index):
            self.run_pointed.emit(self.run_at(index), analysis, self._fingerprint(index))

    def _open(self, index: QModelIndex) -> None:
        if (run := self.run_at(index)) is not None:
            self.run_opened.emit(run)
        elif analysis := self._analysis(index):
            self.run_wanted.emit(analysis, self._fingerprint(index))

    def _models(self) -> list[_ModelColumn]:
        """Models that are loaded or have runs, loaded ones first, each once wherever its file lies.

        For a model that ran with several settings, the column shows its current ones, or the last.
        """
        columns: dict[str, _ModelColumn] = {}
        same: dict[str, _ModelColumn] = {}
        for model in self._store.library.models:
            if model.fingerprint in same:
                continue
            if model.path is not None:
                key = str(model.path.absolute())
            else:
                key = model.fingerprint
            columns[key] = same[model.fingerprint] = _ModelColumn(
                model.name, {model.fingerprint}, model.settings.model_dump(mode="json")
            )
        for run in self._store.history.runs:
            for used in run.request.models:
                new = _ModelColumn(used.name, {used.fingerprint}, dict(used.options))
                column = same.get(used.fingerprint)
                if column is None:
                    column = columns.setdefault(used.path or used.fingerprint, new)
                if _agrees(column.settings, used.options):
                    column.fingerprints.add(used.fingerprint)
        return list(columns.values())

    def _newest(self, analysis: str, column: _ModelColumn) -> tuple[Run, str] | None:
        """The run in a cell: one that answers the row's question, else the worst that speaks."""
        speaking, others = self._parted(analysis, column)
        runs = [*speaking, *others]
        if not analysis or not self._compared:
            return next(iter(runs), None)
        asked = self._question(analysis)
        alike = (
            found
            for found in runs
            if asked is not None and not differences(asked, found[0].request)
        )
        # Not the newest: another page may have started it on an input of its own.
        worst = min(speaking, key=self._gravity, default=None)
        return next(alike, worst)

    def _last(self, analysis: str, column: _ModelColumn) -> tuple[Run, str] | None:
        return next(self._runs(analysis, column), None)

    def _runs(self, analysis: str, column: _ModelColumn) -> Iterator[tuple[Run, str]]:
        """A model's runs, those that speak first, then the newest, with its fingerprint in each."""
        for part in self._parted(analysis, column):
            yield from part

    def _parted(
        self, analysis: str, column: _ModelColumn
    ) -> tuple[list[tuple[Run, str]], list[tuple[Run, str]]]:
        """A model's runs that speak, and the others."""
        own = [
            (run, model.fingerprint)
            for run in self._store.history.runs
            if run.has_result and analysis in ("", run.request.analysis)
            for model in run.request.models
            if model.fingerprint in column.fingerprints
        ]
        ids = {run.id for run in speakers(run for run, _ in own)}
        speaking = [found for found in own if found[0].id in ids]
        return speaking, [found for found in own if found[0].id not in ids]

    def _cells(self, analysis: str) -> list[Known]:
        """The row of an analysis."""
        question = self._question(analysis)
        return [self._cell(self._newest(analysis, column), question) for column in self._compared]

    def _cell(self, found: tuple[Run, str] | None, question: Request | None) -> ScoreCell | None:
        if found is None:
            said = None
        else:
            said = self._store.history.shown(found[0])
        if found is None or said is None or question is None:
            return None
        request, fingerprint = found[0].request, found[1]
        unlike = "; ".join(differences(question, request))
        return ScoreCell(
            said.of(request.place_of(fingerprint) or 0),
            self._store.subjects.inputs(request),
            unlike,
        )


@dataclass(frozen=True)
class _ModelColumn:
    """A model: its name, its fingerprints with these settings, and the settings."""

    name: str
    fingerprints: set[str]
    settings: dict[str, Any]


def _agrees(settings: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether settings agree, but for class names and value range that the data supply."""
    usual = {"labels": [], "low": [0.0], "high": [1.0]}
    names = {*settings, *others}
    return all(
        settings.get(name) == others.get(name)
        # The ellipsis stands for “no usual value”: no setting is equal to it.
        or usual.get(name, ...) in (settings.get(name), others.get(name))
        for name in names
    )
