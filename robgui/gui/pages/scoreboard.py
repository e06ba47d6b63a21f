"""The scoreboard: one row per model, one column per analysis, each cell the newest verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, Signal

from robgui.core.verdict import Status, Verdict
from robgui.core.view import Ink
from robgui.gui.docks.runs_items import inputs_in_words
from robgui.gui.widgets.inks import status_ink
from robgui.gui.widgets.sheet import Cells, Sheet

if TYPE_CHECKING:
    from robgui.core.execution.run import Run
    from robgui.gui.state.store import Store

#: This many models can be seen without scrolling, however small the window.
LEAST_ROWS = 3
NOT_RUN = "not run"


@dataclass(frozen=True)
class Cell:
    """The newest verdict of a model, and on which inputs: cells of one column may be of
    different ones.
    """

    verdict: Verdict
    inputs: str

    @property
    def words(self) -> str:
        """Sign of the status, the number it comes down to, and on what."""
        number = self.verdict.number
        said = self.verdict.status.words if number is None else number.words
        return f"{self.verdict.status.sign} {said}" + (f" · {self.inputs}" if self.inputs else "")

    @property
    def tip(self) -> str:
        """The status in words and the whole verdict."""
        return f"{self.verdict.status.words}. {self.verdict.text}"

    @property
    def rank(self) -> tuple[int, float]:
        """The worst first; of one status, the better number last."""
        order = list(Status).index(self.verdict.status)
        number = self.verdict.number
        if number is None or number.value != number.value or number.better == "neither":
            return order, 0.0
        return order, number.value if number.better == "high" else -number.value


class Scoreboard(Sheet):
    """What every analysis found for every model.

    A cell leads to its run, a model's name to its newest one.

    Signals:
        run_pointed: ``(run, analysis, fingerprint of the model)`` of the cell that was clicked;
            None for the run where there is none, and no analysis for a name.
        run_opened: The run of the cell that was double-clicked or entered.
    """

    run_pointed = Signal(object, str, str)
    run_opened = Signal(object)

    def __init__(self, store: Store) -> None:
        super().__init__("Scoreboard: one row per model, one column per analysis")
        self._store = store
        self._analyses: list[str] = []
        self._rows: list[_Row] = []
        store.history.runs_changed.connect(self.refresh)
        store.library.models_changed.connect(self.refresh)
        store.ready.connect(self.refresh)
        self.clicked.connect(self._point)
        self.activated.connect(self._open)
        self.refresh()
        self.setMinimumHeight(self._height_of(LEAST_ROWS))

    def refresh(self) -> None:
        """Fills in what is known by now."""
        self._rows, self._analyses = self._models(), []
        columns = [Cells("Model", self.names())]
        for name, known in self._store.analyses.items():
            cells = [self._cell(name, row) for row in self._rows]
            if any(cells):
                columns.append(
                    Cells(known.title, cells, _words, _ink, _tip, lambda cell: cell.rank)
                )
                self._analyses.append(name)
        self.show_cells(columns)

    def names(self) -> list[str]:
        """The models of the rows, from top to bottom."""
        return [row.name for row in self._rows]

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
        """The newest run of a row, and the fingerprint of its model in it."""
        for run in self._store.history.runs:
            if run.has_result and analysis in ("", run.request.analysis):
                for model in run.request.models:
                    if model.fingerprint in row.fingerprints:
                        return run, model.fingerprint
        return None

    def _cell(self, analysis: str, row: _Row) -> Cell | None:
        found = self._newest(analysis, row)
        if found is None or found[0].verdict is None:
            return None
        run, fingerprint = found
        assert run.verdict is not None
        return Cell(
            run.verdict.of(run.request.place_of(fingerprint) or 0), inputs_in_words(run.request)
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


def _words(cell: Any) -> str:
    return NOT_RUN if cell is None else cell.words


def _ink(cell: Any) -> Ink:
    return Ink("unknown") if cell is None else status_ink(cell.verdict.status)


def _tip(cell: Any) -> str:
    return NOT_RUN if cell is None else cell.tip
