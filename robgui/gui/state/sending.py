"""Sending: turns what one panel has found into an input of another, with a trail to its origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from robgui.core.errors import DataError
from robgui.core.offer import Offer
from robgui.gui.state.remedies import error_with_remedy

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.dataset.derived import Ancestor, Derived
    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.request import Request
    from robgui.core.finding import StoredFinding
    from robgui.core.model.card import ModelCard
    from robgui.gui.state.store import Store


@dataclass(frozen=True)
class SendTarget:
    """An analysis that inputs may be sent to.

    Attributes:
        name: Of the analysis.
        title: What people call it.
        question: The question it answers.
        suits: Whether it looks at as many inputs at once as are sent; the others stand apart in the
            menu.
        reason: Why nothing can be sent to it now; empty when it can.
    """

    name: str
    title: str
    question: str
    suits: bool
    reason: str


class Sending(QObject):
    """Carries Offers from one panel to another.

    Signals:
        arrived: The analysis whose panel to show; its input is chosen and its form filled.
    """

    arrived = Signal(str)

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._store = store
        self._unsaved = 0

    def targets(self, count: int) -> list[SendTarget]:
        """Analyses that can look at ``count`` inputs of the model in use, in the rail's order."""
        model = self._store.library.model
        if model is None:
            return []
        fitting = [
            known
            for known in self._store.analyses.values()
            if known.inputs != "none" and not known.refusal(model)
        ]
        return [
            SendTarget(
                known.name,
                known.title,
                known.question,
                (known.inputs == "many") == (count > 1),
                self._reason(known, count),
            )
            for known in fitting
        ]

    def _reason(self, known: Analysis, count: int) -> str:
        """Why ``count`` inputs cannot be sent to an analysis.

        How many one of single inputs takes is said by its form.
        """
        if known.inputs == "many" and count < 2:
            return "It looks at many inputs at once, and this is one."
        params = self._store.next_run.params.get(known.name) or known.params()
        if known.inputs == "many":
            inputs = count
        else:
            inputs = known.takes(params).fewest_inputs
        return error_with_remedy(
            known.shortage(params, self._store.next_run.models_for(known, params), inputs)
        )

    def send(self, offer: Offer, analysis: str, request: Request, run_id: str | None) -> None:
        """Makes the inputs of ``offer`` the chosen ones and shows the panel of ``analysis``."""
        # What is in the gallery already is only chosen there; a copy would be a second input.
        if (
            offer.inputs is None
            and len(offer.places) == 1
            and self._store.analyses[analysis].inputs == "one"
        ):
            if self._store.subjects.choose(request, offer.places[0]):
                self._arrive(
                    offer,
                    analysis,
                    made=_made(self._store.subjects.dataset_of(request), request, offer),
                )
            return
        store, dataset = self._store, self._store.subjects.dataset_of(request)
        made = _made(dataset, request, offer)
        model = next(
            (
                m
                for m in store.library.models
                if request.models and m.fingerprint == request.models[0].fingerprint
            ),
            None,
        )
        title = (
            f"{store.analyses[request.analysis].title} on"
            f" {', '.join(m.name for m in request.models)}"
        )
        # Asked now: another workspace may be open by the time the work begins.
        workspace = store.history.writable

        def work() -> list[Derived]:
            items = derive(offer, request, model, dataset, title, run_id)
            if workspace is not None:
                return workspace.add_derived(items)
            return self._number(items)

        def done(items: list[Derived]) -> None:
            # Before the selection moves, or Back would lead to where it went.
            left = store.navigation.here
            store.library.add_derived(items)
            store.select(
                store.selection.replace(input=len(store.library.dataset or ()) - 1, second=None)
            )
            if len(items) > 1 and store.library.dataset is not None:
                # The new inputs are the last of their family; an analysis of
                # many looks at exactly these.
                count = len(store.library.dataset)
                store.set_scope(tuple(range(count - len(items), count)))
            self._arrive(offer, analysis, made=made)
            store.navigation.announce(left)

        store.background.run(work, done)

    def send_finding(self, finding: StoredFinding, analysis: str) -> None:
        """Sends the failing input of a finding.

        Its run says on what and by which model it was found.
        """
        store = self._store
        workspace = store.history.workspace
        run = next((run for run in store.history.runs if run.id == finding.run_id), None)
        if workspace is None or run is None:
            return

        def read(whole: StoredFinding) -> None:
            if whole.input is None:
                store.say(
                    "info",
                    "This finding is about no single input; open its run and send from its panel.",
                )
                return
            # Only with a single input is it certain which one the finding goes back to.
            if run.request.indices is not None and len(run.request.indices) == 1:
                place = 0
            else:
                place = -1
            subject, colon, _ = finding.title.partition(": ")
            if colon:
                name = f"{subject}, {finding.kind}"
            else:
                name = finding.title
            self.send(
                Offer(finding.title, (name,), whole.input[None], places=(place,)),
                analysis,
                run.request,
                run.id,
            )

        store.background.run(lambda: workspace.finding(finding.id), read)

    def _arrive(self, offer: Offer, analysis: str, *, made: bool) -> None:
        if made:
            defaults = self._store.analyses[analysis].made_inputs
        else:
            defaults = {}
        # What is sent along goes before what all made inputs begin with.
        if values := {**defaults, **offer.params.get(analysis, {})}:
            self._store.params_offered.emit(analysis, values)
        self.arrived.emit(analysis)

    def _number(self, items: Sequence[Derived]) -> list[Derived]:
        """Numbers below zero for inputs without a workspace; they live as long as the window."""
        from robgui.core.dataset.derived import numbered

        first = self._unsaved
        self._unsaved -= len(items)
        return numbered(items, [first - 1 - place for place in range(len(items))])


