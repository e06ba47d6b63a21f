"""The claims of the zoNNscan paper (Section III: Figures 2 to 4, Table I, the watermark) as runs
of the engines.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
from scipy import stats

from robgui.analyses.zonnscan.params import PopulationsParams, WatermarkParams, ZonnscanParams
from robgui.analyses.zonnscan.populations import adversarial_twins, compare, zonnscan_populations
from robgui.analyses.zonnscan.resolution import rare
from robgui.analyses.zonnscan.result import PopulationsResult, WatermarkResult, ZonnscanResult
from robgui.analyses.zonnscan.sampling.points import SOBOL_REPLICATES
from robgui.analyses.zonnscan.sampling.tally import read_scores
from robgui.analyses.zonnscan.sweep import zonnscan
from robgui.analyses.zonnscan.watermark_check import zonnscan_watermark
from robgui.core.dataset import Dataset, from_arrays, inputs
from robgui.core.errors import DataError
from robgui.core.text.words import number, percent
from robgui.reproduce.claim import Claim, Drawing, Setting, attempt
from robgui.reproduce.zonnscan.bench import PaperModel, SweepBench, SweepSize, open_bench

METHOD = "zonnscan"
#: Table I: mean index of test and adversarial inputs, then of test and corner-case inputs, for MLP,
#: CNN and IRNN.
TABLE_I_ADVERSARIAL = ((0.3499, 0.8986), (0.3462, 0.9613), (0.2399, 0.5254))
TABLE_I_CORNER = ((0.3709, 0.6857), (0.3457, 0.6564), (0.2403, 0.2989))
PAPER_CORNER_CASES = 182
#: Section III-D; the paper names no attack size for the key: at this one some twins change class
#: and some do not.
KEY = 100
KEY_EPS = 0.1
#: Sections III-B and III-C.
RADIUS = 0.025
#: What the paper calls significant.
LEVEL = 1e-3
#: Section III-A: the input of Figure 2 has a confidence around 0.9, and from radius 0.25 on the
#: uncertainty is critical.
CONFIDENT = 0.9
CRITICAL = 0.25


def claims(setting: Setting) -> Iterator[Claim]:
    """Runs every claim for every model, one after the other."""
    bench = open_bench(setting)
    setting.say(bench.words)
    for claim in (_adversarial, _corner_cases, _watermark):
        for subject in bench.subjects:
            yield claim(bench, subject)
    for subject in bench.subjects:
        yield from _sweeps(bench, subject)


def _adversarial(bench: SweepBench, subject: PaperModel) -> Claim:
    statement = f"{subject.name}: index higher around adversarial twins than around test inputs"

    def check() -> Claim:
        size = bench.size
        result = _twins(bench, subject, size.eps, size.samples)
        half = len(result.index) // 2
        moved = float((result.predicted[half:] != result.predicted[:half]).mean())
        note = (
            f"{half:,} inputs and their twins (eps = {size.eps:g}, {percent(moved)} change class),"
            f" {_sampling(result)}."
        )
        detail: dict[str, float] = {"eps": size.eps, "change_class": moved}
        if size.other_eps:
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


def _corner_cases(bench: SweepBench, subject: PaperModel) -> Claim:
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


def _watermark(bench: SweepBench, subject: PaperModel) -> Claim:
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
        return _watermark_claim(statement, paper, result, size, f"watermark-{subject.slug}")

    return attempt(METHOD, statement, paper, check)


def _watermark_claim(
    statement: str, paper: str, result: WatermarkResult, size: SweepSize, name: str
) -> Claim:
    single = compare(result.index[0].mean(0), result.index[1].mean(0)).ks_p
    before, after = (float(share) for share in result.accuracy)
    alone = "and shows it too" if single < LEVEL else "which alone does not show it"
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


@dataclasses.dataclass(frozen=True, slots=True)
class _Pairs:
    """Inputs as in Figure 2 ``(n, *shape)``, their twins, where they are in the dataset, and the
    index of both at radius 0.
    """

    places: np.ndarray
    twins: np.ndarray
    at_zero: np.ndarray
    twins_at_zero: np.ndarray


def _sweeps(bench: SweepBench, subject: PaperModel) -> Iterator[Claim]:
    rising = (
        f"{subject.name}: index of confident inputs low at r = 0 and higher from r ="
        f" {CRITICAL:g} on"
    )
    starting = f"{subject.name}: adversarial twins of confident inputs start higher at r = 0"
    whole = f"{subject.name}: index at r = 1 equal for all inputs"
    papers = {
        rising: "0.2 at r = 0, then critical",
        starting: "higher (one input)",
        whole: "equal by definition",
    }
    try:
        pairs = _confident_pairs(bench, subject)
        swept = [
            _sweep(bench, subject, pairs, i, twin)
            for i in range(min(bench.size.sweeps, len(pairs.places)))
            for twin in (False, True)
        ]
    except DataError as error:
        for statement, paper in papers.items():
            yield Claim(METHOD, statement, paper, "", None, str(error))
        return
    yield _rising(rising, papers[rising], swept, subject)
    yield _starting(starting, papers[starting], pairs, bench)
    yield _whole(whole, papers[whole], swept)


def _confident_pairs(bench: SweepBench, subject: PaperModel) -> _Pairs:
    """Inputs that the model gets right with confidence and whose twin changes class, in the
    order of the bench.
    """
    classifier, labels = subject.classifier, bench.dataset.labels
    if labels is None:
        raise DataError(
            f"{bench.dataset.name} has no labels, so nobody knows which inputs the model gets"
            " right."
        )
    places = bench.order[: bench.size.inputs]
    x = classifier.tensor(inputs(classifier, bench.dataset, places))
    own = read_scores(classifier.infer(x), classifier.settings.multi_label)
    classes = own.top[:, 0]
    twins = adversarial_twins(classifier, x, classes, bench.size.eps)
    theirs = read_scores(classifier.infer(twins), classifier.settings.multi_label)
    right = classes.cpu().numpy() == labels[places]
    chosen = (
        right
        & (own.confidence.amax(1) >= CONFIDENT).cpu().numpy()
        & (theirs.top[:, 0] != classes).cpu().numpy()
    )
    if not chosen.any():
        raise DataError(
            f"None of {len(places):,} inputs is right, confident and changed by the attack with eps"
            f" = {bench.size.eps:g}."
        )
    return _Pairs(
        places[chosen],
        twins.cpu().numpy()[chosen],
        own.entropy.cpu().numpy()[chosen],
        theirs.entropy.cpu().numpy()[chosen],
    )


def _sweep(
    bench: SweepBench, subject: PaperModel, pairs: _Pairs, i: int, twin: bool
) -> ZonnscanResult:
    """One sweep; each has random numbers of its own, so that equal values at r = 1 are no
    accident of equal samples.
    """
    params = ZonnscanParams(
        samples=bench.size.sweep_samples,
        added=0,  # the same radii for every input, so that their curves can be averaged
        target_half_width=0,
        seed=bench.seed + 2 * i + twin,
    )
    place = int(pairs.places[i])
    chosen: Dataset = (
        from_arrays(pairs.twins[i : i + 1], kind=subject.classifier.kind)
        if twin
        else bench.dataset.subset([place])
    )
    kind = "adversarial twin" if twin else "test input"
    result = bench.last(
        f"{subject.name}: sweep of {kind} {i + 1}", zonnscan(subject.classifier, chosen, params)
    )
    return dataclasses.replace(
        result, input_name=f"{bench.dataset.key(place)}, {kind}, {subject.name}"
    )


def _rising(statement: str, paper: str, swept: list[ZonnscanResult], subject: PaperModel) -> Claim:
    clean = swept[::2]
    curves = np.stack([result.index for result in clean])
    outer = curves[:, clean[0].radii >= CRITICAL]
    start, lowest, highest = (
        float(curves[:, 0].mean()),
        float(outer.mean(0).min()),
        float(outer.mean(0).max()),
    )
    count = int((outer.min(1) > curves[:, 0]).sum())
    note = (
        f"Mean of {len(clean)} sweeps over {len(clean[0].radii)} radii,"
        f" {int(clean[0].samples.max()):,} {clean[0].sampler} samples each (paper: one input,"
        f" 10,000 plain); {count} of {len(clean)} stay above their own start from r ="
        f" {CRITICAL:g} on."
    )
    detail = {
        "radii": clean[0].radii,
        "index": curves.mean(0),
        "twin_index": np.mean([result.index for result in swept[1::2]], axis=0),
    }
    drawings = (
        Drawing(f"sweep-{subject.slug}", "zonnscan", swept[0]),
        Drawing(f"sweep-adversarial-{subject.slug}", "zonnscan", swept[1]),
    )
    ours = f"{start:.2f} at r = 0, {lowest:.2f} to {highest:.2f} from {CRITICAL:g} on"
    return Claim(METHOD, statement, paper, ours, lowest > start, note, detail, drawings)


def _starting(statement: str, paper: str, pairs: _Pairs, bench: SweepBench) -> Claim:
    first, second = float(pairs.at_zero.mean()), float(pairs.twins_at_zero.mean())
    share = float((pairs.twins_at_zero > pairs.at_zero).mean())
    n = len(pairs.places)
    note = (
        f"{n:,} of {bench.size.inputs:,} inputs that are right with a confidence of at least"
        f" {CONFIDENT:g} and whose twin (eps = {bench.size.eps:g}) changes class; {percent(share)}"
        " of the twins start higher than their input. No sampling at r = 0."
    )
    detail = {"means": [first, second], "share_higher": share, "inputs": n}
    return Claim(
        METHOD, statement, paper, f"{first:.2f} -> {second:.2f}", second > first, note, detail
    )


def _whole(statement: str, paper: str, swept: list[ZonnscanResult]) -> Claim:
    """One-way analysis of variance: do the values at r = 1 differ more than their intervals
    allow?
    """
    values = np.array([result.index[-1] for result in swept])
    half = np.array(
        [
            max(result.ci_high[-1] - result.index[-1], result.index[-1] - result.ci_low[-1])
            for result in swept
        ]
    )
    p = homogeneity(
        values, half - [rare(int(result.samples[-1])) for result in swept]
    )  # what Student's term gives
    note = (
        f"{len(swept)} sweeps, each with random numbers of its own; do the values differ by more"
        f" than chance? p = {number(p)}."
    )
    ours = f"{values.min():.4f} to {values.max():.4f} (± {number(float(half.mean()))})"
    return Claim(
        METHOD,
        statement,
        paper,
        ours,
        p >= LEVEL,
        note,
        {"values": values, "half_widths": half, "p": p},
    )


def homogeneity(values: np.ndarray, half: np.ndarray, freedom: int = SOBOL_REPLICATES - 1) -> float:
    """The p value of "all values are equal", from their 95 % half-widths.

    Each half-width has ``freedom`` degrees of freedom.
    """
    error = float(np.mean((half / stats.t.ppf(0.975, freedom)) ** 2))
    spread = float(np.var(values, ddof=1)) if len(values) > 1 else 0.0
    if error == 0:
        return 1.0 if spread == 0 else 0.0
    return (
        float(stats.f.sf(spread / error, len(values) - 1, freedom * len(values)))
        if len(values) > 1
        else 1.0
    )


def _means(table: tuple[tuple[float, float], ...], subject: PaperModel) -> str:
    if subject.place >= len(table):
        return f"p < {LEVEL:g}"
    first, second = table[subject.place]
    return f"{first:.2f} -> {second:.2f}, p < {LEVEL:g}"


def _figures(result: PopulationsResult) -> str:
    return f"{result.means[0]:.2f} -> {result.means[1]:.2f}, {_p(result.ks_p)}"


def _p(value: float) -> str:
    """A p value in words; one too small for a number is said to be so."""
    return f"p = {number(value)}" if value > 0 else "p < 10⁻³⁰⁰"


def _sampling(result: PopulationsResult) -> str:
    half = float(np.mean(result.half_width))
    return (
        f"radius {RADIUS:g}, {int(result.samples.max()):,} Sobol samples each (± {number(half)};"
        " paper: 10,000 plain)"
    )
