"""What the studies of thresholds and of coverage say."""

from __future__ import annotations

import numpy as np

from robgui.analyses.deepinspect.params import CoverageParams, ThresholdsParams
from robgui.analyses.deepinspect.studies.result import CoverageResult, ThresholdsResult
from robgui.core.text.words import count, number, percent
from robgui.core.verdict import Quantity, Status, Verdict


def thresholds_verdict(result: ThresholdsResult, params: ThresholdsParams) -> Verdict:
    """Over which thresholds the reported pairs stay the same."""
    scope = f"{_seen(result)} at {count(len(result.thresholds), 'threshold')}."
    agreement = result.confusion.agreement
    if not np.isfinite(agreement).any():
        words = "No pair of classes stands out at any threshold."
        if not result.complete:
            words = "So far no pair of classes is known to stand out at any threshold."
        return Verdict(Status.UNKNOWN, words, scope=scope)
    middle = f"{result.thresholds[result.reference]:g}"
    least = float(np.nanmin(agreement))
    low, high = _stable_around(result, params)
    stay = f"at least {percent(params.stable)} of the pairs found at {middle} stay"
    if least >= params.stable:
        sentence = f"The threshold hardly matters: {stay} at every one tried."
    else:
        sentence = (
            f"Which classes stand out depends on the threshold: from {low:g} to {high:g} {stay},"
            f" elsewhere as few as {percent(least)}."
        )
    if not result.complete:
        sentence = f"So far, {sentence[0].lower()}{sentence[1:]}"
    because = []
    if result.labelled and np.isfinite(result.confusion.aucec).any():
        best = int(np.nanargmax(result.confusion.aucec))
        because.append(f"By the labels the ranking is best at {result.thresholds[best]:g}.")
    quantity = Quantity(
        "Pairs in common at the worst threshold", least, better="high", text=percent(least)
    )
    if result.complete and least >= params.stable:
        status = Status.HOLDS
    else:
        status = Status.AT_RISK
    if not result.complete:
        status = Status.UNKNOWN
    reach = f"for thresholds from {min(result.thresholds):g} to {max(result.thresholds):g}"
    return Verdict(status, sentence, quantity, scope, tuple(because), reach=reach)


def coverage_verdict(result: CoverageResult, params: CoverageParams) -> Verdict:
    """Whether coverage tells the classes apart; says nothing about the quality of the model."""
    scope = f"{_seen(result)}."
    if not np.isfinite(result.effect_shares).all():
        words = "Coverage cannot be compared: fewer than two classes have two predicted inputs."
        return Verdict(Status.UNKNOWN, words, scope=scope)
    # Negligible and small effects together, as the paper counts them (Section 5, setting 2).
    weak = float(result.effect_shares[:2].sum())
    sentence = f"Coverage cannot tell {percent(weak)} of the pairs of classes apart."
    if not result.complete:
        sentence = f"So far, {sentence[0].lower()}{sentence[1:]}"
    because = (
        "Coverage says which neurons were used, not whether the model is right.",
        _kruskal_words(result),
    )
    quantity = Quantity("Pairs of classes with equal coverage", weak, text=percent(weak))
    # Never "holds" or "fails": coverage does not tell whether the model is right.
    return Verdict(Status.UNKNOWN, sentence, quantity, scope, because)


def _stable_around(result: ThresholdsResult, params: ThresholdsParams) -> tuple[float, float]:
    """The range of thresholds around the reference without a less stable one."""
    stable = np.nan_to_num(result.confusion.agreement) >= params.stable
    low = high = result.reference
    while low > 0 and stable[low - 1]:
        low -= 1
    while high < len(stable) - 1 and stable[high + 1]:
        high += 1
    return float(result.thresholds[low]), float(result.thresholds[high])


def _kruskal_words(result: CoverageResult) -> str:
    if result.kruskal_p > 0:
        surety = f"p = {number(result.kruskal_p)}"
    else:
        # 0 by underflow: the smallest double is about 5e-324.
        surety = "p < 10⁻³⁰⁰"
    if result.kruskal_p < 0.05:
        differ = "differs"
    else:
        differ = "does not differ"
    return f"Over all classes together it {differ} (Kruskal–Wallis, {surety})."


def _seen(result: ThresholdsResult | CoverageResult) -> str:
    words = (
        f"{count(result.done, 'input')} of {result.dataset},"
        f" {count(result.model_calls, 'model call')}"
    )
    if result.complete:
        return words
    return f"So far {words}"
