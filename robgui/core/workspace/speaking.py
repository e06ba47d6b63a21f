"""Speaking: which run speaks for an analysis where several asked it of the same models and inputs.

A run that was stopped, or took only a first look, refutes nothing that a whole run found, and a
whole run that found nothing refutes no failure that another has seen. Every place that tells of
one run of an analysis asks ``speakers``, every place that tells of one run of a method
``leading_run``, and every place that leads with one of several runs ``gravity``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from robgui.core.errors import RobguiError
from robgui.core.execution.likeness import differences, is_of_one_input
from robgui.core.execution.registry import analyses
from robgui.core.execution.run import RunState
from robgui.core.verdict import Status

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run
    from robgui.core.finding import StoredFinding
    from robgui.core.harm import Harm
    from robgui.core.verdict import Verdict

#: What a run says that has seen a failure itself.
_FAILURES = (Status.FAILS, Status.AT_RISK)


def speakers(runs: Iterable[Run], of: str = "") -> list[Run]:
    """One run for each analysis of the same models and inputs, what was asked last first.

    A whole run goes before one that was stopped, cut or a first look. Of whole runs the newest
    decides on the settings, and of those with its settings one that found a failure speaks. On a
    single input a failure is a failure however little was tried: there one that found it speaks,
    whole or not. Of an analysis of many inputs one run speaks for the data: a part of them that
    somebody chose says nothing of the rest, so it speaks only where nothing looked at all of them,
    the largest part first.

    Args:
        runs: Newest first; those without a result say nothing.
        of: The fingerprint of a model whose runs these are: what was asked of it together with
            other models is then the same question. Empty to keep those apart.
    """
    asked: dict[Hashable, list[Run]] = {}
    for run in runs:
        if run.has_result:
            asked.setdefault(_matter(run.request, of), []).append(run)
    return [_speaker(_farthest(own)) for own in asked.values()]


def leading_run(runs: Sequence[Run], weight: Callable[[Run], tuple[int, float]]) -> Run | None:
    """Which of the runs that speak for the analyses of one method speaks for the method.

    That of its first analysis that has one, of several the gravest. Another analysis takes its
    place only for a graver failure of its own, never for what it has from others.

    Args:
        runs: Runs that speak.
        weight: How grave a run is with all that is known; see ``gravity``.
    """
    order = {name: place for place, name in enumerate(analyses())}
    places = {run.id: order.get(run.request.analysis, len(order)) for run in runs}
    first = min(places.values(), default=0)
    lead = min((run for run in runs if places[run.id] == first), key=weight, default=None)
    if lead is None:
        return None
    graver = [run for run in runs if _has_seen(run) and weight(run)[0] < weight(lead)[0]]
    return min((lead, *graver), key=weight)


def subject_of(request: Request) -> tuple[Hashable, ...]:
    """Analysis, models and inputs; a first look at some of the inputs is one at all of them.

    Models after the first may be in any order.
    """
    names = [model.fingerprint for model in request.models]
    # The first model is the one in question, the others are compared with it.
    models = (*names[:1], *sorted(names[1:]))
    if request.dataset is None:
        data = None
    else:
        data = request.dataset.fingerprint
    # "Inspect everything" takes inputs spread over the data: how many depends on the budget, and
    # the question is about the data.
    if request.spread_over == "data":
        inputs = None
    else:
        inputs = request.indices
    return request.analysis, models, data, inputs


def is_chosen_part(request: Request) -> bool:
    """Whether it counts over inputs that somebody chose, such as with a filter, not over all."""
    known = analyses().get(request.analysis)
    if known is None or known.inputs != "many":
        return False
    if request.indices is None or request.spread_over == "data":
        return False
    # Before a single input was told as a choice, its words were empty, as those of all are.
    return bool(request.chosen) or len(request.indices) == 1


def is_whole(run: Run) -> bool:
    """Whether it ran to its end with more than the settings of a first look."""
    return has_ended(run) and not is_first_look(run.request)


def has_ended(run: Run) -> bool:
    """Whether it came to its end: it was neither stopped nor cut."""
    cut = run.verdict is not None and run.verdict.is_cut
    return run.state is RunState.DONE and not cut


def is_answered(runs: Iterable[Run], *asked: Request) -> bool:
    """Whether a run asked what one of these requests asks, of the same models, and came to its end.

    Another seed asks the same; a run that was stopped or cut has not answered.
    """
    ended = [run for run in runs if run.has_result and has_ended(run)]
    return any(
        subject_of(run.request) == subject_of(one)
        and bool(run.request.autocast) == bool(one.autocast)
        and not differences(run.request, one)
        for run in ended
        for one in asked
    )


def is_first_look(request: Request) -> bool:
    """Whether it asks for no more than “Inspect everything” does, and that is less than usual."""
    known = analyses().get(request.analysis)
    if known is None or known.first_look is None:
        return False
    if request.spread_over:
        return True
    short, usual = known.params.parse(dict(known.first_look)), known.params.parse({})
    if short == usual:
        return False
    try:
        asked = known.params.parse(dict(request.params))
    except RobguiError:  # Settings of another version of the program.
        return False
    # Only the settings that a first look reduces: with another target it is a first look still.
    return all(getattr(asked, name) == getattr(short, name) for name in known.first_look)


def severities(findings: Iterable[StoredFinding], harm: Harm) -> dict[str, float]:
    """How severe the worst finding of each run is, by the id of the run."""
    worst: dict[str, float] = {}
    for one in findings:
        worst[one.run_id] = max(worst.get(one.run_id, 0.0), harm.severity(one))
    return worst


def gravity(said: Verdict | None, severity: float) -> tuple[int, float]:
    """The order in which runs matter, the gravest first: by status, then by the worst finding."""
    if said is None:
        status = Status.UNKNOWN
    else:
        status = said.status
    return list(Status).index(status), -severity


def _matter(request: Request, of: str) -> Hashable:
    """What a run speaks about: many inputs are the data, whichever of them were chosen."""
    analysis, models, data, inputs = subject_of(request)
    known = analyses().get(request.analysis)
    if known is not None and known.inputs == "many":
        inputs = None
    return analysis, of or models, data, inputs


def _farthest(runs: Sequence[Run]) -> Sequence[Run]:
    """Those that looked at all of the inputs; without any, those with the largest part."""
    parts = [len(run.request.indices or ()) for run in runs if is_chosen_part(run.request)]
    if len(parts) < len(runs):
        return [run for run in runs if not is_chosen_part(run.request)]
    return [run for run in runs if len(run.request.indices or ()) == max(parts)]


def _speaker(runs: Sequence[Run]) -> Run:
    whole = [run for run in runs if is_whole(run)]
    if not whole:
        # Nothing whole to hold on to: what has seen a failure speaks, else the newest.
        return min(runs, key=_found)
    asked = whole[0].request
    rivals = [run for run in whole if not differences(asked, run.request)]
    if is_of_one_input(asked):
        # One failing example is a proof that needs no complete run.
        rivals += [run for run in runs if _has_failed(run) and _tries_the_same(asked, run.request)]
    return min(rivals, key=_found)


def _has_failed(run: Run) -> bool:
    return run.verdict is not None and run.verdict.status is Status.FAILS


def _has_seen(run: Run) -> bool:
    return run.verdict is not None and run.verdict.status in _FAILURES


def _tries_the_same(one: Request, other: Request) -> bool:
    """Whether two requests differ at most in how much is tried, which a first look reduces."""
    known = analyses().get(one.analysis)
    effort = () if known is None else tuple(known.first_look or ())
    return not differences(one, other, effort)


def _found(run: Run) -> int:
    """Failures first; of equals, ``min`` takes the newest."""
    if run.verdict is None or run.verdict.status not in _FAILURES:
        return len(_FAILURES)
    return _FAILURES.index(run.verdict.status)
