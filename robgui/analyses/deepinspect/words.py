"""What the DeepInspect results say in words: verdicts and findings."""

from __future__ import annotations

import math

import numpy as np

from robgui.analyses.deepinspect.result import CoverageResult, DeepInspectResult, Exhibit, Quality, ThresholdsResult
from robgui.core.finding import Finding
from robgui.core.headline import Headline, Status
from robgui.core.text.words import count, number, percent

#: A pair is a failure when so many of its inputs are taken for the other class, and worth a look from the second on.
BAD, DOUBTFUL = 0.05, 0.01


def inspect_verdict(result: DeepInspectResult) -> str:
    """Which classes are confused, how many pairs are reported, how many of these are true, and what it cost."""
    parts = [_confused(result), _biased(result), _proven(result), f"{_cost(result)}."]
    return " ".join(part for part in parts if part)


def _confused(result: DeepInspectResult) -> str:
    known = int((result.counts > 0).sum())
    if not result.done:
        return "Nothing has been looked at yet."
    if known == 0:
        return "The model predicts no class for any input, so there is nothing to compare."
    if known == 1:
        return f"The model predicts “{result.classes[int(result.counts.argmax())]}” for everything, so there is no pair to compare."
    if not np.isfinite(result.confusion_limit):
        return "The classes have not been compared yet."
    pairs = known * (known - 1) // 2
    if not len(result.confusion_pairs):
        a, b = _names(result, result.confusion_top[0])
        one = "the only pair" if pairs == 1 else f"the nearest of {pairs:,} pairs"
        return f"No pair of classes stands out as confused; {one} is “{a}” and “{b}”."
    a, b = _names(result, result.confusion_pairs[0])
    return f"Most confused: “{a}” and “{b}”; {count(len(result.confusion_pairs), 'pair')} of {pairs:,} reported."


def _biased(result: DeepInspectResult) -> str:
    if not len(result.bias_pairs):
        return ""
    a, b = _names(result, result.bias_pairs[0])
    third = f", most of all towards “{result.classes[int(result.triplets[0, 2])]}”" if len(result.triplets) else ""
    return f"Most biased: “{a}” against “{b}”{third}; {count(len(result.bias_pairs), 'pair')} reported."


def _proven(result: DeepInspectResult) -> str:
    quality = result.confusion
    if quality is None:
        return "Without labels nobody can say how many are true." if result.done and len(result.confusion_pairs) else ""
    if not len(quality.true_pairs):
        return "By the labels no pair is confused more than the others."
    if not quality.reported:
        verb = "is" if len(quality.true_pairs) == 1 else "are"
        return f"By the labels {count(len(quality.true_pairs), 'pair')} {verb} truly confused."
    return (
        f"{quality.hits:,} of {quality.reported:,} reported confusions are true by the labels (precision {percent(quality.precision)}), "
        f"and {percent(quality.recall)} of the {len(quality.true_pairs):,} true ones are found{_gain(quality)}."
    )


def _gain(quality: Quality) -> str:
    if not math.isfinite(quality.aucec):
        return ""
    than = f", {percent(quality.gain_mode)} over weight distances" if quality.gain_mode > 0 else ""
    return (
        f"; as a ranking {percent(quality.gain_random)} better than chance{than}"
        if quality.gain_random > 0
        else "; as a ranking no better than chance"
    )


def inspect_headline(result: DeepInspectResult) -> Headline:
    """How often the worst reported pair is truly mixed up; without labels, how many pairs are reported."""
    pairs = result.confusion_pairs
    if not result.conf.size or not len(pairs):
        status: Status = "unknown" if not np.isfinite(result.confusion_limit) else "doubtful" if len(pairs) else "good"
        return Headline("Confused class pairs", float(len(pairs)), f"{count(len(pairs), 'pair')} reported", "low", status)
    worst = float(np.nan_to_num(result.conf[pairs[:, 0], pairs[:, 1]]).max())
    title = "Worst confusion of a reported pair"
    return Headline(title, worst, percent(worst), "low", "bad" if worst >= BAD else "doubtful" if worst >= DOUBTFUL else "good")


def inspect_findings(result: DeepInspectResult) -> list[Finding]:
    """The reported pairs, confusion first, each with a picture of inputs that are mixed up."""
    return [_confusion_finding(result, each) if each.kind == "confusion" else _bias_finding(result, each) for each in result.exhibits]