def derive(
    offer: Offer,
    request: Request,
    classifier: ModelCard | None,
    dataset: Dataset | None,
    title: str,
    run_id: str | None,
) -> list[Derived]:
    """The inputs of an Offer with their trails; called away from the GUI thread.

    Args:
        offer: What is sent.
        request: Of the run that shows it.
        classifier: The model that saw the inputs; None when it is no longer loaded.
        dataset: The data of the run; None when they are not open, or there were none.
        title: What to call the run.
        run_id: The run in the workspace; None when it has not ended.
    """
    from robgui.core.dataset.derived import Ancestor, Derived

    values, kind = _values(offer, request, classifier, dataset)
    family = _family(request, dataset)
    made = Ancestor(title, run=run_id or "")
    # -1: it goes back to no input of the run.
    places = offer.places or (-1,) * len(values)
    labels = offer.labels or tuple(_label(dataset, request, place) for place in places)
    return [
        Derived(
            name=offer.names[i],
            values=np.ascontiguousarray(values[i], dtype=np.float32),
            kind=kind,
            family=family,
            trail=(
                (*_roots(dataset, request, places[i]), made)
                if offer.inputs is not None
                else _roots(dataset, request, places[i])
            ),
            names=tuple(dataset.names) if dataset is not None else (),
            features=tuple(dataset.features) if dataset is not None else (),
            label=labels[i],
        )
        for i in range(len(values))
    ]


def _values(
    offer: Offer, request: Request, classifier: ModelCard | None, dataset: Dataset | None
) -> tuple[np.ndarray, Any]:
    """The inputs in the units of the data, and their kind."""
    if offer.inputs is None:
        if dataset is None:
            raise DataError(
                f"{request.dataset.name if request.dataset else 'The data'} of this run is not"
                " open; open it and send again."
            )
        if classifier is None:
            shape = None
        else:
            shape = classifier.shape
        return (
            dataset.array([_index(request, place) for place in offer.places], shape),
            dataset.kind,
        )
    # Engines work in [0, 1]; the model knows what units the data had.
    if classifier is not None:
        return classifier.decode(offer.inputs), classifier.kind
    if offer.inputs.ndim != 4:
        raise DataError(
            f"{request.models[0].name} is no longer loaded, and it knows the units of these values;"
            " open it and send again."
        )
    # Pictures are shown in [0, 1] anyway; a table without its model has lost its units.
    return offer.inputs, "image"


def _made(dataset: Dataset | None, request: Request, offer: Offer) -> bool:
    """Whether an analysis made any of the inputs: new ones, and data with a run behind them."""
    # Only data made of derived inputs have items.
    items = getattr(dataset, "items", ())
    links = [
        link
        for place in offer.places
        if items and place >= 0
        for link in items[_index(request, place)].trail
    ]
    return offer.inputs is not None or any(not link.dataset for link in links)


def _index(request: Request, place: int) -> int:
    if request.indices is None:
        return place
    return request.indices[place]


def _label(dataset: Dataset | None, request: Request, place: int) -> int:
    if dataset is None or dataset.labels is None or place < 0:
        return -1
    return int(dataset.labels[_index(request, place)])


def _family(request: Request, dataset: Dataset | None) -> str:
    items = getattr(dataset, "items", ())
    if items:
        return str(items[0].family)
    if request.dataset is not None:
        return request.dataset.name
    return "scenes"


def _roots(dataset: Dataset | None, request: Request, place: int) -> tuple[Ancestor, ...]:
    """The trail up to the input that the run looked at."""
    from robgui.core.dataset.derived import Ancestor

    if dataset is None or place < 0:
        return ()
    index = _index(request, place)
    items = getattr(dataset, "items", ())
    before = items[index].trail if items else ()
    if items:
        name = items[index].name
    else:
        name = f"{dataset.name}, {dataset.key(index)}"
    return (*before, Ancestor(name, dataset=dataset.fingerprint, index=index))
