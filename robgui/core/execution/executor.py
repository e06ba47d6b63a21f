"""Executor: what carries out Executions, in this thread, in worker processes or on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from robgui.core.execution.run import RunState
from robgui.core.execution.task import Report

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution


class Executor(Protocol):
    """Carries out Executions somewhere and tells each how it stands; only one thread may use it.

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
        """Goes on, or waits for news, for about this long.

        What was asked of an Execution is heard.
        """
        ...

    def close(self) -> None:
        """Ends all workers at once; an Execution that has not ended stays as it is."""
        ...


def lost(execution: Execution, why: str, attempts: int, details: str = "") -> Report:
    """What to tell an Execution whose worker is gone: to wait for another one, or to give up.

    Args:
        execution: The one that the worker was computing.
        why: What happened to the worker, such as "its worker process was ended by signal 9".
        attempts: How often an Execution is tried.
        details: What the worker said last, for the log.
    """
    if execution.attempts < attempts or execution.stop_asked:
        return Report(RunState.QUEUED, error=why)
    if attempts > 1:
        times = {2: "twice"}.get(execution.attempts, f"{execution.attempts} times")
        error = f"It was begun {times} and never ended: {why}."
    else:
        error = told(execution, why)
    return Report(RunState.FAILED, error=error, details=details)


def told(execution: Execution, why: str) -> str:
    """What happened to the worker of an Execution, as a sentence that says what is left."""
    if execution.newest is None:
        kept = ""
    else:
        kept = "; the result so far is kept"
    return f"{why[:1].upper()}{why[1:]}{kept}."
