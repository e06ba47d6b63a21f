"""What corruptions say: which of those the model must survive costs most."""

from __future__ import annotations

import numpy as np

from robgui.analyses.corruptions.params import CorruptionsParams
from robgui.analyses.corruptions.result import CorruptionsResult, worst_cell
from robgui.core.finding import Finding
from robgui.core.finding_pair import picture_of_two
from robgui.core.offer import Offer
from robgui.core.text.words import count, number, percent, rough_percent, sample
from robgui.core.verdict import Quantity, Status, Verdict, of_several

#: The widest 95 % interval that is shown beside a share.
_WIDEST = 0.8
# Without it a model that guesses would "hold": nothing can lower its accuracy.
_NO_ROOM = (
    "On clean pictures the model may be right hardly more often than by chance, so its"
    " accuracy has no room to fall."
)
#: Severity of a right answer that the weakest corruption turns; the strongest is worth a fifth.
_TURNED = 0.6


def verdict(result: CorruptionsResult, params: CorruptionsParams) -> Verdict:
    """What is said of the first model, and of each where there are several."""
    if not result.done:
        return Verdict(Status.UNKNOWN, "No picture was corrupted yet.", scope=_scope(result))
    each = tuple(_of(result, params, at) for at in range(len(result.networks)))
    if len(each) == 1:
        return each[0]
    return of_several(result.networks, each, _most_often(result), _scope(result))


def _most_often(result: CorruptionsResult) -> str:
    """Which model is right most often, and whether that is more than chance.

    A sign test on the pictures that the two best models get right at different rates.
    """
    from scipy.stats import binomtest

    each = result.right.mean((1, 2))
    first, second = np.argsort(-each.mean(1), kind="stable")[:2]
    # Pictures equally often right say nothing about the order and are left out.
    more, less = int((each[first] > each[second]).sum()), int((each[first] < each[second]).sum())
    shares = percent(float(each[first].mean())), percent(float(each[second].mean()))
    if not more + less:
        return f"Over all corruptions the two best are right equally often: {shares[0]}."
    # Times the rivals that the best was picked over.
    chance = binomtest(max(more, less), more + less).pvalue * (len(each) - 1)
    if chance < 0.05:
        beyond = "beyond chance"
    else:
        beyond = "which may be chance"
    return (
        f"Over all corruptions “{result.networks[first]}” is right most often: {shares[0]}, next"
        f" “{result.networks[second]}”: {shares[1]}, {beyond}."
    )


def _of(result: CorruptionsResult, params: CorruptionsParams, network: int) -> Verdict:
    fall, low, high = result.falls(network, params.judged)
    limit = (
        f"Corruptions up to severity {params.judged} may cost {rough_percent(params.most_fall)} of"
        " right answers; stronger ones are shown but decide nothing."
    )
    said = (_mean_words(result, network), *_relative(result, network), limit)
    quantity, scope = _quantity(result, network), _scope(result)
    sentence = _worst(result, network, params.judged if fall.size else 5)
    if not fall.size:
        return Verdict(Status.UNKNOWN, sentence, quantity, scope, said)
    # The bounds hold for all cells jointly, so the largest may be picked.
    if float(low.max()) > params.most_fall:
        return Verdict(Status.FAILS, sentence, quantity, scope, said)
    if float(fall.max()) > params.most_fall:
        return Verdict(Status.AT_RISK, sentence, quantity, scope, said)
    # A model that guesses loses nothing: it must first stand above chance by the fall allowed.
    if result.clean_bounds(network)[0] <= params.most_fall + 1 / len(result.classes[network]):
        return Verdict(Status.UNKNOWN, sentence, quantity, scope, (_NO_ROOM, *said))
    if result.complete and float(high.max()) <= params.most_fall:
        reach = f"up to severity {params.judged}"
        return Verdict(Status.HOLDS, sentence, quantity, scope, said, reach=reach)
    few = f"With {count(result.done, 'picture')} a larger fall cannot be excluded."
    return Verdict(Status.UNKNOWN, sentence, quantity, scope, (few, *said))


