"""What a semantic map says in words."""

from __future__ import annotations

from collections.abc import Sequence

from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.maps.survival import Survival, survival
from robgui.analyses.semantic.params import IMAGE
from robgui.analyses.semantic.result import MapResult
from robgui.analyses.semantic.words import (
    axes_words,
    border_words,
    place_words,
    range_words,
    sentence_case,
    setting_words,
    with_unit,
    worst_status,
)
from robgui.core.text.words import count, number, percent
from robgui.core.verdict import Quantity, Status, Verdict

#: Most networks named one by one in a sentence.
_NAMED = 3


def map_verdict(result: MapResult, params: MapParams) -> Verdict:
    """In how much of the range the class survives, for every network, and the worst trap."""
    if (result.target < 0).any():
        sentence = f"The class that {_shapes(result)} is taken for is not known yet."
        return Verdict(Status.UNKNOWN, sentence, scope=_scope(result))
    each = [survival(result, network) for network in range(len(result.networks))]
    own = tuple(_of_network(result, params, m, found) for m, found in enumerate(each))
    if len(own) == 1:
        return own[0]
    return Verdict(
        status=worst_status(one.status for one in own),
        sentence=_all_networks(result, each),
        number=_worst_number(result, each),
        scope=_scope(result),
        because=(*_evidence_of_all(result, params, each), *_border(result), _cost(result)),
        models=own,
        reach=f"over {range_words(result.axes)}",
    )


def _of_network(result: MapResult, params: MapParams, network: int, found: Survival) -> Verdict:
    share = found.share
    if found.known:
        text = percent(share)
    else:
        text = "not known yet"
    title = f"Share of {axes_words(result.axes)} where the class survives"
    return Verdict(
        status=_status(found, params),
        sentence=_sentence(result, network, found),
        number=Quantity(title, share, better="high", text=text),
        scope=_scope(result, found),
        because=(*_evidence(result, params, found), *_border(result), _cost(result)),
        reach=f"over {range_words(result.axes)}",
    )


def _status(found: Survival, params: MapParams) -> Status:
    """A lost class outweighs everything; "holds" needs every pose computed and none lost."""
    if not found.known:
        return Status.UNKNOWN
    # A trap fails however large the rest: the class is lost where the network is surest.
    if found.lost_traps or found.share < params.enough:
        return Status.FAILS
    if found.kept < found.known or found.traps:
        return Status.AT_RISK
    if found.complete:
        return Status.HOLDS
    return Status.UNKNOWN


def _sentence(result: MapResult, network: int, found: Survival) -> str:
    name, axes = result.networks[network], axes_words(result.axes)
    if not found.known:
        return f"{name} has not looked at any pose yet."
    if found.kept == found.known and found.complete:
        return f"{name} keeps {_classes(result)} at all {count(found.poses, 'pose')} of {axes}."
    if found.kept == found.known:
        return f"So far {name} keeps {_classes(result)} at every pose of {axes} that is computed."
    if found.complete:
        so_far = ""
    else:
        so_far = "So far "
    rival = f", most often to “{result.labels[found.rivals[0]]}”"
    kept = f"keeps {_classes(result)} at {percent(found.share)} of the poses of {axes}"
    lost = f"{so_far}{name} {kept} and loses it at the others{rival}"
    if not found.lost_traps:
        return f"{lost}."
    where = place_words(result.axes, result.traps.at[found.lost_traps[0]])
    return f"{lost}; at {where} it fails right inside an area where it is sure."


def _all_networks(result: MapResult, each: list[Survival]) -> str:
    """The networks in request order, which puts the one on show first."""
    shares = [percent(found.share) if found.known else "an unknown share" for found in each]
    if result.computed.all():
        begin = "Of"
    else:
        begin = "So far, of"
    keeps = f"{result.networks[0]} keeps {_classes(result)} at {shares[0]}"
    first = f"{begin} the poses of {axes_words(result.axes)}, {keeps}"
    if len(each) <= _NAMED:
        others = zip(result.networks[1:], shares[1:], strict=True)
        return f"{first}, {', '.join(f'{name} at {share}' for name, share in others)}."
    known = [m for m in range(1, len(each)) if each[m].known] or [1]
    low = min(known, key=lambda m: each[m].share)
    high = max(known, key=lambda m: each[m].share)
    span = f"{shares[low]} ({result.networks[low]}) to {shares[high]} ({result.networks[high]})"
    return f"{first}, the other {len(each) - 1} at {span}."


