"""File, New batch …: runs a suite file into the open workspace, with live progress."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QCloseEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from robgui import resources
from robgui.core.execution.run import RunState
from robgui.core.files import write_whole
from robgui.core.text.words import duration, rough_percent, time_left
from robgui.gui.pages.batch_thread import BatchThread
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.save_dialog import ask_file

if TYPE_CHECKING:
    from robgui.batch import BatchEntry, Progress
    from robgui.gui.state.store import Store

LOOK_MS = 200
_STOPPING = "Stopping … What is done is kept."
_INVITATION = (
    "A suite is a file that lists models, data and analyses. Make one of your runs, choose one, or"
    " take the one of the demo, and press Start."
)
_ABOUT_CLUSTER = (
    "Empty: worker processes on this machine. auto: the Ray cluster that runs here, or a new one."
    " local: a new one on this machine. HOST:PORT: the head of a cluster, such as 10.0.0.5:6379."
)


class BatchWindow(QWidget):
    """Which suite, on how many workers or which cluster; and how far every request is."""

    def __init__(self, store: Store, parent: QWidget) -> None:
        # A window of its own that still goes with the main one.
        super().__init__(parent, Qt.WindowType.Window)
        from robgui.gui.widgets.sheets.sheet import Sheet

        self._store = store
        self._thread: BatchThread | None = None
        self._ended = 0
        self._placed = False
        self.setWindowTitle("New batch")
        self.suite = QLineEdit(str(resources.path("demo", "suite.toml")))
        self.suite.setAccessibleName("Suite file")
        self.workers = QSpinBox(minimum=0, maximum=256, specialValueText="one per device")
        self.workers.setAccessibleName("Worker processes")
        self.workers.setMinimumHeight(self.suite.sizeHint().height())
        self.cluster = QLineEdit(
            placeholderText="none; or auto, local, or HOST:PORT of a Ray cluster"
        )
        self.cluster.setAccessibleName("Ray cluster")
        self.cluster.setAccessibleDescription(_ABOUT_CLUSTER)
        self.browse = QPushButton("Choose …")
        self.make = QPushButton(
            "From my runs …", toolTip="Writes a suite that asks again what the runs have asked"
        )
        self.start = QPushButton("Start")
        self.start.setProperty("role", "primary")
        self.stop = QPushButton("Stop", toolTip="Stops all workers; what is done is kept")
        # A progress bar counts in whole numbers: in thousandths it moves smoothly.
        self.progress = QProgressBar(textVisible=False, maximum=1000)
        self.words = Label(_INVITATION, wordWrap=True)
        self.entries = Sheet("Requests of the batch")
        header = self.entries.horizontalHeader()
        header.setStretchLastSection(True)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.result = Label(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.result.setProperty("role", "quiet")
        self.result.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.result.hide()
        self._arrange()
        self.entries.pointed.connect(self._show_result)
        self.cluster.textChanged.connect(self._show_state)
        self.browse.clicked.connect(self._choose)
        self.make.clicked.connect(self._ask_make)
        self.start.clicked.connect(self.begin)
        self.stop.clicked.connect(self.end)
        store.history.findings_changed.connect(self._evidence_changed)
        self._clock = QTimer(self, interval=LOOK_MS)
        self._clock.timeout.connect(self._look)
        self._show_state()

    def begin(self) -> None:
        """Starts the suite; its runs appear in the history as they end."""
        workspace = self._store.history.writable
        if workspace is None:
            self._say("The open workspace cannot be written; open another one first.", "bad")
            return
        self._thread = BatchThread(
            Path(self.suite.text()), workspace, self.workers.value(), self.cluster.text().strip()
        )
        self._ended = 0
        self._thread.start()
        self._clock.start()
        self._show_state()

    def end(self) -> None:
        """Stops; what is done is kept."""
        if self._thread is not None:
            self._thread.stop()
            self._say(_STOPPING)
            self._show_state()

    @property
    def busy(self) -> bool:
        """Whether a batch is running."""
        return self._thread is not None and self._thread.isRunning()

    def shutdown(self) -> None:
        """Stops and waits: a thread must not outlive the window."""
        if self._thread is not None:
            self._thread.stop()
            # Qt aborts the program when a QThread is destroyed while it runs.
            self._thread.wait()

    def showEvent(self, event: QShowEvent) -> None:
        """Opens in the middle of the main window, entirely on screen.

        Later it stays where the user put it.
        """
        super().showEvent(event)
        parent = self.parentWidget()
        if not self._placed and parent is not None:
            self._placed = True
            room = parent.screen().availableGeometry()
            self.resize(self.size().boundedTo(room.size()))
            place = self.rect()
            place.moveCenter(parent.window().frameGeometry().center())
            left, top = room.right() - place.width() + 1, room.bottom() - place.height() + 1
            self.move(
                max(room.left(), min(place.left(), left)), max(room.top(), min(place.top(), top))
            )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes it, unless a batch is running."""
        if event.key() == Qt.Key.Key_Escape and not self.busy:
            self.close()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Closing hides it; a batch goes on until it is stopped."""
        event.accept()

    def _arrange(self) -> None:
        grid = QGridLayout()
        for row, (words, widget) in enumerate(
            (("Suite", self.suite), ("Workers", self.workers), ("Cluster", self.cluster))
        ):
            label = Label(words)
            label.setBuddy(widget)
            grid.addWidget(label, row, 0)
            grid.addWidget(widget, row, 1)
        grid.addWidget(self.browse, 0, 2)
        grid.addWidget(self.make, 0, 3)
        about = Label(_ABOUT_CLUSTER, wordWrap=True)
        about.setProperty("role", "quiet")
        grid.addWidget(about, 3, 1)
        buttons = QHBoxLayout()
        buttons.addWidget(self.words, 1)
        buttons.addWidget(self.stop)
        buttons.addWidget(self.start)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.addLayout(grid)
        layout.addWidget(self.entries, 1)
        layout.addWidget(self.result)
        layout.addWidget(self.progress)
        layout.addLayout(buttons)
        self.resize(self.fontMetrics().averageCharWidth() * 150, self.fontMetrics().height() * 36)

    def _choose(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self, "Choose a suite", self.suite.text(), "Suites (*.toml)"
        )
        if path:
            self.suite.setText(path)

    def _ask_make(self) -> None:
        """Asks where the suite of the runs goes, and takes it."""
        suites = "Suites (*.toml)"
        path = ask_file(self, "Suite of the runs", "suite.toml", suites, ending=".toml")
        if path is not None:
            self.make_suite(path)

    def make_suite(self, path: Path) -> None:
        """Writes a suite that asks again what the finished runs of the workspace have asked."""
        from robgui.batch.suite_of_runs import suite_of_runs

        runs = self._store.history.runs
        text = suite_of_runs(run.request for run in runs if run.has_result)
        if not text:
            self._say("No run can be asked again: run an analysis on files first.", "bad")
            return
        try:
            write_whole(path, text.encode())
        except OSError as error:
            self._say(f"{path} cannot be written ({error.strerror}); choose another place.", "bad")
            return
        self.suite.setText(str(path))
        self._say(f"{path.name} asks again what the runs have asked; look at it, or press Start.")

    def _look(self) -> None:
        """Shows the newest progress, and the outcome at the end."""
        thread = self._thread
        if thread is None:
            return
        over = thread.isFinished()  # Asked first: the picture read after it is then the last one.
        if thread.picture is None:
            self._say(_STOPPING if thread.stopping else thread.note)
        else:
            self._show_picture(thread.picture, stopping=thread.stopping, over=over)
            self._hear(thread.picture, over)
        if over:
            self._clock.stop()
            if thread.error:
                self._say(thread.error, "bad")
                self._store.say("error", thread.error, thread.details)
        self._show_state()

    def _show_picture(self, picture: Progress, *, stopping: bool, over: bool) -> None:
        stopped = over and stopping and picture.count(RunState.DONE) < len(picture.entries)
        if stopped:
            share = picture.count(RunState.DONE) / len(picture.entries)
        else:
            share = picture.share
        self.progress.setValue(round(1000 * share))
        if stopped:
            self._say(_stopped(picture))
        elif stopping and not over:
            self._say(_STOPPING)
        else:
            self._say(_under_way(picture, over))
        self.entries.show_columns(
            {
                "Request": [entry.title for entry in picture.entries],
                "State": [_state(entry, stopped) for entry in picture.entries],
                "Done": [
                    (
                        ""
                        if entry.state.ended and entry.state != "done"
                        else rough_percent(entry.share)
                    )
                    for entry in picture.entries
                ],
                "Result": [self._result(entry, "line") for entry in picture.entries],
            }
        )
        self._show_result(self.entries.current)

    def _hear(self, picture: Progress, over: bool) -> None:
        """Any request that ends may have seen a failure that counts for the others."""
        if over or picture.ended != self._ended:
            self._ended = picture.ended
            self._store.history.refresh()

    def _evidence_changed(self) -> None:
        """What is known now stands in the table too."""
        thread = self._thread
        if thread is not None and thread.picture is not None:
            over = thread.isFinished()
            self._show_picture(thread.picture, stopping=thread.stopping, over=over)

    def _result(self, entry: BatchEntry, part: Literal["line", "text"] = "text") -> str:
        """Why a request failed, or what its result says, in one line or in full.

        What is known of its model and input from other runs counts too.
        """
        if entry.error or entry.verdict is None:
            return entry.error
        known = self._store.history.evidence
        return str(getattr(known.shown(entry.verdict, entry.request, entry.run_id), part))

    def _show_result(self, row: int) -> None:
        """The result of the chosen request in full; its cell may be too narrow for it."""
        if self._thread is not None:
            picture = self._thread.picture
        else:
            picture = None
        if picture is not None and 0 <= row < len(picture.entries):
            entry = picture.entries[row]
        else:
            entry = None
        self.result.setText(
            "" if entry is None else f"{entry.title}: {self._result(entry) or entry.state}"
        )
        self.result.setVisible(entry is not None)

    def _say(self, words: str, role: str = "") -> None:
        self.words.setText(words)
        if self.words.property("role") != role:
            self.words.setProperty("role", role)
            self.words.style().polish(self.words)

    def _show_state(self) -> None:
        busy = self.busy
        self.start.setEnabled(not busy)
        self.stop.setEnabled(busy and self._thread is not None and not self._thread.stopping)
        for widget in (self.suite, self.workers, self.cluster, self.browse):
            widget.setEnabled(not busy)
        self.workers.setEnabled(not busy and not self.cluster.text().strip())


def _under_way(picture: Progress, over: bool) -> str:
    if over or picture.seconds_left is None:
        left = ""
    else:
        left = f", {time_left(picture.seconds_left)}"
    return (
        f"{picture.ended:,} of {len(picture.entries):,} requests,"
        f" {duration(picture.seconds)}{'' if over else ' so far'}{left}"
    )


def _stopped(picture: Progress) -> str:
    """How far it came; a request that was stopped on its way is not done."""
    failed = picture.count(RunState.FAILED)
    words = (
        f"{picture.count(RunState.DONE):,} of {len(picture.entries):,}"
        f" done{f', {failed:,} failed' if failed else ''}"
    )
    return f"Stopped: {words}; Start goes on from here."


def _state(entry: BatchEntry, stopped: bool) -> str:
    if entry.reused:
        return "done before"
    if stopped and not entry.state.ended:
        return "not run"
    if entry.state is RunState.CANCELLED:
        return "stopped"
    return str(entry.state)
