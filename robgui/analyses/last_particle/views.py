"""What the last particle looks like.

Levels that climb, a probability that falls, inputs that fail.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.last_particle.params import LastParticleParams
from robgui.analyses.last_particle.result import LastParticleResult
from robgui.analyses.last_particle.words import noise_words, size_of
from robgui.core.intervals import clopper_pearson
from robgui.core.text.words import number, percent, probability
from robgui.core.view import (
    Axis,
    Bars,
    Column,
    Curves,
    Images,
    Ink,
    Line,
    Mark,
    Picture,
    Series,
    Table,
    View,
)

#: Smaller probabilities are drawn at this one.
_LEAST = 1e-300
#: Repetitions drawn besides the first.
_REPETITIONS = 20


def views(result: LastParticleResult, params: LastParticleParams) -> Sequence[View]:
    """The climbing level, the probability, the failing inputs, and what the numbers rest on."""
    shown: list[View] = [_levels(result, params), _estimate(result, params)]
    if result.failure is not None or result.counterexample is not None:
        shown.append(_failures(result))
    shown += [_powers(result, params), _diagnostics(result, params), _power(result)]
    if len(result.test_class) > 1:
        shown.insert(3, _by_class(result))
    return shown


def _levels(result: LastParticleResult, params: LastParticleParams) -> Curves:
    rounds = np.arange(1, result.replica_levels.shape[1] + 1, dtype=np.float64)
    lines = [
        Line(
            "level reached",
            result.levels.astype(np.float64),
            Ink("original"),
            rounds[: len(result.levels)],
            strong=True,
        )
    ]
    if len(result.particles):
        last = np.full(len(result.particles), float(len(result.levels) + 1))
        lines.append(
            Line(
                "noisy inputs now",
                result.particles.astype(np.float64),
                Ink("changed"),
                last,
                symbol="circle",
                line=False,
            )
        )
    lines += [
        Line("other repetitions", levels.astype(np.float64), Ink("other"), rounds, quiet=True)
        # The first has the strong line.
        for levels in result.replica_levels[1:_REPETITIONS]
    ]
    if params.kill == 1:
        each = "one noisy input replaced in each"
    else:
        each = f"{params.kill:,} noisy inputs replaced in each"
    note = f"{result.input_name}, {noise_words(params.noise, size_of(result, params))}."
    if len(result.replica_levels) > 1:
        note += " Grey: other repetitions."
    return Curves(
        "Climbing towards failure",
        Axis("round", each, kind="count"),
        Axis("score (above 0 the model is wrong)"),
        rounds,
        tuple(lines),
        levels=(Mark(0.0, "failure begins", Ink("fails")),),
        note=note,
    )


def _estimate(result: LastParticleResult, params: LastParticleParams) -> Curves:
    rounds = np.arange(1, len(result.p_trace) + 1, dtype=np.float64)
    if len(rounds):
        low, estimate, high = result.p_trace.T
    else:
        low, estimate, high = np.zeros((3, 0))
    # The result's own trace stays as it is.
    low = low.copy()
    failing = result.finished and result.test_low.any()
    low[: len(low) - 1 if failing else None] = 0  # While it climbs it may still be anything below.
    # Three decades below what matters: an end of 0 has no place on a logarithmic axis.
    floor = max(min(params.critical, result.p_estimate, 1.0) / 1e3, _LEAST)
    line = Line(
        "estimate (95 % band)",
        np.maximum(estimate, floor),
        Ink("original"),
        low=np.maximum(low, floor),
        high=np.maximum(high, floor),
        strong=True,
    )
    levels = [Mark(params.critical, f"critical {probability(params.critical, 2)}", Ink("text"))]
    if np.isfinite(result.monte_carlo_bound):
        words = f"all that {result.monte_carlo_samples:,} plain samples prove"
        levels.append(Mark(result.monte_carlo_bound, words, Ink("risk")))
    if np.isfinite(result.around_p):
        words = f"{result.around_samples:,} samples around failures"
        levels.append(Mark(max(result.around_p, floor), words, Ink("changed")))
    return Curves(
        "Failure probability",
        Axis("round"),
        Axis(
            "failure probability", low=floor, high=2.0, kind="probability", log=True, better="low"
        ),
        rounds,
        (line,),
        levels=tuple(levels),
    )


def _failures(result: LastParticleResult) -> Images:
    from robgui.core.dataset.picture import picture_of

    name = result.labels[result.label]
    pictures = []
    for failing, given, caption in (
        (result.failure, result.failure_class, "with noise"),
        (result.counterexample, result.counterexample_class, "found by gradient search"),
    ):
        if failing is None:
            continue
        if given >= 0:
            other = result.labels[given]
        else:
            other = ""
        pictures.append(
            Picture(
                picture_of(result.input, result.kind),
                result.input_name,
                name,
                True,
                Ink("original", name=name),
            )
        )
        pictures.append(
            Picture(
                picture_of(failing, result.kind), caption, other, False, Ink("changed", name=other)
            )
        )
    return Images("Inputs that fail", tuple(pictures), pairs=True)


def _powers(result: LastParticleResult, params: LastParticleParams) -> Bars:
    """What each way of sampling says, in powers of ten: the lower, the rarer."""
    known = _ways(result)
    p, low, high = np.array(list(known.values())).T
    floor = params.critical / 1000
    low = np.where(low > 0, low, np.minimum(floor, p))  # No lower end: down to nothing.
    return Bars(
        "Failure probability by each way",
        Axis("failure probability", kind="probability", log=True, better="low"),
        tuple(known),
        (Series("estimate, 95 % interval", p, Ink("original"), low=low, high=high),),
        levels=(Mark(params.critical, "critical", Ink("risk")),),
        note="An interval without a lower end is drawn down to a thousandth of the critical one.",
    )


def _ways(result: LastParticleResult) -> dict[str, tuple[float, float, float]]:
    """Way of sampling -> estimate and ends, the reported one first; only those with an estimate."""
    ways = {"together": (result.p_estimate, result.p_low, result.p_high)}
    if result.monte_carlo_failures:
        share = result.monte_carlo_failures / result.monte_carlo_samples
        low, high = clopper_pearson(result.monte_carlo_failures, result.monte_carlo_samples)
        ways["plain samples"] = (share, float(low), float(high))
    if len(result.test_low):
        parts = (result.test_p, result.test_low, result.test_high)
        p, low_end, high_end = (float(np.minimum(each.sum(), 1)) for each in parts)
        ways["the test"] = (p, low_end, high_end)
    if np.isfinite(result.around_p):
        ways["around failures"] = (result.around_p, result.around_low, result.around_high)
    return {name: ends for name, ends in ways.items() if ends[0] > 0}


def _by_class(result: LastParticleResult) -> Bars:
    # Likeliest first; more bars cannot be read.
    order = np.argsort(-result.test_p, kind="stable")[:24]
    names = tuple(
        result.labels[int(c)] if c >= 0 else "any other" for c in result.test_class[order]
    )
    values = np.maximum(result.test_p[order], _LEAST)
    axis = Axis("failure probability", kind="probability", log=True, better="low")
    return Bars(
        "How often each class wins",
        axis,
        names,
        (Series("estimate", values, Ink("rival")),),
        x=Axis("other class"),
    )


def _diagnostics(result: LastParticleResult, params: LastParticleParams) -> Table:
    repetitions = len(result.replica_killed)
    lines, done = params.particles * repetitions, min(result.killed, result.m)
    rows: list[tuple[str, str]] = [
        ("rounds, all repetitions together", f"{done:,} of {result.m:,}"),
        ("independent lines left", f"{result.ancestors:,} of {lines:,}"),
        ("new inputs that did not move", percent(result.stuck)),
        ("repetitions", f"{repetitions:,}"),
    ]
    if np.isfinite(result.dispersion):
        rows.append(("spread of the repetitions, 1 is as expected", number(result.dispersion)))
        rows.append(("how likely such a spread is", probability(result.dispersion_p, 2)))
    if result.monte_carlo_samples:
        rows.append(
            (
                "plain samples that failed",
                f"{result.monte_carlo_failures:,} of {result.monte_carlo_samples:,}",
            )
        )
    if result.around_samples:
        rows.append(
            (
                "samples around failures",
                f"{result.around_samples:,}, counting as {number(result.around_effective)}",
            )
        )
    if len(result.searched):
        if result.screened:
            how = "a test each"
        else:
            how = "gradients"
        rows.append(("classes looked for one by one", f"{len(result.searched):,}, by {how}"))
    if result.around_note:
        rows.append(("samples around failures", result.around_note))
    if result.attack_note:
        rows.append(("gradient search", result.attack_note))
    if result.certified_reason:
        rows.append(("formal bounds", result.certified_reason))
    names, values = zip(*rows, strict=True)
    return Table("What it rests on", (Column("What", names), Column("Value", values)))


def _power(result: LastParticleResult) -> Curves:
    return Curves(
        "How often a truly rare failure is validated",
        Axis("true failure probability", kind="probability", log=True),
        Axis("validated", kind="share", low=0, high=1),
        result.power_p,
        (Line("validated", result.power, Ink("original"), symbol="circle"),),
    )
