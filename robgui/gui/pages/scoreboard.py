"""The scoreboard: one row per model, one column per method, each cell the newest headline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QObject, Signal

from robgui.core.headline import STATUS_WORDS, Headline
from robgui.gui.widgets.sheet import Sheet
from robgui.report import each

if TYPE_CHECKING:
    from robgui.core.execution.run import Run
    from robgui.gui.state.store import Store


class Headlines(QObject):
    """Headlines of stored runs, read in the background and remembered.

    Signals:
        arrived: More of them are known.
    """

    arrived = Signal()

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._store = store
        self._known: dict[str, tuple[Headline, ...]] = {}
        self._asked: set[str] = set()

    def of(self, run: Run, place: int = 0) -> Headline | None:
        """The headline of ``run`` for one of its models; None when it has none or is still being read."""
        known, workspace = self._store.analyses.get(run.request.analysis), self._store.history.workspace
        if run.id in self._known or known is None or known.headline is None or workspace is None or not run.has_result:
            return next(iter(self._known.get(run.id, ())[place:]), None)
        if run.id not in self._asked and run.state.ended:
            self._asked.add(run.id)
            headline = known.headline

            def read() -> tuple[Headline, ...]:
                result = workspace.result(run.id)
                return () if result is None else each.headlines(headline, result, len(run.request.models))

            self._store.background.run(read, lambda answer: self._keep(run.id, answer))
        return None

    def _keep(self, run_id: str, headlines: tuple[Headline, ...]) -> None:
        self._known[run_id] = headlines
        self.arrived.emit()


#: So many models can be seen without scrolling, however small the window.
LEAST_ROWS = 3


class Scoreboard(Sheet):
    """What every method found for every model, side by side; a cell leads to its run, a model's name to its newest one.

    Signals:
        run_pointed: ``(run, analysis, fingerprint of the model)`` of the cell that was clicked; None for the run where there is
            none, and no analysis for a name.
        run_opened: The run of the cell that was double-clicked or entered.
    """

    run_pointed = Signal(object, str, str)
    run_opened = Signal(object)

    def __init__(self, store: Store, headlines: Headlines) -> None:
        super().__init__("Scoreboard: one row per model, one column per method")
        self._store = store
        self._headlines = headlines
        self._analyses: list[str] = []
        self._rows: list[_Row] = []
        headlines.arrived.connect(self.refresh)
        store.history.runs_changed.connect(self.refresh)
        store.library.models_changed.connect(self.refresh)
        store.ready.connect(self.refresh)
        self.clicked.connect(lambda index: self.run_pointed.emit(self.run_at(index), self._analysis(index), self._fingerprint(index)))
        self.activated.connect(self._open)
        self.setToolTip("Click a cell to compare its run, double-click to open it")
        self.refresh()
        self.setMinimumHeight(self._height_of(LEAST_ROWS))

    def refresh(self) -> None:
        """Fills in what is known by now."""
        self._rows, self._analyses = self._models(), []
        columns: dict[str, list[str]] = {"Model": self.names()}
        for name, known in self._store.analyses.items():
            if known.headline is not None:
                cells = [self._cell(name, row) for row in self._rows]
                if any(cells):
                    columns[known.title] = [cell or "not run" for cell in cells]
                    self._analyses.append(name)
        self.show_columns(columns)
        self.resizeColumnsToContents()
        for column in range(len(columns)):
            self.setColumnWidth(column, self.columnWidth(column) + self.fontMetrics().averageCharWidth() * 2)

    def names(self) -> list[str]:
        """The models of the rows, from top to bottom."""
        return [row.name for row in self._rows]

    def _height_of(self, rows: int) -> int:
        """With header, frame and the bar for scrolling sideways."""
        around = self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth() + self.horizontalScrollBar().sizeHint().height()
        return around + rows * self.verticalHeader().defaultSectionSize()

    def run_at(self, index: QModelIndex) -> Run | None:
        """The run that a cell stands for: the newest of its model with its analysis, or with any below the name."""
        found = self._newest(self._analysis(index), self._rows[self._model.order[index.row()]])
        return None if found is None else found[0]

    def _fingerprint(self, index: QModelIndex) -> str:
        """The model of a row, as it ran last."""
        row = self._rows[self._model.order[index.row()]]
        found = self._newest(self._analysis(index), row)
        return found[1] if found is not None else next(iter(row.fingerprints))

    def _analysis(self, index: QModelIndex) -> str:
        """The analysis of a column; empty for the column of names."""
        return self._analyses[index.column() - 1] if 0 < index.column() <= len(self._analyses) else ""

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
            rows[key] = _Row(model.name, {model.fingerprint}, model.settings.model_dump(mode="json"))
        for run in self._store.history.runs:
            for used in run.request.models:
                row = rows.setdefault(used.path or used.fingerprint, _Row(used.name, {used.fingerprint}, dict(used.options)))
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

    def _cell(self, analysis: str, row: _Row) -> str:
        found = self._newest(analysis, row)
        if found is None:
            return ""
        run, fingerprint = found
        headline = self._headlines.of(run, each.place(run.request, fingerprint) or 0)
        return f"{headline.text} ({STATUS_WORDS[headline.status].lower()})" if headline is not None else "…"


@dataclass(frozen=True)
class _Row:
    """A model: its name, its fingerprints with these settings, and the settings."""

    name: str
    fingerprints: set[str]
    settings: dict[str, Any]


def _agrees(settings: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether two settings are the same but for what the data tell: class names and value range where the model has none."""
    usual = {"labels": [], "low": [0.0], "high": [1.0]}
    names = {*settings, *others}
    return all(settings.get(name) == others.get(name) or usual.get(name, ...) in (settings.get(name), others.get(name)) for name in names)
