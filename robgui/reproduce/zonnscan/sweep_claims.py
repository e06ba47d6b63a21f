"""Claims about sweeps: uncertainty starts low, rises with the radius, is even over a zone."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
from scipy import stats

from robgui.analyses.zonnscan.params import ZonnscanParams
from robgui.analyses.zonnscan.populations import adversarial_twins
from robgui.analyses.zonnscan.resolution import rare
from robgui.analyses.zonnscan.result import ZonnscanResult
from robgui.analyses.zonnscan.sampling.points import SOBOL_REPLICATES
from robgui.analyses.zonnscan.sampling.tally import read_scores
from robgui.analyses.zonnscan.sweep import zonnscan
from robgui.core.dataset import Dataset, from_arrays, inputs
from robgui.core.errors import DataError
from robgui.core.text.words import number, percent
from robgui.reproduce.claim import Claim, Drawing
from robgui.reproduce.zonnscan.bench import PaperModel, SweepBench

METHOD = "zonnscan"
#: What the paper calls significant.
LEVEL = 1e-3
#: Section III-A: the input of Figure 2 has a confidence around 0.9, and from radius 0.25 on the
#: uncertainty is critical.
CONFIDENT = 0.9
CRITICAL = 0.25


@dataclasses.dataclass(frozen=True, slots=True)
class _Pairs:
    """Inputs of Figure 2 ``(n, *shape)``, their twins and places, and both indices at radius 0."""

    places: np.ndarray
    twins: np.ndarray
    at_zero: np.ndarray
    twins_at_zero: np.ndarray


def sweeps(bench: SweepBench, subject: PaperModel) -> Iterator[Claim]:
    """What the paper says of sweeps, checked on confident and uncertain inputs."""
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
    """Inputs classified right with confidence whose twin changes class, in bench order."""
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
    """One sweep with random numbers of its own: equal values at r = 1 are then no accident."""
    params = ZonnscanParams(
        samples=bench.size.sweep_samples,
        added=0,  # the same radii for every input, so their curves can be averaged
        target_half_width=0,
        seed=bench.seed + 2 * i + twin,
    )
    place = int(pairs.places[i])
    if twin:
        chosen: Dataset = from_arrays(pairs.twins[i : i + 1], kind=subject.classifier.kind)
    else:
        chosen = bench.dataset.subset([place])
    if twin:
        kind = "adversarial twin"
    else:
        kind = "test input"
    result = bench.last(
        f"{subject.name}: sweep of {kind} {i + 1}", zonnscan(subject.classifier, chosen, params)
    )
    return dataclasses.replace(
        result, input_name=f"{bench.dataset.key(place)}, {kind}, {subject.name}"
    )


def _rising(statement: str, paper: str, swept: list[ZonnscanResult], subject: PaperModel) -> Claim:
    # Sweeps alternate: input, twin, input, twin.
    clean = swept[::2]
    curves = np.stack([result.index for result in clean])
    # (inputs, radii).
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
    """One-way analysis of variance: do values at r = 1 differ more than their intervals allow?"""
    values = np.array([result.index[-1] for result in swept])
    half = np.array(
        [
            max(result.ci_high[-1] - result.index[-1], result.index[-1] - result.ci_low[-1])
            for result in swept
        ]
    )
    # What Student's term gives.
    p = homogeneity(values, half - [rare(int(result.samples[-1])) for result in swept])
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
    # Variance within a sweep, from the half-width back to the standard error.
    error = float(np.mean((half / stats.t.ppf(0.975, freedom)) ** 2))
    if len(values) > 1:
        spread = float(np.var(values, ddof=1))
    else:
        spread = 0.0
    # No variance within: any difference at all is certain.
    if error == 0:
        if spread == 0:
            return 1.0
        return 0.0
    if len(values) > 1:
        # F test: variance between the sweeps over the variance within.
        return float(stats.f.sf(spread / error, len(values) - 1, freedom * len(values)))
    return 1.0
