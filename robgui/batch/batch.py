"""Batch: carries out a plan through an executor and keeps every run in one workspace.

Only this side writes to the workspace, so that it has one writer however many workers there are.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from robgui.batch.executor import Executor, Report, Task
from robgui.batch.plan import Plan, Planned
from robgui.core.errors import RobguiError, WorkspaceError
from robgui.core.execution.request import Request
from robgui.core.execution.run import Run, RunState
from robgui.core.verdict import Verdict
from robgui.core.workspace import Workspace

#: Seconds between two pictures of the whole.
_PICTURE_SECONDS = 0.1
#: After a stop, workers have so long to give their newest result.
_GRACE_SECONDS = 10.0
#: Commits of results on the way may take this share of the time.
_COMMIT_SHARE = 0.1
#: Stands for a part in the task that merges all parts.
_MERGE = -1


@dataclass(frozen=True, slots=True)
class Entry:
    """One request of the batch and how it stands.

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
        return min(1.0, self.done / self.total) if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """The whole batch at one moment, complete.

    Attributes:
        share: How much of the work of this sitting is done, 0 to 1.
        seconds: Time since it began.
        seconds_left: None until there is enough to go by.
    """

    entries: tuple[Entry, ...]
    share: float
    seconds: float
    seconds_left: float | None

    def count(self, state: RunState) -> int:
        """How many requests are in this state."""
        return sum(entry.state is state for entry in self.entries)

    @property
    def ended(self) -> int:
        """How many requests have ended, one way or another, before or now."""
        return sum(entry.state.ended for entry in self.entries)


@dataclass(slots=True)
class _Item:
    """What the batch remembers of an entry: its parts (one for a whole request) and what is known of each."""

    planned: Planned
    parts: tuple[range | None, ...]
    newest: dict[int, Report] = field(default_factory=dict)
    lost: int = 0

    def task(self, id: int, part: int) -> Task:  # noqa: A002
        """What a worker is to do for this part, or to merge all of them."""
        if part != _MERGE:
            return Task(id, self.planned.request, self.parts[part])
        steps = [self.newest[each].step for each in range(len(self.parts))]
        return Task(id, self.planned.request, merge=tuple(step for step in steps if step is not None))


