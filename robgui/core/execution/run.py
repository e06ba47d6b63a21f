"""Run: a Request with its state and what is known of its newest Step."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.core.verdict import Verdict


class RunState(StrEnum):
    """Where a run stands; the last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def ended(self) -> bool:
        """True if nothing more will happen to the run."""
        return self in (RunState.DONE, RunState.CANCELLED, RunState.FAILED)


@dataclass(frozen=True, slots=True)
class Run:
    """One row of the history; the result itself is fetched with ``Workspace.result(id)``.

    Attributes:
        created: Seconds since 1970.
        seconds: Time spent computing, pauses not counted.
        done: Units of work in the newest stored Step, out of ``total`` (None when unknown).
        error: One sentence for a failed or interrupted run.
        verdict: What the stored result says; None before there is one.
        versions: What it was computed with (robgui, torch, numpy, python).
    """

    id: str
    request: Request
    state: RunState
    created: float
    seconds: float = 0.0
    done: int = 0
    total: int | None = None
    error: str = ""
    verdict: Verdict | None = None
    device: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    has_result: bool = False
