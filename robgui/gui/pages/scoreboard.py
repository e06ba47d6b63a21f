"""The scoreboard: one row per model, one column per analysis, each cell the newest verdict."""

from __future__ import annotations

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
    """The newest verdict of a model, and on which inputs: cells of one column may be of different ones."""

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
    """What every analysis found for every model; a cell leads to its run, a model's name to its newest one.

    Signals:
        run_pointed: ``(run, analysis, fingerprint of the model)`` of the cell that was clicked; None for the run where
            there is none, and no analysis for a name.
        run_opened: The run of the cell that was double-clicked or entered.
    """

    run_pointed = Signal(object, str, str)
    run_opened = Signal(object)

    def __init__(self, store: Store) -> None:
        super().__init__("Scoreboard: one row per model, one column per analysis")
        self._store = store
        self._analyses: list[str] = []
        self._fingerprints: list[str] = []
        store.history.runs_changed.connect(self.refresh)
        store.library.models_changed.connect(self.refresh)
        store.ready.connect(self.refresh)
        self.clicked.connect(self._point)
        self.activated.connect(self._open)
        self.refresh()
        self.setMinimumHeight(self._height_of(LEAST_ROWS))

    def refresh(self) -> None:
        """Fills in what is known by now."""
        models = self._models()
        self._fingerprints, self._analyses = list(models), []
        columns = [Cells("Model", list(models.values()))]
        for name, known in self._store.analyses.items():
            cells = [self._cell(name, fingerprint) for fingerprint in models]
            if any(cells):
                columns.append(Cells(known.title, cells, _words, _ink, _tip, lambda cell: cell.rank))
                self._analyses.append(name)
        self.show_cells(columns)

    def run_at(self, index: QModelIndex) -> Run | None:
        """The run that a cell stands for: the newest of its model with its analysis, or with any below the name."""
        return self._newest(self._analysis(index), self._fingerprint(index))

    def _height_of(self, rows: int) -> int:
        """With header, frame and the bar for scrolling sideways."""
        header, bar = self.horizontalHeader().sizeHint(), self.horizontalScrollBar().sizeHint()
        around = header.height() + bar.height() + 2 * self.frameWidth()
        return around + rows * self.verticalHeader().defaultSectionSize()

    def _fingerprint(self, index: QModelIndex) -> str:
        """The model of a row."""
        return self._fingerprints[self._model.order[index.row()]]

    def _analysis(self, index: QModelIndex) -> str:
        """The analysis of a column; empty for the column of names."""
        return self._analyses[index.column() - 1] if 0 < index.column() <= len(self._analyses) else ""

    def _point(self, index: QModelIndex) -> None:
        self.run_pointed.emit(self.run_at(index), self._analysis(index), self._fingerprint(index))

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
            mine = analysis in ("", run.request.analysis) and run.request.place_of(fingerprint) is not None
            if run.has_result and mine:
                return run
        return None

    def _cell(self, analysis: str, fingerprint: str) -> Cell | None:
        run = self._newest(analysis, fingerprint)
        if run is None or run.verdict is None:
            return None
        place = run.request.place_of(fingerprint) or 0
        return Cell(run.verdict.of(place), inputs_in_words(run.request))


def _words(cell: Any) -> str:
    return NOT_RUN if cell is None else cell.words


def _ink(cell: Any) -> Ink:
    return Ink("unknown") if cell is None else status_ink(cell.verdict.status)


def _tip(cell: Any) -> str:
    return NOT_RUN if cell is None else cell.tip