class Batch(Iterator[Progress]):
    """A plan on its way: iterate it to go on, ``stop`` to end it early with everything kept that is done.

    Requests that are DONE in the workspace already are recognised by their fingerprint and not computed again.
    ``stop`` may be called from any thread or signal handler; all else belongs to one thread.

    Args:
        plan: What to run.
        workspace: Where the runs are kept.
        executor: What carries them out; it is closed at the end.
    """

    def __init__(self, plan: Plan, workspace: Workspace, executor: Executor) -> None:
        if workspace.read_only:
            raise WorkspaceError(f"{workspace.reason} Nothing can be recorded in it; close the other window or name another workspace.")
        self._workspace = workspace
        self._executor = executor
        self._trusted = plan.trusted
        known = finished(workspace)
        self._items = [_Item(planned, planned.parts or (None,)) for planned in plan.requests]
        self.entries = [_entry(number, planned, known) for number, planned in enumerate(plan.requests)]
        self._queue = deque((entry.number, part) for entry in self.entries if not entry.reused for part in self._parts_of(entry.number))
        self._tasks: dict[int, tuple[int, int]] = {}
        self._submitted = 0
        self._began = 0.0
        self._stop_by = 0.0
        self._stopping = self._told_to_stop = False
        self._over = False
        self._next_partial = 0.0

    def __next__(self) -> Progress:
        if self._over:
            raise StopIteration
        now = time.monotonic()
        self._began = self._began or now
        try:
            while self._go_on() and time.monotonic() < now + _PICTURE_SECONDS:
                pass
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
        """Ends the batch: nothing new is begun, and what runs gives its newest result; ``at_once`` does not wait for it."""
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
        share = sum(entry.share for entry in self.entries if not entry.reused) / todo if todo else 1.0
        seconds = time.monotonic() - self._began if self._began else 0.0
        left = seconds * (1 - share) / share if share > 0 and seconds >= 1 else None
        return Progress(tuple(self.entries), share, seconds, left)

    def _parts_of(self, number: int) -> range:
        return range(len(self._items[number].parts))

    def _go_on(self) -> bool:
        """Hands out tasks and takes what has come in; False when the batch is over."""
        if self._stopping and not self._told_to_stop:
            self._told_to_stop = True
            self._queue.clear()
            self._executor.stop()
        while self._queue and self._executor.room > 0:
            self._submit(*self._queue.popleft())
        for report in self._executor.reports(_PICTURE_SECONDS):
            self._take(report)
        late = self._stopping and time.monotonic() >= self._stop_by
        if late or not (self._tasks or self._queue):
            self._finish()
        return not self._over

    def _finish(self) -> None:
        self._over = True
        self._executor.close()
        self._tasks.clear()
        for entry in self.entries:
            if entry.run_id and not entry.state.ended:  # too late with its answer, or some of its parts were never begun
                self._end(entry.number, Report(0, RunState.CANCELLED, error="stopped before it had ended"))

    def _submit(self, number: int, part: int) -> None:
        item, entry = self._items[number], self.entries[number]
        if entry.state.ended:  # another part of it has failed
            return
        if not entry.run_id:
            run = self._workspace.add_run(item.planned.request)
            self._change(number, run_id=run.id, attempts=1)
        self._submitted += 1
        self._tasks[self._submitted] = (number, part)
        self._executor.submit(replace(item.task(self._submitted, part), trusted=self._trusted))

    def _take(self, report: Report) -> None:
        """What a report means for its entry and for the workspace."""
        number, part = self._tasks.get(report.task, (-1, -1))
        if number < 0:
            return
        if report.state is not RunState.RUNNING:
            del self._tasks[report.task]
        entry = self.entries[number]
        if entry.state.ended:
            return
        if report.state is RunState.QUEUED:
            self._lose(number, part, report)
            return
        if entry.state is RunState.QUEUED:
            self._change(number, state=RunState.RUNNING)
            self._workspace.update_run(entry.run_id, state=RunState.RUNNING, versions=dict(report.versions))
        self._items[number].newest[part] = report
        if len(self._items[number].parts) == 1:
            self._take_whole(number, report)
        else:
            self._take_part(number, report)

    def _take_whole(self, number: int, report: Report) -> None:
        if report.state.ended:
            self._end(number, report)
            return
        self._change(number, done=report.done, total=report.total, seconds=report.seconds)
        now = time.monotonic()
        if report.step is not None and now >= self._next_partial:
            entry = self.entries[number]
            self._workspace.update_run(
                entry.run_id, step=report.step, verdict=report.verdict, seconds=report.seconds, device=report.device or None
            )
            self._next_partial = now + (time.monotonic() - now) / _COMMIT_SHARE

    def _take_part(self, number: int, report: Report) -> None:
        """A part has gone on: all done are merged by a last task, and the first that fails fails the request."""
        item = self._items[number]
        reports = [item.newest[part] for part in self._parts_of(number) if part in item.newest]
        seconds = sum(each.seconds for each in item.newest.values())
        if report.state in (RunState.FAILED, RunState.CANCELLED) or (_MERGE in item.newest and report.state.ended):
            self._end(number, replace(report, seconds=seconds, step=report.step if report.state is RunState.DONE else None))
            return
        known = [each for each in reports if each.total]
        # A part that has not begun is as long as the others are on average.
        total = sum(each.total or 0 for each in known) * len(item.parts) // max(1, len(known)) or None
        self._change(number, done=sum(each.done for each in known), total=total, seconds=seconds)
        if len(reports) == len(item.parts) and report.state.ended and all(each.state is RunState.DONE for each in reports):
            self._queue.appendleft((number, _MERGE))

    def _lose(self, number: int, part: int, report: Report) -> None:
        """A worker is gone: its task is tried again at once, unless it was tried often enough or all is to end."""
        item = self._items[number]
        item.lost += 1
        item.newest.pop(part, None)
        if self._stopping:
            self._end(number, replace(report, state=RunState.CANCELLED))
        elif item.lost >= self._executor.attempts:
            times = "once" if item.lost == 1 else "twice" if item.lost == 2 else f"{item.lost} times"
            self._end(number, replace(report, state=RunState.FAILED, error=f"It was begun {times} and never ended: {report.error}."))
        else:
            self._queue.appendleft((number, part))
            self._change(number, state=RunState.QUEUED, attempts=self.entries[number].attempts + 1)
            self._workspace.update_run(self.entries[number].run_id, state=RunState.QUEUED)

    def _end(self, number: int, report: Report) -> None:
        entry = self.entries[number]
        seconds = report.seconds or entry.seconds
        if report.state is RunState.CANCELLED and report.step is None and (known := self._workspace.run(entry.run_id).verdict):
            report = replace(report, verdict=known.stopped())
        self._workspace.update_run(
            entry.run_id,
            state=report.state,
            step=report.step,
            error=report.error,
            verdict=report.verdict,
            seconds=seconds,
            device=report.device or None,
            findings=report.findings,
        )
        done, total = (report.step.done, report.step.total) if report.step else (entry.done, entry.total)
        self._change(number, state=report.state, done=done, total=total, seconds=seconds, verdict=report.verdict, error=report.error)

    def _change(self, number: int, **changes: Any) -> None:
        self.entries[number] = replace(self.entries[number], **changes)


def finished(workspace: Workspace) -> dict[str, Run]:
    """The newest DONE run of every request in the workspace, by the request's fingerprint."""
    found: dict[str, Run] = {}
    for run in workspace.runs():
        if run.state is RunState.DONE and run.has_result:
            try:
                found.setdefault(run.request.fingerprint, run)
            except RobguiError:  # its analysis or its settings are not of this version, so it is not what is asked for
                continue
    return found


def _entry(number: int, planned: Planned, known: dict[str, Run]) -> Entry:
    run = known.get(planned.request.fingerprint)
    if run is None:
        return Entry(number, planned.request, planned.title, RunState.QUEUED)
    return Entry(number, planned.request, planned.title, RunState.DONE, run_id=run.id, reused=True, verdict=run.verdict)
