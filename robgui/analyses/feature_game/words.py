"""What a feature game says in words: verdict and findings, for one image and for many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.core.dataset.picture import picture_of
from robgui.core.finding import Finding
from robgui.core.headline import Headline, Status
from robgui.core.text.words import count, duration, number, percent

if TYPE_CHECKING:
    from robgui.analyses.feature_game.params import Norm
    from robgui.analyses.feature_game.result import FeatureGameBatchResult, FeatureGameResult, Outcome, Severity

#: Why "none found" is not "safe"; the panel shows it under Evidence.
NO_GUARANTEE = (
    "That none was found is no guarantee: the search has seen a few of very many images. The paper's theorem would need every "
    "image on a grid to be tried and a gap in the confidence at each change of class; a grid of step τ leaves points as far as "
    "half of τ times the number of pixels away, and a continuous network has no such gap."
)
#: So small a share of the pixels is a failure, more is worth a look.
FEW_PIXELS = 0.02
#: Changed pixels are framed in this colour, the fixed colour of what is adversarial.
_FRAME = (213, 94, 0)
#: Largest severity of an example whose image changes class by rounding alone: the pixels are not what is to blame.
BY_ROUNDING = 0.3
_NAMES = ("l0_pixels", "l0_dims", "l1", "l2", "linf")


def game_headline(result: FeatureGameResult) -> Headline:
    """How severe the change is that turns the class; a few pixels are a failure."""
    title = "Pixels that change the class"
    if result.found_class < 0:
        return Headline(title, math.nan, f"none found with {count(result.model_calls, 'call')}", "high", "unknown")
    pixels = int(result.severity.l0_pixels)
    size = result.input.shape[-1] * result.input.shape[-2]
    status: Status = "bad" if pixels <= FEW_PIXELS * size and result.exact_class < 0 else "doubtful"
    return Headline(title, float(pixels), f"{pixels:,} of {size:,}", "high", status)


def batch_headline(result: FeatureGameBatchResult) -> Headline:
    """How many pixels it takes on average, over the images that could be turned."""
    pixels = result.severity[:, 0][np.isfinite(result.severity[:, 0])]
    title = "Mean pixels that change the class"
    if not len(pixels):
        return Headline(title, math.nan, "none found", "high", "unknown")
    mean = float(pixels.mean())
    return Headline(title, mean, f"{number(mean)} on {count(len(pixels), 'image')}", "high", "bad")


def game_verdict(result: FeatureGameResult) -> str:
    """What turns the class into what, how many calls that took, and what else was found."""
    name = result.labels[result.original]
    parts = [result.remark] if result.remark else []
    if result.found_class < 0:
        parts.append(_nothing(result, name))
    else:
        parts.append(_found(result, name))
    parts += [_targets(result), _players(result), _turned(result)]
    return " ".join(part for part in parts if part)


def _found(result: FeatureGameResult, name: str) -> str:
    other = result.labels[result.found_class]
    before, after = float(result.confidence[result.original]), float(result.found_confidence[result.found_class])
    best = next(outcome for outcome in result.outcomes if outcome.found_class >= 0 and np.array_equal(outcome.changed, result.changed))
    least = " No example of these moves has fewer." if best.optimal and result.norm == "l0" else ""
    return (
        f"{_subject(result)}: {amount_of(result.severity, result.norm)} “{name}” ({percent(before)} sure) into “{other}” "
        f"({percent(after)}), found with {result.model_calls:,} model calls in {duration(result.seconds)}.{least}"
    )


def _subject(result: FeatureGameResult) -> str:
    """The image that the game was played on, where it is not quite the one that was given."""
    return result.input_name if result.exact_class < 0 else f"{result.input_name}, rounded to 8 bits"


def _nothing(result: FeatureGameResult, name: str) -> str:
    aim = f"“{result.labels[result.target]}”" if result.target >= 0 else "another class"
    limit = f" within distance {number(result.distance)}" if math.isfinite(result.distance) else ""
    seen = result.evidence
    return (
        f"{_subject(result)}: no example found that turns “{name}” into {aim}{limit} within {result.model_calls:,} model calls. "
        f"That is no guarantee: {seen.singles:,} of {seen.moves:,} one-pixel moves were tried, and the confidence moved by at most "
        f"{number(seen.lipschitz)} per unit of change."
    )


def amount_of(severity: Severity, norm: Norm) -> str:
    """``3 pixels turn``, or the distance in another norm."""
    if norm == "l0":
        pixels = int(severity.l0_pixels)
        return f"{pixels:,} {'pixel turns' if pixels == 1 else 'pixels turn'}"
    return f"a change of {number(severity.by(norm))} in {norm} ({count(int(severity.l0_pixels), 'pixel')}) turns"


def _targets(result: FeatureGameResult) -> str:
    targets = {outcome.target for outcome in result.outcomes if outcome.target >= 0}
    if len(targets) < 2:
        return ""
    reached = {outcome.target for outcome in result.outcomes if outcome.found_class >= 0}
    return f"{len(reached)} of {len(targets)} target classes were reached."


def _players(result: FeatureGameResult) -> str:
    """The severity interval over the kinds of player II; that nature lies inside is true of exact values only."""
    if len({outcome.player for outcome in result.outcomes}) < 2:
        return ""
    found = ", ".join(f"{outcome.player} {_severity(outcome, result.norm)}" for outcome in result.outcomes[:3])
    return f"Severity by player II: {found}."


def _severity(outcome: Outcome, norm: Norm) -> str:
    return number(outcome.severity.by(norm)) if outcome.found_class >= 0 else f"none within {count(outcome.model_calls, 'call')}"


def _turned(result: FeatureGameResult) -> str:
    views = result.persistence
    if views is None:
        return ""
    shares = [(views.rotated_kept, f"turned by up to {number(float(views.angles.max()))}°"), (views.scaled_kept, "scaled")]
    told = [f"{percent(share)} of the views {words}" for share, words in shares if math.isfinite(share)]
    return f"It still fools the model in {' and '.join(told)}." if told else ""


def game_findings(result: FeatureGameResult) -> list[Finding]:
    """Each example with its picture before and after, severities in all norms, and confidences."""
    from robgui.analyses.feature_game.match import example_of

    found = [outcome for outcome in result.outcomes if outcome.found_class >= 0]
    return [_finding(result, outcome, example_of(result.input, outcome)) for outcome in found]


def _finding(result: FeatureGameResult, outcome: Outcome, example: np.ndarray) -> Finding:
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
        "norm": result.norm,
    }
    title = f"{_subject(result)}: {amount_of(outcome.severity, result.norm)} “{name}” into “{other}”"
    share = float(outcome.severity.l0_pixels) / (result.input.shape[1] * result.input.shape[2])
    severity = min(max(0.0, 1 - 10 * share), 1.0 if result.exact_class < 0 else BY_ROUNDING)
    picture = before_and_after(result.input, example, outcome.changed)
    return Finding("adversarial", title, severity, detail, picture, example)


def batch_verdict(result: FeatureGameBatchResult) -> str:
    """How many images changed class, how severe the changes are, and what one image costs."""
    played = int((result.played & ~result.skipped).sum())
    found = result.found_class >= 0
    if not played:
        return "No game has been played yet."
    aim = f" to “{result.labels[result.target]}”" if result.target >= 0 else ""
    seconds, calls = (float(values[result.played & ~result.skipped].mean()) for values in (result.seconds, result.calls))
    cost = f"{duration(seconds)} and {number(round(calls))} model calls per image"
    skipped = int(result.skipped.sum())
    verbs = ("has", "is") if skipped == 1 else ("have", "are")
    left_out = f" {count(skipped, 'image')} {verbs[0]} that class already and {verbs[1]} left out." if skipped else ""
    if not found.any():
        return f"None of {count(played, 'image')} was changed{aim}, which is no guarantee; {cost}.{left_out}"
    unit = "pixels" if result.norm == "l0" else f"in {result.norm}"
    verb = "changes" if played == 1 else "change"
    return (
        f"{int(found.sum()):,} of {count(played, 'image')} {verb} class{aim}, by {number(result.mean)} {unit} on average "
        f"(median {number(result.median)}); {cost}.{left_out}"
    )


def batch_findings(result: FeatureGameBatchResult) -> list[Finding]:
    """The least severe examples."""
    findings = []
    for rank, place in enumerate(result.worst.tolist()):
        image, example = result.worst_inputs[rank], result.worst_examples[rank]
        name, other = result.labels[result.predicted[place]], result.labels[result.found_class[place]]
        severities = dict(zip(_NAMES, result.severity[place].tolist(), strict=True))
        pixels = int(severities["l0_pixels"])
        changed = np.argwhere((image != example).any(0))[:, ::-1]
        title = f"{result.keys[place]}: {pixels:,} {'pixel turns' if pixels == 1 else 'pixels turn'} “{name}” into “{other}”"
        detail = {
            "class": name,
            "other_class": other,
            "severity": severities,
            "pixels": changed.tolist(),
            "confidence_before": float(result.confidence_before[place]),
            "confidence_after": float(result.confidence_after[place]),
            "model_calls": int(result.calls[place]),
            "index": int(result.numbers[place]),
        }
        share = pixels / (image.shape[1] * image.shape[2])
        findings.append(Finding("adversarial", title, max(0.0, 1 - 10 * share), detail, before_and_after(image, example, changed), example))
    return findings


def before_and_after(image: np.ndarray, example: np.ndarray, changed: Sequence[Any] | np.ndarray) -> np.ndarray:
    """The image and beside it the example, enlarged, the changed pixels framed: uint8 ``(h, w, 3)``."""
    factor = max(1, -(-168 // max(image.shape[1:])))
    parts = [picture_of(x, "image").repeat(factor, 0).repeat(factor, 1) for x in (image, example)]
    for x, y in np.asarray(changed).reshape(-1, 2).tolist():
        _frame(parts[1], x * factor, y * factor, factor)
    white = np.full((parts[0].shape[0], 8, 3), 255, dtype=np.uint8)
    return np.ascontiguousarray(np.concatenate([parts[0], white, parts[1]], axis=1))


def _frame(picture: np.ndarray, left: int, top: int, size: int) -> None:
    """A frame just outside the square, at least two pixels away from it where pixels are small."""
    gap = 1 if size >= 4 else 2
    low_y, high_y = max(0, top - gap), min(picture.shape[0] - 1, top + size - 1 + gap)
    low_x, high_x = max(0, left - gap), min(picture.shape[1] - 1, left + size - 1 + gap)
    picture[[low_y, high_y], low_x : high_x + 1] = _FRAME
    picture[low_y : high_y + 1, [low_x, high_x]] = _FRAME
