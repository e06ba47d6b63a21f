"""Short pieces of work off the GUI thread, answered on the GUI thread."""

from __future__ import annotations

import itertools
import os
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal, Slot

from robgui.core.errors import RobguiError, sentence


class Background(QObject):
    """Runs functions on pool threads and calls back on the GUI thread.

    Work with the same ``key`` replaces older work: only the newest answer is delivered. Errors go
    to ``failed`` as one sentence, with the traceback for unexpected ones in the second argument.

    Args:
        threads: How many run at once; 1 keeps them in order.
    """

    failed = Signal(str, str)
    _answered = Signal(object)

    def __init__(self, threads: int = 1, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # In Qt's global pool any other work could come between, and order would be lost.
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(threads)
        # Threads stay: starting one for each small piece costs more than the piece.
        self._pool.setExpiryTimeout(-1)
        # A ticket per piece of work: the highest under a key is the newest.
        self._counter = itertools.count()
        self._newest: dict[str, int] = {}
        self._open = 0
        self._closed = False
        self._answered.connect(self._deliver)

    def run(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], None] | None = None,
        *,
        failed: Callable[[str, str], None] | None = None,
        key: str = "",
        priority: int = 0,
    ) -> None:
        """Does ``work`` on a pool thread, then ``done(answer)`` or ``failed(...)`` here."""
        ticket = next(self._counter)
        if key:
            self._newest[key] = ticket
        self._open += 1
        self._pool.start(_Task(self, work, done, failed or self.failed.emit, key, ticket), priority)

    def drop(self, key: str) -> None:
        """Drops work under ``key``: it is not delivered, and not begun if it has not begun yet."""
        # A ticket that no work has: whatever was started under the key is then out of date.
        self._newest[key] = next(self._counter)

    def current(self, key: str, ticket: int) -> bool:
        """Whether this piece of work is still wanted."""
        return not key or self._newest.get(key) == ticket

    @property
    def busy(self) -> bool:
        """Whether any work is waiting, running or undelivered."""
        return self._open > 0

    def wait(self) -> None:
        """Waits until all work is done.

        Called on the thread of another Background, never on the GUI thread.
        """
        self._pool.waitForDone()

    def shutdown(self, *, finish: bool = False) -> bool:
        """Delivers nothing more and waits for what runs; False if something would not end.

        Args:
            finish: Whether waiting work is done first; otherwise it is dropped.
        """
        self._closed = True
        if not finish:
            self._pool.clear()
        # A foreign library may never return; the window then goes without it.
        return self._pool.waitForDone(10_000)

    @Slot(object)
    def _deliver(self, answer: _Answer) -> None:
        self._open -= 1
        task = answer.task
        if self._closed or not self.current(task.key, task.ticket):
            return
        if answer.sentence:
            task.failed(answer.sentence, answer.details)
        elif task.done is not None:
            task.done(answer.value)


class _Answer:
    def __init__(self, task: _Task) -> None:
        self.task = task
        self.value: Any = None
        self.sentence = ""
        self.details = ""


class _Task(QRunnable):
    def __init__(
        self,
        owner: Background,
        work: Callable[[], Any],
        done: Any,
        failed: Any,
        key: str,
        ticket: int,
    ) -> None:
        super().__init__()
        self.owner, self.work, self.done, self.failed, self.key, self.ticket = (
            owner,
            work,
            done,
            failed,
            key,
            ticket,
        )

    def run(self) -> None:
        answer = _Answer(self)
        # Asked again on the pool thread: it may have been replaced while it waited.
        if self.owner.current(self.key, self.ticket):
            try:
                answer.value = self.work()
            except RobguiError as error:
                answer.sentence = str(error)
            except Exception as error:  # Shown to the user with its traceback, never lost.
                answer.sentence = f"{sentence(error)} See the log for details."
                answer.details = traceback.format_exc()
        try:
            # A signal from another thread is queued by Qt and delivered on the GUI thread.
            self.owner._answered.emit(answer)
        except RuntimeError:
            return  # The window was closed meanwhile.


def step_back() -> None:
    """Lowers the priority of this thread and of the helper threads torch starts from it.

    Qt's own thread priorities do nothing on Linux, where a nice value belongs to each thread.
    """
    if sys.platform == "linux":
        # Linux takes the id of a thread here, whatever the constant is called.
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
