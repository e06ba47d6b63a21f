"""What DeepInspect's results say: verdicts, findings and offers.

Labels lead if there are any: the worst class by its errors. Without them distances only show which
classes look alike to the network, which says nothing about its quality, so the status is unknown.
"""

from __future__ import annotations

import math

import numpy as np

from robgui.analyses.deepinspect.labels import FEWEST, ClassErrors, errors_of
from robgui.analyses.deepinspect.pairs import beyond_noise
from robgui.analyses.deepinspect.params import DeepInspectParams
from robgui.analyses.deepinspect.result import (
    DeepInspectResult,
    Quality,
)
from robgui.core.text.words import count, percent
from robgui.core.verdict import Quantity, Status, Verdict


def inspect_verdict(result: DeepInspectResult, params: DeepInspectParams) -> Verdict:
    """The worst class, if there are labels.

    Else which classes look alike, and that no more can be said.
    """
    problem = _nothing_to_say(result)
    if problem:
        return Verdict(Status.UNKNOWN, problem, scope=_scope(result))
    errors = errors_of(result)
    parts = (_alike(result), *_confirmed(result), _biased(result), _proven(result))
    because = [part for part in parts if part]
    if errors is not None:
        return _by_labels(result, errors, because, params.most_wrong)
    if result.multi_label and result.conf.size:
        return _by_true_confusion(result, because, params.most_wrong)
    # The first reason, likeness, is the sentence itself here.
    return Verdict(
        Status.UNKNOWN, _unlabelled(result), scope=_scope(result), because=tuple(because[1:])
    )


def _nothing_to_say(result: DeepInspectResult) -> str:
    known = int((result.counts > 0).sum())
    if not result.done:
        return "Nothing has been looked at yet."
    if known == 0:
        return "The model predicts no class for any input, so there is nothing to compare."
    if known == 1 and errors_of(result) is None:
        name = result.classes[int(result.counts.argmax())]
        return (
            f"The model predicts “{name}” for every input looked at, so there is no pair to"
            " compare."
        )
    return ""


def _by_labels(
    result: DeepInspectResult, errors: ClassErrors, because: list[str], limit: float
) -> Verdict:
    worst = int(errors.order[0])
    failing = errors.failing(limit)
    few = int(((errors.members > 0) & (errors.members < FEWEST)).sum())
    total, wrong = int(errors.members.sum()), int(errors.wrong.sum())
    if not wrong:
        sentence = f"All {total:,} labelled inputs are classified right."
    else:
        sentence = (
            f"{class_words(result, errors, worst)}; over all classes {percent(wrong / total)} of"
            f" {total:,} inputs are wrong."
        )
    if not result.complete:
        sentence = f"So far, {sentence[0].lower()}{sentence[1:]}"
    reasons = [_rule(failing, errors, limit)]
    if few:
        reasons.append(
            f"{count(few, 'class')} with fewer than {FEWEST} labelled inputs cannot be judged."
        )
    value = float(errors.share[worst])
    quantity = Quantity(
        "Errors in the worst class",
        value,
        low=float(errors.low[worst]),
        high=float(errors.high[worst]),
        better="low",
        text=(
            f"{percent(value)} ({percent(float(errors.low[worst]))} to"
            f" {percent(float(errors.high[worst]))})"
        ),
    )
    status = _status(errors, limit, result.complete)
    reach = f"with less than {percent(limit)} of errors in every class"
    return Verdict(status, sentence, quantity, _scope(result), (*reasons, *because), reach=reach)


def _status(errors: ClassErrors, limit: float, complete: bool) -> Status:
    """Fails if a class surely does; holds only if every class surely does not fail.

    Between them, a risk or no answer.
    """
    if len(errors.failing(limit)):
        return Status.FAILS
    seen = errors.members > 0
    # Even a class without inputs forbids "holds": nothing is known of it.
    if complete and seen.all() and bool((errors.high < limit).all()):
        return Status.HOLDS
    # With fewer inputs one error is a share that says nothing.
    judged = errors.members >= FEWEST
    if bool((np.nan_to_num(errors.share[judged]) > limit).any()):
        return Status.AT_RISK
    return Status.UNKNOWN


def _rule(failing: np.ndarray, errors: ClassErrors, most: float) -> str:
    limit = percent(most)
    if len(failing):
        if len(failing) == 1:
            verb = "gets"
        else:
            verb = "get"
        return (
            f"{count(len(failing), 'class')} of {int((errors.members > 0).sum()):,} {verb} more"
            f" than {limit} wrong, each 95 % sure."
        )
    return f"No class gets more than {limit} wrong for certain (95 %)."


def class_words(result: DeepInspectResult, errors: ClassErrors, c: int) -> str:
    """How often a class is right, and what it is taken for."""
    right, members = int(errors.members[c] - errors.wrong[c]), int(errors.members[c])
    words = f"“{result.classes[c]}” is right in {right:,} of {members:,} inputs"
    other = int(errors.taken_for[c])
    if other < 0:
        return words
    taken = int(errors.table[c, other])
    return f"{words} and taken for “{result.classes[other]}” in {taken:,}"


