"""What the worker processes do, in words for the status bar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from robgui.core.execution.run import RunState
from robgui.core.text.words import count, rough_percent, time_left

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.worker.workers import Doing

_IDLE = "nothing to do"


def in_short(doings: Sequence[Doing], analyses: Mapping[str, Analysis]) -> str:
    """One line: each worker's run and how far it is; empty while none runs."""
    if not any(doing.execution for doing in doings):
        return ""
    parts = [_short(doing, analyses) for doing in doings]
    # A number would promise a second worker.
    if len(parts) == 1:
        return parts[0]
    return " · ".join(f"{number}: {words}" for number, words in enumerate(parts, 1))


def in_full(doings: Sequence[Doing], analyses: Mapping[str, Analysis]) -> str:
    """One line per worker: its process, where it computes, and what on which model."""
    return "\n".join(
        f"Worker {number}{_which(doing)}: {_whole(doing, analyses)}"
        for number, doing in enumerate(doings, 1)
    )


def _short(doing: Doing, analyses: Mapping[str, Analysis]) -> str:
    job = doing.execution
    if job is None:
        return doing.words or _IDLE
    return f"{_title(job, analyses)} {_progress(job)}"


def _whole(doing: Doing, analyses: Mapping[str, Analysis]) -> str:
    job = doing.execution
    if job is None:
        return doing.words or _IDLE
    models = ", ".join(model.name for model in job.request.models)
    left = job.seconds_left
    # A paused run gets no nearer to its end: a time left would be a promise.
    if left is not None and job.state is RunState.RUNNING:
        more = f", {time_left(left)}"
    else:
        more = ""
    return f"{_title(job, analyses)} on {models}, {_progress(job)}{more}"


def _which(doing: Doing) -> str:
    place = doing.place
    if doing.pid:
        where = [f"process {doing.pid}"]
    else:
        where = []
    if place.cluster:
        where.append(f"Ray cluster {place.cluster}")
    if place.device:
        where.append(place.device)
    if place.threads:
        where.append(count(place.threads, "thread"))
    if where:
        return f" ({', '.join(where)})"
    return ""


def _title(job: Execution, analyses: Mapping[str, Analysis]) -> str:
    known = analyses.get(job.request.analysis)
    if known is None:
        return job.request.analysis
    return known.title


def _progress(job: Execution) -> str:
    if job.state is RunState.PAUSED:
        return "paused"
    # Asked before progress: a model may take up to two seconds to let go, and looks stuck till
    # then.
    if job.stop_asked:
        return "stopping"
    if job.newest is None:
        return "starting"
    if job.share is None:
        return f"{job.done:,} done"
    return rough_percent(job.share)
