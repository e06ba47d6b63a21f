"""What tolerance says: what breaks, what is proven, and what lies between."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from robgui.analyses.tolerance.params import ToleranceParams
from robgui.analyses.tolerance.result import RARE, NoiseTolerance, ToleranceResult
from robgui.core.finding import Finding
from robgui.core.finding_pair import picture_of_two
from robgui.core.intervals import chance_of_heads, clopper_pearson
from robgui.core.offer import Offer
from robgui.core.text.words import count, number, percent, sample
from robgui.core.verdict import Quantity, Status, Verdict, of_several

#: A change within this multiple of the required tolerance is a risk.
_RISK = 2.0
#: Severity of an input that an invisible change turns.
_WORST = 0.8
#: From this number of inputs on a share says more than a count.
_MANY = 100
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
    if kept == result.done and not failing:
        sentence = (
            f"No change of the values by up to {_share(params)} turns any of"
            f" {_inputs(result)}: proven."
        )
        if result.complete:
            status = Status.HOLDS
        else:
            status = Status.UNKNOWN
        reach = f"against any change of the values by up to {_share(params)}"
        return Verdict(status, sentence, quantity, _scope(result), said, reach=reach)
    # A change just beyond what must be taken: the attack need not have found the nearest one.
    near = bool((broken <= _RISK * params.hold).any())
    if failing:
        status = Status.FAILS
    elif near:
        status = Status.AT_RISK
    else:
        status = Status.UNKNOWN
    sentence = _counted_words(result, params, network)
    if result.no_attack[network] and not failing:
        sentence = _not_attacked(result, params, network, kept)
    return Verdict(status, sentence, quantity, _scope(result), said)


def _share(params: ToleranceParams) -> str:
    """The change that must be taken; inputs of a table have columns in any unit."""
    return f"{number(params.hold)} of their range"


def _inputs(result: ToleranceResult) -> str:
    """The inputs that a sentence is about: ``6 inputs``, ``the first 2 of 6 inputs``."""
    if result.complete:
        return count(result.done, "input")
    return f"the first {result.done:,} of {count(result.total, 'input')}"


def _not_attacked(result: ToleranceResult, params: ToleranceParams, network: int, kept: int) -> str:
    """What is known of inputs that could not be attacked: what is proven, and perhaps noise."""
    tried = "Without gradients no attack was tried"
    if kept:
        return (
            f"{tried}; proven to keep their class when values change by at most"
            f" {_share(params)}: {kept:,} of {_inputs(result)}."
        )
    if result.noise:
        return f"{tried}, and there is no proof: only random noise was tried."
    if result.proven[network].any():
        return f"{tried}, and no proof reaches the change that {_inputs(result)} must take."
    return f"{tried}, and there is no proof: nothing is known about {_inputs(result)}."


def _counted_words(result: ToleranceResult, params: ToleranceParams, network: int) -> str:
    """What becomes of all inputs at the size that must be taken; the numbers add up."""
    at = (int(part[0]) for part in result.counted(network, np.array([params.hold])))
    proven, undecided, turned, wrong = at
    change = f"class when values change by at most {_share(params)}"
    parts = []
    if turned:
        parts.append(f"{turned:,} {_verb(turned, 'changes', 'change')} {change}")
    elif not result.no_attack[network]:
        parts.append(f"none is known to change {change}")
    if wrong:
        parts.append(f"{wrong:,} {_verb(wrong, 'is', 'are')} wrong even unchanged")
    if proven:
        parts.append(
            f"{proven:,} {_verb(proven, 'is proven to keep its', 'are proven to keep their')} class"
        )
    if undecided and result.no_attack[network]:
        parts.append(f"{undecided:,} could not be attacked, for want of gradients")
    elif undecided:
        parts.append(f"{undecided:,} {_verb(undecided, 'is', 'are')} undecided")
    return f"Of {_inputs(result)}, {_listed(parts)}."


def _verb(many: int, one: str, several: str) -> str:
    if many == 1:
        return one
    return several


def _listed(parts: list[str]) -> str:
    """``one, two and three``."""
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def all_words(result: ToleranceResult, params: ToleranceParams, network: int) -> str:
    """What the inputs looked at say about all they were chosen from; empty if those are all."""
    if result.done >= result.available or not result.done or result.blank(network):
        return ""
    low, high = _bounds(result, params, network)
    return (
        f"Of all {result.available:,} inputs of {result.dataset}, between {percent(low)} and"
        f" {percent(high)} take a change of {number(params.hold)} (95 % sure, judged by"
        f" {count(result.done, 'input')} chosen at random)."
    )


def _bounds(result: ToleranceResult, params: ToleranceParams, network: int) -> tuple[float, float]:
    """Between which shares of all inputs take the change, 95 % sure.

    Two doubts add up: what is undecided, and which inputs were chosen. The lower end is that of the
    proven ones, the upper end that of all that may take it; each misses in 2.5 % at most.
    """
    counted = result.counted(network, np.array([params.hold]))
    sure, possible = counted.proven, counted.proven + counted.undecided
    if result.done >= result.available:
        return float(sure[0]) / result.done, float(possible[0]) / result.done
    low, _ = clopper_pearson(sure, result.done)
    _, high = clopper_pearson(possible, result.done)
    return float(low[0]), float(high[0])


def _because(result: ToleranceResult, params: ToleranceParams, network: int) -> tuple[str, ...]:
    said = []
    right = ~result.wrong[network]
    sizes = result.broken[network][right]
    finite = sizes[np.isfinite(sizes)]
    if len(finite):
        # Without labels no answer is known to be right.
        which = "right answer" if result.wrong[network].any() else "answer"
        said.append(
            f"An attack turns {len(finite):,} of {count(len(sizes), which)}; the median of"
            f" these changes is {number(float(np.median(finite)))}."
        )
    if whole := all_words(result, params, network):
        said.append(whole)
    if result.noise:
        said.append(_noise_words(result.noise[network]))
    lacks = (result.no_attack[network], result.no_proof[network])
    said += [_lack_words(lack, result.networks[network]) for lack in lacks if lack]
    if result.blank(network) and result.done > 1 and params.samples:
        said.append("Choose a single input to try random noise on it, which needs no gradients.")
    said.append(
        f"An input must take changes of every value by {number(params.hold)} of its range; where"
        f" that is not proven, a change of up to {number(_RISK * params.hold)} is a risk."
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
    name = f"Inputs that take a change of {number(params.hold)} of the range"
    if result.blank(network):
        return Quantity(name, math.nan, better="high", text="not known")
    counted = result.counted(network, np.array([params.hold]))
    sure = int(counted.proven[0])
    possible = sure + int(counted.undecided[0])
    low, high = _bounds(result, params, network)
    return Quantity(
        name,
        (sure + possible) / 2 / result.done,
        low=low,
        high=high,
        better="high",
        text=_share_words(result, sure, possible),
    )


def _share_words(result: ToleranceResult, sure: int, possible: int) -> str:
    """How many take it: ``1 to 3 of 6``; of many inputs their share: ``17 % to 50 %``."""
    if result.done < _MANY:
        ends = [f"{sure:,}", f"{possible:,}"]
        if result.complete:
            rest = f" of {result.done:,}"
        else:
            rest = f" of the first {result.done:,}"
    else:
        ends = [percent(sure / result.done), percent(possible / result.done)]
        rest = "" if result.complete else f" of the first {result.done:,}"
    return " to ".join(dict.fromkeys(ends)) + rest


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
        f" {count(more + less, 'input')} where proof and attack tell, {beyond}."
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
