"""What feature games on many images say: verdict, findings and offers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robgui.analyses.feature_game.judging import is_small, rule, share_of
from robgui.analyses.feature_game.params import COLUMN, UNITS, FeatureGameBatchParams
from robgui.analyses.feature_game.result import FeatureGameBatchResult
from robgui.analyses.feature_game.words import SEVERITIES, white_box
from robgui.core.finding import Finding
from robgui.core.offer import Offer
from robgui.core.text.words import count, duration, number, sample
from robgui.core.verdict import Quantity, Status, Verdict


def batch_verdict(result: FeatureGameBatchResult, params: FeatureGameBatchParams) -> Verdict:
    """How many images change class and by how much.

    Those that did not are counted, not left out.
    """
    games = result.played & ~result.skipped
    played, planned = int(games.sum()), int((~result.skipped).sum())
    found = result.found_class >= 0
    if not played:
        return Verdict(Status.UNKNOWN, "No game has been played yet.")
    if result.target >= 0:
        aim = f" to “{result.labels[result.target]}”"
    else:
        aim = ""
    scope, wrong = _progress(result, played, planned), int(answered_wrongly(result).sum())
    if not found.any():
        sentence = f"None of {count(played, 'image')} was changed{aim}{_wrong_words(wrong)}."
        status = Status.FAILS if wrong else Status.UNKNOWN
        return Verdict(status, sentence, None, scope, ("Finding none guarantees nothing.",))
    if played == 1:
        verb = "changes"
    else:
        verb = "change"
    sentence = (
        f"{int(found.sum()):,} of {count(played, 'image')} {verb} class{aim}"
        f"{_half(result, params, played)}{_wrong_words(wrong)}."
    )
    left = played - int(found.sum())
    unchanged = (
        f"{count(left, 'image')} could not be changed with the calls allowed, which is no"
        " guarantee; in the median they count as needing more than any other."
    )
    image = result.worst_inputs[0]
    right = int(corrected(result).sum())
    because = [f"Changes that make a wrong answer right: {right:,}; these are no failures."]
    because = because * bool(right) + [unchanged] * bool(left)
    because.append(rule(params.norm, image, params))
    because += [white_box(params)] * bool(white_box(params))
    share = float(found.sum()) / played
    quantity = Quantity(
        "Images that change class",
        share,
        better="low",
        text=f"{int(found.sum()):,} of {count(played, 'image')}",
    )
    # The least severe image decides: one that few pixels change is a failure.
    least = float(np.nanmin(result.severity[found, COLUMN[params.norm]]))
    if wrong or is_small(least, params.norm, image, params):
        status = Status.FAILS
    else:
        status = Status.AT_RISK
    return Verdict(status, sentence, quantity, scope, tuple(because))


def answered_wrongly(result: FeatureGameBatchResult) -> np.ndarray:
    """``(N,)`` bool, the images played whose answer is wrong by their label as they are."""
    games = result.played & ~result.skipped
    labelled = result.true_class >= 0
    return np.asarray(games & labelled & (result.true_class != result.predicted))


def corrected(result: FeatureGameBatchResult) -> np.ndarray:
    """``(N,)`` bool, those of them whose example is answered rightly."""
    return np.asarray(answered_wrongly(result) & (result.found_class == result.true_class))


def _wrong_words(wrong: int) -> str:
    if not wrong:
        return ""
    return f"; without any change the answer to {wrong:,} of them is wrong"


def _half(result: FeatureGameBatchResult, params: FeatureGameBatchParams, played: int) -> str:
    """How much half of all images take, those that did not change counting as more than any."""
    middle = median_of_all(result, params)
    if played < 2 or not math.isfinite(middle):
        return ""
    size = f"{number(middle)} ({UNITS[params.norm]})"
    if params.norm == "l0":
        size = count(int(middle), "pixel")
    return f"; half of all {played:,} by at most {size}"


def median_of_all(result: FeatureGameBatchResult, params: FeatureGameBatchParams) -> float:
    """The median change over all images played; inf when fewer than half have changed."""
    games = result.played & ~result.skipped
    values = result.severity[games, COLUMN[params.norm]]
    if not len(values):
        return math.nan
    # Left out, unchanged images would make a robust network look fragile.
    known = np.where(np.isfinite(values), values, np.inf)
    # An observed value: interpolating towards inf would give inf or nan.
    return float(np.quantile(known, 0.5, method="inverted_cdf"))


def _progress(result: FeatureGameBatchResult, played: int, planned: int) -> str:
    games = result.played & ~result.skipped
    seconds, calls = (float(values[games].mean()) for values in (result.seconds, result.calls))
    words = f"{duration(seconds)} and {number(round(calls))} model calls per image."
    source = result.dataset or "the data"
    images = sample(played, planned, result.available, "image", source)
    skipped = int(result.skipped.sum())
    if skipped:
        left_out = f" {count(skipped, 'image')} already had that class and were left out."
    else:
        left_out = ""
    return f"{images}; {words}{left_out}"


def coverage(result: FeatureGameBatchResult) -> tuple[int, int]:
    """How many images were looked at, and of how many."""
    return int(result.played.sum()), result.available


def batch_findings(result: FeatureGameBatchResult, params: FeatureGameBatchParams) -> list[Finding]:
    """The least severe examples; a change that makes a wrong answer right is none."""
    worst, fine = enumerate(result.worst.tolist()), corrected(result)
    return [_batch_finding(result, params, rank, place) for rank, place in worst if not fine[place]]


def _batch_finding(
    result: FeatureGameBatchResult, params: FeatureGameBatchParams, rank: int, place: int
) -> Finding:
    from robgui.analyses.feature_game.example import before_and_after

    image, example = result.worst_inputs[rank], result.worst_examples[rank]
    name, other = result.labels[result.predicted[place]], result.labels[result.found_class[place]]
    severities = dict(zip(SEVERITIES, result.severity[place].tolist(), strict=True))
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
        "input_name": result.keys[place],
    }
    distance = float(result.severity[place, COLUMN[params.norm]])
    # 0 from a tenth of the largest distance on, as ``severity_means`` says.
    severity = max(0.0, 1 - 10 * share_of(distance, params.norm, image))
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
    if len(found) > len(names):
        title = f"The {len(names):,} least severe examples"
    else:
        title = f"All {len(names):,} examples"
    return (
        Offer("The least severe example", names[:1], result.worst_examples[:1], places=places[:1]),
        Offer(title, names, result.worst_examples, places=places),
        Offer(
            f"The {len(images):,} images that change class",
            tuple(result.keys[i] for i in found),
            places=images,
        ),
    )