def _confusion_finding(result: DeepInspectResult, exhibit: Exhibit) -> Finding:
    a, b = exhibit.first, exhibit.second
    distance = float(result.napvd[a, b])
    true = float(result.conf[a, b]) if result.conf.size else math.nan
    proof = "" if math.isnan(true) else f"; truly confused in {percent(true)} of their inputs"
    title = f"“{result.classes[a]}” and “{result.classes[b]}” look alike to the model (distance {number(distance)}{proof})"
    detail = {
        **_detail(result, exhibit),
        "napvd": distance,
        "limit": result.confusion_limit,
        "true_confusion": None if math.isnan(true) else true,
        "truly_confused": _is_true(result.confusion, a, b),
    }
    return Finding("confusion", title, _severity(result, distance), detail, exhibit.picture, _failing(exhibit))


def _bias_finding(result: DeepInspectResult, exhibit: Exhibit) -> Finding:
    a, b, c = exhibit.first, exhibit.second, exhibit.third
    near, far = (a, b) if result.napvd[a, c] <= result.napvd[b, c] else (b, a)
    title = (
        f"“{result.classes[near]}” and “{result.classes[far]}” are treated differently: "
        f"“{result.classes[c]}” is much nearer to “{result.classes[near]}”"
    )
    value = float(result.avg_bias[a, b])
    detail = {
        **_detail(result, exhibit),
        "third_class": result.classes[c],
        "average_bias": value,
        "limit": result.bias_limit,
        "bias_over_third": float(result.triplet_bias[np.flatnonzero((result.triplets[:, :2] == (a, b)).all(1))[0]]),
        "truly_biased": _is_true(result.bias, a, b),
    }
    highest = float(np.nanmax(result.avg_bias))
    return Finding("bias", title, 0.5 * value / highest if highest > 0 else 0.0, detail, exhibit.picture, _failing(exhibit))


def _detail(result: DeepInspectResult, exhibit: Exhibit) -> dict[str, object]:
    return {
        "class": result.classes[exhibit.first],
        "other_class": result.classes[exhibit.second],
        "inputs": [int(place) for place in exhibit.places],
        "wrong": exhibit.wrong,
    }


def _severity(result: DeepInspectResult, distance: float) -> float:
    """How far below the mean distance, as a share of it: 1 for two classes that cannot be told apart at all."""
    first, second = np.triu_indices(len(result.napvd), 1)
    values = result.napvd[first, second]
    mean = float(np.nanmean(values)) if np.isfinite(values).any() else 0.0
    return float(np.clip(1 - distance / mean, 0, 1)) if mean > 0 else 0.0


def _is_true(quality: Quality | None, a: int, b: int) -> bool | None:
    return None if quality is None else bool((quality.true_pairs == (a, b)).all(1).any())


def _failing(exhibit: Exhibit) -> np.ndarray | None:
    return exhibit.input[0] if len(exhibit.input) else None


def thresholds_verdict(result: ThresholdsResult) -> str:
    """Over which thresholds the reported pairs stay the same, and what it cost."""
    cost = f"{_cost(result)} for {count(len(result.thresholds), 'threshold')}."
    agreement = result.confusion.agreement
    middle = f"{result.thresholds[result.reference]:g}"
    if not np.isfinite(agreement).any():
        return f"No pair of classes stands out at any threshold. {cost}"
    stable = result.thresholds[np.nan_to_num(agreement) >= 0.5]
    words = f"At least half of the confused pairs are the same as at {middle} for thresholds from {stable.min():g} to {stable.max():g}."
    if result.labelled and np.isfinite(result.confusion.aucec).any():
        best = int(np.nanargmax(result.confusion.aucec))
        words += f" The ranking is truest at {result.thresholds[best]:g} (area {number(float(result.confusion.aucec[best]))})."
    return f"{words} {cost}"


def coverage_verdict(result: CoverageResult) -> str:
    """Whether coverage tells the classes apart, and what it cost."""
    cost = f"{_cost(result)}."
    if not np.isfinite(result.effect_shares).all():
        return f"Coverage cannot be compared: fewer than two classes have two predicted members. {cost}"
    weak = float(result.effect_shares[:2].sum())
    differ = "differs" if result.kruskal_p < 0.05 else "does not differ"
    surety = f"p = {number(result.kruskal_p)}" if result.kruskal_p > 0 else "p < 10⁻³⁰⁰"
    pairs = f"{percent(weak)} of the pairs of classes differ by a small or negligible effect, so coverage does not tell these apart"
    return f"Neuron coverage {differ} between classes as a whole ({surety}); {pairs}. {cost}"


def _names(result: DeepInspectResult, pair: np.ndarray) -> tuple[str, str]:
    return result.classes[int(pair[0])], result.classes[int(pair[1])]


def _cost(result: DeepInspectResult | ThresholdsResult | CoverageResult) -> str:
    return f"{count(result.done, 'input')}, {count(result.model_calls, 'model call')}"
