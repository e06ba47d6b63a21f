"""Carries out Executions one after another on a QThread; a timer looks at their newest Step.

A queued signal per Step would flood the event loop (measured: 780 ms latency); a slot that a 33 ms
timer reads costs 1 ms, and a Step that nobody looked at is simply replaced by the next.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QThread, QTimer, Signal

from robgui.core.execution.inline import Inline
from robgui.core.execution.run import RunState
from robgui.gui.state.background import step_back

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Step
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.shelf import Shelf


FRAME_MS = 33
SHUTDOWN_MS = 10_000
#: Seconds that the thread computes between two looks at the queue.
_SLICE = 0.1


class Runner(QObject):
    """A queue of Executions and the one thread that works on it.

    Attributes:
        executions: Those that have not ended, in their order.

    Signals:
        stepped: An Execution has a newer Step; at most once per frame.
        changed: The state of an Execution has changed.
    """

    stepped = Signal(object)
    changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.executions: list[Execution] = []
        self._shelves: dict[int, Shelf] = {}
        self._thread: _Worker | None = None
        self._told: dict[int, tuple[RunState, Step[Any] | None]] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self._poll)

    @property
    def active(self) -> Execution | None:
        """The one that is running or paused."""
        return next(
            (one for one in self.executions if one.state in (RunState.RUNNING, RunState.PAUSED)),
            None,
        )

    @property
    def busy(self) -> bool:
        """Whether anything is queued, running or paused."""
        return any(not one.state.ended for one in self.executions)

    def submit(self, execution: Execution, shelf: Shelf) -> None:
        """Puts ``execution`` at the end of the queue; ``shelf`` has what is loaded already."""
        self.executions.append(execution)
        self._shelves[id(execution)] = shelf
        self._timer.start()
        self._tell(execution, execution.state, None)
        self._start_next()

    def stop_all(self) -> None:
        """Stops what runs and empties the queue."""
        for execution in self.executions:
            execution.stop()

    def shutdown(self) -> bool:
        """Stops what runs, leaves queued what waits; False if the model would not let go."""
        self._timer.stop()
        for execution in self.executions:
            if execution.attempts:
                execution.stop()
            else:
                execution.enlist()
        return self._thread is None or self._thread.wait(SHUTDOWN_MS)

    def _start_next(self) -> None:
        if self._thread is not None:
            return
        execution = next((one for one in self.executions if one.state is RunState.QUEUED), None)
        if execution is None:
            return
        self._thread = _Worker(execution, self._shelves.pop(id(execution)), self)
        self._thread.finished.connect(self._ended)
        self._thread.start()

    def _poll(self) -> None:
        """Every frame: tells what is new of each Execution.

        The state is read before the Step, so that the last Step is always shown before the end is
        told. A panel that draws slowly is asked less often, so that drawing never takes more than a
        third of the time.
        """
        began = time.monotonic()
        for execution in list(self.executions):
            self._tell(execution, execution.state, execution.newest)
        self._timer.setInterval(max(FRAME_MS, round(3000 * (time.monotonic() - began))))
        if not self.busy and self._thread is None:
            self._timer.stop()

    def _tell(self, execution: Execution, state: RunState, step: Step[Any] | None) -> None:
        before = self._told.get(id(execution), (None, None))
        self._told[id(execution)] = (state, step)
        if step is not before[1]:
            self.stepped.emit(execution)
        if state is before[0]:
            return
        if state.ended:
            self.executions.remove(execution)
            del self._told[id(execution)]
            self._shelves.pop(id(execution), None)
        self.changed.emit(execution)

    def _ended(self) -> None:
        if self._thread is not None:
            self._thread.deleteLater()
            self._thread = None
        self._poll()
        self._start_next()


class _Worker(QThread):
    """Carries out one Execution."""

    def __init__(self, execution: Execution, shelf: Shelf, parent: QObject) -> None:
        super().__init__(parent)
        self._execution = execution
        self._shelf = shelf

    def run(self) -> None:
        step_back()
        executor = Inline(self._shelf)
        executor.submit(self._execution)
        while not self._execution.state.ended:
            executor.work(_SLICE)
