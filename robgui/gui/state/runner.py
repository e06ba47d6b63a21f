"""Runs Requests one after another on a QThread; the window reads the newest Step from a one-slot mailbox.

A queued signal per Step would flood the event loop (measured: 780 ms latency); a slot that a 33 ms timer
reads costs 1 ms, and a Step that nobody looked at is simply replaced by the next.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QThread, QTimer, Signal

from robgui.core.errors import RobguiError
from robgui.core.execution.run import RunState
from robgui.gui.state.background import step_back, unexpected

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Step
    from robgui.core.execution.request import Drive, Request
    from robgui.core.finding import Finding


FRAME_MS = 33
SHUTDOWN_MS = 10_000


class Job:
    """A Request on its way: its state, its newest Step, and the two switches pause and stop.

    The worker thread writes ``mailbox``, ``run_id``, ``error``, ``details``, ``findings`` and ``state``; the GUI thread reads.
    """

    def __init__(self, request: Request, start: Callable[[], Drive]) -> None:
        self.request = request
        self.state = RunState.QUEUED
        self.run_id: str | None = None
        self.mailbox: Step[Any] | None = None
        self.step: Step[Any] | None = None
        self.error = ""
        self.details = ""
        self.findings: tuple[Finding, ...] = ()
        self.begun = 0.0
        self.ended = 0.0
        self._start = start
        self._go = threading.Event()
        self._go.set()
        self._stop = threading.Event()
        self._paused_at = 0.0
        self._paused_seconds = 0.0
        self._switch = threading.Lock()

    @property
    def seconds(self) -> float:
        """Working time so far, pauses left out."""
        if not self.begun:
            return 0.0
        now = self.ended or self._paused_at or time.monotonic()
        return now - self.begun - self._paused_seconds

    @property
    def seconds_left(self) -> float | None:
        """Estimated from the share done; None until there is enough to go by."""
        step = self.step
        if step is None or not step.total or step.done < 0.02 * step.total or self.seconds < 1:
            return None
        return self.seconds * (step.total - step.done) / step.done

    @property
    def over(self) -> bool:
        """Whether it has ended, one way or another."""
        return self.state.ended

    def pause(self) -> None:
        """Stops asking for Steps until resumed."""
        with self._switch:
            if self.state is RunState.RUNNING:
                self._paused_at = time.monotonic()
                self._go.clear()
                self.state = RunState.PAUSED

    def resume(self) -> None:
        """Goes on after a pause."""
        with self._switch:
            if self.state is RunState.PAUSED:
                self._paused_seconds += time.monotonic() - self._paused_at
                self._paused_at = 0.0
                self.state = RunState.RUNNING
                self._go.set()

    def stop(self) -> None:
        """Ends after the Step that is being computed; the newest Step is kept."""
        with self._switch:
            if self.state is RunState.QUEUED:
                self.state = RunState.CANCELLED
        self._stop.set()
        self._go.set()

    def work(self) -> None:
        """The whole life of the run; called on the worker thread."""
        with self._switch:
            if self.state is RunState.CANCELLED:
                return
            self.state = RunState.RUNNING
        self.begun = time.monotonic()
        end = RunState.FAILED
        try:
            end = self._iterate()
        except RobguiError as error:
            self.error = str(error)
        except Exception as error:  # shown with its traceback, never lost
            self.error, self.details = unexpected(error), traceback.format_exc()
        finally:
            self.ended = time.monotonic()
            with self._switch:
                self.state = end

    def _iterate(self) -> RunState:
        drive = self._start()
        self.run_id = drive.run_id
        try:
            for step in drive:
                self.mailbox = step
                if not self._go.is_set():
                    drive.pause()
                    self._go.wait()
                if self._stop.is_set():
                    return RunState.CANCELLED
            return RunState.DONE
        finally:
            drive.close()
            self.findings = drive.findings


class Runner(QObject):
    """A queue of Jobs and the one thread that works on it.

    Signals:
        stepped: A Job has a newer Step (``job.step``); at most once per frame.
        changed: A Job's state changed.
    """

    stepped = Signal(object)
    changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.jobs: list[Job] = []
        self._thread: _Worker | None = None
        self._told: dict[int, RunState] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self._look)

    @property
    def active(self) -> Job | None:
        """The Job that is running or paused."""
        return next((job for job in self.jobs if job.state in (RunState.RUNNING, RunState.PAUSED)), None)

    @property
    def busy(self) -> bool:
        """Whether anything is queued, running or paused."""
        return any(not job.over for job in self.jobs)

    def submit(self, job: Job) -> None:
        """Puts ``job`` at the end of the queue."""
        self.jobs.append(job)
        self._timer.start()
        self._tell(job, job.state)
        self._start_next()

    def stop_all(self) -> None:
        """Stops the running Job and empties the queue."""
        for job in self.jobs:
            if not job.over:
                job.stop()

    def shutdown(self) -> bool:
        """Stops everything and waits for the thread; False if the model would not let go."""
        self.stop_all()
        self._timer.stop()
        return self._thread is None or self._thread.wait(SHUTDOWN_MS)

    def _start_next(self) -> None:
        if self._thread is not None:
            return
        job = next((job for job in self.jobs if job.state is RunState.QUEUED), None)
        if job is None:
            return
        self._thread = _Worker(job, self)
        self._thread.finished.connect(self._ended)
        self._thread.start()

    def _look(self) -> None:
        """Every frame: takes over the newest Step of each Job and tells what changed.

        The state is read before the mailbox, so that the last Step is always shown before the end is told. A
        panel that draws slowly is asked less often, so that drawing never takes more than a third of the time.
        """
        began = time.monotonic()
        for job in list(self.jobs):
            state, step = job.state, job.mailbox
            if step is not job.step:
                job.step = step
                self.stepped.emit(job)
            self._tell(job, state)
        self._timer.setInterval(max(FRAME_MS, round(3000 * (time.monotonic() - began))))
        if not self.busy and self._thread is None:
            self._timer.stop()

    def _tell(self, job: Job, state: RunState) -> None:
        if self._told.get(id(job)) is state:
            return
        self._told[id(job)] = state
        if state.ended:
            self.jobs.remove(job)
            del self._told[id(job)]
        self.changed.emit(job)

    def _ended(self) -> None:
        if self._thread is not None:
            self._thread.deleteLater()
            self._thread = None
        self._look()
        self._start_next()


class _Worker(QThread):
    def __init__(self, job: Job, parent: QObject) -> None:
        super().__init__(parent)
        self._job = job

    def run(self) -> None:
        step_back()
        self._job.work()
