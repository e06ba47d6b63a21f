"""Task and Report: what an executor sends to a worker, and what comes back."""

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
    """A request to compute: the whole, some of its units (``part``), or the merging of all parts.

    Attributes:
        merge: The last Steps of all parts, in order.
        kept: What an interrupted run of the same request kept; None starts over.
        trusted: Digests of model code that the user allowed for this run, besides what they always
            trust.
        data: The data of the request if they exist only in memory; None if they can be opened.
    """

    request: Request
    part: range | None = None
    merge: tuple[Step[Any], ...] = ()
    trusted: frozenset[str] = frozenset()
    data: Dataset | None = None
    kept: Any = None

    def at(self, device: str) -> Task:
        """A copy for another device; an empty one keeps the request's."""
        if not device or device == self.request.device:
            return self
        # A copy: the run in the workspace keeps the device that the user asked for.
        return replace(self, request=self.request.model_copy(update={"device": device}))

    def analysis(self) -> Analysis:
        """The analysis to run."""
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
        state: RUNNING, or how it ended; QUEUED if its worker was lost.
        step: The newest Step, if the result comes along.
        done: Units of work, for a report that leaves a large result out.
        device: Where it is computed, once known.
        calls: How many inputs its models have answered so far.
        error: One sentence for a failed task or a lost worker.
        details: More about an unforeseen error, for the log.
        problem: The error itself, to be raised.
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
