"""Inspection: every applicable analysis on the chosen input and a data sample, in turn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from robgui.core.errors import RobguiError
from robgui.core.execution.budget.cost import estimate
from robgui.core.execution.budget.rest import STARTING, Stretch, rest_of, share_of
from robgui.core.execution.likeness import same_question
from robgui.core.execution.request import SPREAD
from robgui.core.execution.run import RunState
from robgui.core.text.words import count
from robgui.core.workspace.speaking import is_answered
from robgui.gui.state.remedies import error_with_remedy

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.params.params import Params
    from robgui.core.execution.request import Request
    from robgui.gui.state.store import Store

#: Inputs, evenly spread over the data, for the first run of an analysis of many inputs.
#: A share of 300 inputs is known to within six points, enough for a first look.
SAMPLE = 300
#: Seconds taken for a run that nothing is known of; a first look is made to last that long.
_UNKNOWN = 5.0


class Inspection(QObject):
    """A queue of first looks with one progress over all of them.

    Attributes:
        jobs: The runs of this inspection, in order.
        refusals: Why an analysis was left out, in words, by its name.
        skipped: How many analyses were left out because a run had answered them.

    Signals:
        changed: A run has begun, moved on or ended.
    """

    changed = Signal()

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._store = store
        self.jobs: list[Execution] = []
        self._expected: list[float] = []
        self.refusals: dict[str, str] = {}
        self.skipped = 0
        store.job_changed.connect(self._heard)
        store.job_stepped.connect(self._heard)
        store.runner.reordered.connect(self.changed)

    @property
    def running(self) -> bool:
        """Whether any of its runs has not ended."""
        return any(not job.state.ended for job in self.jobs)

    @property
    def share(self) -> float:
        """How much of the work is done, every analysis counting as long as it probably takes."""
        return share_of(self._stretches())

    @property
    def seconds_left(self) -> float | None:
        """What the runs probably still take; None until there is enough to go by."""
        # Sooner, a single quick or slow step would decide the estimate.
        if sum(job.seconds for job in self.jobs) > 1:
            return rest_of(self._stretches())
        return None

    def _stretches(self) -> list[Stretch]:
        return [
            Stretch(
                expected=expected,
                spent=job.seconds,
                share=job.share or 0.0,
                ended=job.state.ended,
                # One that failed has not shown how long it would have taken.
                telling=job.state is not RunState.FAILED,
            )
            for job, expected in zip(self.jobs, self._expected, strict=True)
        ]

    def _seconds_of(self, request: Request) -> float:
        """How long a run probably takes."""
        known = self._store.analyses[request.analysis]
        params = known.params.parse(dict(request.params))
        total = len(self._store.library.dataset or ())
        inputs = total if request.indices is None else len(request.indices)
        models = self._store.next_run.models_for(known, params)
        # Left over from an earlier session, it may be queued before its model is open.
        found = estimate(known, params, models, inputs) if models else None
        if found is None or not math.isfinite(found.likely):
            likely = _UNKNOWN
        else:
            likely = found.likely
        return min(likely + STARTING, params.max_seconds or math.inf)

    def waits_for(self) -> str:
        """What stands before it in the queue, in words; empty once it has begun."""
        active = self._store.runner.active
        if active is None or active in self.jobs or any(job.attempts for job in self.jobs):
            return ""
        title = self._store.analyses[active.request.analysis].title
        others = len(self._before())
        if others:
            return f"waiting for {title} and {count(others, 'run')} more, started before"
        return f"waiting for {title}, which was started before"

    @property
    def can_go_first(self) -> bool:
        """Whether something else waits before it."""
        return bool(self._before())

    def go_first(self) -> None:
        """Its runs begin before all others that wait; what runs goes on."""
        self._store.runner.move(self.jobs)

    def _before(self) -> list[Execution]:
        """What waits before the first of its runs that waits."""
        waits = self._store.runner.waits
        own = [place for place, job in enumerate(waits) if job in self.jobs]
        if own:
            return waits[: own[0]]
        return []

    def obstacle(self) -> str:
        """Why nothing can be inspected now, in words; empty when it can."""
        store = self._store
        if not store.analyses:
            return "Still loading; a moment."
        if store.library.model is None:
            return store.library.pending.loading or "Open a model first."
        if store.library.dataset is None:
            return store.library.pending.loading or "Open some inputs first."
        return store.library.mismatch or store.filter.obstacle()

    def start(self, *, first: bool = False, again: bool = False) -> None:
        """Queues a first look with every analysis that can work on the model in use.

        Args:
            first: Before all others that wait; so do those that are queued already.
            again: Also where a run that is kept has answered already.
        """
        if self.running and first:
            self.go_first()
        if self.obstacle() or self.running:
            return
        self.refusals = {
            name: self._refusal(known, self._short_params(known))
            for name, known in self._store.analyses.items()
            if known.first_look is not None
        }
        every = [
            request
            for name in self._store.analyses
            if (request := self.first_look(name)) is not None
        ]
        requests = [one for one in every if again or not self._is_answered(one)]
        self._expected = [self._seconds_of(one) for one in requests]
        self.skipped = len(every) - len(requests)
        self.jobs = [
            # Place by place: they keep their own order at the head of the queue.
            self._store.submit(request, place=place if first else None)
            for place, request in enumerate(requests)
        ]
        self.changed.emit()
        if self.skipped:
            self._store.offered.emit(
                self._not_asked(), "Ask again", lambda: self.start(first=first, again=True)
            )

    def adopt(self, jobs: Sequence[Execution]) -> None:
        """First looks that an earlier session left waiting go on as one inspection."""
        looks = [job for job in jobs if self.is_short(job.request)]
        if not looks or self.running:
            return
        self.jobs, self.refusals, self.skipped = looks, {}, 0
        self._expected = [self._seconds_of(job.request) for job in looks]
        self.changed.emit()

    def _is_answered(self, short: Request) -> bool:
        """Whether a run has answered a first look, or all that Run asks by default."""
        store, known = self._store, self._store.analyses[short.analysis]
        usual = known.params.parse(dict(store.next_run.usual(known.name)))
        if known.inputs == "one":
            full = store.next_run.build(known, usual, short.indices)
        else:
            full = store.next_run.build(known, usual, store.scope, store.filter.words)
        return is_answered(store.history.runs, short, full)

    def _not_asked(self) -> str:
        """What was left out because it is known."""
        if not self.jobs:
            return "Everything is already answered for this model and input."
        left = count(self.skipped, "question")
        return f"Not asked again, because already answered: {left}."

    def stop(self) -> None:
        """Stops all its runs; their findings are kept."""
        for job in self.jobs:
            job.stop()

    def gave(self, request: Request, full: Request) -> bool:
        """Whether ``request`` was an inspection's first look at what ``full`` looks at."""
        if not self.is_short(request):
            return False
        one = self._store.analyses[request.analysis].inputs == "one"
        same = {"params": full.params, "indices": request.indices if one else full.indices}
        return same_question(full, request.model_copy(update=same))

    def is_short(self, request: Request) -> bool:
        """Whether it has the settings of a first look and asks for less than Run does by default.

        The request alone tells, so an earlier session's is known before its model is loaded.
        """
        known = self._store.analyses.get(request.analysis)
        if known is None or known.first_look is None:
            return False
        usual = self._store.next_run.usual(request.analysis)
        try:
            asked = known.params.parse(dict(request.params))
        except RobguiError:  # of another version of the program
            return False
        if asked != self._short_params(known):
            return False
        # The same settings on a sample is still less than Run would ask for.
        return asked != known.params.parse(dict(usual)) or bool(request.spread_over)

    def first_look(self, name: str) -> Request | None:
        """What an inspection would ask of an analysis now; None if it would leave it out."""
        store, known = self._store, self._store.analyses[name]
        library = store.library
        if known.first_look is None or library.model is None or library.dataset is None:
            return None
        params = self._short_params(known)
        if self._refusal(known, params):
            return None
        indices = self._indices(known, params)
        if store.scope is None:
            whole = len(store.library.dataset or ())
        else:
            whole = len(store.scope)
        if known.inputs == "one":
            return store.next_run.build(known, params, indices)
        words = store.filter.words
        # all of them, as Run asks for all: the same question
        if len(indices) == whole:
            return store.next_run.build(known, params, store.scope, words)
        if words:
            return store.next_run.build(known, params, indices, f"{words}, {SPREAD}", "part")
        return store.next_run.build(known, params, indices, SPREAD, "data")

    def _short_params(self, known: Analysis) -> Params:
        return known.params.parse(
            {**self._store.next_run.usual(known.name), **(known.first_look or {})}
        )

    def _refusal(self, known: Analysis, params: Params) -> str:
        """Why an analysis is left out, in words; empty if it is not."""
        models = self._store.next_run.models_for(known, params)
        shortage = known.shortage(params, models, len(self._indices(known, params)))
        return known.refusal(self._store.library.model) or error_with_remedy(shortage)

    def _indices(self, known: Analysis, params: Params) -> tuple[int, ...]:
        store = self._store
        if not known.looks_at_data(params):
            return ()
        total = len(store.library.dataset or ())
        if known.inputs == "one":
            if store.selection.input is not None:
                return (store.selection.input,)
            if total:
                return (0,)
            return ()
        if store.scope is not None:
            scope = store.scope
        else:
            scope = tuple(range(total))
        # Every n-th, not the first: files are often ordered by class.
        stride = max(1, -(-len(scope) // SAMPLE))
        return scope[::stride]

    def _heard(self, job: Execution) -> None:
        if job in self.jobs:
            self.changed.emit()
