"""Tracking: the runs of the workspace to a tracker of experiments, by a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QProcess

from robgui.report.trackers.installed import TRACKERS

_PART = "log"
#: Milliseconds that a process gets to go when the window closes.
_LEAVE = 2000


class Tracking(QObject):
    """Runs ``robgui log`` while the window goes on: a tracker is foreign code, and slow to load.

    Args:
        say: Told how it ended: level, sentence, details.
        work_on: Told that it is under way: part of the program, words.
        parent: Who owns it.
    """

    def __init__(
        self,
        say: Callable[[str, str, str], None],
        work_on: Callable[[str, str], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._say, self._work_on = say, work_on
        self._process = QProcess(self)
        self._process.finished.connect(self._end)
        self._process.errorOccurred.connect(self._fail)

    @property
    def running(self) -> bool:
        """Whether one is under way."""
        return self._process.state() is not QProcess.ProcessState.NotRunning

    def start(self, workspace: Path, tracker: str) -> None:
        """Begins, unless one is under way already."""
        if self.running:
            self._say("info", "Runs are being logged already.", "")
            return
        frozen = bool(getattr(sys, "frozen", False))
        itself = [] if frozen else ["-P", "-m", "robgui"]
        self._work_on(_PART, f"Logging to {TRACKERS[tracker][0]} …")
        # what a tracker keeps on this machine lies beside the workspace
        self._process.setWorkingDirectory(str(workspace.absolute().parent))
        self._process.start(
            sys.executable, [*itself, "log", str(workspace.absolute()), "--to", tracker]
        )

    def close(self) -> None:
        """Ends it, if one is under way; nothing is said."""
        self._process.blockSignals(True)
        if self.running:
            self._process.kill()
            self._process.waitForFinished(_LEAVE)

    def _end(self, code: int) -> None:
        self._work_on(_PART, "")
        said, wrong = (
            bytes(part.data()).decode("utf-8", "replace").strip()
            for part in (
                self._process.readAllStandardOutput(),
                self._process.readAllStandardError(),
            )
        )
        if code or not said:
            sentence = (wrong.splitlines() or ["nothing was said"])[-1].removeprefix("robgui: ")
            self._say("error", f"Not logged: {sentence}", wrong)
        else:
            self._say("info", said.splitlines()[-1], "")

    def _fail(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._work_on(_PART, "")
            self._say("error", "Logging cannot be started on this machine.", "")
