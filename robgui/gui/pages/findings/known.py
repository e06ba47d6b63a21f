"""What the workspace knows of the input of a finding: what each analysis says, what else fails."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robgui.core.finding_groups import input_in_words, number_of
from robgui.core.workspace.speaking import speakers

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run
    from robgui.core.finding import StoredFinding
    from robgui.core.verdict import Verdict
    from robgui.gui.state.store import Store


@dataclass(frozen=True)
class SeenInput:
    """An input of some data, seen by a model.

    Attributes:
        model: Fingerprint of the model.
        data: Fingerprint of the data.
        index: Which input.
    """

    model: str
    data: str
    index: int


@dataclass(frozen=True)
class Answer:
    """The run that speaks for one analysis of an input; None if it was never asked."""

    analysis: Analysis
    run: Run | None


def spot_of(finding: StoredFinding, request: Request) -> SeenInput | None:
    """Which input failed; None if the finding is about none of the data's, or several."""
    if request.dataset is None or not request.models:
        return None
    index = number_of(finding, request)
    if index is None:
        return None
    # A finding names its model only where the run asked several.
    named = (one for one in request.models if one.name == finding.network)
    model = next(named, request.models[0])
    return SeenInput(model.fingerprint, request.dataset.fingerprint, index)


def place_of(finding: StoredFinding, request: Request) -> int:
    """The number of the failing input among those of its run."""
    one = request.indices is not None and len(request.indices) == 1
    if one or not finding.places:
        return 0
    return finding.places[0]


def answers(store: Store, spot: SeenInput) -> list[Answer]:
    """What every analysis of single inputs says of it, those that were asked first."""
    model = next((one for one in store.library.models if one.fingerprint == spot.model), None)
    found = []
    for known in store.analyses.values():
        if known.inputs != "one":
            continue
        asked = [one for one in store.history.runs if _of(one, known, spot)]
        run = next(iter(speakers(asked)), None)
        if run is not None or (model is not None and not known.refusal(model)):
            found.append(Answer(known, run))
    # The sort is stable: both halves keep the order of the rail.
    return sorted(found, key=lambda answer: answer.run is None)


def others(store: Store, finding: StoredFinding, spot: SeenInput) -> list[StoredFinding]:
    """What else was found on the same input and model, without repetitions, the worst first."""
    requests = {run.id: run.request for run in store.history.runs}
    return [
        group.lead
        for group in store.history.entries()
        if finding.id not in {one.id for one in group.members}
        and group.lead.run_id in requests
        and spot_of(group.lead, requests[group.lead.run_id]) == spot
    ]


def among(store: Store, finding: StoredFinding, request: Request) -> list[StoredFinding]:
    """Of a finding about several inputs: what was found on each of them alone, the worst first."""
    if len(finding.places) < 2:
        return []
    spots = {_spot(request, place) for place in finding.places}
    requests = {run.id: run.request for run in store.history.runs}
    return [
        group.lead
        for group in store.history.entries()
        if group.lead.run_id in requests
        and (spot := spot_of(group.lead, requests[group.lead.run_id])) is not None
        and spot in spots
    ]


def _spot(request: Request, place: int) -> SeenInput | None:
    if request.dataset is None or not request.models:
        return None
    chosen = request.indices
    if chosen is not None and place >= len(chosen):
        return None
    if chosen is None:
        index = place
    else:
        index = chosen[place]
    return SeenInput(request.models[0].fingerprint, request.dataset.fingerprint, index)


def _of(run: Run, known: Analysis, spot: SeenInput) -> bool:
    request = run.request
    return (
        request.analysis == known.name
        and request.dataset is not None
        and request.dataset.fingerprint == spot.data
        # A run over many inputs says nothing about this one alone.
        and request.indices == (spot.index,)
        and request.place_of(spot.model) is not None
    )


def beyond(title: str, said: Verdict) -> str:
    """What a verdict says beyond the title that stands above it."""
    rest = said.sentence
    # A whole phrase: “1 pixel turns 7 into 1” is no beginning of “… into 12”.
    if title and re.match(rf"{re.escape(title)}(?!\w)", rest):
        rest = rest.removeprefix(title).lstrip(" .,;")
        rest = rest[:1].upper() + rest[1:]
    return f"{rest} {said.scope}".strip()


def subject_of(store: Store, finding: StoredFinding | None, request: Request) -> str:
    """The failing model, if its run looked at several, and which models on which inputs."""
    words = store.subjects.words(request, by_name=False)
    if finding is None:
        return words
    if where := input_in_words(finding, request):
        words = _told_once(words, where)
    if len(request.models) > 1 and finding.network:
        return f"Fails: {finding.network}. Run of {words}"
    return words


def _told_once(words: str, where: str) -> str:
    """Which model on which input, with the name of the input, and the input told once.

    Args:
        words: ``net.pt2 on input 3 of small``.
        where: ``ant/07.png, input 3 of small``.
    """
    models, _, on = words.partition(" on ")
    if on and where.endswith(on):
        return f"{models} on {where}"
    return f"{where}. {words}"
