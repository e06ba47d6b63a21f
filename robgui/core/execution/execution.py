"""Execution: a Request being carried out, wherever it is computed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from robgui.core.errors import WorkspaceError, sentence
from robgui.core.execution.budget.clock import Clock, seconds_left
from robgui.core.execution.budget.commits import CommitBudget
from robgui.core.execution.keeping import Keeping
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.execution.task import Report, Task
from robgui.core.finding import Finding
from robgui.core.text.saying import said_at_end, said_by
from robgui.core.verdict import Verdict

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.execution.request import Request
    from robgui.core.workspace import Workspace

#: Seconds between commits of a partial result. A crash should lose two seconds at most, and the
#: commit itself takes a moment.
COMMIT_SECONDS = 1.5


class Execution:
    """A Request on its way: sole owner of its state, newest Step, clock, error and verdict.

    People call ``pause``, ``resume`` and ``stop`` from any thread; none of these touches the file.
    An executor calls the other methods from one thread at a time; they keep the run in the
    workspace up to date. The newest Step is kept however the run ends.

    Args:
        request: What to carry out.
        workspace: Where the run is kept; None keeps nothing.
        part: Only these units of it, see Shards.
        run_id: The run in the workspace that was queued for this request earlier.
        budget: Shared by executions that run side by side.
        trusted: Digests of model code that the user allowed for this run, besides what they always
            trust.
        data: The data of the request, if they exist only in memory.

    Attributes:
        state: The same as in the workspace.
        newest: The newest Step; complete, so older ones may be dropped.
        clock: Computing time.
        error: One sentence about why it failed or was interrupted.
        details: More about an unforeseen error, for the log.
        problem: The error itself, if it happened in this process or can be rebuilt.
        findings: The failures it has found, once it has ended.
        device: Where it is computed, once known.
        calls: How many inputs its models have answered so far.
        versions: Versions of the packages it is computed with, once known.
        attempts: How often it was handed to a worker.
        stop_asked: The moment (``time.monotonic``) of the first ``stop``; 0 before.
        wake: Called after a pause, resume or stop; set by the executor.
    """

    def __init__(
        self,
        request: Request,
        workspace: Workspace | None = None,
        *,
        part: range | None = None,
        run_id: str | None = None,
        budget: CommitBudget | None = None,
        trusted: frozenset[str] = frozenset(),
        data: Dataset | None = None,
    ) -> None:
        if workspace is not None and workspace.read_only:
            raise WorkspaceError(
                f"{workspace.reason} Nothing can be recorded in it; open another workspace to run"
                " an analysis."
            )
        self.task = Task(request, part, trusted=trusted, data=data)
        self.analysis = self.task.analysis()
        self.params = self.analysis.params.parse(dict(request.params))
        self.run_id = run_id
        self.created = time.time()
        self.state = RunState.QUEUED
        self.newest: Step[Any] | None = None
        self.clock = Clock()
        self.error = self.details = self.device = ""
        self.problem: BaseException | None = None
        self.findings: tuple[Finding, ...] = ()
        self.calls = self.attempts = 0
        self.stop_asked = 0.0
        self.wake: Callable[[], None] = lambda: None
        self.workspace = workspace
        self._keeping = Keeping(request, self.analysis, workspace)
        self._budget = budget or CommitBudget()
        self._next_commit = self._cost = 0.0
        self._progress: tuple[int, int | None] = (0, None)
        self.versions: dict[str, str] = {}
        self._stored: tuple[RunState, Step[Any] | None] = (RunState.QUEUED, None)
        self._said: tuple[Step[Any], Verdict | None] | None = None
        self._lock = threading.RLock()
        self._go = threading.Event()
        self._go.set()

    @property
    def request(self) -> Request:
        """What is carried out."""
        return self.task.request

    @property
    def begun(self) -> bool:
        """Whether an executor has it: running, paused, or waiting for its process."""
        return bool(self.attempts) and not self.state.ended

    @property
    def seconds(self) -> float:
        """Computing time so far, pauses left out."""
        return self.clock.seconds

    @property
    def done(self) -> int:
        """Units of work, out of ``total``."""
        return self._progress[0]

    @property
    def total(self) -> int | None:
        """All units of work; None while unknown."""
        return self._progress[1]

    @property
    def share(self) -> float | None:
        """How much is done, 0 to 1; None while unknown."""
        done, total = self.done, self.total
        if total:
            return min(1.0, done / total)
        return None

    @property
    def seconds_left(self) -> float | None:
        """Estimated from the share done; None until there is enough to go by."""
        return seconds_left(self.share, self.seconds)

    @property
    def verdict(self) -> Verdict | None:
        """What the newest Step says; None before there is one."""
        return self._verdict(self.state)

    # What people ask for

    def pause(self) -> None:
        """Finishes the current Step, then waits until resumed."""
        with self._lock:
            if self.state is not RunState.RUNNING:
                return
            self.clock.stop()
            self._go.clear()
            self.state = RunState.PAUSED
        self.wake()

    def resume(self) -> None:
        """Continues after a pause."""
        with self._lock:
            if self.state is not RunState.PAUSED:
                return
            self.clock.start()
            self.state = RunState.RUNNING
            self._go.set()
        self.wake()

    def stop(self) -> None:
        """Ends after the current Step, which is kept; a run that has not begun never begins."""
        with self._lock:
            # The first stop counts: pressing again must
            # not grant another two seconds of grace.
            self.stop_asked = self.stop_asked or time.monotonic()
            if self.state is RunState.QUEUED and not self.attempts:  # No executor has it yet.
                self.state = RunState.CANCELLED
            self._go.set()
        self.wake()

    # What executors tell

    def enlist(self) -> None:
        """Puts the run into the workspace as QUEUED, if it is not there yet."""
        with self._lock:
            if self.workspace is not None and self.run_id is None:
                self.run_id = self.workspace.add_run(self.request).id

    def withdraw(self) -> None:
        """Removes a run that never began from the workspace."""
        with self._lock:
            if self.workspace is not None and self.run_id is not None:
                self.workspace.delete_run(self.run_id)
                self.run_id = None

    def record(self) -> None:
        """Updates the workspace: a change of state at once, a result if one is due."""
        try:
            self._commit_if_due()
        except Exception as error:  # noqa: BLE001 - a full disk, a verdict that raises: recorded
            self.end(RunState.FAILED, sentence(error), problem=error)
            self.error = self.error or sentence(error)

    def claim(self) -> bool:
        """Marks it as taken by an executor.

        False if it was stopped before, or cannot be recorded.
        """
        try:
            self.enlist()
        except WorkspaceError as error:
            self.end(RunState.FAILED, str(error), problem=error)
        with self._lock:
            if self.state.ended:
                return False
            self.attempts += 1
            self.task = self._keeping.task(self.task)
            return True

    def take(self, report: Report) -> None:
        """Takes a report: it continues, it ended, or its worker was lost."""
        if self.state.ended:
            return
        if report.state.ended:
            self._keep(report)
            self.end(report.state, report.error, report.details, report.problem)
            return
        try:
            if report.state is RunState.QUEUED:
                self._lose(report.error)
            else:
                self._go_on(report)
        except Exception as error:  # noqa: BLE001 - a full disk, a verdict that raises: recorded
            self.end(RunState.FAILED, sentence(error), problem=error)

    def hold(self, seconds: float) -> None:
        """Waits while paused, at most this long; the workspace shows the pause meanwhile."""
        self.record()
        self._go.wait(seconds)

    def end(
        self,
        state: RunState,
        error: str = "",
        details: str = "",
        problem: BaseException | None = None,
    ) -> None:
        """Records the end; if that goes wrong the run is FAILED, but the result is never lost."""
        if self.state.ended:
            return
        self.clock.stop()
        try:
            if self.newest is not None:
                self.findings = tuple(self.analysis.findings(self.newest.result, self.params))
            self._verdict(state)
        except Exception as caught:  # noqa: BLE001 - recorded in the run
            if self.newest is not None:
                # Remembered as said, or the commit below
                # would ask the verdict again and raise again.
                self._said = (self.newest, None)
            if not error:
                state, error, problem = RunState.FAILED, sentence(caught), caught
        self.error, self.details, self.problem = error, details, problem
        try:
            self._commit(state)
        except WorkspaceError as lost:
            state, self.problem = RunState.FAILED, problem or lost
            self.error = " ".join(dict.fromkeys(filter(None, (error, str(lost)))))
        with self._lock:
            # Last: whoever sees that it has ended finds everything else in place.
            self.state = state
            self._go.set()

    def _go_on(self, report: Report) -> None:
        with self._lock:
            if self.state is RunState.QUEUED:
                self.state, self.error = RunState.RUNNING, ""
            if self.state is RunState.RUNNING:
                self.clock.start()
        self._keep(report)
        self._commit_if_due()

    def _keep(self, report: Report) -> None:
        self.device = report.device or self.device
        self.calls = max(self.calls, report.calls)
        self.versions = dict(report.versions) or self.versions
        if report.step is not None:
            self.newest = self._keeping.take(report.step)
            self._progress = (report.step.done, report.step.total)
        elif report.done or report.total:
            self._progress = (report.done, report.total)

    def _lose(self, why: str) -> None:
        """Its worker is gone: queues it for another one, unless it was to end anyway."""
        if self.stop_asked:
            self.end(RunState.CANCELLED, why)
            return
        with self._lock:
            self.clock.reset()
            self._progress = (0, None)
            self.error, self.state = why, RunState.QUEUED
        self._commit_if_due()

    def _verdict(self, state: RunState) -> Verdict | None:
        step, said = self.newest, self._said
        if step is None:
            return None
        if said is None or said[0] is not step:
            own = said_by(self.analysis, step.result, self.params, self.request)
            self._said = said = (step, own)
        verdict = said[1]
        if verdict is None:
            return None
        return said_at_end(verdict, state, step, self.params)

    def _commit_if_due(self) -> None:
        """Commits a change of state at once, a partial result now and then."""
        changed = self.state is not self._stored[0]
        due = (
            self.newest is not self._stored[1]
            and time.monotonic() >= self._next_commit
            and self._budget.free
        )
        if changed or due:
            self._commit(self.state)

    def _commit(self, state: RunState) -> None:
        if self.workspace is None:
            return
        self.enlist()
        assert self.run_id is not None
        began, spent = time.monotonic(), time.thread_time()
        newest = self.newest
        self.workspace.update_run(
            self.run_id,
            state=state,
            step=newest if newest is not self._stored[1] else None,
            error=self.error if state.ended else None,
            verdict=self._verdict(state),
            seconds=self.seconds,
            device=self.device or None,
            versions=self.versions or None,
            findings=self.findings if state.ended else (),
        )
        self._keeping.store(self.run_id, state, newest)
        self._stored = (state, newest)
        before, self._cost = self._cost, time.thread_time() - spent
        self._budget.spend(min(before, self._cost))
        self._next_commit = began + COMMIT_SECONDS
