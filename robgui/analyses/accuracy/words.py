"""What the labels say, in words: a class that fails comes before a good average."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robgui.analyses.accuracy.params import AccuracyParams
from robgui.analyses.accuracy.result import AccuracyResult, Shown, Slice, calibration
from robgui.core.class_errors import FEWEST, ClassErrors
from robgui.core.finding import Finding
from robgui.core.intervals import clopper_pearson
from robgui.core.offer import Offer
from robgui.core.text.words import count, percent, rough_percent, sample
from robgui.core.verdict import Quantity, Status, Verdict

#: Severity of a certainly wrong input, of a label to check, of a weak slice.
_ONE_INPUT, _LABEL, _SLICE = 0.7, 0.3, 0.5
#: Pixels between the pictures of a sheet, their grey, and the most in a single row.
_GAP, _GROUND, _ROW = 1, 128, 3


def verdict(result: AccuracyResult, params: AccuracyParams) -> Verdict:
    """Failing classes first, then confident mistakes; a good average alone proves nothing."""
    errors = result.errors()
    if errors is None:
        return Verdict(Status.UNKNOWN, "No input was counted yet.", scope=_scope(result))
    failing = failing_classes(errors, params.least)
    status = _status(result, errors, failing, params)
    sentence = _sentence(result, errors, failing)
    because = _because(result, errors, failing, params)
    reach = f"at {percent(params.least)} asked for in every class, inputs as they are"
    return Verdict(status, sentence, _quantity(result), _scope(result), because, reach=reach)


def failing_classes(errors: ClassErrors, least: float) -> np.ndarray:
    """Classes recognised less often than ``least``, with joint confidence; the worst first."""
    _, high = recall_bounds(errors)
    seen = errors.members > 0
    return np.asarray([c for c in errors.order if seen[c] and high[c] < least], dtype=int)


def recall_bounds(errors: ClassErrors) -> tuple[np.ndarray, np.ndarray]:
    """``(m,)`` bounds of the recall that hold for all classes jointly at 95 %."""
    # Bonferroni over the classes seen: of 100 classes just at the limit, two or
    # three would else fail by chance.
    level = 1 - 0.05 / max(1, int((errors.members > 0).sum()))
    return clopper_pearson(errors.members - errors.wrong, errors.members, level)


def _status(
    result: AccuracyResult, errors: ClassErrors, failing: np.ndarray, params: AccuracyParams
) -> Status:
    _, _, high = result.accuracy()
    if len(failing) or high < params.least:
        return Status.FAILS
    # Before "holds": a good recall does not excuse answers that are wrong and sure.
    if result.confident(params.sure):
        return Status.AT_RISK
    low, _ = recall_bounds(errors)
    if result.complete and (low[errors.members > 0] >= params.least).all():
        return Status.HOLDS
    return Status.UNKNOWN


def _sentence(result: AccuracyResult, errors: ClassErrors, failing: np.ndarray) -> str:
    share, _, _ = result.accuracy()
    whole = f"right on {percent(share)} of {count(result.done, 'labelled input')}"
    seen = int((errors.members > 0).sum())
    if seen < len(result.classes):
        whole += f", which are of {seen:,} of {count(len(result.classes), 'class')}"
    if len(failing):
        return f"{_class_words(result, errors, int(failing[0]))}{_more(failing)}; {whole} in all."
    weakest = int(errors.order[0])
    if not errors.wrong[weakest]:
        return f"{whole[0].upper()}{whole[1:]}."
    return (
        f"{whole[0].upper()}{whole[1:]}; weakest class"
        f" {_class_words(result, errors, weakest, lead=False)}."
    )


def _more(failing: np.ndarray) -> str:
    """How many classes fail beside the first."""
    if len(failing) < 2:
        return ""
    if len(failing) == 2:
        verb = "fails"
    else:
        verb = "fail"
    return f"; {count(len(failing) - 1, 'more class')} {verb}"


def _class_words(result: AccuracyResult, errors: ClassErrors, c: int, lead: bool = True) -> str:
    hits = int(errors.members[c] - errors.wrong[c])
    name = result.classes[c]
    seen = f"{hits:,} of {count(int(errors.members[c]), 'input')}"
    if lead:
        return f"“{name}” is recognised on {seen}"
    return f"“{name}”, recognised on {seen}"


def _because(
    result: AccuracyResult, errors: ClassErrors, failing: np.ndarray, params: AccuracyParams
) -> tuple[str, ...]:
    said = []
    confident = result.confident(params.sure)
    if confident:
        verb = "is" if confident == 1 else "are"
        said.append(
            f"{count(confident, 'wrong answer')} {verb} given with at least"
            f" {rough_percent(params.sure)} confidence{_at_risk(len(failing))}."
        )
    said += [_slice_words(one) for one in result.compared.slices[:1]]
    said.append(_calibration_words(result))
    said += _compared_words(result)
    low = (errors.members > 0) & (errors.members < FEWEST)
    # A failing class is judged already, however few its inputs.
    low[failing] = False
    if few := int(low.sum()):
        said.append(
            f"{count(few, 'class')} with fewer than {FEWEST} labelled inputs cannot be judged."
        )
    unseen = int((errors.members == 0).sum())
    if unseen:
        said.append(f"No labelled input here of {count(unseen, 'class')}.")
    said.append(
        f"A class holds when, 95 % sure, at least {rough_percent(params.least)} of its inputs are"
        " recognised."
    )
    return tuple(said)


def _at_risk(failing: int) -> str:
    """Why confident mistakes decide where no class fails: they mislead without a warning."""
    return "" if failing else ", which makes it a risk even where every class holds"


def _compared_words(result: AccuracyResult) -> list[str]:
    """Labels to check, and how many inputs were searched for them."""
    said, among = [], count(len(result.compared.spots), "input")
    doubtful, mixed = result.compared.doubtful, twins_apart(result)
    if doubtful:
        said.append(
            f"For {count(doubtful, 'wrong answer')} the label may be at fault and not the model, a"
            f" suspicion only: of {among} compared, their nearest have the class it says. Nearness"
            " is the model's own, so they may share its error."
        )
    if mixed:
        said.append(
            f"Different labels in {count(mixed, 'pair')} of near-duplicates, of {among} compared."
        )
    return said


def _slice_words(one: Slice) -> str:
    share = one.right / len(one.members)
    return (
        f"Weakest slice: {one.name}, right on {percent(share)} of"
        f" {count(len(one.members), 'input')}."
    )


def _calibration_words(result: AccuracyResult) -> str:
    share, low, high = result.accuracy()
    claimed = float(result.confidence.mean())
    error = percent(calibration(result).error)
    # Beyond the interval of the accuracy: a smaller gap may be sampling error.
    if claimed > high:
        judged = "it claims too much"
    elif claimed < low:
        judged = "it claims too little"
    else:
        judged = "the two agree within sampling error"
    return (
        f"It claims {percent(claimed)} on average and is right on {percent(share)}: {judged};"
        f" expected calibration error {error}."
    )


def twins_apart(result: AccuracyResult) -> int:
    """How many pairs of near-duplicates have different labels."""
    pairs = result.compared.twins
    return int((result.truth[pairs[:, 0]] != result.truth[pairs[:, 1]]).sum())


def _quantity(result: AccuracyResult) -> Quantity:
    share, low, high = result.accuracy()
    return Quantity(
        "Accuracy",
        share,
        low=low,
        high=high,
        better="high",
        text=f"{percent(share)} ({percent(low)} to {percent(high)})",
    )


def _scope(result: AccuracyResult) -> str:
    known, source = result.labelled, result.dataset
    return f"{sample(result.done, result.total, known, 'input', source, 'with a label')}."


def coverage(result: AccuracyResult) -> tuple[int, int]:
    """How many inputs were looked at, and of how many."""
    return result.done, result.labelled


def findings(result: AccuracyResult, params: AccuracyParams) -> list[Finding]:
    """Failing classes, confident mistakes, weak slices and labels to check."""
    errors = result.errors()
    if errors is None:
        return []
    failing = [
        _failing_class(result, errors, int(c)) for c in failing_classes(errors, params.least)
    ]
    sure = [one for one in result.mistakes if one.confidence >= params.sure]
    return [
        *failing,
        *(_mistake(result, one) for one in sure),
        *(_weak_slice(result, one) for one in result.compared.slices),
        *(_suspect(result, one) for one in result.compared.suspects),
    ]


def _failing_class(result: AccuracyResult, errors: ClassErrors, c: int) -> Finding:
    taken = int(errors.taken_for[c])
    rows = np.flatnonzero((result.truth == c) & ~result.right)
    rows = rows[np.argsort(-result.confidence[rows], kind="stable")][:12]
    detail = {
        "class": result.classes[c],
        "other_class": result.classes[taken],
        "inputs": [int(place) for place in result.places[rows]],
        "wrong": len(rows),
        "share": float(errors.share[c]),
    }
    title = f"{_class_words(result, errors, c)}; mostly taken for “{result.classes[taken]}”"
    # Among the surest mistakes of all classes, so a class may have none.
    example = next((one for one in result.mistakes if one.truth == c), None)
    if example is None:
        picture = None
        given = None
    else:
        picture = example.picture
        given = example.input
    # As for DeepInspect's classes: proven by labels, hence at least one half.
    severity = 0.5 + 0.5 * float(errors.share[c])
    return Finding("class", title, severity, detail, picture, given)


def _mistake(result: AccuracyResult, one: Shown) -> Finding:
    taken, given = result.classes[one.truth], result.classes[one.predicted]
    title = f"“{taken}” by its label, “{given}” to the model, {percent(one.confidence)} sure"
    detail = {
        "class": taken,
        "other_class": given,
        "place": one.place,
        "input_name": one.name,
        "wrong": 1,
        "confidence": one.confidence,
    }
    severity = _ONE_INPUT * one.confidence
    return Finding("wrong input", title, severity, detail, one.picture, one.input)


def _weak_slice(result: AccuracyResult, one: Slice) -> Finding:
    wrong = one.members[~result.right[one.members]]
    wrong = wrong[np.argsort(-result.confidence[wrong], kind="stable")][:12]
    share = one.right / len(one.members)
    places = [int(place) for place in result.places[wrong]]
    detail = {
        "slice": one.name,
        "inputs": places,
        "wrong": len(wrong),
        "share": 1 - share,
    }
    title = f"Weak slice, {one.name}: right on {percent(share)} of {len(one.members):,}"
    # Only the surest mistakes have kept their pictures.
    shown = {mistake.place: mistake.picture for mistake in result.mistakes}
    pictures = [shown[place] for place in places if place in shown]
    return Finding("slice", title, _SLICE * (1 - share), detail, _sheet(pictures))


def _sheet(pictures: Sequence[np.ndarray]) -> np.ndarray | None:
    """Pictures of one size beside and below each other as one; None without any."""
    if not pictures:
        return None
    if len(pictures) <= _ROW:
        across = len(pictures)
    else:
        across = math.ceil(math.sqrt(len(pictures)))
    down = -(-len(pictures) // across)
    high, wide = (side + _GAP for side in pictures[0].shape[:2])
    sheet = np.full((down * high - _GAP, across * wide - _GAP, 3), _GROUND, np.uint8)
    for number, picture in enumerate(pictures):
        top, left = high * (number // across), wide * (number % across)
        sheet[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return sheet


def _suspect(result: AccuracyResult, one: Shown) -> Finding:
    taken, given = result.classes[one.truth], result.classes[one.predicted]
    title = (
        f"Is the label “{taken}” of {one.name} right? The model and its neighbours say “{given}”"
    )
    detail = {
        "place": one.place,
        "input_name": one.name,
        "label": taken,
        "suggested": given,
    }
    return Finding("label", title, _LABEL * one.confidence, detail, one.picture, one.input)


def offers(result: AccuracyResult, params: AccuracyParams) -> tuple[Offer, ...]:
    """What is wrong, what has a doubtful label, and what is there twice."""
    found = []
    if result.mistakes:
        found.append(_offer("The surest mistakes", result.mistakes))
    if result.compared.suspects:
        found.append(_offer("Labels to check", result.compared.suspects))
    if len(result.compared.twins):
        # Enough to look at; a dataset of copies would send thousands.
        rows = np.unique(result.compared.twins[:50])
        places = tuple(int(place) for place in result.places[rows])
        names = tuple(f"input {place}" for place in places)
        found.append(Offer("Near-duplicates", names, places=places))
    return tuple(found)


def _offer(title: str, shown: tuple[Shown, ...]) -> Offer:
    names = tuple(one.name for one in shown)
    return Offer(title, names, places=tuple(one.place for one in shown))
