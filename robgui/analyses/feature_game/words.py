"""What a feature game says: verdict, findings and offers, for one image and for many.

A change of class that was found is a failure that anybody can check; that none was found says
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from robgui.analyses.feature_game.params import FeatureGameBatchParams, FeatureGameParams, Norm
from robgui.analyses.feature_game.result import (
    FeatureGameBatchResult,
    FeatureGameResult,
    Outcome,
    Severity,
)
from robgui.core.finding import Finding
from robgui.core.offer import Offer
from robgui.core.text.words import count, duration, number, percent
from robgui.core.verdict import Quantity, Status, Verdict

#: Why "none found" is not "safe"; the panel shows it under Evidence.
NO_GUARANTEE = (
    "That none was found is no guarantee: the search has seen a few of very many images. The"
    " paper's theorem would need every image on a grid to be tried and a gap in the confidence at"
    " each change of class; a grid of step τ leaves points as far as half of τ times the number of"
    " pixels away, and a continuous network has no such gap."
)
#: Largest severity of an example whose image changes class by rounding alone: the pixels are not
#: what is to blame.
BY_ROUNDING = 0.3
_NAMES = ("l0_pixels", "l0_dims", "l1", "l2", "linf")
#: Where each distance stands in a severity.
COLUMN: dict[Norm, int] = {"l0": 0, "l1": 2, "l2": 3, "linf": 4}
#: What a severity counts.
UNITS: dict[Norm, str] = {
    "l0": "changed pixels",
    "l1": "sum of all changes",
    "l2": "distance (root of squares)",
    "linf": "largest change of a value",
}


def game_verdict(result: FeatureGameResult, params: FeatureGameParams) -> Verdict:
    """What turns the class into what, and what that rests on."""
    sentence = _found(result, params) if result.found_class >= 0 else _nothing(result, params)
    because = [
        result.remark,
        _rule(result, params),
        _steps(params),
        _targets(result),
        _turned(result),
    ]
    cost = f"{count(result.model_calls, 'model call')} in {duration(result.seconds)}"
    ended = sum(bool(outcome.ended) for outcome in result.outcomes)
    so_far = (
        f"So far {ended} of {count(result.searches, 'search')} ended; "
        if ended < result.searches
        else ""
    )
    scope = f"{so_far}{cost}."
    return Verdict(
        _status(result, params),
        sentence,
        _quantity(result),
        scope,
        tuple(part for part in because if part),
    )


def _status(result: FeatureGameResult, params: FeatureGameParams) -> Status:
    if result.found_class < 0:
        return Status.UNKNOWN
    few = result.severity.l0_pixels <= params.few_pixels * _pixels(result.input)
    return Status.FAILS if few and result.exact_class < 0 else Status.AT_RISK


def _quantity(result: FeatureGameResult) -> Quantity:
    name = "Pixels that change the class"
    if result.found_class < 0:
        return Quantity(
            name,
            math.nan,
            better="high",
            text=f"none found with {count(result.model_calls, 'call')}",
        )
    pixels = int(result.severity.l0_pixels)
    return Quantity(
        name, float(pixels), better="high", text=f"{pixels:,} of {_pixels(result.input):,}"
    )


def _rule(result: FeatureGameResult, params: FeatureGameParams) -> str:
    if result.found_class < 0:
        return "That none was found is no guarantee."
    return f"Up to {percent(params.few_pixels)} of the pixels count as a failure, more as a risk."


def _found(result: FeatureGameResult, params: FeatureGameParams) -> str:
    name, other = result.labels[result.original], result.labels[result.found_class]
    before, after = (
        float(result.confidence[result.original]),
        float(result.found_confidence[result.found_class]),
    )
    best = best_of(result)
    least = (
        "; no example of these moves has fewer"
        if best is not None and best.optimal and params.norm == "l0"
        else ""
    )
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
    return (
        result.input_name if result.exact_class < 0 else f"{result.input_name}, rounded to 8 bits"
    )


def _nothing(result: FeatureGameResult, params: FeatureGameParams) -> str:
    aim = f"“{result.labels[result.target]}”" if result.target >= 0 else "another class"
    limit = "" if params.distance is None else f" within distance {number(params.distance)}"
    name = result.labels[result.original]
    seen = result.evidence
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


def _steps(params: FeatureGameParams) -> str:
    """Under the other norms a number of about the step size is the step's, not the network's."""
    if params.norm == "l0":
        return ""
    return f"Every move changes a pixel by {number(params.tau)}; smaller steps were not tried."


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
    shares = [
        (views.rotated_kept, f"turned by up to {number(float(views.angles.max()))}°"),
        (views.scaled_kept, "scaled"),
    ]
    told = [
        f"{percent(share)} of the views {words}" for share, words in shares if math.isfinite(share)
    ]
    return f"It still fools the model in {' and '.join(told)}." if told else ""


def game_findings(result: FeatureGameResult, params: FeatureGameParams) -> list[Finding]:
    """Each example with its picture before and after, severities in all norms, and confidences."""
    from robgui.analyses.feature_game.example import example_of

    found = [outcome for outcome in result.outcomes if outcome.found_class >= 0]
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
        "severity": {key: getattr(outcome.severity, key) for key in _NAMES},
        "pixels": outcome.changed.tolist(),
        "values": outcome.values.tolist(),
        "confidence_before": float(result.confidence[result.original]),
        "confidence_after": float(outcome.confidence[outcome.found_class]),
        "model_calls": outcome.model_calls,
        "norm": params.norm,
    }
    title = (
        f"{_subject(result)}: {amount_of(outcome.severity, params.norm)} “{name}” into “{other}”"
    )
    share = float(outcome.severity.l0_pixels) / _pixels(result.input)
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


def batch_verdict(result: FeatureGameBatchResult, params: FeatureGameBatchParams) -> Verdict:
    """How many images change class and by how much.

    Those that did not are counted, not left out.
    """
    games = result.played & ~result.skipped
    played, planned = int(games.sum()), int((~result.skipped).sum())
    found = result.found_class >= 0
    if not played:
        return Verdict(Status.UNKNOWN, "No game has been played yet.")
    aim = f" to “{result.labels[result.target]}”" if result.target >= 0 else ""
    scope = _progress(result, played, planned)
    if not found.any():
        sentence = f"None of {count(played, 'image')} was changed{aim}."
        return Verdict(
            Status.UNKNOWN, sentence, None, scope, ("That none was found is no guarantee.",)
        )
    verb = "changes" if played == 1 else "change"
    unit = "pixels" if params.norm == "l0" else f"({UNITS[params.norm]})"
    sentence = (
        f"{int(found.sum()):,} of {count(played, 'image')} {verb} class{aim}, half of these by at"
        f" most {number(result.median)} {unit}."
    )
    left = played - int(found.sum())
    because = (
        [
            (
                f"{count(left, 'image')} could not be changed with the calls allowed, which is no"
                " guarantee."
            )
        ]
        if left
        else []
    )
    share = float(found.sum()) / played
    quantity = Quantity(
        "Images that change class", share, better="low", text=f"{int(found.sum()):,} of {played:,}"
    )
    return Verdict(Status.FAILS, sentence, quantity, scope, tuple(because))


def _progress(result: FeatureGameBatchResult, played: int, planned: int) -> str:
    games = result.played & ~result.skipped
    seconds, calls = (float(values[games].mean()) for values in (result.seconds, result.calls))
    words = f"{duration(seconds)} and {number(round(calls))} model calls per image."
    so_far = f"So far {played:,} of {count(planned, 'image')}; " if played < planned else ""
    skipped = int(result.skipped.sum())
    left_out = (
        f" {count(skipped, 'image')} already had that class and were left out." if skipped else ""
    )
    return f"{so_far}{words}{left_out}"


def batch_findings(result: FeatureGameBatchResult, params: FeatureGameBatchParams) -> list[Finding]:
    """The least severe examples."""
    return [_batch_finding(result, rank, place) for rank, place in enumerate(result.worst.tolist())]


def _batch_finding(result: FeatureGameBatchResult, rank: int, place: int) -> Finding:
    from robgui.analyses.feature_game.example import before_and_after

    image, example = result.worst_inputs[rank], result.worst_examples[rank]
    name, other = result.labels[result.predicted[place]], result.labels[result.found_class[place]]
    severities = dict(zip(_NAMES, result.severity[place].tolist(), strict=True))
    pixels = int(severities["l0_pixels"])
    changed = np.argwhere((image != example).any(0))[:, ::-1]
    title = (
        f"{result.keys[place]}: {pixels:,} {'pixel turns' if pixels == 1 else 'pixels turn'}"
        f" “{name}” into “{other}”"
    )
    detail = {
        "class": name,
        "other_class": other,
        "severity": severities,
        "pixels": changed.tolist(),
        "confidence_before": float(result.confidence_before[place]),
        "confidence_after": float(result.confidence_after[place]),
        "model_calls": int(result.calls[place]),
        "place": int(result.numbers[place]),
    }
    severity = max(0.0, 1 - 10 * pixels / _pixels(image))
    return Finding(
        "adversarial", title, severity, detail, before_and_after(image, example, changed), example
    )


def batch_offers(result: FeatureGameBatchResult, params: FeatureGameBatchParams) -> Sequence[Offer]:
    """The examples that the result holds, and the images they were made from."""
    if not len(result.worst):
        return ()
    names = tuple(
        f"{result.keys[i]}, {count(int(result.severity[i, 0]), 'pixel')} changed"
        for i in result.worst
    )
    places = tuple(int(result.numbers[i]) for i in result.worst)
    found = np.flatnonzero(result.found_class >= 0)
    images = tuple(int(result.numbers[i]) for i in found)
    title = (
        f"The {len(names):,} least severe examples"
        if len(found) > len(names)
        else f"All {len(names):,} examples"
    )
    return (
        Offer("The least severe example", names[:1], result.worst_examples[:1], places=places[:1]),
        Offer(title, names, result.worst_examples, places=places),
        Offer(
            f"The {len(images):,} images that change class",
            tuple(result.keys[i] for i in found),
            places=images,
        ),
    )


def _pixels(image: np.ndarray) -> int:
    return int(image.shape[-1] * image.shape[-2])
