"""What a comparison of two sets of inputs says."""

from __future__ import annotations

import numpy as np

from robgui.analyses.zonnscan.params import PopulationsParams, ScanParams
from robgui.analyses.zonnscan.result import PopulationsResult
from robgui.analyses.zonnscan.words.figures import chance, mean_uncertainty
from robgui.analyses.zonnscan.words.pictures import enlarged
from robgui.core.finding import Finding
from robgui.core.offer import Offer
from robgui.core.text.words import count, number, percent
from robgui.core.verdict import Quantity, Status, Verdict

#: Two sets differ if chance would make them so different less often than this.
SURE = 1e-3
#: The share of false alarms at which an alarm is judged.
FALSE_ALARMS = 0.05


def verdict(result: PopulationsResult, params: PopulationsParams) -> Verdict:
    """Whether the uncertainty tells the sets apart, and which inputs fail on the way."""
    attacked = params.against == "adversarial"
    failures = [*(_attack_failures(result) if attacked else ()), *_failures(result, params)]
    if attacked:
        sentence = _alarm(result, params)
    else:
        sentence = f"{told_apart(result)}."
    if not result.finished:
        sentence = f"So far, {sentence[0].lower()}{sentence[1:]}"
    return Verdict(
        status=Status.FAILS if failures else Status.UNKNOWN,
        sentence=sentence,
        number=Quantity(
            "Pairs of one input of each set that uncertainty puts in the right order",
            result.auc,
            better="high" if attacked else "neither",
            text=f"{percent(result.auc)} of pairs in order (50 % is guessing)",
        ),
        scope=_scope(result, params),
        because=(
            *failures,
            f"{told_apart(result)}.",
            (
                f"If the sets were alike, they would differ this much with {chance(result.ks_p)}"
                " (Kolmogorov–Smirnov)."
            ),
            f"{count(result.model_calls, 'model call')}.",
        ),
    )


def changed_by_attack(result: PopulationsResult) -> np.ndarray:
    """Which attacked copies ``(n,)`` have another class than their originals."""
    # In the same order: copy i was made of original i.
    originals, copies = result.predicted[~result.second], result.predicted[result.second]
    return np.asarray(originals != copies)


def caught(result: PopulationsResult, false_alarms: float = FALSE_ALARMS) -> float:
    """The share of the second set that an alarm catches at a bounded share of false alarms."""
    # At most this share: between two thresholds no other is to be had.
    allowed = result.detected[result.false_alarms <= false_alarms]
    if len(allowed):
        return float(allowed.max())
    return 0.0


def told_apart(result: PopulationsResult) -> str:
    """Whether the uncertainty tells the sets apart, as a clause without a full stop."""
    first, second = (_called(name) for name in result.names)
    low, high = (mean_uncertainty(float(mean)) for mean in result.means)
    # "not <" also for nan, which proves nothing.
    if not result.ks_p < SURE:
        return f"The uncertainty does not tell {second} from {first} (mean {high} and {low})"
    if result.means[1] > result.means[0]:
        word = "higher"
    else:
        word = "lower"
    return (
        f"The uncertainty is {word} around {second} than around {first} (mean {high} against {low})"
    )


def _called(name: str) -> str:
    """A set's name within a sentence."""
    if name in ("first", "second"):
        return f"the {name} set"
    return f"{name} inputs"


def _alarm(result: PopulationsResult, params: PopulationsParams) -> str:
    """What the attack does, and whether the uncertainty would give it away."""
    changed = changed_by_attack(result)
    does = (
        f"An attack that moves each value by {number(params.eps)} changes the class of "
        f"{int(changed.sum()):,} of {count(len(changed), 'input')}"
    )
    if result.ks_p < SURE and result.means[1] > result.means[0]:
        share, wrong = percent(caught(result)), percent(FALSE_ALARMS)
        alarm = f"gives {share} of the attacked copies away at {wrong} false alarms"
        return f"{does}; the uncertainty {alarm}."
    return f"{does}; the uncertainty does not give the attacked copies away."


def _attack_failures(result: PopulationsResult) -> list[str]:
    changed = int(changed_by_attack(result).sum())
    if not changed:
        return []
    total = int(result.second.sum())
    have = "has" if changed == 1 else "have"
    return [f"{changed:,} of {total:,} attacked copies {have} another class than the original."]


def _failures(result: PopulationsResult, params: ScanParams) -> list[str]:
    """Inputs of the first set around which a sample has another class."""
    crossing = int((result.crossing[~result.second] > 0).sum())
    if not crossing:
        return []
    total = int((~result.second).sum())
    return [
        (
            f"Around {crossing:,} of {total:,} inputs ({result.names[0]}) a random change of each"
            f" value by at most {number(params.radius)} changes the class."
        )
    ]


def _scope(result: PopulationsResult, params: ScanParams) -> str:
    second, first = int(result.second.sum()), int((~result.second).sum())
    sets = f"{first:,} inputs ({result.names[0]}) and {second:,} ({result.names[1]})"
    if result.finished:
        so_far = ""
    else:
        so_far = " so far, not every zone is known closely yet"
    samples = f"{int(result.samples.sum()):,} samples{so_far}"
    return f"{sets}, zones of radius {number(params.radius)}, {samples}."


def findings(result: PopulationsResult, params: PopulationsParams) -> list[Finding]:
    """The worst inputs of the first set.

    Their class changes in the zone, or the model is unsure.
    """
    places = zip(result.notable, result.notable_inputs, strict=True)
    return [_finding(result, params, int(place), x) for place, x in places]


def _finding(
    result: PopulationsResult, params: PopulationsParams, place: int, x: np.ndarray
) -> Finding:
    index, crossing = float(result.index[place]), float(result.crossing[place])
    name = result.labels[int(result.predicted[place])]
    words = f"uncertainty {number(index)} around {name}"
    if crossing > 0:
        words = f"{percent(crossing)} of the samples leave {name}"
    detail = {
        "class": name,
        "index": index,
        "crossing": crossing,
        "radius": params.radius,
        "place": int(result.numbers[place]),
        "input_name": result.keys[place],
    }
    title = f"{result.keys[place]}: {words} within radius {number(params.radius)}"
    severity = min(1.0, max(index, crossing))
    return Finding("unsure input", title, severity, detail, enlarged(x, result.kind), x)


def offers(result: PopulationsResult, params: PopulationsParams) -> list[Offer]:
    """The worst inputs of the first set."""
    if not len(result.notable):
        return []
    names = tuple(result.keys[place] for place in result.notable)
    places = tuple(int(result.numbers[place]) for place in result.notable)
    return [Offer("The most unsure inputs", names, places=places)]
