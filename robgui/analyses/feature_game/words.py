"""What a feature game on one image says: verdict, findings and offers.

A change of class that was found is a failure that anybody can check; that none was found says
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from robgui.analyses.feature_game import opponent_words as opponents
from robgui.analyses.feature_game.judging import is_small, largest, rule, share_of
from robgui.analyses.feature_game.params import UNITS, FeatureGameParams, GameParams, Norm
from robgui.analyses.feature_game.result import (
    FeatureGameResult,
    Outcome,
    Severity,
)
from robgui.core.finding import Finding
from robgui.core.offer import Offer
from robgui.core.text.words import count, duration, number, percent
from robgui.core.verdict import Quantity, Status, Verdict

#: Why "none found" is not "safe"; the panel shows it under Evidence.
#: Theorem 3 needs the τ-grid to cover all images, Theorem 4 a gap in the confidence: neither holds.
NO_GUARANTEE = (
    "Finding none guarantees nothing: the search has seen a few of very many images. The"
    " paper's theorem would need every image on a grid to be tried and a gap in the confidence at"
    " each change of class; a grid of step τ leaves points as far as half of τ times the number of"
    " pixels away, and a continuous network has no such gap."
)
#: Largest severity of an example whose image changes class by rounding alone: the pixels are not
#: what is to blame.
BY_ROUNDING = 0.3
#: What the number of a verdict is called; the largest distance stands beside it.
QUANTITIES: dict[Norm, str] = {
    "l0": "Pixels that change the class",
    "l1": "Sum of all changes that change the class",
    "l2": "Distance (root of squares) that changes the class",
    "linf": "Largest change of a value that changes the class",
}
SEVERITIES = ("l0_pixels", "l0_dims", "l1", "l2", "linf")


def game_verdict(result: FeatureGameResult, params: FeatureGameParams) -> Verdict:
    """What turns the class into what, and what that rests on."""
    because = [
        result.remark,
        _rule(result, params),
        *opponents.against(result, params),
        _steps(result, params),
        white_box(params),
        _targets(result),
        _turned(result),
    ]
    return Verdict(
        _status(result, params),
        _sentence(result, params),
        _quantity(result, params),
        _scope(result),
        tuple(part for part in because if part),
    )


def _sentence(result: FeatureGameResult, params: FeatureGameParams) -> str:
    hindered = opponents.only_hindered(result, params)
    if is_wrong(result):
        return _wrong_already(result, params)
    if hindered is not None:
        return f"{_subject(result)}: {opponents.sentence(result, hindered, params)}"
    if result.found_class >= 0:
        return _found(result, params)
    return _nothing(result, params)


def is_wrong(result: FeatureGameResult) -> bool:
    """Whether the model is wrong on the image as it is, by its label."""
    return result.true_class not in (-1, result.original)


def _wrong_already(result: FeatureGameResult, params: FeatureGameParams) -> str:
    """The wrong answer itself; a change that corrects it is no failure and is not called one."""
    true, seen = result.labels[result.true_class], result.labels[result.original]
    sure = percent(float(result.confidence[result.original]))
    said = f"{_subject(result)}: the model says “{seen}” ({sure} sure), but the label says “{true}”"
    if result.found_class < 0:
        return f"{said}."
    change = amount_of(result.severity, params.norm)
    if result.found_class == result.true_class:
        return f"{said}; {change} the wrong answer into the right one."
    return f"{said}; {change} it into “{result.labels[result.found_class]}”."


def white_box(params: GameParams) -> str:
    """That gradients were used, where they were; empty for a black-box search."""
    # Games on many images always have a cooperative player II.
    helped = not isinstance(params, FeatureGameParams) or params.player in ("cooperative", "all")
    if not params.gradients or params.norm != "l0" or params.preset == "paper" or not helped:
        return ""
    return "White-box: the model's gradients proposed which pixels to change."


def _scope(result: FeatureGameResult) -> str:
    """How much is computed, and what this search has cost; the others' calls are not its own."""
    ended = sum(bool(outcome.ended) for outcome in result.outcomes)
    searches = count(result.searches, "search")
    if ended < result.searches:
        so_far = f"So far {ended} of {searches} ended; "
    else:
        so_far = ""
    cost = f"{count(result.model_calls, 'model call')} in {duration(result.seconds)}"
    if result.searches > 1:
        cost = f"{cost} for {searches}"
    best = best_of(result)
    if best is None or not best.first_calls:
        return f"{so_far}{cost}."
    # One search's calls and the run's differ by those for the heat map and the turned views; where
    # there is one search, two totals would only raise the question which of them is right.
    if result.searches > 1:
        own = (
            f"a first example came after {best.first_calls:,} of this search's"
            f" {best.model_calls:,} calls, which went on to make it smaller"
        )
    else:
        own = (
            f"a first example came after {count(best.first_calls, 'call')}, and the search went on"
            " to make it smaller"
        )
    if so_far:
        return f"{so_far}{own}; {cost}."
    return f"{own[0].upper()}{own[1:]}; {cost}."


