"""Task and Report: what an executor hands to whoever computes, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from robgui.core.execution.analysis import Analysis
from robgui.core.execution.registry import find
from robgui.core.execution.request import Request
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset


@dataclass(frozen=True, slots=True)
class Task:
    """A request to compute: whole, some of its units (``part``), or the merging of all its parts.

    Attributes:
        merge: The last Steps of all parts, in their order.
        kept: What an interrupted run of the same request has kept; None begins anew.
        trusted: Digests of the code of its models that the user has allowed to run, beside what
            they trust anyway.
        data: The data of the request where they live in memory only; None where they can be opened.
    """

    request: Request
    part: range | None = None
    merge: tuple[Step[Any], ...] = ()
    trusted: frozenset[str] = frozenset()
    data: Dataset | None = None
    kept: Any = None

    def at(self, device: str) -> Task:
        """The same on another device; an empty one leaves it where the request says."""
        if not device or device == self.request.device:
            return self
        return replace(self, request=self.request.model_copy(update={"device": device}))

    def analysis(self) -> Analysis:
        """What there is to do."""
        known = find(self.request.analysis)
        if self.merge:
            return known.merging(self.merge)
        if self.kept is not None:
            return known.going_on(self.kept)
        if self.part is None:
            return known
        return known.part(self.part)


@dataclass(frozen=True, slots=True)
class Report:
    """How a task stands.

    Attributes:
        state: RUNNING, or how it ended; QUEUED when its worker was lost and nobody works on it now.
        step: The newest Step, where the result comes along.
        done: Units of work, for a report that leaves a large result out.
        device: Where it is computed, once that is known.
        calls: How many inputs its models have answered so far.
        error: One sentence for a failed task or a lost worker.
        details: More about an error that nobody foresaw, for the log.
        problem: The error itself, for whoever catches it.
    """

    state: RunState
    step: Step[Any] | None = None
    done: int = 0
    total: int | None = None
    calls: int = 0
    device: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    details: str = ""
    problem: BaseException | None = None
