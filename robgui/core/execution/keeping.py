"""Keeping: lets the next run of a request continue where an interrupted one ended."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from robgui.core.errors import WorkspaceError
from robgui.core.execution.analysis import Analysis
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.execution.task import Task
from robgui.version import __version__

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.core.workspace import Workspace


class Keeping:
    """What one Execution keeps in the workspace for a restart.

    It is found by the fingerprint of the request and the version of the program, which together
    determine the result. A completed request leaves nothing behind.

    Args:
        request: What is carried out.
        analysis: Says whether it can continue at all.
        workspace: Where it is kept; None keeps nothing.
    """

    def __init__(self, request: Request, analysis: Analysis, workspace: Workspace | None) -> None:
        if analysis.kept is not None:
            self._workspace = workspace
        else:
            self._workspace = None
        self._kind = analysis.kept
        self._request = request
        self._newest: Any = None
        self._waiting = False

    def task(self, task: Task) -> Task:
        """The task to compute now, starting where an earlier attempt or run ended."""
        # Parts and merges have no state of their own to continue.
        if self._workspace is None or task.merge or task.part is not None:
            return task
        if self._newest is None:
            self._newest = self._before(self._workspace)
        if self._newest is None:
            return task
        return replace(task, kept=self._newest)

    def take(self, step: Step[Any]) -> Step[Any]:
        """Takes out of a Step what it keeps for a restart."""
        if step.kept is None:
            return step
        self._newest, self._waiting = step.kept, True
        # Stored separately: the result would otherwise carry its counts into every commit.
        return replace(step, kept=None)

    def store(self, run: str, state: RunState, step: Step[Any] | None) -> None:
        """Writes what is new; deletes everything once the request is complete."""
        if self._workspace is None:
            return
        # A run cut by its time limit is DONE but not complete: a longer one continues it.
        if state is RunState.DONE and (step is None or not step.cut):
            self._workspace.kept.drop(self._key)
        elif self._waiting:
            self._workspace.kept.put(run, self._key, self._newest)
        self._waiting = False

    @property
    def _key(self) -> str:
        # With the version: another version may count differently.
        return f"{self._request.fingerprint} {__version__}"

    def _before(self, workspace: Workspace) -> Any:
        try:
            return workspace.kept.get(self._key, self._kind)
        except WorkspaceError:  # Damaged: the run starts over and replaces it.
            return None