def _by_true_confusion(result: DeepInspectResult, because: list[str], limit: float) -> Verdict:
    """For a multi-label model: the pair that the labels say is mixed up most."""
    conf = np.where(np.eye(len(result.classes), dtype=bool), np.nan, result.conf)
    if not np.isfinite(conf).any():
        return Verdict(
            Status.UNKNOWN,
            "Too few labelled inputs to say which classes are mixed up.",
            scope=_scope(result),
        )
    a, b = np.unravel_index(int(np.nanargmax(conf)), conf.shape)
    worst = float(conf[a, b])
    name = f"“{result.classes[int(a)]}” and “{result.classes[int(b)]}”"
    sentence = (
        f"{name} are predicted together in {percent(worst)} of the inputs that show only one of"
        " them."
    )
    if worst > limit:
        status = Status.FAILS
    else:
        status = Status.AT_RISK
    # "Holds" would need a bound, and type 2 confusion has no exact one here.
    if worst == 0:
        status, sentence = Status.UNKNOWN, "No two classes are mixed up in any labelled input."
    because = [f"More than {percent(limit)} counts as a failure.", *because]
    quantity = Quantity("Worst confusion of two classes", worst, better="low", text=percent(worst))
    return Verdict(status, sentence, quantity, _scope(result), tuple(because))


def _unlabelled(result: DeepInspectResult) -> str:
    alike = _alike(result)
    if alike:
        return f"{alike} Whether the model confuses them needs labels."
    return "The classes have not been compared yet."


def _scope(result: DeepInspectResult) -> str:
    total = len(result.predicted)
    if result.complete:
        seen = f"{count(result.done, 'input')} of {result.dataset}"
    else:
        seen = f"So far {result.done:,} of {total:,} inputs"
    calls = count(result.model_calls, "model call")
    return f"{seen}, {calls}."


def _alike(result: DeepInspectResult) -> str:
    """Which two classes look most alike to the network; distance has no direction."""
    if not len(result.confusion_top):
        return ""
    a, b = (
        int(c)
        for c in (result.confusion_pairs if len(result.confusion_pairs) else result.confusion_top)[
            0
        ]
    )
    names = f"“{result.classes[a]}” and “{result.classes[b]}”"
    few = min(int(result.counts[a]), int(result.counts[b]))
    if few < FEWEST:
        return (
            f"{names} look most alike to the network, but one of them has only"
            f" {count(few, 'predicted input')}."
        )
    known = int((result.counts > 0).sum())
    pairs = known * (known - 1) // 2
    if not len(result.confusion_pairs):
        return f"{names} look most alike to the network; none of {count(pairs, 'pair')} stands out."
    near = len(result.confusion_pairs)
    verb = "stands" if near == 1 else "stand"
    return (
        f"{names} look most alike to the network; {near:,} of {count(pairs, 'pair')}"
        f" {verb} out{_surely(result)}."
    )


def _surely(result: DeepInspectResult) -> str:
    """How many of the pairs that stand out do so beyond noise, if known."""
    if not result.napvd_high.size:
        return ""
    sure = [beyond_noise(result, a, b) == "yes" for a, b in result.confusion_pairs.tolist()]
    return f", {sum(sure):,} of them beyond noise"


def _confirmed(result: DeepInspectResult) -> list[str]:
    """What the games found between the classes of reported pairs."""
    said = []
    for pair in dict.fromkeys(
        tuple(sorted((one.first, one.second))) for one in result.confirmations
    ):
        games = [one for one in result.confirmations if {one.first, one.second} == set(pair)]
        found = [one for one in games if math.isfinite(one.pixels)]
        names = f"“{result.classes[pair[0]]}” and “{result.classes[pair[1]]}”"
        if not found:
            said.append(f"{names}: no input was turned into the other class in {len(games)} games.")
            continue
        best = min(found, key=lambda one: one.pixels)
        start, end = result.classes[best.first], result.classes[best.second]
        apart = count(int(best.pixels), "pixel")
        said.append(
            f"{names} are {apart} apart: enough to turn input {best.place} from “{start}” into"
            f" “{end}”."
        )
    return said


def _biased(result: DeepInspectResult) -> str:
    if not len(result.bias_pairs):
        return ""
    a, b = (int(c) for c in result.bias_pairs[0])
    if len(result.triplets):
        third = f", most of all towards “{result.classes[int(result.triplets[0, 2])]}”"
    else:
        third = ""
    return f"“{result.classes[a]}” and “{result.classes[b]}” are treated most differently{third}."


def _proven(result: DeepInspectResult) -> str:
    """How well the distances find what the labels say is confused."""
    quality = result.confusion
    if quality is None or not len(quality.true_pairs):
        return ""
    many = len(quality.true_pairs)
    verb = "is" if many == 1 else "are"
    labels = f"By the labels {count(many, 'pair')} {verb} confused far more than the others;"
    if not quality.reported:
        return f"{labels} no pair looks alike enough to the network to warn of it."
    if not quality.hits:
        return f"{labels} what looks alike to the network are other pairs{_gain(quality)}."
    return (
        f"{labels} of the {quality.reported:,} that look alike to the network,"
        f" {quality.hits:,} {'is' if quality.hits == 1 else 'are'} among them{_gain(quality)}."
    )


def _gain(quality: Quality) -> str:
    if not math.isfinite(quality.aucec):
        return ""
    if quality.gain_random <= 0:
        return ", a ranking no better than chance"
    return f", a ranking {percent(quality.gain_random)} better than chance"
