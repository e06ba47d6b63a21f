"""Tracking: the runs of the workspace to a tracker of experiments, by a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from robgui.gui.state.running.program import Program
from robgui.report.trackers.installed import TRACKERS

_PART = "log"


class Tracking(QObject):
    """Runs ``robgui log`` while the window continues: a tracker is foreign code, and slow to load.

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
        self._wrong = ""
        self._program = Program(self)
        self._program.told.connect(self._read)
        self._program.ended.connect(self._end)
        self._program.refused.connect(self._refuse)

    @property
    def running(self) -> bool:
        """Whether one is under way."""
        return self._program.running

    def start(self, workspace: Path, tracker: str) -> None:
        """Begins, unless one is under way already."""
        if self.running:
            self._say("info", "Runs are being logged already.", "")
            return
        self._wrong = ""
        self._work_on(_PART, f"Logging to {TRACKERS[tracker][0]} …")
        whole = workspace.absolute()
        # What a tracker keeps on this machine lies beside the workspace.
        self._program.start(["log", str(whole), "--to", tracker], whole.parent)

    def close(self) -> None:
        """Ends it, if one is under way; nothing is said."""
        self._program.close()

    def _read(self, told: str) -> None:
        self._wrong += told

    def _end(self, code: int, said: str) -> None:
        self._work_on(_PART, "")
        if code or not said:
            # The command's own sentence comes last, behind whatever the tracker has printed.
            lines = self._wrong.strip().splitlines() or ["nothing was said"]
            sentence = lines[-1].removeprefix("robgui: ")
            self._say("error", f"Not logged: {sentence}", self._wrong.strip())
        else:
            self._say("info", said.splitlines()[-1], "")

    def _refuse(self) -> None:
        self._work_on(_PART, "")
        self._say("error", "Logging cannot be started on this machine.", "")
