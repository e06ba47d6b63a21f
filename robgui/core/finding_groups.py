"""Groups like findings: one entry shows the worst of them and how many there are.

A group counts as one finding wherever a number of findings is shown (``counted``), so that the
overview, the wall, the story and the report name the same number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robgui.core.text.words import count

if TYPE_CHECKING:
    from robgui.core.execution.request import Reference, Request
    from robgui.core.finding import Finding, StoredFinding
    from robgui.core.harm import Harm


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of one kind on one input and model that name the same confusion.

    Attributes:
        lead: The one to show: starred, else with a note, else the worst.
        members: All of them, including the lead.
        severity: Of the worst, weighted by its harm.
    """

    lead: StoredFinding
    members: tuple[StoredFinding, ...]
    severity: float


def grouped(
    findings: Iterable[StoredFinding], requests: Mapping[str, Request], harm: Harm
) -> list[Group]:
    """The findings without repetitions, the worst first.

    Args:
        findings: All of them.
        requests: The request of each run by its id; gives model and input.
        harm: How bad each confusion is.
    """
    alike: dict[object, list[StoredFinding]] = {}
    for finding in findings:
        alike.setdefault(_mark(finding, requests.get(finding.run_id)), []).append(finding)
    groups = [group for members in alike.values() for group in _groups(members, harm)]
    return sorted(groups, key=lambda group: (-group.severity, group.lead.id))


def counted(groups: Sequence[Group], passing: Sequence[Group] | None = None) -> str:
    """How many findings there are: ``12 of 34 findings (37 with those alike)``.

    Args:
        groups: All of them; a group is one finding.
        passing: Those that pass a filter; None without a filter.
    """
    words = count(len(groups), "finding")
    if passing is not None and len(passing) < len(groups):
        words = f"{len(passing):,} of {words}"
        groups = passing
    members = sum(len(group.members) for group in groups)
    if members > len(groups):
        words += f" ({members:,} with those alike)"
    return words


def failing_models(finding: StoredFinding, request: Request) -> tuple[Reference, ...]:
    """The models of a run that a finding speaks of: the one it names, else all."""
    named = tuple(model for model in request.models if model.name == finding.network)
    return named or request.models


def _groups(members: list[StoredFinding], harm: Harm) -> list[Group]:
    """One group; a starred or annotated finding always gets an entry of its own."""
    # What the user has marked leads its group, even where another is worse.
    ranked = sorted(
        members, key=lambda one: (not one.starred, not one.note, -harm.severity(one), one.id)
    )
    own = [one for one in ranked[1:] if one.starred or one.note]
    rest = tuple(one for one in ranked if one not in own)
    worst = max(harm.severity(one) for one in rest)
    return [
        Group(ranked[0], rest, worst),
        *(Group(one, (one,), harm.severity(one)) for one in own),
    ]


def _mark(finding: StoredFinding, request: Request | None) -> object:
    """What like findings have in common."""
    if request is None:
        # Without its request the subject is unknown, so the finding stands alone.
        return finding.id
    models = tuple(model.fingerprint for model in request.models)
    if request.dataset is None:
        data = None
    else:
        data = request.dataset.fingerprint
    # In a run of one input the place is always 0 and tells nothing that the index does not.
    if request.indices is None or len(request.indices) != 1:
        places = finding.places
    else:
        places = ()
    if not places:
        inputs = request.indices
    else:
        inputs = _inputs(request, places)
    # Findings that name no confusion are alike only if they say the same.
    what = finding.confusion or finding.title
    return models, finding.network, data, inputs, finding.kind, what, _scene(finding)


def _inputs(request: Request, places: tuple[int, ...]) -> tuple[int, ...]:
    known = request.indices
    if known is None:
        return places
    return tuple(known[at] for at in places if at < len(known))


def _scene(finding: StoredFinding) -> str:
    """What a scene shows, if there is one: two shapes are two inputs."""
    return str(finding.detail.get("shape") or "")


def number_of(finding: Finding, request: Request) -> int | None:
    """The number in the data of the input that failed.

    None if the finding is about none of them, or several.
    """
    indices = request.indices
    if request.dataset is None:
        return None
    if indices is not None and len(indices) == 1:
        return indices[0]
    if len(finding.places) != 1:
        return None
    place = finding.places[0]
    if indices is None:
        return place
    return indices[place] if place < len(indices) else None


def input_in_words(finding: Finding, request: Request) -> str:
    """``horse/0381.png, input 381 of tests``; empty for a finding about no single input."""
    number = number_of(finding, request)
    if number is None or request.dataset is None:
        return finding.input_name
    where = f"input {number:,} of {request.dataset.name}"
    return f"{finding.input_name}, {where}" if finding.input_name else where
