"""Inspection: every applicable analysis on the chosen input and a sample of the data, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.gui.state.runner import Job
    from robgui.gui.state.store import Store

#: An analysis of many inputs takes a first look at so many, evenly spread over the data.
SAMPLE = 300


class Inspection(QObject):
    """A queue of first looks with one progress over all of them.

    Attributes:
        jobs: The runs of this inspection, in order.
        refusals: Why an analysis was left out, in words, by its name.

    Signals:
        changed: A run has begun, moved on or ended.
    """

    changed = Signal()

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._store = store
        self.jobs: list[Job] = []
        self.refusals: dict[str, str] = {}
        self._short: set[str] = set()
        store.job_changed.connect(self._heard)
        store.job_stepped.connect(self._heard)

    @property
    def running(self) -> bool:
        """Whether any of its runs has not ended."""
        return any(not job.over for job in self.jobs)

    @property
    def share(self) -> float:
        """How much of the work is done, every analysis counting the same."""
        return sum(_share(job) for job in self.jobs) / len(self.jobs) if self.jobs else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated from the share done; None until there is enough to go by."""
        spent = sum(job.seconds for job in self.jobs)
        return spent * (1 - self.share) / self.share if self.share > 0.05 and spent > 1 else None

    def obstacle(self) -> str:
        """Why nothing can be inspected now, in words; empty when it can."""
        store = self._store
        if not store.analyses:
            return "Still loading torch; a moment."
        if store.library.model is None:
            return store.library.loading or "Open a model first."
        if store.library.dataset is None:
            return store.library.loading or "Open some inputs first."
        return store.library.mismatch

    def start(self) -> None:
        """Queues a first look with every analysis that can work on the model in use."""
        if self.obstacle() or self.running:
            return
        self.refusals = {}
        requests = [request for name in self._store.analyses if (request := self._request(name)) is not None]
        self._short |= {request.fingerprint for request in requests if self._is_short(request)}
        self.jobs = [self._store.submit(request) for request in requests]
        self.changed.emit()

    def stop(self) -> None:
        """Ends all its runs; what they have found is kept."""
        for job in self.jobs:
            if not job.over:
                job.stop()

    def gave(self, request: Request, full: Request) -> bool:
        """Whether ``request`` was a first look of an inspection, shorter than ``full`` but of the same models and inputs."""
        if request.fingerprint not in self._short:
            return False
        one = self._store.analyses[request.analysis].inputs == "one"
        same = {"params": full.params, "indices": request.indices if one else full.indices}
        return request.model_copy(update=same).fingerprint == full.fingerprint

    def _is_short(self, request: Request) -> bool:
        """Whether it asks for less than the default settings on all the inputs in scope."""
        known = self._store.analyses[request.analysis]
        if known.params.parse(dict(request.params)) != known.params.parse({}):
            return True
        scope = self._store.scope if self._store.scope is not None else self._store.library.dataset or ()
        return known.inputs == "many" and request.indices is not None and len(request.indices) < len(scope)

    def _request(self, name: str) -> Request | None:
        from robgui.core.execution.request import Request

        store, known = self._store, self._store.analyses[name]
        library = store.library
        if known.first_look is None or library.model is None or library.dataset is None:
            return None
        params = known.params.parse(dict(known.first_look))
        models = library.fitting_models() if known.several_models else [library.model]
        models = models[: known.takes(params).most_models]
        looks = known.looks_at_data(params)
        indices = self._indices(name) if looks else None
        self.refusals[name] = known.refusal(library.model) or known.shortage(params, models, len(indices or ()))
        if self.refusals[name]:
            return None
        dataset = library.dataset if looks else None
        if dataset is not None and "derived" in dataset.options:
            dataset, indices = dataset.only(indices or ()), None  # type: ignore[attr-defined]
        return Request.build(name, models, dataset, params.model_dump(), indices=indices, autocast=library.autocast)

    def _indices(self, name: str) -> tuple[int, ...]:
        store = self._store
        count = len(store.library.dataset or ())
        if store.analyses[name].inputs == "one":
            return (store.selection.input,) if store.selection.input is not None else ((0,) if count else ())
        scope = store.scope if store.scope is not None else tuple(range(count))
        stride = max(1, -(-len(scope) // SAMPLE))
        return scope[::stride]

    def _heard(self, job: Job) -> None:
        if job in self.jobs:
            self.changed.emit()


def _share(job: Job) -> float:
    if job.over:
        return 1.0
    step = job.step
    return step.done / step.total if step is not None and step.total else 0.0