def _status(result: FeatureGameResult, params: FeatureGameParams) -> Status:
    if is_wrong(result):
        return Status.FAILS
    if result.found_class < 0:
        return Status.UNKNOWN
    distance = result.severity.by(params.norm)
    small = is_small(distance, params.norm, result.input, params)
    if small and result.exact_class < 0:
        return Status.FAILS
    return Status.AT_RISK


def _quantity(result: FeatureGameResult, params: FeatureGameParams) -> Quantity:
    name = QUANTITIES[params.norm]
    hindered = opponents.only_hindered(result, params)
    if hindered is not None:
        return opponents.quantity(hindered, params.norm)
    if result.found_class < 0:
        return Quantity(name, math.nan, better="high", text=none_found(result))
    distance = float(result.severity.by(params.norm))
    most = largest(params.norm, result.input)
    text = f"{number(distance)} of {number(most)}"
    if params.norm == "l0":
        text += " pixels"
    # A wrong answer that is hard to change is no better than one that changes at once.
    return Quantity(name, distance, better="neither" if is_wrong(result) else "high", text=text)


def _rule(result: FeatureGameResult, params: FeatureGameParams) -> str:
    if result.found_class < 0:
        return "Finding none guarantees nothing."
    return rule(params.norm, result.input, params)


def _found(result: FeatureGameResult, params: FeatureGameParams) -> str:
    name, other = result.labels[result.original], result.labels[result.found_class]
    before, after = (
        float(result.confidence[result.original]),
        float(result.found_confidence[result.found_class]),
    )
    best = best_of(result)
    # Only there: "fewer" is a word for pixels.
    if best is not None and best.optimal and params.norm == "l0":
        least = "; no example of these moves has fewer"
    else:
        least = ""
    return (
        f"{_subject(result)}: {amount_of(result.severity, params.norm)} “{name}” ({percent(before)}"
        f" sure) into “{other}” ({percent(after)}){least}."
    )


def best_of(result: FeatureGameResult) -> Outcome | None:
    """The search whose example is shown; None without an example."""
    found = (
        one
        for one in result.outcomes
        if one.found_class >= 0 and np.array_equal(one.changed, result.changed)
    )
    return next(found, None)


def _subject(result: FeatureGameResult) -> str:
    """The image that the game was played on, where it is not quite the one that was given."""
    if result.exact_class < 0:
        return result.input_name
    return f"{result.input_name}, rounded to 8 bits"


def _nothing(result: FeatureGameResult, params: FeatureGameParams) -> str:
    if result.target >= 0:
        aim = f"“{result.labels[result.target]}”"
    else:
        aim = "another class"
    if params.distance is None:
        limit = ""
    else:
        limit = f" within distance {number(params.distance)}"
    name = result.labels[result.original]
    seen = result.evidence
    if not any(outcome.ended for outcome in result.outcomes):
        calls = count(result.model_calls, "model call")
        return (
            f"{_subject(result)}: no example so far that turns “{name}” into {aim}{limit}, after"
            f" {calls}."
        )
    return (
        f"{_subject(result)}: no example found that turns “{name}” into {aim}{limit}; "
        f"{seen.singles:,} of {seen.moves:,} one-pixel moves were tried."
    )


def amount_of(severity: Severity, norm: Norm) -> str:
    """``3 pixels turn``, or the distance in another norm."""
    if norm == "l0":
        pixels = int(severity.l0_pixels)
        return f"{pixels:,} {'pixel turns' if pixels == 1 else 'pixels turn'}"
    return (
        f"a change of {number(severity.by(norm))} ({UNITS[norm]},"
        f" {count(int(severity.l0_pixels), 'pixel')}) turns"
    )


