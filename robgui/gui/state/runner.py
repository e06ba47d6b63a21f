"""The queue of Executions as the window sees it; a timer looks at their newest Step.

A queued signal per Step would flood the event loop (measured: 780 ms latency); a slot that a 33 ms
timer reads costs 1 ms, and a Step that nobody looked at is simply replaced by the next.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from robgui.core.execution.run import RunState
from robgui.gui.state.carrier import Carrier

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Step
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.request import Request
    from robgui.core.execution.shelf import Shelf


FRAME_MS = 33
SHUTDOWN_MS = 10_000


class Runner(QObject):
    """A queue of Executions, and the thread that carries them out one after another.

    Attributes:
        executions: Those that have not ended, in their order.

    Signals:
        stepped: An Execution has a newer Step; at most once per frame.
        changed: The state of an Execution has changed.
        working: What the worker process is busy with besides a run, in words; empty when nothing.
        noticed: What a loaded model has to say.
    """

    stepped = Signal(object)
    changed = Signal(object)
    working = Signal(str)
    noticed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.executions: list[Execution] = []
        self._told: dict[int, tuple[RunState, Step[Any] | None]] = {}
        self._ended_calls = 0
        self._carrier = Carrier(self)
        self._carrier.working.connect(self.working)
        self._carrier.noticed.connect(self.noticed)
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self._poll)

    @property
    def active(self) -> Execution | None:
        """The one that is at work, or for whose process it waits: it can be stopped."""
        return next((one for one in self.executions if one.begun), None)

    @property
    def busy(self) -> bool:
        """Whether anything is queued, running or paused, or its end has not been told yet."""
        return bool(self.executions)

    @property
    def calls(self) -> int:
        """How many inputs models have answered in all runs so far."""
        return self._ended_calls + sum(one.calls for one in self.executions)

    @property
    def pids(self) -> list[int]:
        """The processes that compute."""
        return self._carrier.pids

    def start(self, memory: int = 0) -> None:
        """Starts the thread and its worker process ahead of their need.

        Args:
            memory: Bytes that the worker process may take; 0 lets the program choose.
        """
        if not self._carrier.isRunning():
            self._carrier.memory = memory or self._carrier.memory
            self._carrier.start()

    def submit(self, execution: Execution, shelf: Shelf) -> None:
        """Puts ``execution`` at the end of the queue; ``shelf`` has what is loaded already."""
        self.start()
        self.executions.append(execution)
        self._carrier.put(execution, shelf)
        self._timer.start()
        self._tell(execution, execution.state, None)

    def warm(self, request: Request, trusted: frozenset[str]) -> None:
        """Has the models and data of ``request`` loaded ahead of a run; code runs as in Task."""
        self._carrier.warm(request, trusted)

    def stop_all(self) -> None:
        """Stops what runs and empties the queue."""
        for execution in self.executions:
            execution.stop()

    def shutdown(self) -> bool:
        """Stops what runs, leaves queued what waits; False if the model would not let go."""
        self._timer.stop()
        self._carrier.leave()
        for execution in self.executions:
            if execution.attempts:
                execution.stop()
            else:
                execution.enlist()
        return not self._carrier.isRunning() or self._carrier.wait(SHUTDOWN_MS)

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
        if not self.executions:
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
            self._ended_calls += execution.calls
            del self._told[id(execution)]
        self.changed.emit(execution)
