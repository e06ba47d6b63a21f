"""Carrier: the window's thread that hands Executions to executors and waits for them."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThread, Signal

from robgui.core.errors import sentence
from robgui.core.execution.choice import one_process
from robgui.core.execution.inline import Inline
from robgui.core.execution.run import RunState
from robgui.core.execution.worker.graphics import Graphics
from robgui.core.execution.worker.process import Place
from robgui.core.execution.worker.terms import Terms
from robgui.core.execution.worker.workers import Doing, Workers, usual_memory
from robgui.gui.state.running.waiting import Order, Waiting

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.request import Request
    from robgui.core.execution.task import Task

#: Seconds between two checks of the queue or an executor.
_SLICE = 0.1
#: Seconds for workers while something is computed in this process.
_SHORT_SLICE = 0.001
#: Shown in the status bar until a worker has answered.
STARTING = "Starting the process for models …"


class Carrier(QThread):
    """Carries out Executions, as many at once as there are places.

    Models from files run in worker processes; what exists only in memory runs here.

    Attributes:
        waiting: What has not begun.
        workers: The processes; None before they are started, and where all is in this one.

    Signals:
        working: What the worker processes are busy with besides runs, in words; empty when nothing.
        noticed: What a loaded model has to say.
    """

    working = Signal(str)
    noticed = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.waiting = Waiting()
        self._places: tuple[Place, ...] = (Place(),)
        self._memory = 0
        self._arranged = False
        # Bound once: terms compare equal only with the same function, and others restart workers.
        self._notice = self.noticed.emit
        self._wanted: tuple[Request, frozenset[str]] | None = None
        self._said = ""
        self._leaving = False
        self.workers: Workers | None = None
        self._going: list[tuple[Order, Inline | Workers]] = []

    @property
    def pids(self) -> list[int]:
        """All worker processes, idle ones too."""
        workers = self.workers
        if workers is None:
            return []
        return workers.processes

    @property
    def doings(self) -> list[Doing]:
        """What each worker does now."""
        workers = self.workers
        if workers is None:
            return []
        return workers.doings

    @property
    def graphics(self) -> Graphics:
        """How full graphics cards are, as a worker has said last."""
        workers = self.workers
        if workers is None:
            return Graphics()
        return workers.graphics

    @property
    def at_once(self) -> int:
        """How many Executions run at once on this machine, beside those sent to a device."""
        here = [one for one in self._places if not (one.cluster or one.asked)]
        if one_process():
            return 1
        return len(here)

    def put(self, order: Order, place: int | None = None) -> None:
        """Carries out an Execution after all before it, or from a ``place`` in the queue."""
        self.waiting.put(order, place)
        self._wake()

    def arrange(self, places: Sequence[Place], memory: int) -> None:
        """Computes in these places from now on; what runs goes on where it is.

        Args:
            places: One worker each.
            memory: Bytes that each may take; 0 shares most of the machine's.
        """
        if (tuple(places), memory) != (self._places, self._memory):
            self._places, self._memory = tuple(places), memory
            self._arranged = True
            self._wake()

    def warm(self, request: Request, trusted: frozenset[str]) -> None:
        """Has the models and data of ``request`` preloaded when there is nothing else to do.

        The newest wish counts.
        """
        self._wanted = (request, trusted)
        self._wake()

    def leave(self) -> None:
        """Ends the thread after its current Executions, which are stopped.

        Waiting ones are not begun.
        """
        self._leaving = True
        self._wake()

    def run(self) -> None:
        """The thread's life."""
        workers = self.workers = None if one_process() else self._start_workers()
        try:
            # What has begun is seen to its end, so its last Step is kept.
            while not self._leaving or self._going:
                if workers is not None:
                    self._attend(workers)
                self._begin(workers)
                self._go_on(workers)
        finally:
            if workers is not None:
                workers.close()

    def _wake(self) -> None:
        self.waiting.wake()
        workers = self.workers
        if workers is not None:
            workers.wake()

    def _start_workers(self) -> Workers:
        self._arranged = False
        workers = Workers(self._places, self._terms())
        workers.start(len(self._places))
        return workers

    def _terms(self) -> Terms:
        memory = self._memory or shared_memory(self.at_once)
        return Terms(
            # pace 0: the window polls, and the outbox keeps the newest result only.
            pace=0.0,
            keep=True,
            polite=True,
            ahead=True,
            memory=memory,
            notice=self._notice,
        )

    def _attend(self, workers: Workers) -> None:
        """Does what was asked for besides runs, and says what the workers do."""
        if self._arranged:
            self._arranged = False
            workers.arrange(self._places, self._terms())
            workers.start(len(self._places))
        # Never beside a run: preloading would compete with it for memory and processor.
        if self._wanted is not None and not self._going:
            wanted, self._wanted = self._wanted, None
            workers.warm(*wanted)
        words = "" if workers.ready else STARTING
        if words != self._said:
            self._said = words
            self.working.emit(words)

    def _begin(self, workers: Workers | None) -> None:
        """Begins what there is room for."""
        while not self._leaving:
            # The first that fits, not the first: a run for a busy device holds up no other.
            order = self.waiting.take(lambda order: self._has_room(order, workers))
            if order is None:
                return
            try:
                self._submit(order, workers)
            except Exception as error:  # noqa: BLE001 - the thread goes on with the next one
                _fail(order.execution, error)
            self._drop_ended()

    def _submit(self, order: Order, workers: Workers | None) -> None:
        if workers is None or not _can_travel(order.execution.task):
            here = Inline(order.shelf)
            self._going.append((order, here))
            here.submit(order.execution)
        else:
            self._going.append((order, workers))
            workers.submit(order.execution, order.cluster, order.device)

    def _has_room(self, order: Order, workers: Workers | None) -> bool:
        travels = workers is not None and _can_travel(order.execution.task)
        if workers is not None and travels and (order.cluster or order.device):
            return workers.room_at(order.cluster, order.device) > 0
        # Runs that were sent to a device or a cluster have workers of their own.
        usual = [one for one, _ in self._going if not (one.cluster or one.device)]
        if len(usual) >= self.at_once:
            return False
        if workers is not None and travels:
            return workers.room > 0
        # Inline ones would share this one thread.
        return not any(isinstance(executor, Inline) for _, executor in self._going)

    def _go_on(self, workers: Workers | None) -> None:
        """Lets every executor work for a moment; waits where there is nothing to do."""
        here = [executor for _, executor in self._going if isinstance(executor, Inline)]
        for executor in here:
            self._work(executor, _SLICE)
        if workers is not None:
            # With work of its own to do, this thread only looks in at the workers.
            self._work(workers, _SHORT_SLICE if here else _SLICE)
        elif not here:
            self.waiting.wait(_SLICE)
        self._drop_ended()

    def _work(self, executor: Inline | Workers, seconds: float) -> None:
        if self._leaving:
            for order, _ in self._going:
                order.execution.stop()
        try:
            executor.work(seconds)
        except Exception as error:  # noqa: BLE001 - the thread goes on with the others
            for order, its in self._going:
                if its is executor:
                    _fail(order.execution, error)

    def _drop_ended(self) -> None:
        self._going = [one for one in self._going if not one[0].execution.state.ended]


def shared_memory(count: int) -> int:
    """Default memory in bytes for each of ``count`` processes; 0 if unknown."""
    return usual_memory() // max(1, count)


def _fail(execution: Execution, error: Exception) -> None:
    execution.end(RunState.FAILED, sentence(error), traceback.format_exc(), error)


def _can_travel(task: Task) -> bool:
    """Whether another process can have all that the task names."""
    data = task.request.dataset
    known = data is None or bool(data.path) or "derived" in data.options or task.data is not None
    return known and all(model.path for model in task.request.models)