def none_found(result: FeatureGameResult) -> str:
    """``none found with 5,000 calls``, or in how many searches with how many calls."""
    calls = sum(outcome.model_calls for outcome in result.outcomes) or result.model_calls
    if len(result.outcomes) < 2:
        return f"none found with {count(calls, 'call')}"
    return f"none found in {count(len(result.outcomes), 'search')} with {count(calls, 'call')}"


def _steps(result: FeatureGameResult, params: FeatureGameParams) -> str:
    """How fine the change was looked for: a number of about the step is the step's own."""
    if params.norm == "l0":
        return ""
    best = best_of(result)
    if best is None or math.isnan(best.step):
        return f"Moves change a pixel by {number(params.tau)}; smaller steps were not tried."
    if params.norm == "linf":
        # The last bisection failed one step below.
        below = number(best.severity.linf - best.step)
        return f"The step was bisected to {number(best.step)}: {below} no longer suffices here."
    return (
        f"Steps were halved down to {number(best.step)}: no changed pixel can go back by that much"
        " alone."
    )


def _targets(result: FeatureGameResult) -> str:
    targets = {outcome.target for outcome in result.outcomes if outcome.target >= 0}
    if len(targets) < 2:
        return ""
    reached = {outcome.target for outcome in result.outcomes if outcome.found_class >= 0}
    return f"{len(reached)} of {len(targets)} target classes were reached."


def _turned(result: FeatureGameResult) -> str:
    views = result.persistence
    if views is None:
        return ""
    angle = number(float(views.angles.max()))
    counts = [
        (views.rotated_class[:, views.angles != 0], f"turned by up to {angle}°"),
        (views.scaled_class[:, views.scales != 1], "scaled"),
    ]
    told = []
    for (image, example), words in counts:
        # Where the image itself loses its class, nothing can be said.
        kept = image == result.original
        if kept.any():
            fooled = int((kept & (example != result.original)).sum())
            told.append(f"{fooled} of {count(int(kept.sum()), 'view')} {words}")
    if told:
        where = " and ".join(told)
        return f"It still changes the class in {where}, of those that keep the image's class."
    return ""


def game_findings(result: FeatureGameResult, params: FeatureGameParams) -> list[Finding]:
    """Each example with its picture before and after, severities in all norms, and confidences.

    A change that makes a wrong answer right is none.
    """
    from robgui.analyses.feature_game.example import example_of

    # -1 is no example; a true class of -1, no label, excludes nothing else.
    none = (-1, result.true_class)
    found = [outcome for outcome in result.outcomes if outcome.found_class not in none]
    return [
        _finding(result, params, outcome, example_of(result.input, outcome)) for outcome in found
    ]


def _finding(
    result: FeatureGameResult, params: FeatureGameParams, outcome: Outcome, example: np.ndarray
) -> Finding:
    from robgui.analyses.feature_game.example import before_and_after

    name, other = result.labels[result.original], result.labels[outcome.found_class]
    detail: dict[str, Any] = {
        "class": name,
        "other_class": other,
        "player": outcome.player,
        "severity": {key: getattr(outcome.severity, key) for key in SEVERITIES},
        "pixels": outcome.changed.tolist(),
        "values": outcome.values.tolist(),
        "confidence_before": float(result.confidence[result.original]),
        "confidence_after": float(outcome.confidence[outcome.found_class]),
        "model_calls": outcome.model_calls,
        "norm": params.norm,
        "input_name": result.input_name,
    }
    title = (
        f"{_subject(result)}: {amount_of(outcome.severity, params.norm)} “{name}” into “{other}”"
    )
    # 0 from a tenth of the largest distance on, as ``severity_means`` says.
    share = share_of(float(outcome.severity.by(params.norm)), params.norm, result.input)
    severity = min(max(0.0, 1 - 10 * share), 1.0 if result.exact_class < 0 else BY_ROUNDING)
    picture = before_and_after(result.input, example, outcome.changed)
    return Finding("adversarial", title, severity, detail, picture, example)


def game_offers(result: FeatureGameResult, params: FeatureGameParams) -> Sequence[Offer]:
    """The best example, and the image itself."""
    image = Offer(f"The image, {result.input_name}", (result.input_name,), places=(0,))
    if result.found_class < 0:
        return (image,)
    name = f"{result.input_name}, {count(len(result.changed), 'pixel')} changed"
    return Offer("The adversarial example", (name,), result.best[None], places=(0,)), image
