"""Carrier: the thread of the window that hands Executions to an executor and waits for it."""

from __future__ import annotations

import queue
import traceback
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThread, Signal

from robgui.core.errors import sentence
from robgui.core.execution.choice import one_process
from robgui.core.execution.inline import Inline
from robgui.core.execution.run import RunState
from robgui.core.execution.worker.slot import Terms
from robgui.core.execution.worker.workers import Workers

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.request import Request
    from robgui.core.execution.shelf import Shelf
    from robgui.core.execution.task import Task

#: Seconds between two looks, at the queue or at an executor.
_SLICE = 0.1
STARTING = "Starting the process for models …"


class Carrier(QThread):
    """Carries out one Execution after another: models from files in a worker process, what lives
    in memory here.

    Signals:
        working: What the worker process is busy with besides a run, in words; empty when nothing.
        noticed: What a loaded model has to say.
    """

    working = Signal(str)
    noticed = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.memory = 0
        self._orders: queue.SimpleQueue[tuple[Execution, Shelf] | None] = queue.SimpleQueue()
        self._wanted: tuple[Request, frozenset[str]] | None = None
        self._said = ""
        self._leaving = False
        self._workers: Workers | None = None

    @property
    def pids(self) -> list[int]:
        """The process that computes, if there is one."""
        workers = self._workers
        return [workers.pid] if workers is not None and workers.pid else []

    def put(self, execution: Execution, shelf: Shelf) -> None:
        """Carries out ``execution`` after all before it.

        ``shelf`` has what is loaded in this process.
        """
        self._orders.put((execution, shelf))
        self._wake()

    def warm(self, request: Request, trusted: frozenset[str]) -> None:
        """Has the models and data of ``request`` loaded when nothing else is to be done.

        The newest wish counts.
        """
        self._wanted = (request, trusted)
        self._wake()

    def leave(self) -> None:
        """Ends the thread after the Execution that it carries out.

        Those that wait are not begun.
        """
        self._leaving = True
        self._orders.put(None)
        self._wake()

    def run(self) -> None:
        """The thread's life."""
        self._workers = workers = self._start_workers()
        try:
            while (order := self._next(workers)) is not None:
                self._carry_out(*order, workers)
        finally:
            if workers is not None:
                workers.close()

    def _wake(self) -> None:
        workers = self._workers
        if workers is not None:
            workers.wake()

    def _start_workers(self) -> Workers | None:
        if one_process():
            return None
        terms = Terms(
            pace=0.0,
            keep=True,
            polite=True,
            ahead=True,
            memory=self.memory,
            notice=self.noticed.emit,
        )
        workers = Workers(terms=terms)
        workers.start()
        return workers

    def _next(self, workers: Workers | None) -> tuple[Execution, Shelf] | None:
        """Waits for the next order; hears meanwhile what the worker has to say."""
        while not self._leaving:
            if workers is None:
                return self._orders.get()
            if not self._orders.empty():
                return self._orders.get()
            wanted, self._wanted = self._wanted, None
            if wanted is not None:
                workers.warm(*wanted)
            workers.work(_SLICE)
            self._say(workers)
        return None

    def _carry_out(self, execution: Execution, shelf: Shelf, workers: Workers | None) -> None:
        executor = Inline(shelf) if workers is None or not _can_travel(execution.task) else workers
        try:
            executor.submit(execution)
            while not execution.state.ended:
                executor.work(_SLICE)
                if workers is not None:
                    self._say(workers)
        except Exception as error:  # noqa: BLE001 - the thread goes on with the next one
            execution.end(RunState.FAILED, sentence(error), traceback.format_exc(), error)

    def _say(self, workers: Workers) -> None:
        words = "" if workers.ready else STARTING
        if words != self._said:
            self._said = words
            self.working.emit(words)


def _can_travel(task: Task) -> bool:
    """Whether another process can have all that the task names."""
    data = task.request.dataset
    known = data is None or bool(data.path) or "derived" in data.options or task.data is not None
    return known and all(model.path for model in task.request.models)
