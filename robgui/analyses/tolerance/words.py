"""What tolerance says: what breaks, what is proven, and what lies between."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from robgui.analyses.tolerance.params import ToleranceParams
from robgui.analyses.tolerance.result import RARE, NoiseTolerance, ToleranceResult
from robgui.core.finding import Finding
from robgui.core.finding_pair import picture_of_two
from robgui.core.intervals import chance_of_heads
from robgui.core.offer import Offer
from robgui.core.text.words import count, number, percent, sample
from robgui.core.verdict import Quantity, Status, Verdict, of_several

#: A change within this multiple of the required tolerance is a risk.
_RISK = 2.0
#: Severity of an input that an invisible change turns.
_WORST = 0.8
_NOTHING_YET = "No input has an answer yet."


def verdict(result: ToleranceResult, params: ToleranceParams) -> Verdict:
    """What is said of the only model, or of each where there are several."""
    each = tuple(_of(result, params, at) for at in range(len(result.networks)))
    if len(each) == 1:
        return each[0]
    if not result.done:
        return replace(each[0], models=each)
    return of_several(result.networks, each, _order(result), _scope(result))


def _of(result: ToleranceResult, params: ToleranceParams, network: int) -> Verdict:
    if not result.done:
        return Verdict(Status.UNKNOWN, _NOTHING_YET, None, _scope(result))
    broken, proven = result.broken[network], result.proven[network]
    failing, kept = int((broken <= params.hold).sum()), int((proven >= params.hold).sum())
    said, quantity = _because(result, params, network), _quantity(result, params, network)
    inputs = count(result.done, "input")
    if failing:
        sentence = _failing_words(result, params, network)
        return Verdict(Status.FAILS, sentence, quantity, _scope(result), said)
    if kept == result.done:
        sentence = (
            f"No change of the values by up to {number(params.hold)} turns any of {inputs}: proven."
        )
        if result.complete:
            status = Status.HOLDS
        else:
            status = Status.UNKNOWN
        reach = f"against any change of the values by up to {number(params.hold)}"
        return Verdict(status, sentence, quantity, _scope(result), said, reach=reach)
    sentence = (
        f"No attack up to {number(params.hold)} is known for {inputs}; {kept:,} of them are proven."
    )
    if result.no_attack[network]:
        sentence = _not_attacked(result, network, kept)
    # A change just beyond what must be taken: the attack need not have found the nearest one.
    near = bool((broken <= _RISK * params.hold).any())
    if near:
        status = Status.AT_RISK
    else:
        status = Status.UNKNOWN
    return Verdict(status, sentence, quantity, _scope(result), said)


def _not_attacked(result: ToleranceResult, network: int, kept: int) -> str:
    """What is known of inputs that nobody could attack: what is proven, and perhaps noise."""
    inputs = count(result.done, "input")
    tried = "Without gradients no attack was tried"
    if kept:
        return f"{tried}; proven: {kept:,} of {inputs}."
    if result.noise:
        return f"{tried}, and there is no proof: only random noise was tried."
    if result.proven[network].any():
        return f"{tried}, and no proof reaches the change that {inputs} must take."
    return f"{tried}, and there is no proof: nothing is known about {inputs}."


def _failing_words(result: ToleranceResult, params: ToleranceParams, network: int) -> str:
    """What small changes turn, apart from what is wrong without any."""
    wrong = int(result.wrong[network].sum())
    turned = int((result.broken[network] <= params.hold).sum()) - wrong
    inputs, size = count(result.done, "input"), number(params.hold)
    if not turned:
        rest = f"no change of the values by up to {size} is known that turns another"
        if result.no_attack[network]:
            rest = "the others were not attacked, for want of gradients"
        return f"Wrong as they are: {wrong:,} of {inputs}; {rest}."
    if turned == 1:
        verb = "changes"
    else:
        verb = "change"
    if wrong:
        also = f"; wrong as they are: {wrong:,} more"
    else:
        also = ""
    return f"{turned:,} of {inputs} {verb} class when values change by at most {size}{also}."


def _because(result: ToleranceResult, params: ToleranceParams, network: int) -> tuple[str, ...]:
    said = []
    right = ~result.wrong[network]
    sizes = result.broken[network][right]
    finite = sizes[np.isfinite(sizes)]
    if len(finite):
        said.append(
            f"An attack turns {len(finite):,} of {count(len(sizes), 'right answer')}; the median of"
            f" these changes is {number(float(np.median(finite)))}."
        )
    if result.noise:
        said.append(_noise_words(result.noise[network]))
    lacks = (result.no_attack[network], result.no_proof[network])
    said += [_lack_words(lack, result.networks[network]) for lack in lacks if lack]
    if result.blank(network) and result.done > 1 and params.samples:
        said.append("Choose a single input to try random noise on it, which needs no gradients.")
    said.append(
        f"An input must take changes of every value by {number(params.hold)}; where that is not"
        f" proven, a change of up to {number(_RISK * params.hold)} is a risk."
    )
    return tuple(said)


def _lack_words(lack: str, model: str) -> str:
    """Why something is lacking, as a sentence; the name of a model stays as it is written."""
    if not lack.startswith(model):
        lack = f"{lack[0].upper()}{lack[1:]}"
    return f"{lack.rstrip('.')}."


def _noise_words(noise: NoiseTolerance) -> str:
    """What random noise does to the only input."""
    rare, most = noise.fails(RARE)
    words = "how large noise must be to fail 1 time in 10,000 is not known"
    if rare > 0:
        words = f"of size {number(rare)} it fails more rarely than 1 time in 10,000, 95 % sure"
    if np.isfinite(most):
        words += f"; of size {number(most)} it fails more often"
    words += "; other sizes may do otherwise"
    if noise.validated:
        sure = f"of size {number(noise.validated)} fails more rarely than 1e-6, 99 % sure"
        return f"Random noise {sure}; {words}."
    return f"Random noise: {words}."


def _quantity(result: ToleranceResult, params: ToleranceParams, network: int) -> Quantity:
    name = f"Inputs that take a change of {number(params.hold)}"
    if result.blank(network):
        return Quantity(name, math.nan, better="high", text="not known")
    size = np.array([params.hold])
    low = float(result.kept_at_least(network, size)[0])
    high = float(result.kept_at_most(network, size)[0])
    if low == high:
        shown = percent(low)
    else:
        shown = f"{percent(low)} to {percent(high)}"
    return Quantity(
        name,
        (low + high) / 2,
        # Two doubts add up: what proof and attack leave open, and which inputs were chosen.
        low=max(0.0, low - result.margin()),
        high=min(1.0, high + result.margin()),
        better="high",
        text=f"{shown} of the inputs",
    )


def _order(result: ToleranceResult) -> str:
    """Which of the first two models takes more, on the inputs where that is certain."""
    first, second = result.networks[:2]
    more, less = result.sure_order(0, 1)
    if more + less == 0:
        return f"On no input is it certain which of “{first}” and “{second}” takes more change."
    if more >= less:
        winner, loser, wins = (first, second, more)
    else:
        winner, loser, wins = (second, first, less)
    chance = 2 * chance_of_heads(wins, more + less)  # Either could have won.
    if chance < 0.05:
        beyond = "beyond chance"
    else:
        beyond = "which may be chance"
    return (
        f"“{winner}” takes more than “{loser}” on {wins:,} of the"
        f" {count(more + less, 'input')} where the brackets tell, {beyond}."
    )


def _scope(result: ToleranceResult) -> str:
    inputs = sample(result.done, result.total, result.available, "input", result.dataset)
    return f"{inputs}; every value may change by the same size."


def coverage(result: ToleranceResult) -> tuple[int, int]:
    """How many inputs were looked at, and of how many."""
    return result.done, result.available


def findings(result: ToleranceResult, params: ToleranceParams) -> list[Finding]:
    """The inputs that small changes turn.

    Changes too large to put the model at risk are no failure.
    """
    found = []
    for one in result.examples:
        if one.size > _RISK * params.hold:
            continue
        names = result.labels[one.network]
        before, after = names[one.before], names[one.after]
        title = f"{one.name}: “{before}” becomes “{after}” when values change by {number(one.size)}"
        detail = {
            "class": before,
            "other_class": after,
            "place": int(result.places[one.row]),
            "input_name": one.name,
            "size": one.size,
            "network": result.networks[one.network] if len(result.networks) > 1 else "",
        }
        severity = _WORST * max(0.0, 1 - one.size / params.largest)
        pair = picture_of_two(one.picture, one.changed)
        found.append(Finding("small change", title, severity, detail, pair, one.input))
    return found


def offers(result: ToleranceResult, params: ToleranceParams) -> tuple[Offer, ...]:
    """The inputs with the least tolerance in the first model, and what turns them."""
    shown = [one for one in result.examples if one.network == 0]
    if not shown:
        return ()
    places = tuple(int(result.places[one.row]) for one in shown)
    names = tuple(one.name for one in shown)
    changed = np.stack([one.input for one in shown])
    labels = tuple(one.before for one in shown)
    return (
        Offer("The inputs that take least", names, places=places),
        Offer("The changed inputs", names, inputs=changed, places=places, labels=labels),
    )
