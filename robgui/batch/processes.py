"""Processes: one worker process per device, or several on the CPU."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from robgui.core.errors import ParamsError
from robgui.core.execution.carrying import carry_out, thinned
from robgui.core.execution.execution import COMMIT_SECONDS, Execution
from robgui.core.execution.executor import lost
from robgui.core.execution.run import RunState
from robgui.core.execution.shelf import Shelf
from robgui.core.execution.task import Report, Task

#: So long a worker may take to leave by itself.
_LEAVE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker computes: its device, and how many threads torch may use (0: its own choice)."""

    device: str
    threads: int = 0


def local_places(device: str = "", workers: int = 0) -> list[Place]:
    """One place per CUDA device, or ``workers`` places that share the cores; without a number one on the CPU."""
    from robgui.core.loading import default_device, devices

    wanted = device or default_device().type
    found = [name for name, _ in devices() if wanted in (name, name.partition(":")[0])]
    if not found:
        raise ParamsError(f"There is no device {wanted!r} here; choose one of: {', '.join(name for name, _ in devices())}.")
    count = workers or len(found)
    threads = max(1, _cores() // count)
    return [Place(found[number % len(found)], threads if wanted == "cpu" else 0) for number in range(count)]


def _cores() -> int:
    """Cores this process may use: those it is bound to, and no more than OMP_NUM_THREADS asks for."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(bound, int(asked)) if asked.isdigit() and int(asked) > 0 else bound


class Processes:
    """Spawned worker processes, each with its models loaded once; a lost worker is replaced.

    Args:
        places: One worker each; it is started when the first task needs it.
        imports: Modules a worker imports first, such as one that registers an analysis of your own.
    """

    attempts = 2

    def __init__(self, places: Sequence[Place], imports: Sequence[str] = ()) -> None:
        self._workers = [_Worker(place, tuple(imports)) for place in places]

    @property
    def room(self) -> int:
        """Workers with nothing to do."""
        return sum(worker.execution is None for worker in self._workers)

    @property
    def pids(self) -> list[int]:
        """The processes that compute."""
        return [worker.pid for worker in self._workers if worker.execution is not None]

    def submit(self, execution: Execution) -> None:
        if execution.claim():
            next(worker for worker in self._workers if worker.execution is None).take(execution)

    def work(self, seconds: float) -> None:
        busy = {worker.connection: worker for worker in self._workers if worker.execution is not None and worker.connection is not None}
        for worker in busy.values():
            worker.pass_on_wishes()
        for connection in wait(list(busy), seconds) if busy else ():
            busy[connection].read(self.attempts)  # type: ignore[index]

    def close(self) -> None:
        for worker in self._workers:
            worker.leave()
        until = time.monotonic() + _LEAVE_SECONDS
        for worker in self._workers:
            worker.end(until)


class _Worker:
    """This side of one process."""

    def __init__(self, place: Place, imports: tuple[str, ...]) -> None:
        self.execution: Execution | None = None
        self.connection: Connection | None = None
        self._place = place
        self._imports = imports
        self._process: BaseProcess | None = None
        self._told_to_stop = False

    @property
    def pid(self) -> int:
        return (self._process.pid if self._process else None) or 0

    def take(self, execution: Execution) -> None:
        """Sends a task, to a new process if the old one died while it was idle."""
        self.execution, self._told_to_stop = execution, False
        if self._process is not None and self._process.is_alive():
            try:
                self._send(execution.task)
            except OSError:
                self.end(0.0)
            else:
                return
        self._start()
        self._send(execution.task)

    def pass_on_wishes(self) -> None:
        """Tells it to stop, once, when its Execution was asked to."""
        if self.execution is not None and self.execution.stop_asked and not self._told_to_stop:
            self._told_to_stop = True
            self._send_if_there("stop")

    def read(self, attempts: int) -> None:
        """Everything it has to tell; a lost process makes its Execution wait for another one."""
        execution = self.execution
        assert execution is not None
        try:
            while self.connection is not None and not execution.state.ended and self.connection.poll():
                execution.take(self.connection.recv())
        except (EOFError, OSError):
            why = self._how_it_ended()
            self.end(0.0)
            self.execution = None
            execution.take(lost(execution, why, attempts))
        if execution.state.ended:
            self.execution = None

    def leave(self) -> None:
        """Asks it to end: at once when it is idle, else after the Step it computes."""
        self._send_if_there(None)

    def end(self, until: float) -> None:
        """Waits for its end and forces it when it is late."""
        if self._process is not None:
            self._process.join(max(0.0, until - time.monotonic()))
            if self._process.is_alive():
                self._process.kill()
                self._process.join()
            self._process.close()
        if self.connection is not None:
            self.connection.close()
        self._process = self.connection = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs, self._place, self._imports), daemon=True)
        with _interrupts_blocked():
            self._process.start()
        theirs.close()

    def _send(self, message: object) -> None:
        assert self.connection is not None
        self.connection.send(message)

    def _send_if_there(self, message: object) -> None:
        if self.connection is not None:
            try:
                self._send(message)
            except OSError:  # it has ended already, which is what was wanted
                return

    def _how_it_ended(self) -> str:
        assert self._process is not None
        self._process.join(_LEAVE_SECONDS)
        code = self._process.exitcode
        if code is not None and code < 0:
            hint = ", perhaps because memory ran out" if code == -signal.SIGKILL else ""
            return f"its worker process was ended by signal {-code}{hint}"
        return f"its worker process ended with exit code {code}"


def work(connection: Connection, place: Place, imports: Sequence[str]) -> None:
    """A worker process: takes one task after another until it is told to leave or the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the other side tells what to do
    if place.threads:
        os.environ["OMP_NUM_THREADS"] = str(place.threads)
    import torch

    if place.threads:
        torch.set_num_threads(place.threads)
    for module in imports:
        importlib.import_module(module)
    shelf = Shelf(place.device)
    try:
        while isinstance(task := connection.recv(), Task | str):
            if isinstance(task, Task):  # a late "stop" for a task that has ended says nothing
                for report in _reports(task, shelf, connection):
                    connection.send(replace(report, problem=None))
    except (EOFError, OSError):  # the other side is gone, and with it everyone who could want an answer
        return


def _reports(task: Task, shelf: Shelf, connection: Connection) -> Iterator[Report]:
    """The reports of a task; a message from the other side stops it, with its newest Step."""

    def heard() -> Iterator[Report]:
        for report in carry_out(task, shelf):
            yield report
            if connection.poll() and not report.state.ended:
                yield Report(RunState.CANCELLED)
                return

    yield from thinned(heard(), COMMIT_SECONDS)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """A process started meanwhile never sees Ctrl-C; for this process it is only put off."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows: a worker that is just starting may be interrupted
        yield
        return
    resource_tracker.ensure_running()  # its own start would unblock the signal again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
