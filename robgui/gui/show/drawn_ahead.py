"""DrawnAhead: draws the pictures of the next report while nothing runs."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from robgui.gui.state.store import Store

#: Milliseconds without a run before anything is drawn, and between two looks at the process.
REST, LOOK = 5_000, 1_000


class DrawnAhead(QObject):
    """Draws finished runs in another process, one at a time; a run that begins ends it.

    Args:
        store: Whose runs.
        rest: Milliseconds to wait after the last run.

    Attributes:
        process: What draws; None while nothing does.
    """

    def __init__(self, store: Store, rest: int = REST) -> None:
        super().__init__(store)
        self._store = store
        self._fresh = False
        self.process: subprocess.Popen[bytes] | None = None
        self._resting = QTimer(self, singleShot=True, interval=rest)
        self._resting.timeout.connect(self._begin)
        self._looking = QTimer(self, interval=LOOK)
        self._looking.timeout.connect(self._look)
        store.job_changed.connect(self._job_changed)

    def close(self) -> None:
        """Ends the process; what it has drawn stays."""
        self._resting.stop()
        self._looking.stop()
        if self.process is not None:
            self.process.kill()
            # A killed process stays a zombie until somebody has asked how it ended.
            self.process.wait()
            self.process = None

    def _job_changed(self) -> None:
        """Whatever computes goes first."""
        self._fresh = True
        if self.process is not None:
            self.close()
        self._resting.start()

    def _begin(self) -> None:
        store = self._store
        # No signal tells when files have been read, so it looks again later.
        if store.runner.busy or store.busy:
            self._resting.start()
            return
        workspace = store.history.workspace
        if workspace is None or not self._fresh:
            return
        from robgui.report.ahead import begin

        self._fresh = False
        self.process = begin(workspace.path)
        self._looking.start()

    def _look(self) -> None:
        """A process that has ended is let go."""
        if self.process is None or self.process.poll() is not None:
            self.process = None
            self._looking.stop()
