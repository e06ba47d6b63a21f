"""The scoreboard: one row per model, one column per method, each cell the newest headline."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
        self._fingerprints: list[str] = []
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
        models = self._models()
        self._fingerprints, self._analyses = list(models), []
        columns: dict[str, list[str]] = {"Model": list(models.values())}
        for name, known in self._store.analyses.items():
            if known.headline is not None:
                cells = [self._cell(name, fingerprint) for fingerprint in models]
                if any(cells):
                    columns[known.title] = [cell or "not run" for cell in cells]
                    self._analyses.append(name)
        self.show_columns(columns)
        self.resizeColumnsToContents()
        for column in range(len(columns)):
            self.setColumnWidth(column, self.columnWidth(column) + self.fontMetrics().averageCharWidth() * 2)

    def _height_of(self, rows: int) -> int:
        """With header, frame and the bar for scrolling sideways."""
        around = self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth() + self.horizontalScrollBar().sizeHint().height()
        return around + rows * self.verticalHeader().defaultSectionSize()

    def run_at(self, index: QModelIndex) -> Run | None:
        """The run that a cell stands for: the newest of its model with its analysis, or with any below the name."""
        return self._newest(self._analysis(index), self._fingerprint(index))

    def _fingerprint(self, index: QModelIndex) -> str:
        """The model of a row."""
        return self._fingerprints[self._model.order[index.row()]]

    def _analysis(self, index: QModelIndex) -> str:
        """The analysis of a column; empty for the column of names."""
        return self._analyses[index.column() - 1] if 0 < index.column() <= len(self._analyses) else ""

    def _open(self, index: QModelIndex) -> None:
        if (run := self.run_at(index)) is not None:
            self.run_opened.emit(run)

    def _models(self) -> dict[str, str]:
        """Names of the models that are loaded or have runs, by fingerprint, the loaded ones first."""
        loaded = {m.fingerprint: m.name for m in self._store.library.models}
        for run in self._store.history.runs:
            for model in run.request.models:
                loaded.setdefault(model.fingerprint, model.name)
        return loaded

    def _newest(self, analysis: str, fingerprint: str) -> Run | None:
        for run in self._store.history.runs:
            if run.has_result and analysis in ("", run.request.analysis) and each.place(run.request, fingerprint) is not None:
                return run
        return None

    def _cell(self, analysis: str, fingerprint: str) -> str:
        run = self._newest(analysis, fingerprint)
        if run is None:
            return ""
        headline = self._headlines.of(run, each.place(run.request, fingerprint) or 0)
        return f"{headline.text} ({STATUS_WORDS[headline.status].lower()})" if headline is not None else "…"