def _worst_number(result: MapResult, each: list[Survival]) -> Quantity:
    title = f"Share of {axes_words(result.axes)} where the class survives, worst network"
    known = [found.share for found in each if found.known]
    share = min(known, default=float("nan"))
    return Quantity(title, share, better="high", text=percent(share) if known else "not known yet")


def _evidence_of_all(result: MapResult, params: MapParams, each: list[Survival]) -> tuple[str, ...]:
    """What is known against each network; the traps of all together come first."""
    traps = _trap_words(result, params, range(len(result.traps.score)))
    lost = [_lost_words(result, params, found) for found in each]
    named = zip(result.networks, lost, strict=True)
    told = tuple(f"{name}: {words}" for name, words in named if words)
    if len(result.traps.score):
        return (*traps, *told)
    return (*told, *traps)


def _evidence(result: MapResult, params: MapParams, found: Survival) -> tuple[str, ...]:
    """Evidence against the network first, then evidence for it."""
    traps = _trap_words(result, params, found.traps)
    lost = sentence_case(_lost_words(result, params, found))
    if found.traps:
        lines = [*traps, lost]
    else:
        lines = [lost, *traps]
    if found.complete and not lost:
        lines.append(_grid_words(result))
    if found.known:
        lines.append(f"The mean score of the class is {number(found.mean)}.")
    return tuple(line for line in lines if line)


def _lost_words(result: MapResult, params: MapParams, found: Survival) -> str:
    if found.nearest is None:
        return ""
    lost, poses = found.known - found.kept, "pose" if found.complete else "computed pose"
    classes = ", ".join(f"“{result.labels[c]}”" for c in found.rivals[:3])
    return (
        f"lost at {lost:,} of {count(found.known, poses)}, to {classes}; "
        f"nearest to the usual pose at {place_words(result.axes, found.nearest)}. "
        f"Asked: kept at {setting_words(params.enough)}."
    )


def _grid_words(result: MapResult) -> str:
    """What a map without a failure rests on, and what it leaves open."""
    steps = []
    for axis, values in zip(result.axes, (result.x, result.y), strict=False):
        if len(values) > 1:
            step = float(values[1] - values[0])
        else:
            step = axis.high - axis.low
        steps.append(with_unit(step, axis.unit))
    kept = f"Every pose of a grid with steps of {' × '.join(steps)} keeps the class"
    return f"{kept}; between its points nothing was looked at."


def _trap_words(result: MapResult, params: MapParams, places: Sequence[int]) -> tuple[str, ...]:
    # Until then a lake may still turn out to be open.
    if not result.computed.all():
        return ()
    floor, wall = number(params.trap_floor), number(params.trap_wall)
    if not places:
        return (f"No trap: no spot below {floor} inside an area above {wall}.",)
    traps, worst = result.traps, places[0]
    if len(places) > 1:
        several = f"{len(places)} traps, the worst"
    else:
        several = "One trap"
    if traps.top1[worst] >= 0:
        seen = f", seen as “{result.labels[traps.top1[worst]]}”"
    else:
        seen = ""
    where = place_words(result.axes, traps.at[worst])
    around = f"those around have {number(traps.wall[worst])}"
    scores = f"score {number(traps.score[worst])} where {around}"
    return (f"{several} at {where}: {scores}{seen}.",)


def _scope(result: MapResult, found: Survival | None = None) -> str:
    """Which class of which shapes over which ranges, and how much of that is computed."""
    what = sentence_case(f"{_classes(result)} of {_shapes(result)} over {range_words(result.axes)}")
    done, poses = int(result.computed.sum()), result.computed.size
    if found is not None:
        done, poses = found.known, found.poses
    if done == poses:
        return f"{what}; all {count(poses, 'pose')} computed."
    computed = f"{percent(done / poses)} of {count(poses, 'pose')} computed"
    return f"{what}; {computed}, the rest shows coarser ones."


def _border(result: MapResult) -> tuple[str, ...]:
    words = border_words(result.axes, IMAGE in result.specs)
    if words:
        return (words,)
    return ()


def _cost(result: MapResult) -> str:
    return f"{count(result.model_calls, 'model call')}."


def _shapes(result: MapResult) -> str:
    if len(result.shapes) == 1:
        return result.shapes[0]
    return f"{len(result.shapes)} shapes"


def _classes(result: MapResult) -> str:
    names = list(dict.fromkeys(result.labels[c] for c in result.target if c >= 0))
    if len(names) == 1:
        return f"“{names[0]}”"
    return "the class"
