"""Following: which run of its analysis a panel draws live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robgui.core.execution.run import RunState

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.gui.state.running.runner import Runner


class Following:
    """Of several runs at once, follows the last one asked for: Pause and Stop mean the same one.

    Attributes:
        job: The run that is followed; None while none is.
    """

    def __init__(self, runner: Runner, analysis: str) -> None:
        self._runner, self._analysis = runner, analysis
        self.job: Execution | None = None
        self._ignored: list[Execution] = []

    def let_go(self) -> None:
        """Follows none of the runs that are under way: a stored one is on show."""
        self.job, self._ignored = None, self._runner.at_work

    def ended(self, job: Execution) -> bool:
        """Takes over that the state of a run has changed; True when the one followed has ended."""
        if job.request.analysis != self._analysis:
            return False
        if job.state is RunState.RUNNING and job not in self._ignored:
            self.job = self._newest(job)
        if job is not self.job or not job.state.ended:
            return False
        self.job = None
        return True

    def takes(self, job: Execution) -> bool:
        """Whether to draw the newest Step of a run.

        A quick one is over before anyone has told that it runs.
        """
        if job.request.analysis != self._analysis or job in self._ignored or job.newest is None:
            return False
        followed = self.job  # Of two at once, one is followed.
        return followed is None or followed is job or followed.state.ended

    def _newest(self, job: Execution) -> Execution:
        newest = self._runner.at_work_on(self._analysis)
        if newest is None or newest.request.analysis != self._analysis:
            return job
        if newest in self._ignored:
            return job
        return newest
