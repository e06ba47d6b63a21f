"""The table of runs: jobs on their way first, then what was left waiting, then the history."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    Qt,
)
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from robgui.core.execution.execution import Execution
from robgui.core.execution.likeness import inputs_in_words
from robgui.core.execution.run import Run, RunState
from robgui.core.text.words import duration, rough_percent, time_left
from robgui.gui.app.theme import icon, theme
from robgui.gui.widgets.elided import beginning
from robgui.gui.widgets.plain import tip

if TYPE_CHECKING:
    from robgui.core.verdict import Verdict
    from robgui.gui.state.store import Store

AnyIndex = QModelIndex | QPersistentModelIndex
Row = Execution | Run
#: The important ones come first: a narrow dock cuts off the others.
COLUMNS = ("State", "Analysis", "Result", "Input", "Model", "Queued", "Time")
STATE, ANALYSIS, RESULT, INPUT, MODEL, QUEUED, TIME = range(len(COLUMNS))
#: Icon of each state; the word stands beside it.
ICONS = {
    RunState.QUEUED: "minus",
    RunState.RUNNING: "run",
    RunState.PAUSED: "pause",
    RunState.DONE: "check",
    RunState.CANCELLED: "stop",
    RunState.FAILED: "error",
}


class RunsModel(QAbstractTableModel):
    """Jobs and runs as rows; a Step changes cells, only a new or ended run changes rows."""

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self.rows: list[Row] = []

    def sync(self) -> None:
        """Takes over the present jobs and history."""
        jobs = list(self._store.runner.executions)
        live = {job.run_id for job in jobs}
        left = self._store.left.runs
        # A run under way is in the workspace already, from the moment it is queued.
        shown = live | {run.id for run in left}
        others = [run for run in self._store.history.runs if run.id not in shown]
        rows: list[Row] = [*jobs, *left, *others]
        # A reset would lose selection and scroll position at every Step.
        if [key(row) for row in rows] == [key(row) for row in self.rows]:
            self.rows = rows
            self.touch(range(len(rows)))
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def touch(self, rows: range) -> None:
        """Says that the cells of these rows may have changed."""
        if rows:
            self.dataChanged.emit(
                self.index(rows.start, 0), self.index(rows.stop - 1, len(COLUMNS) - 1)
            )

    def touch_job(self, job: Execution) -> None:
        """Says that a job has gone on."""
        for row, other in enumerate(self.rows):
            if other is job:
                self.touch(range(row, row + 1))

    def row_of(self, wanted: str | None) -> int:
        """Where the run or job ``wanted`` stands; -1 when it is not here."""
        return next(
            (
                row
                for row, item in enumerate(self.rows)
                if wanted is not None and wanted in (key(item), run_id(item))
            ),
            -1,
        )

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:
        # Qt also asks for the rows within a cell; a table has none.
        if parent.isValid():
            return 0
        return len(self.rows)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:
        if parent.isValid():
            return 0
        return len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self.rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(f"{COLUMNS[column]}: {self._tip(row, column)}")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{COLUMNS[column]}: {self._words(row, column)}"
        if role == Qt.ItemDataRole.DecorationRole and column == STATE:
            return icon(ICONS[row.state], state_colour(row.state))
        if role == Qt.ItemDataRole.TextAlignmentRole and column == TIME:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def _tip(self, row: Row, column: int) -> str:
        """What a cell says in full: of a verdict also what it rests on."""
        if isinstance(row, Run) and column == RESULT and not row.error:
            said = self._store.history.shown(row)
            if said is not None:
                return said.text
        return self._words(row, column)

    def _words(self, row: Row, column: int) -> str:
        request = row.request
        match column:
            case 0:
                if row.state is RunState.CANCELLED:
                    return "stopped"
                return row.state.value
            case 1:
                known = self._store.analyses.get(request.analysis)
                if known is not None:
                    return known.title
                return request.analysis.replace("_", " ")
            case 2:
                if isinstance(row, Execution):
                    return progress_in_words(row)
                return outcome_in_words(row, self._store.history.shown(row))
            case 3:
                return self._store.subjects.key(request) or inputs_in_words(request)
            case 4:
                return ", ".join(model.name for model in request.models)
            case 5:
                return moment_in_words(row.created)
            case _:
                if row.seconds:
                    return duration(row.seconds)
                return ""


class ProgressDelegate(QStyledItemDelegate):
    """Paints a bar under the words while a job is on its way."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Sentences are cut at their end; names, in the other columns, in their middle."""
        super().initStyleOption(option, index)
        room = option.rect.width() - 2 * option.fontMetrics.averageCharWidth()
        option.text = beginning(option.text, option.fontMetrics, room)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        model = index.model()
        assert isinstance(model, RunsModel)
        row = model.rows[index.row()]
        super().paint(painter, option, index)
        if not isinstance(row, Execution) or row.state.ended:
            return
        share = row.share
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        cell: QRect = option.rect
        bar = QRect(cell.left() + 4, cell.bottom() - 5, cell.width() - 8, 4)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(track_colour(chosen))
        painter.drawRoundedRect(bar, 2, 2)
        painter.setBrush(QColor(theme.colours.on_chosen if chosen else theme.colours.accent))
        if share:
            # Any narrower, the two round ends would not fit.
            bar.setWidth(max(4, round(bar.width() * share)))
            painter.drawRoundedRect(bar, 2, 2)
        painter.restore()


def key(row: Row) -> str:
    """Names a row for as long as it is in the table."""
    if isinstance(row, Run):
        return row.id
    # A job has no id of the workspace before it is first written.
    return f"job {id(row)}"


def run_id(row: Row) -> str | None:
    """The run in the workspace, if there is one."""
    if isinstance(row, Run):
        return row.id
    return row.run_id


def state_colour(state: RunState) -> str:
    """The colour of a state's icon; its word carries the meaning."""
    colours = theme.colours
    return {
        RunState.DONE: colours.good,
        RunState.FAILED: colours.bad,
        RunState.RUNNING: colours.accent,
    }.get(state, colours.quiet)


def track_colour(chosen: bool) -> QColor:
    """The empty part of a bar, on a chosen row or elsewhere."""
    colour = QColor(theme.colours.on_chosen if chosen else theme.colours.line)
    colour.setAlphaF(0.3 if chosen else 1.0)
    return colour


def outcome_in_words(run: Run, said: Verdict | None) -> str:
    """The outcome of a stored run.

    One that an earlier session left in the queue says what can be done.
    """
    if run.state is RunState.QUEUED:
        return "waiting since the program was last closed; start or remove it"
    return run.error or ("" if said is None else said.line)


def progress_in_words(job: Execution) -> str:
    """``42 %, 3.1 s left``; words alone while nothing is known."""
    if job.state.ended:
        return job.error or "storing the result …"
    if job.state is RunState.QUEUED:
        return job.error or "waiting for its turn"
    share = job.share
    if share is None:
        if job.newest is not None:
            return f"{job.done:,} done"
        return "starting …"
    words = rough_percent(share)
    left = job.seconds_left
    # A paused run gets no nearer to its end.
    if left is None or job.state is RunState.PAUSED:
        return words
    return f"{words}, {time_left(left)}"


def moment_in_words(seconds: float) -> str:
    """The hour if it was today, else the day too."""
    moment = time.localtime(seconds)
    return time.strftime(
        "%H:%M:%S" if moment[:3] == time.localtime()[:3] else "%d %b %H:%M", moment
    )
