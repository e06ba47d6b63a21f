"""The claims of the zoNNscan paper as runs of the engines.

Section III: Figures 2 to 4, Table I, the watermark.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from robgui.analyses.zonnscan.params import PopulationsParams, WatermarkParams
from robgui.analyses.zonnscan.populations import compare, zonnscan_populations
from robgui.analyses.zonnscan.result import PopulationsResult, WatermarkResult
from robgui.analyses.zonnscan.sampling.points import SOBOL_REPLICATES
from robgui.analyses.zonnscan.watermark_check import zonnscan_watermark
from robgui.core.errors import DataError
from robgui.core.text.words import number, percent
from robgui.reproduce.claim import Claim, Drawing, Setting, attempt
from robgui.reproduce.zonnscan.bench import PaperModel, SweepBench, SweepSize, open_bench
from robgui.reproduce.zonnscan.sweep_claims import LEVEL, METHOD, sweeps

#: Table I: mean index of test and adversarial inputs, then of test and corner-case inputs, for MLP,
#: CNN and IRNN.
TABLE_I_ADVERSARIAL = ((0.3499, 0.8986), (0.3462, 0.9613), (0.2399, 0.5254))
TABLE_I_CORNER = ((0.3709, 0.6857), (0.3457, 0.6564), (0.2403, 0.2989))
#: Inputs of MNIST on which the paper's three models disagree (Section III-C).
PAPER_CORNER_CASES = 182
#: Section III-D; the paper names no attack size for the key: at this one some twins change class
#: and some do not.
KEY = 100
KEY_EPS = 0.1
#: Sections III-B and III-C.
RADIUS = 0.025


def claims(setting: Setting) -> Iterator[Claim]:
    """Runs every claim for every model, one after the other."""
    bench = open_bench(setting)
    setting.say(bench.words)
    for claim in (adversarial_claim, corner_cases_claim, watermark_claim):
        for subject in bench.subjects:
            yield claim(bench, subject)
    for subject in bench.subjects:
        yield from sweeps(bench, subject)


def adversarial_claim(bench: SweepBench, subject: PaperModel) -> Claim:
    """Adversarial twins are more uncertain than their originals (Table I)."""
    statement = f"{subject.name}: index higher around adversarial twins than around test inputs"

    def check() -> Claim:
        size = bench.size
        result = _twins(bench, subject, size.eps, size.samples)
        # The inputs come first, then their twins in the same order.
        half = len(result.index) // 2
        moved = float((result.predicted[half:] != result.predicted[:half]).mean())
        note = (
            f"{half:,} inputs and their twins (eps = {size.eps:g}, {percent(moved)} change class),"
            f" {_sampling(result)}."
        )
        detail: dict[str, float] = {"eps": size.eps, "change_class": moved}
        if size.other_eps:
            # The fewest samples that give an interval: two in each replicate.
            other = _twins(bench, subject, size.other_eps, 2 * SOBOL_REPLICATES)
            note += f" With eps = {size.other_eps:g}: {_figures(other)}."
            detail |= {
                "other_eps": size.other_eps,
                "other_mean": float(other.means[1]),
                "other_ks_p": other.ks_p,
            }
        return _populations_claim(
            statement,
            _means(TABLE_I_ADVERSARIAL, subject),
            result,
            note,
            f"adversarial-{subject.slug}",
            detail,
        )

    return attempt(METHOD, statement, _means(TABLE_I_ADVERSARIAL, subject), check)


def _twins(bench: SweepBench, subject: PaperModel, eps: float, samples: int) -> PopulationsResult:
    params = PopulationsParams(
        most=0, eps=eps, radius=RADIUS, samples=samples, target_half_width=0, seed=bench.seed
    )
    chosen = bench.dataset.subset(bench.order[: bench.size.inputs])
    return bench.last(
        f"{subject.name}: adversarial twins, eps = {eps:g}",
        zonnscan_populations(subject.classifier, chosen, params),
    )


def corner_cases_claim(bench: SweepBench, subject: PaperModel) -> Claim:
    """Corner cases are more uncertain than other inputs (Table I)."""
    statement = f"{subject.name}: index higher around corner cases than around test inputs"

    def check() -> Claim:
        disagreed = bench.corner_cases
        if not len(disagreed):
            raise DataError(
                f"The models agree on every input of {bench.dataset.name}, so there are no corner"
                " cases."
            )
        test = bench.order[: bench.size.test]
        params = PopulationsParams(
            most=0,
            against="rest",
            first=len(test),
            radius=RADIUS,
            samples=bench.size.samples,
            target_half_width=0,
            seed=bench.seed,
        )
        # Test inputs may be corner cases themselves, as in the paper, which draws them at random.
        both = bench.dataset.subset(np.concatenate([test, disagreed]))
        result = bench.last(statement, zonnscan_populations(subject.classifier, both, params))
        result = dataclasses.replace(result, names=("test", "corner-case"))
        models = (
            f"{len(bench.subjects)} models disagree on {len(disagreed):,} of {len(bench.dataset):,}"
        )
        note = (
            f"{len(test):,} test inputs and {len(disagreed):,} corner cases ({models}; paper"
            f" {PAPER_CORNER_CASES}), {_sampling(result)}."
        )
        return _populations_claim(
            statement,
            _means(TABLE_I_CORNER, subject),
            result,
            note,
            f"corner-cases-{subject.slug}",
            {},
        )

    return attempt(METHOD, statement, _means(TABLE_I_CORNER, subject), check)


def _populations_claim(
    statement: str,
    paper: str,
    result: PopulationsResult,
    note: str,
    name: str,
    more: dict[str, float],
) -> Claim:
    first, second = (float(mean) for mean in result.means)
    return Claim(
        METHOD,
        statement,
        paper,
        _figures(result),
        # Both: the test alone would also pass where the order is reversed.
        second > first and result.ks_p < LEVEL,
        note,
        {
            "means": [first, second],
            "ks_p": result.ks_p,
            "ks_statistic": result.ks_statistic,
            "auc": result.auc,
            "inputs": [int((~result.second).sum()), int(result.second.sum())],
            "samples": int(result.samples.max()),
            "model_calls": result.model_calls,
            **more,
        },
        (
            Drawing(
                name,
                "zonnscan_populations",
                result,
                statement,
                params=PopulationsParams(radius=RADIUS),
            ),
        ),
    )


def watermark_claim(bench: SweepBench, subject: PaperModel) -> Claim:
    """The index around the key tells a watermarked copy from its model."""
    statement = f"{subject.name}: index around the key differs between model and watermarked copy"
    paper = f"p < {LEVEL:g}"

    def check() -> Claim:
        size = bench.size
        params = WatermarkParams(
            size=KEY,
            most=size.key_pool,
            eps=KEY_EPS,
            runs=size.runs,
            samples=size.key_samples,
            radius=RADIUS,
            seed=bench.seed,
        )
        result = bench.last(
            statement, zonnscan_watermark((subject.classifier,), bench.dataset, params)
        )
        return _watermark_found(statement, paper, result, size, f"watermark-{subject.slug}")

    return attempt(METHOD, statement, paper, check)


def _watermark_found(
    statement: str, paper: str, result: WatermarkResult, size: SweepSize, name: str
) -> Claim:
    # (runs, key) -> (key,): the runs of one input are not independent, their mean is one value.
    single = compare(result.index[0].mean(0), result.index[1].mean(0)).ks_p
    before, after = (float(share) for share in result.accuracy)
    if single < LEVEL:
        alone = "and shows it too"
    else:
        alone = "which alone does not show it"
    note = (
        f"Key of {len(result.keys)} (eps = {KEY_EPS:g}), radius {RADIUS:g}, {size.runs} runs of"
        f" {size.key_samples:,} plain samples (paper: 100 of 1,000); {result.back} of"
        f" {int(result.adversarial.sum())} adversarial key inputs back in their class after"
        f" {result.rounds} steps, accuracy {percent(before)} -> {percent(after)}. The paper's test"
        " counts the runs of one input as independent; with one value per input p ="
        f" {number(single)}, {alone}."
    )
    detail = {
        "means": result.means,
        "ks_p": result.ks_p,
        "ks_statistic": result.ks_statistic,
        "ks_p_one_value_per_input": single,
        "accuracy": result.accuracy,
        "back_in_class": result.back,
        "key": len(result.keys),
        "eps": KEY_EPS,
        "runs": size.runs,
        "samples": size.key_samples,
        "model_calls": result.model_calls,
    }
    ours = f"{result.means[0]:.2f} -> {result.means[1]:.2f}, {_p(result.ks_p)}"
    params = WatermarkParams(runs=size.runs, samples=size.key_samples, radius=RADIUS)
    drawing = Drawing(name, "zonnscan_watermark", result, statement, params)
    return Claim(METHOD, statement, paper, ours, result.ks_p < LEVEL, note, detail, (drawing,))


def _means(table: tuple[tuple[float, float], ...], subject: PaperModel) -> str:
    if subject.place >= len(table):
        return f"p < {LEVEL:g}"
    first, second = table[subject.place]
    return f"{first:.2f} -> {second:.2f}, p < {LEVEL:g}"


def _figures(result: PopulationsResult) -> str:
    return f"{result.means[0]:.2f} -> {result.means[1]:.2f}, {_p(result.ks_p)}"


def _p(value: float) -> str:
    """A p value in words; "below …" if it is too small for a number."""
    if value > 0:
        return f"p = {number(value)}"
    return "p < 10⁻³⁰⁰"


def _sampling(result: PopulationsResult) -> str:
    half = float(np.mean(result.half_width))
    return (
        f"radius {RADIUS:g}, {int(result.samples.max()):,} Sobol samples each (± {number(half)};"
        " paper: 10,000 plain)"
    )
