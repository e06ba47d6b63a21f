"""MethodRuns: which runs speak for a method, with the model and input in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robgui.core.execution.run import RunState
from robgui.core.workspace.speaking import gravity, leading_run, severities, speakers
from robgui.gui.pages.overview_tiles import belongs, leading

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run
    from robgui.core.verdict import Verdict
    from robgui.gui.panels import Page
    from robgui.gui.state.store import Store


class MethodRuns:
    """Finds the run that a tile of the overview shows."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def worst(self, page: Page) -> Run | None:
        """The run that speaks for the method, which its tile shows; see ``speaking``."""
        model = self._store.library.model
        if model is None:
            return None
        runs = self._store.history.runs
        own = [run for run in runs if run.has_result and self.is_of(page, run.request)]
        speaking: dict[str, Run] = {}
        # What was asked last comes first, so setdefault keeps the newest question of each analysis.
        for run in speakers(own, model.fingerprint):
            speaking.setdefault(run.request.analysis, run)
        return leading_run(list(speaking.values()), self._gravity)

    def _gravity(self, run: Run) -> tuple[int, float]:
        history = self._store.history
        own = [one for one in history.findings if one.run_id == run.id]
        return gravity(self.said(run), severities(own, history.harm).get(run.id, 0.0))

    def said(self, run: Run) -> Verdict | None:
        """What a run says of the model in use, beside all that is known."""
        if run.verdict is None:
            return None
        return self.weighed(run.verdict, run.request, run.id)

    def weighed(self, said: Verdict, request: Request, run: str) -> Verdict:
        """What a run says of the model in use, also one under way, beside all that is known."""
        known = self._store.history.evidence
        return known.shown(said, request, run).of(self.place_in(request))

    def failure(self, page: Page) -> str:
        """Why the newest attempt failed, in words; empty when none did.

        What the inspection could not store counts too.
        """
        # A job without a run id never reached the workspace: the history knows nothing of it.
        lost = [job for job in self._store.inspection.jobs if job.run_id is None]
        attempts: list[Execution | Run] = [*reversed(lost), *self._store.history.runs]
        for attempt in attempts:
            if (
                attempt.state is RunState.FAILED
                and attempt.error
                and self.is_of(page, attempt.request)
            ):
                return attempt.error
        return ""

    def is_of(self, page: Page, request: Request) -> bool:
        """Whether a request of this method is of the model and the data in use.

        If of one input, of the one in use.

        A scene needs no data: it counts for the model.
        """
        return belongs(page, request.analysis) and self._store.subjects.in_use(request)

    def at_work(self, page: Page) -> Execution | None:
        """The method's run under way on the model and input in use, once it has said something."""
        for job in self._store.runner.executions:
            if not job.state.ended and job.newest is not None and self.is_of(page, job.request):
                return job
        return None

    def under_way(self, page: Page) -> bool:
        """Whether a run of the method on the model and input in use is queued or running."""
        return any(
            not job.state.ended and self.is_of(page, job.request)
            for job in self._store.runner.executions
        )

    def question(self, page: Page) -> tuple[str, str]:
        """The question of a method, and why it cannot be answered for this model."""
        store = self._store
        known = store.analyses.get(leading(page, store))
        if known is None:
            return "", ""
        model = store.library.model
        return known.question, known.refusal(model) if model is not None else ""

    def place_in(self, request: Request) -> int:
        """Which of the models of a request the model in use is."""
        model = self._store.library.model
        if model is None:
            return 0
        return request.place_of(model.fingerprint) or 0
