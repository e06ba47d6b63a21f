"""MethodRuns: which runs tell of a method, for the model and the input in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robgui.core.execution.run import RunState
from robgui.core.verdict import Status
from robgui.gui.pages.overview_tiles import belongs, leading

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run
    from robgui.core.verdict import Verdict
    from robgui.gui.panels import Page
    from robgui.gui.state.store import Store


class MethodRuns:
    """Finds what a tile of the overview tells of."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def worst(self, page: Page) -> Run | None:
        """The run that a tile tells of: of the newest run of each analysis of the method, the
        one with the worst status.

        A failure that one of them has seen outweighs what the others say; of equals, the first
        analysis of the method.
        """
        newest: dict[str, Run] = {}
        for run in self._store.history.runs:
            if (
                run.has_result
                and run.request.analysis not in newest
                and self.is_of(page, run.request)
            ):
                newest[run.request.analysis] = run
        ordered = [newest[one.name] for one in page.analyses if one.name in newest]
        return min(ordered, key=self._rank, default=None)

    def _rank(self, run: Run) -> int:
        """How much a run matters: a failure most."""
        said = self.said(run)
        return list(Status).index(Status.UNKNOWN if said is None else said.status)

    def said(self, run: Run) -> Verdict | None:
        """What a run says of the model in use, beside all that is known."""
        said = self._store.history.shown(run)
        if said is None:
            return None
        return said.of(self.place_in(run.request))

    def failure(self, page: Page) -> str:
        """Why the newest attempt failed, in words; empty when none did.

        What the inspection could not store counts too.
        """
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
        store = self._store
        known, dataset = store.analyses.get(request.analysis), store.library.dataset
        if known is None or not belongs(page, request.analysis):
            return False
        if store.library.model is None or request.place_of(store.library.model.fingerprint) is None:
            return False
        if request.dataset is None:
            return True
        here = store.subjects.locate(request, 0)
        if here is None or here[0] is not dataset:
            return False
        return known.inputs != "one" or here[1] == store.selection.input

    def at_work(self, page: Page) -> Execution | None:
        """The run of a method that is under way on the model and input in use and has said
        something.
        """
        for job in self._store.runner.executions:
            if not job.state.ended and job.newest is not None and self.is_of(page, job.request):
                return job
        return None

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
