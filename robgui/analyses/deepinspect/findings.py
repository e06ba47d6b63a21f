"""What DeepInspect finds: classes and inputs that fail by their labels, then pairs and bias."""

from __future__ import annotations

import math

import numpy as np

from robgui.analyses.deepinspect.labels import ClassErrors, errors_of
from robgui.analyses.deepinspect.pairs import beyond_noise, pixels_apart
from robgui.analyses.deepinspect.params import DeepInspectParams
from robgui.analyses.deepinspect.result import DeepInspectResult, Quality, ShownPair
from robgui.analyses.deepinspect.words import class_words
from robgui.core.finding import Finding
from robgui.core.text.words import percent

#: Severity of an input that is certainly wrong.
_ONE_INPUT = 0.7


def inspect_findings(result: DeepInspectResult, params: DeepInspectParams) -> list[Finding]:
    """Classes that the labels say fail, worst first; then the pairs that stand out."""
    errors = errors_of(result)
    found = []
    for exhibit in result.exhibits:
        if exhibit.kind == "class" and errors is not None:
            found.append(_class_finding(result, errors, exhibit))
        elif exhibit.kind == "confusion":
            found.append(_confusion_finding(result, exhibit))
        elif exhibit.kind == "bias":
            found.append(_bias_finding(result, exhibit))
        elif exhibit.kind == "input":
            found.append(_wrong_input(result, exhibit))
    return found


def _class_finding(result: DeepInspectResult, errors: ClassErrors, exhibit: ShownPair) -> Finding:
    c = exhibit.first
    detail = {
        **_detail(result, exhibit),
        "labelled": int(errors.members[c]),
        "errors": int(errors.wrong[c]),
        "share": float(errors.share[c]),
        "at_least": float(errors.low[c]),
    }
    # Half and more: labels prove the failure. Pairs stay below, since likeness is only a hint.
    severity = 0.5 + 0.5 * float(errors.share[c])
    return Finding(
        "class",
        class_words(result, errors, c),
        severity,
        detail,
        exhibit.picture,
        _failing(exhibit),
    )


def _confusion_finding(result: DeepInspectResult, exhibit: ShownPair) -> Finding:
    a, b = exhibit.first, exhibit.second
    distance = float(result.napvd[a, b])
    if result.conf.size:
        true = float(result.conf[a, b])
    else:
        true = math.nan
    names = f"“{result.classes[a]}” and “{result.classes[b]}”"
    if math.isnan(true):
        proof = "no labels say whether they are confused"
    else:
        proof = f"truly confused in {percent(true)} of their inputs"
    detail = {
        **_detail(result, exhibit),
        "distance": distance,
        "limit": result.confusion_limit,
        "true_confusion": None if math.isnan(true) else true,
        "truly_confused": _is_true(result.confusion, a, b),
        "beyond_noise": beyond_noise(result, a, b),
        "pixels_apart": pixels_apart(result, a, b),
    }
    if math.isnan(true):
        # Without labels no error is proven, so half the weight of a proven confusion.
        severity = 0.25 * _nearness(result, distance)
    else:
        severity = 0.5 * true
    title = f"{names} look alike to the network; {proof}"
    return Finding("confusion", title, severity, detail, exhibit.picture, _failing(exhibit))


def _bias_finding(result: DeepInspectResult, exhibit: ShownPair) -> Finding:
    a, b, c = exhibit.first, exhibit.second, exhibit.third
    if result.napvd[a, c] <= result.napvd[b, c]:
        near, far = (a, b)
    else:
        near, far = (b, a)
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
        "bias_over_third": float(
            result.triplet_bias[np.flatnonzero((result.triplets[:, :2] == (a, b)).all(1))[0]]
        ),
        "truly_biased": _is_true(result.bias, a, b),
    }
    highest = float(np.nanmax(result.avg_bias))
    if highest > 0:
        # Lowest of all: bias has no natural scale, only an order among the pairs of this network.
        severity = 0.2 * value / highest
    else:
        severity = 0.0
    return Finding("bias", title, severity, detail, exhibit.picture, _failing(exhibit))


def _wrong_input(result: DeepInspectResult, exhibit: ShownPair) -> Finding:
    """One wrong input, however sure, is less severe than a class that fails."""
    taken, given = result.classes[exhibit.first], result.classes[exhibit.second]
    title = f"“{taken}” by its label, “{given}” to the model, {percent(exhibit.confidence)} sure"
    detail = {
        **_detail(result, exhibit),
        "place": int(exhibit.places[0]),
        "confidence": exhibit.confidence,
    }
    severity = _ONE_INPUT * exhibit.confidence
    return Finding("wrong input", title, severity, detail, exhibit.picture, _failing(exhibit))


def _detail(result: DeepInspectResult, exhibit: ShownPair) -> dict[str, object]:
    return {
        "class": result.classes[exhibit.first],
        "other_class": result.classes[exhibit.second] if exhibit.second >= 0 else "",
        "inputs": [int(place) for place in exhibit.places],
        "wrong": exhibit.wrong,
    }


def _nearness(result: DeepInspectResult, distance: float) -> float:
    """How far below the mean distance, as a share of it.

    1 for two classes that cannot be told apart at all.
    """
    first, second = np.triu_indices(len(result.napvd), 1)
    values = result.napvd[first, second]
    if np.isfinite(values).any():
        mean = float(np.nanmean(values))
    else:
        mean = 0.0
    if mean > 0:
        return float(np.clip(1 - distance / mean, 0, 1))
    return 0.0


def _is_true(quality: Quality | None, a: int, b: int) -> bool | None:
    if quality is None:
        return None
    return bool((quality.true_pairs == (a, b)).all(1).any())


def _failing(exhibit: ShownPair) -> np.ndarray | None:
    return exhibit.input[0] if len(exhibit.input) else None
