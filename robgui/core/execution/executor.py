"""Executor: carries out Executions in this thread, in worker processes or on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from robgui.core.execution.run import RunState
from robgui.core.execution.task import Report

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution


class Executor(Protocol):
    """Carries out Executions and keeps each informed of its state; used by one thread only.

    Attributes:
        attempts: How often an Execution is tried when workers are lost.
        room: How many more it would take now.
    """

    @property
    def attempts(self) -> int: ...

    @property
    def room(self) -> int: ...

    def submit(self, execution: Execution) -> None:
        """Takes an Execution; only when there is room."""
        ...

    def work(self, seconds: float) -> None:
        """Works, or waits for news, for about this long.

        Pause, resume and stop requests are heard.
        """
        ...

    def close(self) -> None:
        """Ends all workers at once; an unfinished Execution keeps its state."""
        ...


def lost(execution: Execution, why: str, attempts: int, details: str = "") -> Report:
    """Decides what an Execution does whose worker is gone: wait for another one, or give up.

    Args:
        execution: The one that the worker was computing.
        why: What happened to the worker, for example "its worker process was ended by signal 9".
        attempts: How often an Execution is tried.
        details: What the worker said last, for the log.
    """
    # A stopped run counts as lost, not failed: the Execution itself turns that into CANCELLED.
    if execution.attempts < attempts or execution.stop_asked:
        return Report(RunState.QUEUED, error=why)
    if attempts > 1:
        times = {2: "twice"}.get(execution.attempts, f"{execution.attempts} times")
        error = f"It was begun {times} and never ended: {why}."
    else:
        error = loss_sentence(execution, why)
    return Report(RunState.FAILED, error=error, details=details)


def loss_sentence(execution: Execution, why: str) -> str:
    """What happened to an Execution's worker, as a sentence that says what is left."""
    if execution.newest is None:
        kept = ""
    else:
        kept = "; the result so far is kept"
    return f"{why[:1].upper()}{why[1:]}{kept}."
