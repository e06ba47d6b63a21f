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

    attempts: int

    @property
    def room(self) -> int: ...

    def submit(self, execution: Execution) -> None:
        """Takes an Execution; only when there is room."""
        ...

    def work(self, seconds: float) -> None:
        """Goes on, or waits for news, for about this long; what was asked of an Execution is heard."""
        ...

    def close(self) -> None:
        """Ends all workers at once; an Execution that has not ended stays as it is."""
        ...


def lost(execution: Execution, why: str, attempts: int) -> Report:
    """What to tell an Execution whose worker is gone: to wait for another one, or to give up."""
    if execution.attempts < attempts or execution.stop_asked:
        return Report(RunState.QUEUED, error=why)
    times = {1: "once", 2: "twice"}.get(execution.attempts, f"{execution.attempts} times")
    return Report(RunState.FAILED, error=f"It was begun {times} and never ended: {why}.")
