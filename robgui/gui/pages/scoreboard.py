"""The scoreboard: one row per model, one column per analysis, each cell the newest verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, Signal

from robgui.core.execution.likeness import differences, inputs_in_words
from robgui.core.model.accuracy import MeasuredAccuracy, measured
from robgui.core.text.words import percent
from robgui.core.verdict import Status, Verdict
from robgui.core.view import Ink
from robgui.gui.pages.missing import Missing, missing
from robgui.gui.widgets.inks import status_ink
from robgui.gui.widgets.sheet import Cells, Sheet
from robgui.gui.widgets.when_seen import WhenSeen

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run
    from robgui.core.model.card import ModelCard
    from robgui.gui.state.store import Store

#: Letters in a line of a column's title: narrow columns are seen together.
LETTERS = 14
#: This many models can be seen without scrolling, however small the window.
LEAST_ROWS = 3
NOT_RUN = "not run"
#: What stands in the tool tip, so that all columns are seen at once: intervals and explanations.
_BRACKETS = re.compile(r" \([^()]*\)")
#: Marks a cell that answers another question than its column.
UNLIKE = "≠"


@dataclass(frozen=True)
class ScoreCell:
    """What a run says of a model, and on which inputs.

    Attributes:
        verdict: Beside all that is known.
        inputs: On what.
        unlike: In what it differs from the question of its column; empty for like with like.
    """

    verdict: Verdict
    inputs: str
    unlike: str = ""

    @property
    def words(self) -> str:
        """Sign of the status and the number it comes down to; marked, and with its inputs, when it
        answers another question than the column.
        """
        number = self.verdict.number
        said = self.verdict.status.words if number is None else _BRACKETS.sub("", number.words)
        mark = f"{UNLIKE} " if self.unlike else ""
        on = f" · {self.inputs}" if self.inputs and self.unlike else ""
        return f"{mark}{self.verdict.status.sign} {said}{on}"

    @property
    def tip(self) -> str:
        """The status in words and the whole verdict."""
        said = f"{self.verdict.status.words}. {self.verdict.text}"
        return f"Not comparable with the column: {self.unlike}. {said}" if self.unlike else said

    @property
    def rank(self) -> tuple[bool, int, float]:
        """The worst first; of one status, the better number last; other questions after all."""
        order, number = list(Status).index(self.verdict.status), self.verdict.number
        if number is None or number.value != number.value or number.better == "neither":
            return bool(self.unlike), order, 0.0
        value = number.value if number.better == "high" else -number.value
        return bool(self.unlike), order, value


class Scoreboard(WhenSeen, Sheet):
    """What every analysis found for every model.

    A cell leads to its run, a model's name to its newest one.

    Signals:
        run_pointed: ``(run, analysis, fingerprint of the model)`` of the cell that was clicked;
            None for the run where there is none, and no analysis for a name.
        run_opened: The run of the cell that was double-clicked or entered.
        run_wanted: ``(analysis, fingerprint of the model)`` of such a cell without a run.
    """

    run_pointed = Signal(object, str, str)
    run_opened = Signal(object)
    run_wanted = Signal(str, str)

    def __init__(self, store: Store) -> None:
        super().__init__("Scoreboard: one row per model, one column per analysis")
        self._store = store
        self._analyses: list[str] = []
        self._rows: list[_Row] = []
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
        """Fills in what is known by now."""
        self._rows, self._analyses = self._models(), []
        columns = [Cells("Model", self.names())]
        for name, known in self._store.analyses.items():
            cells = self._cells(name)
            if any(cells):
                title = "\n".join([*wrap(known.title, LETTERS), self._asked_of(name)])
                columns.append(
                    Cells(title, cells, _words, _ink, _tip, lambda cell: cell.rank, True)
                )
                self._analyses.append(name)
        self.show_cells([*columns, *self._accuracies()])

    def _asked_of(self, analysis: str) -> str:
        """On which inputs the models of a column were asked."""
        question = self._question(analysis)
        return "" if question is None else inputs_in_words(question)

    def _accuracies(self) -> list[Cells]:
        """How often each open model is right on the data in use; no column where nobody knows."""
        dataset = self._store.library.dataset
        if dataset is None:
            return []
        by_name = {model.fingerprint: model.content for model in self._store.library.models}
        known = []
        for row in self._rows:
            content = next((by_name[one] for one in row.fingerprints if one in by_name), "")
            known.append(measured(content, dataset.fingerprint) if content else None)
        if not any(known):
            return []
        title = f"Right answers\n{dataset.name}"
        return [Cells(title, known, _right, rank=lambda one: one.share, whole=True)]

    def names(self) -> list[str]:
        """The models of the rows, from top to bottom."""
        return [row.name for row in self._rows]

    def missing(self) -> Missing:
        """The runs that would tell every open model's answer to the question of each column."""
        questions = {
            name: question
            for name in self._analyses
            if (question := self._question(name)) is not None
        }
        return missing(self._store, questions, self._answered)

    def _answered(self, analysis: str, model: ModelCard, question: Request) -> bool:
        """Whether a run tells what an open model says to a question."""
        row = next(row for row in self._rows if model.fingerprint in row.fingerprints)
        runs = self._runs(analysis, row)
        return any(not differences(question, run.request) for run, _ in runs)

    def _question(self, analysis: str) -> Request | None:
        """What a column asks: what the newest run of its first model asked."""
        last = (self._last(analysis, row) for row in self._rows)
        return next((found[0].request for found in last if found is not None), None)

    def run_at(self, index: QModelIndex) -> Run | None:
        """The run that a cell stands for: the newest of its model with its analysis, or with any
        below the name.
        """
        found = self._newest(self._analysis(index), self._rows[self._model.order[index.row()]])
        return None if found is None else found[0]

    def _height_of(self, rows: int) -> int:
        """With header, frame and the bar for scrolling sideways."""
        header, bar = self.horizontalHeader().sizeHint(), self.horizontalScrollBar().sizeHint()
        around = header.height() + bar.height() + 2 * self.frameWidth()
        return around + rows * self.verticalHeader().defaultSectionSize()

    def _fingerprint(self, index: QModelIndex) -> str:
        """The model of a row, as it ran last."""
        row = self._rows[self._model.order[index.row()]]
        found = self._newest(self._analysis(index), row)
        return found[1] if found is not None else next(iter(row.fingerprints))

    def _analysis(self, index: QModelIndex) -> str:
        """The analysis of a column; empty for the column of names."""
        return (
            self._analyses[index.column() - 1] if 0 < index.column() <= len(self._analyses) else ""
        )

    def _point(self, index: QModelIndex) -> None:
        self.run_pointed.emit(self.run_at(index), self._analysis(index), self._fingerprint(index))

    def _open(self, index: QModelIndex) -> None:
        if (run := self.run_at(index)) is not None:
            self.run_opened.emit(run)
        elif analysis := self._analysis(index):
            self.run_wanted.emit(analysis, self._fingerprint(index))

    def _models(self) -> list[_Row]:
        """The models that are loaded or have runs, each file once, the loaded ones first.

        Of a model that ran with several settings the row tells of those it has now, or had last.
        """
        rows: dict[str, _Row] = {}
        for model in self._store.library.models:
            key = str(model.path.absolute()) if model.path is not None else model.fingerprint
            rows[key] = _Row(
                model.name, {model.fingerprint}, model.settings.model_dump(mode="json")
            )
        for run in self._store.history.runs:
            for used in run.request.models:
                row = rows.setdefault(
                    used.path or used.fingerprint,
                    _Row(used.name, {used.fingerprint}, dict(used.options)),
                )
                if _agrees(row.settings, used.options):
                    row.fingerprints.add(used.fingerprint)
        return list(rows.values())

    def _newest(self, analysis: str, row: _Row) -> tuple[Run, str] | None:
        """The run that a cell tells of: the newest that answers the question of the column, else
        the newest at all.
        """
        runs = list(self._runs(analysis, row))
        if analysis and self._rows:
            asked = self._question(analysis)
            alike = (
                found
                for found in runs
                if asked is not None and not differences(asked, found[0].request)
            )
            return next(alike, next(iter(runs), None))
        return next(iter(runs), None)

    def _last(self, analysis: str, row: _Row) -> tuple[Run, str] | None:
        return next(self._runs(analysis, row), None)

    def _runs(self, analysis: str, row: _Row) -> Iterator[tuple[Run, str]]:
        """The runs of a row, newest first, each with the fingerprint of its model in it."""
        for run in self._store.history.runs:
            if run.has_result and analysis in ("", run.request.analysis):
                for model in run.request.models:
                    if model.fingerprint in row.fingerprints:
                        yield run, model.fingerprint

    def _cells(self, analysis: str) -> list[ScoreCell | None]:
        """The column of an analysis."""
        question = self._question(analysis)
        return [self._cell(self._newest(analysis, row), question) for row in self._rows]

    def _cell(self, found: tuple[Run, str] | None, question: Request | None) -> ScoreCell | None:
        said = None if found is None else self._store.history.shown(found[0])
        if found is None or said is None or question is None:
            return None
        request, fingerprint = found[0].request, found[1]
        unlike = "; ".join(differences(question, request))
        return ScoreCell(
            said.of(request.place_of(fingerprint) or 0), inputs_in_words(request), unlike
        )


@dataclass(frozen=True)
class _Row:
    """A model: its name, its fingerprints with these settings, and the settings."""

    name: str
    fingerprints: set[str]
    settings: dict[str, Any]


def _agrees(settings: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether two settings are the same but for what the data tell: class names and value range
    where the model has none.
    """
    usual = {"labels": [], "low": [0.0], "high": [1.0]}
    names = {*settings, *others}
    return all(
        settings.get(name) == others.get(name)
        or usual.get(name, ...) in (settings.get(name), others.get(name))
        for name in names
    )


def _right(cell: MeasuredAccuracy | None) -> str:
    return "not counted" if cell is None else f"{percent(cell.share)} of {cell.counted:,}"


def _words(cell: Any) -> str:
    return NOT_RUN if cell is None else cell.words


def _ink(cell: Any) -> Ink:
    """The colour of a status compares; what cannot be compared has none."""
    if cell is None or cell.unlike:
        return Ink("unknown")
    return status_ink(cell.verdict.status)


def _tip(cell: Any) -> str:
    return NOT_RUN if cell is None else cell.tip
