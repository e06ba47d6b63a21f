"""Runs: what is computing and what has been computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QSignalBlocker, QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMenu,
    QMessageBox,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from robgui.core.execution.command import command_line
from robgui.core.execution.execution import Execution
from robgui.core.execution.run import Run, RunState
from robgui.gui.app.theme import icon, theme
from robgui.gui.docks.runs_items import (
    ANALYSIS,
    Row,
    RunsModel,
    key,
    run_id,
)
from robgui.gui.docks.runs_table import RunsTable
from robgui.gui.state.running.runner import FRAME_MS
from robgui.gui.state.selection import Selection
from robgui.gui.widgets.plain import Label, question

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.gui.state.store import Store

#: The clock of a run that gives no Steps for a while.
_TICK_MS = 500
#: With Alt these keys move a waiting run.
_MOVES = {int(Qt.Key.Key_Up): -1, int(Qt.Key.Key_Down): 1}
LOADING = "Loading …"
EMPTY = (
    "No runs yet.\n\nChoose an analysis on the left and an input in the gallery, then press Run."
)


class Runs(QWidget):
    """The table of jobs and runs, with what can be done to each."""

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self.setAccessibleName("Runs")
        self.model = RunsModel(store, self)
        self._stepped: list[Execution] = []
        self.table = RunsTable(self.model)
        self.empty = Label(EMPTY, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.empty.setProperty("role", "quiet")
        self._make_buttons()
        self._lay_out()
        self._frame = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._frame.timeout.connect(self._touch)
        self._clock = QTimer(self, interval=_TICK_MS)
        self._clock.timeout.connect(self._tick)
        self._connect()
        self._fonts()
        self.sync()

    # --- making -----------------------------------------------------------------------------------

    def _make_buttons(self) -> None:
        self._deeds: tuple[tuple[str, str, str, Callable[[], None]], ...] = (
            ("show", "Show", "eye", self.show_chosen),
            ("rerun", "Run again", "refresh", self.rerun_chosen),
            ("stop", "Stop", "stop", self.stop_chosen),
            ("copy", "Copy command", "copy", self.copy_chosen),
            ("delete", "Delete …", "trash", self.delete_chosen),
            ("up", "Earlier", "up", lambda: self.move_chosen(-1)),
            ("down", "Later", "down", lambda: self.move_chosen(1)),
        )
        self.buttons = {
            name: QToolButton(text=text, autoRaise=True) for name, text, _, _ in self._deeds
        }
        for name, _, _, deed in self._deeds:
            self.buttons[name].clicked.connect(deed)
            self.buttons[name].setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            self.buttons[name].setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.buttons["copy"].setToolTip("Copy this run as a command line")
        self.buttons["up"].setToolTip("Let this waiting run begin one place earlier (Alt+Up)")
        self.buttons["down"].setToolTip("Let this waiting run begin one place later (Alt+Down)")

    def _lay_out(self) -> None:
        beside = QVBoxLayout()
        beside.setSpacing(0)
        order = QHBoxLayout()
        for name, button in self.buttons.items():
            if name in ("up", "down"):
                order.addWidget(button)
            else:
                beside.addWidget(button)
        beside.addLayout(order)
        beside.addStretch(1)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.table)
        self.stack.addWidget(self.empty)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addWidget(self.stack, 1)
        layout.addLayout(beside)

    def _connect(self) -> None:
        store = self._store
        store.history.runs_changed.connect(self.sync)
        store.ready.connect(self.sync)
        store.job_stepped.connect(self._step)
        store.job_changed.connect(self._job_changed)
        store.runner.reordered.connect(self.sync)
        store.left.changed.connect(self.sync)
        store.selection_changed.connect(self._follow)
        theme.changed.connect(self._fonts)
        self.table.doubleClicked.connect(lambda _: self.show_chosen())
        self.table.installEventFilter(self)
        self.table.customContextMenuRequested.connect(self._open_menu)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._enable())

    def _fonts(self) -> None:
        for name, _, symbol, _ in self._deeds:
            self.buttons[name].setIcon(icon(symbol))
            self.buttons[name].setIconSize(
                QSize(self.fontMetrics().height(), self.fontMetrics().height())
            )
        self.table.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        # The font may change before the constructor has come to the buttons.
        if event.type() == QEvent.Type.FontChange and hasattr(self, "buttons"):
            self._fonts()

    # --- what is shown ----------------------------------------------------------------------------

    def sync(self) -> None:
        """Updates jobs and history; keeps the selected row and scroll position."""
        chosen = self.chosen
        bar = self.table.verticalScrollBar()
        place = bar.value()
        # The reset drops the choice, and restoring it is no choice of the user.
        with QSignalBlocker(self.table.selectionModel()):
            self.model.sync()
            if chosen is None:
                row = -1
            else:
                # A job that has been stored since stands under the id of its run.
                row = max(self.model.row_of(key(chosen)), self.model.row_of(run_id(chosen)))
            self.table.mark(row)
        bar.setValue(place)
        self.stack.setCurrentIndex(0 if self.model.rows else 1)
        self.empty.setText(LOADING if self._store.history.loading else EMPTY)
        self._clock.start() if self._store.runner.busy else self._clock.stop()
        self._enable()

    def _job_changed(self, job: Execution) -> None:
        """Keeps an ended job in its row until the history that holds it has been read."""
        if job.state.ended and self._store.history.workspace is not None:
            self.model.touch_job(job)
            self._enable()
        else:
            self.sync()

    def _step(self, job: Execution) -> None:
        if job not in self._stepped:
            self._stepped.append(job)
        # Several jobs may step within one frame; their rows are painted once.
        if not self._frame.isActive():
            self._frame.start()

    def _touch(self) -> None:
        for job in self._stepped:
            self.model.touch_job(job)
        self._stepped.clear()

    def _tick(self) -> None:
        for job in self._store.runner.at_work:
            self.model.touch_job(job)

    def _follow(self, selection: Selection, origin: object) -> None:
        if origin is self or selection.run is None:
            return
        row = self.model.row_of(selection.run)
        if row >= 0:
            self.table.mark(row)
            self.table.scrollTo(self.model.index(row, 0))

    # --- what can be done -------------------------------------------------------------------------

    @property
    def chosen(self) -> Row | None:
        """The job or run the user has chosen."""
        row = self.table.currentIndex().row()
        if 0 <= row < len(self.model.rows):
            return self.model.rows[row]
        return None

    def allowed(self) -> dict[str, bool]:
        """Which deeds make sense for the chosen row, from its state alone."""
        row = self.chosen
        live = isinstance(row, Execution) and not row.state.ended
        waiting = isinstance(row, Run) and row.state is RunState.QUEUED
        stored = waiting or (isinstance(row, Run) and row.state.ended)
        if waiting:
            queue: Sequence[Row] = self._store.left.runs
        else:
            queue = self._store.runner.waits
        if row is not None and row in queue:
            place = queue.index(row)
        else:
            place = -1
        writable = (
            self._store.history.workspace is not None
            and not self._store.history.workspace.read_only
        )
        return {
            "show": isinstance(row, Run) and row.has_result,
            "rerun": stored,
            "stop": live,
            "copy": row is not None,
            "delete": stored and writable,
            "up": place > 0,
            "down": 0 <= place < len(queue) - 1,
        }

    def show_chosen(self) -> None:
        """Draws the chosen run again."""
        row = self.chosen
        if isinstance(row, Run):
            self._store.select(self._store.selection.replace(run=row.id), origin=self)
            self._store.history.show_run(row)

    def rerun_chosen(self) -> None:
        """Asks for the same once more, or starts a run that was left waiting."""
        row = self.chosen
        if isinstance(row, Run):
            self._store.run_again(row)

    def stop_chosen(self) -> None:
        """Ends a job; its newest Step is kept."""
        row = self.chosen
        if isinstance(row, Execution):
            row.stop()

    def move_chosen(self, by: int) -> None:
        """Lets a waiting run begin ``by`` places later, or earlier."""
        row = self.chosen
        if isinstance(row, Execution):
            self._store.runner.move([row], by)
        elif isinstance(row, Run) and row.state is RunState.QUEUED:
            self._store.left.move(row, by)

    def copy_chosen(self) -> None:
        """Puts the command line that repeats the run on the clipboard."""
        if (row := self.chosen) is not None:
            request: Request = row.request
            self._store.background.run(lambda: command_line(request), self._copied)

    def _copied(self, line: str) -> None:
        QApplication.clipboard().setText(line)
        self._store.say("info", f"Copied: {line}")

    def delete_chosen(self) -> None:
        """Deletes a run and its findings, after asking."""
        row = self.chosen
        if not isinstance(row, Run):
            return
        if row.state is RunState.QUEUED:  # nothing is lost with it
            self._store.history.delete_run(row)
            return
        title = self.model.data(self.model.index(self.model.row_of(row.id), ANALYSIS))
        box = question(
            "Delete run",
            f"Delete this {title} run with its result and findings?",
            "This cannot be undone.",
            self,
        )
        delete = box.addButton("Delete", QMessageBox.ButtonRole.DestructiveRole)
        keep = box.addButton("Keep", QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)
        box.exec()
        if box.clickedButton() is delete:
            self._store.history.delete_run(row)

    def _enable(self) -> None:
        for name, on in self.allowed().items():
            self.buttons[name].setEnabled(on)
            self.buttons[name].setText(self._words(name))

    def _words(self, name: str) -> str:
        """What a deed is called for the chosen row."""
        row = self.chosen
        waits = isinstance(row, Run) and row.state is RunState.QUEUED
        usual = next(text for deed, text, _, _ in self._deeds if deed == name)
        if waits:
            return {"rerun": "Start", "delete": "Remove"}.get(name, usual)
        return usual

    def _open_menu(self, place: QPoint) -> None:
        allowed = self.allowed()
        menu = QMenu(self)
        for name, _, symbol, deed in self._deeds:
            menu.addAction(icon(symbol), self._words(name), deed).setEnabled(allowed[name])
        if len(self._store.left.runs) > 1:
            menu.addAction(icon("run"), "Start all that wait", self._store.left.start_all)
        # Else every menu ever opened would stay a child of this widget.
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.table.viewport().mapToGlobal(place))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            watched is self.table
            and event.type() == QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
        ):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.show_chosen()
                return True
            if event.modifiers() & Qt.KeyboardModifier.AltModifier and event.key() in _MOVES:
                self.move_chosen(_MOVES[event.key()])
                return True
            if event.key() == Qt.Key.Key_Delete and self.allowed()["delete"]:
                self.delete_chosen()
                return True
        return super().eventFilter(watched, event)
