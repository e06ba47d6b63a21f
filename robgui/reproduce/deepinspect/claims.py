"""The DeepInspect paper's claims (three questions, and thresholds) as runs of the engines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats

from robgui import resources
from robgui.analyses.deepinspect.params import CoverageParams, DeepInspectParams, ThresholdsParams
from robgui.analyses.deepinspect.result import Quality
from robgui.analyses.deepinspect.studies.coverage import deepinspect_coverage
from robgui.analyses.deepinspect.studies.thresholds import deepinspect_thresholds
from robgui.core.dataset import align, match, open_dataset
from robgui.core.errors import DataError, RobguiError
from robgui.core.text.words import number, percent
from robgui.reproduce.claim import Claim, Setting, attempt
from robgui.reproduce.deepinspect.tested import (
    QUICK_INPUTS,
    InspectedNetwork,
    NetworkUnderTest,
    inspect,
    tested_networks,
)

METHOD = "deepinspect"
#: A correlation stronger than this, with this p value, counts as clear.
CLEAR, LEVEL = 0.3, 1e-3
#: Section 7: the threshold hardly matters between these two; an area that moves by less than this
#: is stable.
STABLE_FROM, STABLE_TO, STABLE = 0.4, 0.75, 0.1
#: The truly worst pairs that must be among the reported ones.
WORST = 2


def claims(setting: Setting) -> Iterator[Claim]:
    """Runs every claim for every model, one after the other."""
    dataset = open_dataset(resources.demo()[0].dataset if setting.data is None else setting.data)
    if setting.quick:
        dataset = dataset.subset(
            np.sort(np.random.default_rng(setting.seed).permutation(len(dataset))[:QUICK_INPUTS])
        )
    for classifier in tested_networks(setting, dataset):
        yield from model_claims(
            NetworkUnderTest(match(classifier, dataset), align(classifier, dataset), setting)
        )


def model_claims(subject: NetworkUnderTest) -> Iterator[Claim]:
    """Every claim about one network."""
    try:
        inspected = inspect(subject)
    except RobguiError as error:
        # Every statement is listed, also where it could not be run.
        for statement, paper, _ in _CHECKS:
            yield Claim(METHOD, f"{subject.name}: {statement}", paper, "", None, str(error))
    else:
        for statement, paper, check in _CHECKS:
            yield check(inspected, f"{subject.name}: {statement}", paper)
    yield _stable(subject)
    yield _coverage(subject)


def _correlation(seen: InspectedNetwork, statement: str, paper: str) -> Claim:
    result, confusion = seen.result, seen.confusion
    value, p = result.spearman_confusion, confusion.spearman_p
    ours = f"Spearman {_signed(value)}, {_p(p)}"
    note = (
        f"{confusion.pairs:,} pairs of classes, {result.done:,} inputs of {result.dataset},"
        f" accuracy {percent(result.accuracy)}, {int(result.layer_sizes.sum()):,} neurons,"
        f" threshold {DeepInspectParams().threshold:g}."
    )
    detail = {
        "spearman": value,
        "p": p,
        "pairs": confusion.pairs,
        "accuracy": result.accuracy,
        "inputs": result.done,
    }
    drawing = seen.subject.drawing("deepinspect", result, "confusion")
    return Claim(
        METHOD, statement, paper, ours, value < -CLEAR and p < LEVEL, note, detail, (drawing,)
    )


def _worst(seen: InspectedNetwork, statement: str, paper: str) -> Claim:
    result = seen.result
    order = _ranked(result.napvd)
    worst = seen.confusion.true_pairs[:WORST]
    reported = {(int(a), int(b)) for a, b in result.confusion_pairs}
    if not len(worst):
        return Claim(
            METHOD,
            statement,
            paper,
            "",
            None,
            "By the labels no pair is confused more than the others.",
        )
    places = [order.index((int(a), int(b))) + 1 for a, b in worst]
    named = [f"{result.classes[a]} / {result.classes[b]}" for a, b in worst.tolist()]
    ours = "; ".join(f"{name}: {place}." for name, place in zip(named, places, strict=True))
    nearest = "; ".join(f"{result.classes[a]} / {result.classes[b]}" for a, b in order[:4])
    note = (
        f"Place of each in the ranking of {len(order):,} pairs, {len(reported):,} of which are"
        f" reported. Nearest: {nearest}."
    )
    holds = all((int(a), int(b)) in reported for a, b in worst)
    return Claim(METHOD, statement, paper, ours, holds, note, {"places": places, "pairs": named})


def _precision(seen: InspectedNetwork, statement: str, paper: str) -> Claim:
    confusion, bias = seen.confusion, seen.bias
    # The precision of pairs drawn blindly.
    chance = len(confusion.true_pairs) / max(1, confusion.pairs)
    ours = f"precision {percent(confusion.precision)}, recall {percent(confusion.recall)}"
    note = (
        f"{confusion.hits} of {confusion.reported} reported pairs are true;"
        f" {len(confusion.true_pairs)} of {confusion.pairs:,} pairs are ({percent(chance)}). Top"
        f" {DeepInspectParams().top_percent:g} %: {confusion.top_hits} of {confusion.top_reported}."
        f" Bias: precision {percent(bias.precision)}, recall {percent(bias.recall)}."
    )
    detail = {
        "precision": confusion.precision,
        "recall": confusion.recall,
        "chance": chance,
        "bias_precision": bias.precision,
        "bias_recall": bias.recall,
    }
    # Nothing reported has no precision, which proves nothing either way.
    known = math.isfinite(confusion.precision)
    return Claim(
        METHOD,
        statement,
        paper,
        ours,
        confusion.precision > chance if known else None,
        note,
        detail,
    )


def _over_random(seen: InspectedNetwork, statement: str, paper: str) -> Claim:
    return _gain_random(statement, paper, seen.confusion, -seen.result.napvd)


def _bias_over_random(seen: InspectedNetwork, statement: str, paper: str) -> Claim:
    return _gain_random(statement, paper, seen.bias, seen.result.avg_bias)


def _gain_random(statement: str, paper: str, quality: Quality, suspicion: np.ndarray) -> Claim:
    if not math.isfinite(quality.aucec):
        return Claim(
            METHOD, statement, paper, "", None, "By the labels no pair is worse than the others."
        )
    p = _better_than_chance(quality, suspicion)
    note = (
        f"Area {number(quality.aucec)} (random 0.5, optimal {number(quality.aucec_optimal)});"
        f" chance as good: {_p(p)}."
    )
    ours = f"area gain {percent(quality.gain_random)}"
    detail = {"aucec": quality.aucec, "optimal": quality.aucec_optimal, "p": p}
    return Claim(METHOD, statement, paper, ours, quality.gain_random > 0 and p < 0.05, note, detail)


def _over_mode(seen: InspectedNetwork, statement: str, paper: str) -> Claim:
    return _gain_mode(statement, paper, seen.confusion)


def _bias_over_mode(seen: InspectedNetwork, statement: str, paper: str) -> Claim:
    return _gain_mode(statement, paper, seen.bias)


def _gain_mode(statement: str, paper: str, quality: Quality) -> Claim:
    if not math.isfinite(quality.gain_mode):
        return Claim(
            METHOD,
            statement,
            paper,
            "",
            None,
            "The weights of the last layer cannot be seen, or no pair is truly worse.",
        )
    note = (
        f"Area {number(quality.aucec)}, MODE {number(quality.aucec_mode)}, optimal"
        f" {number(quality.aucec_optimal)}."
    )
    detail = {"aucec": quality.aucec, "aucec_mode": quality.aucec_mode}
    return Claim(
        METHOD,
        statement,
        paper,
        f"area gain {_signed(100 * quality.gain_mode)} %",
        quality.gain_mode > 0,
        note,
        detail,
    )


def _bias_correlation(seen: InspectedNetwork, statement: str, paper: str) -> Claim:
    bias = seen.bias
    ours = f"Spearman {_signed(bias.spearman)}, {_p(bias.spearman_p)}"
    note = f"{bias.pairs:,} pairs; third classes that count: {DeepInspectParams().bias_filter}."
    detail = {"spearman": bias.spearman, "p": bias.spearman_p}
    return Claim(
        METHOD,
        statement,
        paper,
        ours,
        bias.spearman > CLEAR and bias.spearman_p < LEVEL,
        note,
        detail,
    )


#: What is claimed of each model, what the paper says, and how it is checked.
_CHECKS: tuple[tuple[str, str, Callable[[InspectedNetwork, str, str], Claim]], ...] = (
    (
        "near classes are the truly confused ones",
        "Spearman −0.55 (COCO), −0.86 (CIFAR-10)",
        _correlation,
    ),
    (
        "the truly worst pairs are among the reported",
        "(cat, dog), (automobile, truck), … on CIFAR-10",
        _worst,
    ),
    (
        "reported confusions are true more often than by chance",
        "precision 26–63 %, recall 60–100 %",
        _precision,
    ),
    ("confusions are found sooner than at random", "area gain 61.6–85.7 %", _over_random),
    ("confusions are found sooner than by MODE", "area gain 10.2–28.2 %", _over_mode),
    (
        "biased pairs are the truly uneven ones",
        "Spearman 0.76 (COCO), 0.62 (CIFAR-10)",
        _bias_correlation,
    ),
    ("biases are found sooner than at random", "area gain 37.1–76.1 %", _bias_over_random),
    ("biases are found sooner than by MODE", "area gain 6.0–41.9 %", _bias_over_mode),
)


def _stable(subject: NetworkUnderTest) -> Claim:
    statement = (
        f"{subject.name}: the activation threshold hardly matters from {STABLE_FROM:g} to"
        f" {STABLE_TO:g}"
    )
    paper = "overall stable"

    def check() -> Claim:
        engine = deepinspect_thresholds(subject.classifier, subject.dataset, ThresholdsParams())
        result = subject.setting.last(f"{subject.name}: thresholds", engine)
        within = (result.thresholds >= STABLE_FROM) & (result.thresholds <= STABLE_TO)
        # Areas rather than precision: a few pairs more or less move a precision by much.
        areas = result.confusion.aucec[within]
        if not np.isfinite(areas).all():
            raise DataError(
                f"{subject.dataset.name} has no labels, or no pair is truly worse, so there is no"
                " area to compare."
            )
        spread = float(np.ptp(areas))
        shares = ", ".join(
            f"{th:g}: {percent(float(p))}"
            for th, p in zip(result.thresholds, result.confusion.precision, strict=True)
        )
        note = f"Areas under the cost curve, one pass for all thresholds. Precision at {shares}."
        detail = {
            "thresholds": result.thresholds,
            "aucec": result.confusion.aucec,
            "precision": result.confusion.precision,
        }
        drawing = subject.drawing("deepinspect_thresholds", result, "thresholds")
        ours = f"area {number(float(areas.min()))} to {number(float(areas.max()))}"
        return Claim(METHOD, statement, paper, ours, spread <= STABLE, note, detail, (drawing,))

    return attempt(METHOD, statement, paper, check)


def _coverage(subject: NetworkUnderTest) -> Claim:
    statement = f"{subject.name}: neuron coverage does not tell most classes apart"
    paper = "57.6 % (CIFAR-100) and 78.7 % (COCO) of the pairs small or negligible"

    def check() -> Claim:
        engine = deepinspect_coverage(
            subject.classifier, subject.dataset, CoverageParams(seed=subject.setting.seed)
        )
        result = subject.setting.last(f"{subject.name}: coverage", engine)
        # Negligible and small, the two that the paper adds up (Section 5, setting 2).
        weak = float(result.effect_shares[:2].sum())
        if math.isnan(weak):
            raise DataError("Fewer than two classes have two predicted members.")
        parts = zip(("negligible", "small", "medium", "large"), result.effect_shares, strict=True)
        note = (
            f"Cohen's d: {', '.join(f'{name} {percent(float(share))}' for name, share in parts)};"
            f" Kruskal {_p(result.kruskal_p)}."
        )
        detail = {"effect_shares": result.effect_shares, "kruskal_p": result.kruskal_p}
        drawing = subject.drawing("deepinspect_coverage", result, "coverage")
        return Claim(METHOD, statement, paper, percent(weak), weak > 0.5, note, detail, (drawing,))

    return attempt(METHOD, statement, paper, check)


def _ranked(distance: np.ndarray) -> list[tuple[int, int]]:
    """All known pairs, nearest first."""
    first, second = np.triu_indices(len(distance), 1)
    known = np.isfinite(distance[first, second])
    order = np.argsort(distance[first, second][known], kind="stable")
    return list(zip(first[known][order].tolist(), second[known][order].tolist(), strict=True))


def _better_than_chance(quality: Quality, suspicion: np.ndarray) -> float:
    """The p value of "a random order finds the true pairs as soon" (Mann-Whitney)."""
    true = np.zeros(suspicion.shape, dtype=bool)
    true[quality.true_pairs[:, 0], quality.true_pairs[:, 1]] = True
    first, second = np.triu_indices(len(suspicion), 1)
    known = np.isfinite(suspicion[first, second])
    scores, is_true = suspicion[first, second][known], true[first, second][known]
    if is_true.all() or not is_true.any():
        return 1.0
    return float(
        # The area under the cost curve is a linear function of
        # Mann-Whitney's U, so their p values agree.
        stats.mannwhitneyu(scores[is_true], scores[~is_true], alternative="greater").pvalue
    )


def _signed(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _p(value: float) -> str:
    if value > 0:
        return f"p = {number(value)}"
    return "p < 10⁻³⁰⁰"