def _worst(result: CorruptionsResult, network: int, most: int) -> str:
    """The corruption that costs most, of those up to a severity."""
    worst = worst_cell(result, network, most)
    clean, pictures = percent(result.clean_accuracy(network)), count(result.done, "picture")
    if worst is None:
        tried = [str(one) for one in result.severities if one <= most]
        which = " or ".join((", ".join(tried[:-1]), tried[-1])) if len(tried) > 1 else tried[0]
        return (
            f"No corruption that was tried at severity {which} lowers the accuracy of {clean} on"
            f" {pictures}."
        )
    kind, at = worst
    now = percent(float(result.accuracy(network)[kind, at]))
    return (
        f"{result.kinds[kind][0].upper()}{result.kinds[kind][1:]} at severity"
        f" {result.severities[at]} lowers the accuracy on {pictures} from {clean} to {now}."
    )


def _mean_words(result: CorruptionsResult, network: int) -> str:
    mean, _, _ = result.mean_accuracy(network)
    cells = len(result.kinds) * len(result.severities)
    return (
        f"Over {count(cells, 'corruption')} of different kind and severity it is right on"
        f" {percent(mean)}, on clean pictures on {percent(result.clean_accuracy(network))}."
    )


def _relative(result: CorruptionsResult, network: int) -> tuple[str, ...]:
    error = result.relative_error(network)
    if not network or not np.isfinite(error):
        return ()
    return (f"Its mean corruption error is {number(error)} times that of {result.networks[0]}.",)


def _quantity(result: CorruptionsResult, network: int) -> Quantity:
    mean, low, high = result.mean_accuracy(network)
    name, few = "Accuracy over all corruptions", count(result.done, "picture")
    # An interval that leaves nearly everything open is no number for a headline.
    if not np.isfinite(low) or high - low > _WIDEST:
        return Quantity(name, mean, better="high", text=f"{percent(mean)} of only {few}")
    words = f"{percent(mean)} ({percent(low)} to {percent(high)})"
    return Quantity(name, mean, low=low, high=high, better="high", text=words)


def _scope(result: CorruptionsResult) -> str:
    known, source = result.labelled, result.dataset
    pictures = sample(result.done, result.total, known, "picture", source, "with a label")
    return f"{pictures}, {count(len(result.kinds), 'kind')} of corruption."


def coverage(result: CorruptionsResult) -> tuple[int, int]:
    """How many inputs were looked at, and of how many."""
    return result.done, result.labelled


def findings(result: CorruptionsResult, params: CorruptionsParams) -> list[Finding]:
    """Right answers that weak corruptions turn.

    Corruptions beyond the required severity decide nothing.
    """
    found = []
    for one in result.examples:
        if one.severity > params.judged:
            continue
        names = result.classes[one.network]
        taken, given = names[one.truth], names[one.predicted]
        kind = result.kinds[one.kind]
        title = f"{one.name}: “{taken}” becomes “{given}” under {kind}, severity {one.severity}"
        detail = {
            "class": taken,
            "other_class": given,
            "place": one.place,
            "input_name": one.name,
            "corruption": kind,
            "strength": one.severity,
            "confidence": one.confidence,
            "network": result.networks[one.network] if len(result.networks) > 1 else "",
        }
        # Severity 1 counts in full, 5 a fifth.
        severity = _TURNED * (6 - one.severity) / 5 * one.confidence
        pair = picture_of_two(one.before, one.after)
        found.append(Finding("corruption", title, severity, detail, pair, one.input))
    return found


def offers(result: CorruptionsResult, params: CorruptionsParams) -> tuple[Offer, ...]:
    """The corrupted pictures that the first model takes for something else."""
    shown = [one for one in result.examples if one.network == 0]
    if not shown:
        return ()
    return (
        Offer(
            "Corrupted pictures that are wrong",
            tuple(f"{one.name} ({result.kinds[one.kind]})" for one in shown),
            inputs=np.stack([one.input for one in shown]),
            places=tuple(one.place for one in shown),
            labels=tuple(one.truth for one in shown),
        ),
    )
