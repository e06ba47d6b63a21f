"""Executor: what carries out tasks; the same reports from this process, from worker processes and from a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from robgui.batch.shelf import Shelf
from robgui.core.execution.analysis import Analysis, Pace, Step
from robgui.core.execution.drive import COMMIT_SECONDS, Drive, drive, sentence, versions
from robgui.core.execution.registry import find
from robgui.core.execution.request import Request
from robgui.core.execution.run import RunState
from robgui.core.finding import Finding
from robgui.core.verdict import Verdict

#: Reports of a running task without its result come so many times as often as those with it.
_REPORTS_PER_RESULT = 10


@dataclass(frozen=True, slots=True)
class Task:
    """A request for one worker: whole, some of its units (``part``), or the last Steps of all parts to be merged.

    Attributes:
        trusted: Digests of the code of its models that the user has allowed to run, beside what they trust anyway.
    """

    id: int
    request: Request
    part: range | None = None
    merge: tuple[Step[Any], ...] = ()
    trusted: frozenset[str] = frozenset()

    def analysis(self) -> Analysis:
        """What there is to do."""
        known = find(self.request.analysis)
        return known.merging(self.merge) if self.merge else known if self.part is None else known.part(self.part)


@dataclass(frozen=True, slots=True)
class Report:
    """How a task stands: complete, so that the newest is all that counts.

    Attributes:
        task: Its number.
        state: RUNNING, or how it ended; QUEUED when its worker was lost and nobody works on it any more.
        step: The newest result; in a running task only every two seconds, because results may be large.
        error: One sentence for a failed task or a lost worker.
    """

    task: int
    state: RunState
    done: int = 0
    total: int | None = None
    seconds: float = 0.0
    device: str = ""
    step: Step[Any] | None = None
    verdict: Verdict | None = None
    error: str = ""
    findings: tuple[Finding, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


class Executor(Protocol):
    """Carries out tasks somewhere; only one thread may use it.

    Attributes:
        attempts: How often a task is tried when workers are lost.
        room: How many more tasks it would take now.
    """

    attempts: int

    @property
    def room(self) -> int: ...

    def submit(self, task: Task) -> None:
        """Takes a task; only when there is room."""
        ...

    def reports(self, seconds: float) -> Sequence[Report]:
        """What is new, in order; waits at most about so long for something to happen."""
        ...

    def stop(self) -> None:
        """Asks every task to end soon; each is reported as CANCELLED with its newest result where that is to be had."""
        ...

    def close(self) -> None:
        """Ends all workers at once; nothing more is reported."""
        ...


def carry_out(
    task: Task, shelf: Shelf, stopped: Callable[[], bool] = lambda: False, result_seconds: float = COMMIT_SECONDS
) -> Iterator[Report]:
    """Works on one task, whatever happens to it.

    Args:
        task: What to do.
        shelf: Where models and datasets come from.
        stopped: Asked after each Step.
        result_seconds: So often a report of a running task carries its result.
    """
    yield Report(task.id, RunState.RUNNING, versions=versions())
    try:
        going = drive(task.request, None, shelf.models(task.request, task.trusted), shelf.dataset(task.request), task.analysis())
    except Exception as error:  # noqa: BLE001 - recorded as the end of this task; the others go on
        yield Report(task.id, RunState.FAILED, error=sentence(error))
        return
    large, small = Pace(result_seconds), Pace(result_seconds / _REPORTS_PER_RESULT)
    large.due()
    try:
        for step in going:
            if stopped():
                going.close()
            elif task.part is None and large.due():
                yield _report(task, going, step)
            elif small.due():
                yield _report(task, going)
    except Exception:  # noqa: BLE001 - the Drive has put it into words; the others go on
        pass
    finally:
        going.close()
    yield _report(task, going, going.newest)


def _report(task: Task, going: Drive, step: Step[Any] | None = None) -> Report:
    newest = going.newest
    verdict = going.verdict
    if verdict is None and step is not None and not going.state.ended:
        verdict = going.analysis.verdict(step.result, going.params)
    return Report(
        task.id,
        going.state,
        done=newest.done if newest else 0,
        total=newest.total if newest else None,
        seconds=going.seconds,
        device=going.device,
        step=step,
        verdict=verdict,
        error=going.error,
        findings=going.findings,
    )


class InProcess:
    """One task at a time in this process, computed while ``reports`` waits."""

    attempts = 1

    def __init__(self, device: str = "") -> None:
        self._shelf = Shelf(device)
        self._going: Iterator[Report] | None = None
        self._stopped = False

    @property
    def room(self) -> int:
        """One when nothing is being computed."""
        return int(self._going is None)

    def submit(self, task: Task) -> None:
        self._going = carry_out(task, self._shelf, lambda: self._stopped)

    def reports(self, seconds: float) -> Sequence[Report]:
        found: list[Report] = []
        until = time.monotonic() + seconds
        while self._going is not None and (not found or time.monotonic() < until):
            report = next(self._going)
            found.append(report)
            if report.state.ended:
                self._going = None
        return found

    def stop(self) -> None:
        self._stopped = True

    def close(self) -> None:
        self._going = None
