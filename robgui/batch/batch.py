"""Batch: carries out a plan through an executor and keeps every run in one workspace.

Only this side writes to the workspace: it has one writer however many workers there are.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from robgui.batch.plan import Plan, Planned
from robgui.batch.split import SplitExecution
from robgui.core.errors import RobguiError, WorkspaceError
from robgui.core.evidence import Evidence
from robgui.core.execution.budget.commits import CommitBudget
from robgui.core.execution.execution import Execution
from robgui.core.execution.executor import Executor
from robgui.core.execution.request import Request
from robgui.core.execution.run import Run, RunState
from robgui.core.verdict import Verdict
from robgui.core.workspace import Workspace

#: Seconds between two pictures of the whole.
_PICTURE_SECONDS = 0.1
#: Seconds that workers have after a stop to give their newest result.
_GRACE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class BatchEntry:
    """One request of the batch and its state.

    Attributes:
        number: Its place in the plan.
        run_id: Its run in the workspace; empty before it is begun.
        reused: It was done before and is not computed again.
        attempts: How often it was begun; more than once when workers were lost.
    """

    number: int
    request: Request
    title: str
    state: RunState = RunState.QUEUED
    done: int = 0
    total: int | None = None
    seconds: float = 0.0
    run_id: str = ""
    reused: bool = False
    attempts: int = 0
    verdict: Verdict | None = None
    error: str = ""

    @property
    def share(self) -> float:
        """How much of it is done, 0 to 1."""
        if self.state.ended:
            return 1.0
        if self.total:
            return min(1.0, self.done / self.total)
        return 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of the whole batch at one moment.

    Attributes:
        share: How much of the work of this sitting is done, 0 to 1.
        seconds: Time since it began.
        seconds_left: None until there is enough to go by.
    """

    entries: tuple[BatchEntry, ...]
    share: float
    seconds: float
    seconds_left: float | None

    def beside(self, known: Evidence) -> Progress:
        """A copy whose verdicts account for everything the workspace knows."""
        entries = tuple(
            one
            if one.verdict is None
            else replace(one, verdict=known.shown(one.verdict, one.request, one.run_id))
            for one in self.entries
        )
        return replace(self, entries=entries)

    def count(self, state: RunState) -> int:
        """How many requests are in this state."""
        return sum(entry.state is state for entry in self.entries)

    @property
    def ended(self) -> int:
        """How many requests have ended, one way or another, before or now."""
        return sum(entry.state.ended for entry in self.entries)


