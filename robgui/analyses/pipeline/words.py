"""What an audit says: whether a usual way of preparing pictures changes the answers."""

from __future__ import annotations

import numpy as np

from robgui.analyses.pipeline.params import PipelineParams
from robgui.analyses.pipeline.result import PipelineResult
from robgui.core.finding import Finding
from robgui.core.finding_pair import picture_of_two
from robgui.core.intervals import chance_of_heads
from robgui.core.offer import Offer
from robgui.core.text.words import count, percent, sample
from robgui.core.verdict import Quantity, Status, Verdict

#: A better accuracy under another preparation is believed if chance gives it this rarely.
_SURE = 0.01


def verdict(result: PipelineResult, params: PipelineParams) -> Verdict:
    """Another preparation that is right more often comes before answers that merely change."""
    scope = _scope(result)
    if not result.done:
        return Verdict(Status.UNKNOWN, "No picture was prepared yet.", scope=scope)
    quantity = _quantity(result)
    limit = (
        f"Up to {percent(params.most_changes)} of changed answers count as holding; other colours"
        " are shown but decide nothing, since they take information away."
    )
    better = better_way(result)
    if better is not None:
        return Verdict(
            Status.FAILS, _fed_wrongly(result, better), quantity, scope, (_worst(result), limit)
        )
    low, high = (bound[result.judged] for bound in result.change_bounds())
    # Row 0 is the model's own way. At risk, not failing: without labels either answer may be right.
    if float(low[1:].max(initial=0.0)) > params.most_changes:
        return Verdict(Status.AT_RISK, _worst(result), quantity, scope, (limit,))
    # ``initial`` for a model with no other way to try.
    if result.complete and float(high[1:].max(initial=0.0)) <= params.most_changes:
        sentence = (
            f"None of {_kept(result)} changes more than {percent(params.most_changes)} of the"
            " answers, 95 % sure."
        )
        reach = f"with at most {percent(params.most_changes)} of the answers changed"
        return Verdict(
            Status.HOLDS, sentence, quantity, scope, (_worst(result), limit), reach=reach
        )
    few = f"With {count(result.done, 'picture')} a larger share cannot be excluded."
    return Verdict(Status.UNKNOWN, _worst(result), quantity, scope, (few, limit))


def better_way(result: PipelineResult) -> int | None:
    """The way that is right more often than the model's own beyond chance; None if there is none.

    McNemar's exact test on the pictures that only one of the two gets right, divided by the number
    of ways compared.
    """
    own = (result.predicted[0] == result.truth)[result.known]
    best: tuple[int, int] | None = None
    for number in range(1, len(result.ways)):
        other = (result.predicted[number] == result.truth)[result.known]
        gained, lost = int((other & ~own).sum()), int((own & ~other).sum())
        if gained <= lost:
            continue
        # One-sided: only a way that is better shows that the model is fed wrongly.
        chance = chance_of_heads(gained, gained + lost)
        if chance * (len(result.ways) - 1) < _SURE and (best is None or gained - lost > best[0]):
            best = gained - lost, number
    if best is None:
        return None
    return best[1]


def _fed_wrongly(result: PipelineResult, way: int) -> str:
    known = int(result.known.sum())
    return (
        f"Prepared “{result.ways[way]}”, the model is right on {int(result.right[way]):,} of"
        f" {count(known, 'picture')}, as it is set on {int(result.right[0]):,}: it is probably fed"
        " wrongly."
    )


def worst_way(result: PipelineResult) -> int:
    """The colour-preserving way that changes most answers; 0 if none changes any."""
    return int(np.where(result.judged, result.changes, 0).argmax())


def _kept(result: PipelineResult) -> str:
    """How many ways were tried that keep the colours, beside the model's own."""
    ways = int(result.judged.sum()) - 1
    return f"{count(ways, 'way')} of preparing that {'keeps' if ways == 1 else 'keep'} the colours"


def _worst(result: PipelineResult) -> str:
    way = worst_way(result)
    if way == 0:
        pictures = count(result.done, "picture")
        return f"No answer to {pictures} changes under any of {_kept(result)}."
    if int(result.changes[way]) == 1:
        verb = "gets"
    else:
        verb = "get"
    return (
        f"Of the ways that keep the colours, “{result.ways[way]}” changes most:"
        f" {int(result.changes[way]):,} of {count(result.done, 'picture')} {verb} another answer."
    )


def _quantity(result: PipelineResult) -> Quantity:
    way = worst_way(result)
    low, high = result.change_bounds()
    share = float(result.changes[way] / result.done)
    return Quantity(
        "Largest share of changed answers, colours kept",
        share,
        low=float(low[way]),
        high=float(high[way]),
        better="low",
        text=f"{percent(share)} ({percent(float(low[way]))} to {percent(float(high[way]))})",
    )


def _scope(result: PipelineResult) -> str:
    pictures = sample(result.done, result.total, result.available, "picture", result.dataset)
    if result.resized:
        size = ""
    else:
        size = " They have the model's size, so no size was tried."
    return f"{pictures}, prepared in {count(len(result.ways), 'way')}.{size}"


def coverage(result: PipelineResult) -> tuple[int, int]:
    """How many inputs were looked at, and of how many."""
    return result.done, result.available


def findings(result: PipelineResult, params: PipelineParams) -> list[Finding]:
    """The pictures whose answer changes most surely.

    Changes by other colours alone are left out.
    """
    found = []
    for example in result.examples:
        if not result.judged[example.way]:
            continue
        column = int(np.flatnonzero(result.places == example.place)[0])
        before = result.labels[int(result.predicted[0, column])]
        after = result.labels[int(result.predicted[example.way, column])]
        surety = float(result.confidence[example.way, column])
        detail = {
            "class": before,
            "other_class": after,
            "place": example.place,
            "input_name": example.name,
            "way": result.ways[example.way],
            "confidence": surety,
        }
        title = f"{example.name}: “{before}” becomes “{after}” when {result.ways[example.way]}"
        pair = picture_of_two(example.before, example.after)
        # Half, as either answer may be the right one.
        found.append(Finding("preparation", title, surety / 2, detail, pair, example.input))
    return found


def offers(result: PipelineResult, params: PipelineParams) -> tuple[Offer, ...]:
    """The pictures whose answer changes."""
    if not result.examples:
        return ()
    names = tuple(example.name for example in result.examples)
    places = tuple(example.place for example in result.examples)
    return (Offer("Pictures whose answer changes", names, places=places),)
