"""SplitExecution: one request computed in parts, which are merged at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from robgui.core.execution.budget.commits import CommitBudget
from robgui.core.execution.execution import Execution
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.execution.task import Report, Task

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.core.workspace import Workspace


class SplitExecution(Execution):
    """A request whose parts are carried out first, and then itself, by merging them.

    Args:
        request: What to carry out.
        workspace: Where the run is kept; the parts are kept nowhere.
        parts: The units of each part.
        run_id: The run in the workspace that was queued earlier.
        budget: As in Execution.
        trusted: As in Execution.
    """

    def __init__(
        self,
        request: Request,
        workspace: Workspace,
        parts: Sequence[range],
        *,
        run_id: str | None = None,
        budget: CommitBudget | None = None,
        trusted: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(request, workspace, run_id=run_id, budget=budget, trusted=trusted)
        self.parts = tuple(Execution(request, part=part, trusted=trusted) for part in parts)

    @property
    def seconds(self) -> float:
        """Computing time of all parts and of the merging."""
        return sum(part.seconds for part in self.parts) + super().seconds

    @property
    def done(self) -> int:
        """Units of work of all parts."""
        # After the merge its own Step counts; before, only the parts know.
        if self.state.ended:
            return super().done
        return sum(part.done for part in self.parts)

    @property
    def total(self) -> int | None:
        """All units; a part that has not begun counts as the average of the others."""
        known = [part.total for part in self.parts if part.total]
        if known:
            # Parts that have not begun are assumed to be as long as the others.
            return sum(known) * len(self.parts) // len(known)
        return None

    def follow(self) -> bool:
        """Takes the state of its parts; True once all are done and they can be merged.

        The first part that fails, or is stopped, ends it.
        """
        # Merging happens once, as an ordinary task.
        if self.state.ended or self.task.merge:
            return False
        for part in self.parts:
            if part.state in (RunState.FAILED, RunState.CANCELLED):
                self.end(part.state, part.error, part.details, part.problem)
                return False
        if self.state is RunState.QUEUED and any(
            part.state is not RunState.QUEUED for part in self.parts
        ):
            self.take(Report(RunState.RUNNING))
            self.clock.reset()  # Its parts have their own clocks.
        if not all(part.state is RunState.DONE for part in self.parts):
            return False
        self._merge([part.newest for part in self.parts if part.newest is not None])
        return bool(self.task.merge)

    def stop(self) -> None:
        """Stops all parts; it ends with them."""
        super().stop()
        for part in self.parts:
            part.stop()

    def _merge(self, steps: list[Step[Any]]) -> None:
        if steps:
            self.task = Task(self.request, merge=tuple(steps), trusted=self.task.trusted)
        else:
            self.end(
                RunState.FAILED, f"{self.analysis.title} gave no result for any part; run it whole."
            )