class Batch(Iterator[Progress]):
    """A plan being carried out: iterate to proceed; ``stop`` ends it and keeps what is done.

    Requests already DONE in the workspace are recognised by their fingerprint and not computed
    again; those that an earlier session left QUEUED continue in their own runs. ``stop`` may be
    called from any thread or signal handler; all else belongs to one thread.

    Args:
        plan: What to run.
        workspace: Where the runs are kept.
        executor: What carries them out; it is closed at the end.
    """

    def __init__(self, plan: Plan, workspace: Workspace, executor: Executor) -> None:
        if workspace.read_only:
            raise WorkspaceError(
                f"{workspace.reason} Nothing can be recorded in it; close the other window or name"
                " another workspace."
            )
        self._plan = plan.requests
        self._workspace = workspace
        self._executor = executor
        self._trusted = plan.trusted
        self._budget = CommitBudget()
        known = finished(workspace)
        # Continued under their own ids, or a repeated batch would fill the history with runs that
        # never began.
        self._queued = waiting(workspace)
        self.entries = [
            _first_entry(number, planned, known) for number, planned in enumerate(plan.requests)
        ]
        self._to_begin = deque(entry.number for entry in self.entries if not entry.reused)
        self._ready: deque[Execution] = deque()
        self._submitted: list[Execution] = []
        self._begun: dict[int, Execution] = {}
        self._began = 0.0
        self._stop_by = 0.0
        self._stopping = False
        self._over = False

    def __next__(self) -> Progress:
        if self._over:
            raise StopIteration
        now = time.monotonic()
        self._began = self._began or now
        try:
            # Works in slices, so a picture of the whole comes at a steady pace.
            while self.go_on() and time.monotonic() < now + _PICTURE_SECONDS:
                pass
        # Whatever happens, no worker survives its batch.
        except BaseException:
            self._executor.close()
            self._over = True
            raise
        return self.progress()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def stop(self, *, at_once: bool = False) -> None:
        """Ends the batch: nothing new begins, and what runs gives its newest result.

        ``at_once`` does not wait for it.
        """
        # The deadline first: a signal handler may run between the two lines, and a stop without one
        # would be late at once.
        self._stop_by = time.monotonic() + (0.0 if at_once else _GRACE_SECONDS)
        self._stopping = True

    def close(self) -> None:
        """Stops and waits until everything has ended."""
        self.stop()
        for _ in self:
            pass

    def progress(self) -> Progress:
        """The picture now."""
        todo = sum(not entry.reused for entry in self.entries)
        if todo:
            share = sum(entry.share for entry in self.entries if not entry.reused) / todo
        else:
            share = 1.0
        if self._began:
            seconds = time.monotonic() - self._began
        else:
            seconds = 0.0
        # In the first second most of the time is loading, which says nothing about the rest.
        if share > 0 and seconds >= 1:
            left = seconds * (1 - share) / share
        else:
            left = None
        return Progress(tuple(self.entries), share, seconds, left)

    def go_on(self) -> bool:
        """Hands out what there is room for and lets the executor work.

        False once the batch is over.
        """
        if self._stopping:
            self._to_begin.clear()
            for execution in self._begun.values():
                execution.stop()
        while self._executor.room > 0 and (self._ready or self._to_begin):
            self._hand_out()
        self._executor.work(_PICTURE_SECONDS)
        self._look()
        late = self._stopping and time.monotonic() >= self._stop_by
        if late or not (self._begun or self._to_begin):
            self._finish()
        return not self._over

    def _hand_out(self) -> None:
        """Submits what is ready, or begins the next request."""
        if self._ready:
            execution = self._ready.popleft()
            # It was stopped, or another part of its request has failed.
            if not execution.state.ended:
                self._executor.submit(execution)
                self._submitted.append(execution)
            return
        number = self._to_begin.popleft()
        planned = self._plan[number]
        run_id = self._queued.get(planned.request.fingerprint)
        execution = self._execution(planned, run_id)
        execution.enlist()
        self._begun[number] = execution
        self._ready.extend(
            execution.parts if isinstance(execution, SplitExecution) else (execution,)
        )

    def _execution(self, planned: Planned, run_id: str | None) -> Execution:
        if planned.parts:
            return SplitExecution(
                planned.request,
                self._workspace,
                planned.parts,
                run_id=run_id,
                budget=self._budget,
                trusted=self._trusted,
            )
        return Execution(
            planned.request,
            self._workspace,
            run_id=run_id,
            budget=self._budget,
            trusted=self._trusted,
        )

    def _look(self) -> None:
        """Finds what has ended, what to try again, and which parts can be merged."""
        lost = [
            execution
            for execution in self._submitted
            if execution.state is RunState.QUEUED and execution.error
        ]
        # In front: a request that has already cost time goes first.
        self._ready.extendleft(lost)
        self._submitted = [
            execution
            for execution in self._submitted
            if not execution.state.ended and execution not in lost
        ]
        for number, execution in list(self._begun.items()):
            if isinstance(execution, SplitExecution) and execution.follow():
                # All parts are done: the merging is carried out before anything new.
                self._ready.appendleft(execution)
            self.entries[number] = _entry(self.entries[number], execution)
            if execution.state.ended:
                execution.record()
                del self._begun[number]

    def _finish(self) -> None:
        self._over = True
        self._executor.close()
        for number, execution in self._begun.items():  # Too late with their answer, or never begun.
            execution.end(RunState.CANCELLED, "stopped before it had ended")
            self.entries[number] = _entry(self.entries[number], execution)
        self._begun.clear()


def finished(workspace: Workspace) -> dict[str, Run]:
    """The newest DONE run of every request in the workspace, by the request's fingerprint."""
    found: dict[str, Run] = {}
    for run in workspace.runs():
        if run.state is RunState.DONE and run.has_result:
            try:
                # Runs come newest first, so the first one found is the newest.
                found.setdefault(run.request.fingerprint, run)
            except RobguiError:  # Of another version, so not what is asked for.
                continue
    return found


def waiting(workspace: Workspace) -> dict[str, str]:
    """The runs that an earlier session left QUEUED, by the request's fingerprint."""
    found: dict[str, str] = {}
    for run in workspace.runs():
        if run.state is RunState.QUEUED:
            try:
                found.setdefault(run.request.fingerprint, run.id)
            except RobguiError:  # Not of this version.
                continue
    return found


def _first_entry(number: int, planned: Planned, known: dict[str, Run]) -> BatchEntry:
    run = known.get(planned.request.fingerprint)
    if run is None:
        return BatchEntry(number, planned.request, planned.title, RunState.QUEUED)
    return BatchEntry(
        number,
        planned.request,
        planned.title,
        RunState.DONE,
        run_id=run.id,
        reused=True,
        verdict=run.verdict,
    )


def _entry(entry: BatchEntry, execution: Execution) -> BatchEntry:
    """The entry with what its Execution says now."""
    if isinstance(execution, SplitExecution):
        parts = execution.parts
    else:
        parts = (execution,)
    return replace(
        entry,
        state=execution.state,
        done=execution.done,
        total=execution.total,
        seconds=execution.seconds,
        run_id=execution.run_id or "",
        attempts=max(part.attempts for part in parts),
        verdict=execution.verdict if execution.state.ended else None,
        error=execution.error,
    )
