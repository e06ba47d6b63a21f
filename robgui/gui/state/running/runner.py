"""The queue of Executions as the window sees it; a timer polls their newest Step.

A queued signal per Step would flood the event loop (measured: 780 ms latency); a slot that a 33 ms
timer reads costs 1 ms, and an unread Step is simply replaced by the next.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from robgui.core.execution.run import RunState
from robgui.gui.state.running.carrier import Carrier
from robgui.gui.state.running.waiting import Order

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.loaded_cache import LoadedCache
    from robgui.core.execution.request import Request
    from robgui.core.execution.step import Step
    from robgui.core.execution.worker.graphics import Graphics
    from robgui.core.execution.worker.process import Place
    from robgui.core.execution.worker.workers import Doing


#: 30 pictures a second; the eye asks for no more, and drawing costs the event loop.
FRAME_MS = 33
#: A worker gets two seconds to stop and is killed then; the rest is for a slow disk.
SHUTDOWN_MS = 10_000


class Runner(QObject):
    """A queue of Executions and the thread that carries them out, in turn or some at once.

    Attributes:
        executions: Those that have not ended: what has begun, then what waits, the next one first.
        carrier: The thread.

    Signals:
        reordered: What waits will begin in another order.
        stepped: An Execution has a newer Step; at most once per frame.
        changed: The state of an Execution has changed.
        working: What the worker process is busy with besides a run, in words; empty when nothing.
        noticed: What a loaded model has to say.
    """

    reordered = Signal()
    stepped = Signal(object)
    changed = Signal(object)
    working = Signal(str)
    noticed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.executions: list[Execution] = []
        # By identity; an entry goes with its Execution, so no later one can take over its id.
        self._told: dict[int, tuple[RunState, Step[Any] | None]] = {}
        self._ended_calls = 0
        self.carrier = Carrier(self)
        self.carrier.working.connect(self.working)
        self.carrier.noticed.connect(self.noticed)
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self._poll)

    @property
    def active(self) -> Execution | None:
        """The first at work: it can be stopped."""
        return next(iter(self.at_work), None)

    @property
    def at_work(self) -> list[Execution]:
        """All that run, are paused, or wait for their process or another node."""
        return [one for one in self.executions if one.begun]

    def at_work_on(self, analysis: str) -> Execution | None:
        """The newest at work that is of this ``analysis``, else the first at work."""
        own = [one for one in self.at_work if one.request.analysis == analysis]
        if own:
            return own[-1]
        return self.active

    @property
    def waits(self) -> list[Execution]:
        """Those that have not begun, the next one first."""
        return self.carrier.waiting.executions

    @property
    def has_room(self) -> bool:
        """Whether the next one would begin at once."""
        return len(self.executions) < self.carrier.at_once

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
        """All worker processes, idle ones too."""
        return self.carrier.pids

    @property
    def doings(self) -> list[Doing]:
        """What each worker does now."""
        return self.carrier.doings

    @property
    def graphics(self) -> Graphics:
        """How full graphics cards are, as a worker has said last."""
        return self.carrier.graphics

    def start(self) -> None:
        """Starts the thread and its worker processes ahead of their need."""
        if not self.carrier.isRunning():
            self.carrier.start()

    def arrange(self, places: Sequence[Place], memory: int) -> None:
        """Computes in these places from now on, see Carrier."""
        self.carrier.arrange(places, memory)

    def submit(
        self,
        execution: Execution,
        shelf: LoadedCache,
        *,
        place: int | None = None,
        cluster: str = "",
        device: str = "",
    ) -> None:
        """Queues ``execution``.

        Args:
            execution: What to carry out.
            shelf: Has what is loaded already.
            place: Where in the queue; None puts it at the end.
            cluster: The address of the cluster that computes it; empty for this machine.
            device: The device of this machine that computes it; empty for any.
        """
        self.start()
        self.executions.append(execution)
        self.carrier.put(Order(execution, shelf, cluster, device), place)
        self._order()
        self._timer.start()
        # Its end is reported by a later frame, after its last Step: only then is its caller
        # listening.
        self._tell(execution, RunState.QUEUED, None)
        if place is not None:
            self.reordered.emit()

    def move(self, executions: list[Execution], by: int | None = None) -> None:
        """Moves waiting runs ``by`` places back (forward if negative), or to the front."""
        if self.carrier.waiting.move(executions, by):
            self._order()
            self.reordered.emit()

    def _order(self) -> None:
        """What has begun, then what waits, in the order of the queue."""
        waits = self.waits
        begun = [one for one in self.executions if one not in waits]
        self.executions = [*begun, *(one for one in waits if one in self.executions)]

    def warm(self, request: Request, trusted: frozenset[str]) -> None:
        """Has the models and data of ``request`` loaded ahead of a run; code runs as in Task."""
        self.carrier.warm(request, trusted)

    def stop_all(self) -> None:
        """Stops what runs and empties the queue."""
        for execution in self.executions:
            execution.stop()

    def shutdown(self) -> bool:
        """Stops what runs, leaves queued what waits; False if the model would not let go."""
        self._timer.stop()
        self.carrier.leave()
        for execution in self.executions:
            # What waits stays QUEUED in the workspace: the next session offers to start it.
            if execution.attempts:
                execution.stop()
            else:
                execution.enlist()
        return not self.carrier.isRunning() or self.carrier.wait(SHUTDOWN_MS)

    def _poll(self) -> None:
        """Every frame: signals what is new about each Execution.

        The state is read before the Step, so the last Step is always shown before the end. A panel
        that draws slowly is asked less often, so drawing never takes more than a third of the time.
        """
        began = time.monotonic()
        # A copy: telling of an end takes the Execution off the list.
        for execution in list(self.executions):
            self._tell(execution, execution.state, execution.newest)
        # Milliseconds, three times what this frame took in seconds.
        self._timer.setInterval(max(FRAME_MS, round(3000 * (time.monotonic() - began))))
        if not self.executions:
            self._timer.stop()

    def _tell(self, execution: Execution, state: RunState, step: Step[Any] | None) -> None:
        before = self._told.get(id(execution), (None, None))
        self._told[id(execution)] = (state, step)
        # By identity: a Step holds arrays, and comparing those would cost the frame.
        if step is not before[1]:
            self.stepped.emit(execution)
        if state is before[0]:
            return
        if state.ended:
            self.executions.remove(execution)
            self._ended_calls += execution.calls
            del self._told[id(execution)]
        self.changed.emit(execution)
