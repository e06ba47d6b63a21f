"""The self-test and the doctor from the window: their pages are shown and logged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from robgui.gui.state.running.program import Program

if TYPE_CHECKING:
    from robgui.gui.state.store import Store

#: Its name in the status bar's list of what is busy.
_PART = "selftest"


class SelfTest(QObject):
    """Runs ``robgui selftest`` while the window goes on.

    Attributes:
        text: What it has said so far; its page once it has ended.

    Signals:
        changed: There is more text, or it has begun or ended.

    Args:
        say: Told how it ended: level, sentence, page.
        work_on: Told how far it is: part of the program, words.
        parent: Who owns it.
    """

    changed = Signal()

    def __init__(
        self,
        say: Callable[[str, str, str], None],
        work_on: Callable[[str, str], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._say, self._work_on = say, work_on
        self._program = Program(self)
        self._program.told.connect(self._read)
        self._program.ended.connect(self._end)
        self._program.refused.connect(self._refuse)
        self.text, self._stopped = "", False

    @property
    def running(self) -> bool:
        """Whether one is under way."""
        return self._program.running

    def start(self, device: str = "", only: Sequence[str] = ()) -> None:
        """Begins, unless one is under way already.

        Args:
            device: Where; the best device by default.
            only: These analyses; all by default.
        """
        if self.running:
            self._say("info", "The self-test is running already.", "")
            return
        if device:
            where = ["--device", device]
        else:
            where = []
        which = [word for name in only for word in ("--only", name)]
        self.text, self._stopped = "", False
        self._work_on(_PART, "Self-test: starting …")
        self._program.start(["selftest", *where, *which])
        self.changed.emit()

    def stop(self) -> None:
        """Ends it before its end; what it has said stays."""
        # Not simply True: a stop after the end must not turn its result into "stopped".
        self._stopped = self.running
        self._program.stop()

    def close(self) -> None:
        """Ends it, if one is under way; nothing is said."""
        self._program.close()

    def _read(self, told: str) -> None:
        lines = told.splitlines()
        self.text = "\n".join(filter(None, (self.text, *lines)))
        self._work_on(_PART, f"Self-test: {lines[-1]}")
        self.changed.emit()

    def _end(self, code: int, page: str) -> None:
        self._work_on(_PART, "")
        # A test that crashed leaves no page; what it said on the way stays.
        self.text = page or self.text
        if self._stopped:
            self._say("info", "The self-test was stopped before its end.", self.text)
        elif not page:
            self._say("error", "The self-test did not end well; see the log.", self.text)
        elif code:
            self._say("warning", "The self-test found a difference; the log has its page.", page)
        else:
            self._say("info", "The self-test has passed; the log has its page.", page)
        self.changed.emit()

    def _refuse(self) -> None:
        self._work_on(_PART, "")
        self._say("error", "The self-test cannot be started on this machine.", "")


def check_installation(store: Store) -> None:
    """Writes what is installed and what is broken into the log."""

    def said(text: str) -> None:
        store.say("info", "The installation was checked; the log has the result.", text)

    store.background.run(_doctor, said)


def _doctor() -> str:
    from robgui.doctor import report

    return report()
