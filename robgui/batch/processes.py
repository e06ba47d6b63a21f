"""Processes: one worker process per device, or several on the CPU."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from robgui.batch.executor import Report, Task, carry_out
from robgui.core.errors import ParamsError
from robgui.core.execution.run import RunState

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
        """Workers without a task."""
        return sum(worker.task is None for worker in self._workers)

    @property
    def pids(self) -> dict[int, int]:
        """Process of each task that is being worked on."""
        return {worker.task: worker.pid for worker in self._workers if worker.task is not None}

    def submit(self, task: Task) -> None:
        next(worker for worker in self._workers if worker.task is None).take(task)

    def reports(self, seconds: float) -> Sequence[Report]:
        busy = {worker.connection: worker for worker in self._workers if worker.task is not None and worker.connection is not None}
        ready = wait(list(busy), seconds) if busy else []
        return [report for connection in ready for report in busy[connection].read()]  # type: ignore[index]

    def stop(self) -> None:
        for worker in self._workers:
            worker.stop()

    def close(self) -> None:
        for worker in self._workers:
            worker.leave()
        until = time.monotonic() + _LEAVE_SECONDS
        for worker in self._workers:
            worker.end(until)


class _Worker:
    """The driver's side of one process."""

    def __init__(self, place: Place, imports: tuple[str, ...]) -> None:
        self.task: int | None = None
        self.connection: Connection | None = None
        self._place = place
        self._imports = imports
        self._process: BaseProcess | None = None

    @property
    def pid(self) -> int:
        return (self._process.pid if self._process else None) or 0

    def take(self, task: Task) -> None:
        """Sends a task, to a new process if the old one died while it was idle."""
        self.task = task.id
        if self._process is not None and self._process.is_alive():
            try:
                self._send(task)
            except OSError:
                self.end(0.0)
            else:
                return
        self._start()
        self._send(task)

    def read(self) -> list[Report]:
        """Everything it has to tell; a lost process is told as a task that is QUEUED again."""
        found: list[Report] = []
        try:
            while self.connection is not None and self.connection.poll():
                found.append(self.connection.recv())
        except (EOFError, OSError):
            assert self.task is not None
            found.append(Report(self.task, RunState.QUEUED, error=self._how_it_ended()))
            self.end(0.0)
        if found and found[-1].state is not RunState.RUNNING:
            self.task = None
        return found

    def stop(self) -> None:
        if self.task is not None:
            self._send_if_there("stop")

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
    """A worker process: takes one task after another until it is told to leave or the driver is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the driver tells what to do
    if place.threads:
        os.environ["OMP_NUM_THREADS"] = str(place.threads)
    import torch

    from robgui.batch.shelf import Shelf

    if place.threads:
        torch.set_num_threads(place.threads)
    for module in imports:
        importlib.import_module(module)
    shelf = Shelf(place.device)
    try:
        while isinstance(task := connection.recv(), Task | str):
            if isinstance(task, Task):  # a late "stop" for a task that has ended says nothing
                for report in carry_out(task, shelf, connection.poll):
                    connection.send(report)
    except (EOFError, OSError):  # the driver is gone, and with it everyone who could want an answer
        return


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
