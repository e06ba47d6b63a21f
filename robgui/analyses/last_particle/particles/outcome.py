"""Turns the counts of a test into its verdict: validated, failing or inconclusive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from robgui.analyses.last_particle.exact import Law
from robgui.analyses.last_particle.particles.lanes import Lane
from robgui.analyses.last_particle.result import OUTSIDE

#: A larger share of new particles that never moved, and at least this many of them, means that
#: particles are copies of each other.
MOST_STUCK, FEW_STUCK = 0.2, 3
#: Replicas whose differences are rarer than this by chance do not measure the same thing.
DISPERSION_LEVEL = 1e-3

#: Where several are killed at once, this many rounds of which a larger share repeats the level of
#: the round before mean a score in steps too coarse for them: intervals then covered 45 to 87 %.
FEW_ROUNDS, MOST_REPEATED = 4, 0.55

COARSE = "score too coarse (too many noisy inputs have the same score)"
STEPPED = (
    "the score moves in steps too coarse for killing several at once; take more moves or kill one"
    " at a time"
)
STUCK = "the particles did not move freely (not mixed); take more moves or smaller noise"
DISPERSED = "the repetitions contradict each other (not mixed); take more moves or more particles"
UNFINISHED = "not finished"


@dataclass(frozen=True, slots=True)
class SplittingOutcome:
    """What one test says; fields as in ``LastParticleResult``."""

    validated: bool
    inconclusive: bool
    reason: str
    p_estimate: float
    p_low: float
    p_high: float
    killed: int
    mixed: bool
    stuck: float
    dispersion: float
    dispersion_p: float
    ancestors: int


def outcome(
    law: Law, m: int, lanes: Sequence[Lane], *, ended: bool, outside: float = OUTSIDE
) -> SplittingOutcome:
    """The verdict of a test from its lanes.

    ``outside`` is one minus the confidence of the interval.
    """
    counts = np.array([lane.killed for lane in lanes], dtype=np.int64)
    killed = int(counts.sum())
    # Section 3.2: k reached m without a level above 0, so p < p_c at the given risk.
    passed = killed >= m
    complete = all(lane.failing for lane in lanes)
    low, high = law.interval(killed, outside)
    still = sum(lane.stuck for lane in lanes)
    stuck = still / max(1, sum(lane.moved for lane in lanes))
    dispersion, chance = dispersed(law, counts)
    reason = _reason(lanes, stuck if still >= FEW_STUCK else 0.0, chance, ended)
    # Only AMS: with one death at a time ties are broken by the second coordinate and cost nothing.
    if ended and not reason and law.kill > 1 and _stepped(lanes):
        reason = STEPPED
    return SplittingOutcome(
        validated=passed and not reason,
        inconclusive=bool(reason),
        reason=reason,
        p_estimate=law.estimate(counts),
        # A lower end needs lanes that ended by failing: a lane stopped after m killings says only
        # how rare a failure is at most.
        p_low=float(low) if complete else 0.0,
        p_high=float(high),
        killed=killed,
        mixed=reason not in (STUCK, DISPERSED),
        stuck=stuck,
        dispersion=dispersion,
        dispersion_p=chance,
        ancestors=sum(lane.ancestors for lane in lanes),
    )


def dispersed(law: Law, counts: np.ndarray) -> tuple[float, float]:
    """Variance of the counts relative to their law, and the chance of one at least this large.

    Nan for one replica. Replicas stopped because the test was validated count as they stand, which
    can only make it smaller.
    """
    if len(counts) < 2:
        return float("nan"), float("nan")
    expected = law.spread(float(counts.mean()))
    # No deaths anywhere: nothing to disperse.
    if expected == 0:
        return 0.0, 1.0
    ratio = float(counts.var(ddof=1)) / expected
    # Under the law, (R - 1) · ratio is nearly chi-squared with R - 1 degrees of freedom.
    return ratio, float(stats.chi2.sf(ratio * (len(counts) - 1), len(counts) - 1))


def _stepped(lanes: Sequence[Lane]) -> bool:
    """Whether the levels of a test repeat in most of its rounds."""
    rounds = sum(lane.rounds for lane in lanes)
    repeated = sum(lane.repeated for lane in lanes)
    return rounds >= FEW_ROUNDS * len(lanes) and repeated > MOST_REPEATED * rounds


def _reason(lanes: Sequence[Lane], stuck: float, chance: float, ended: bool) -> str:
    # The order matters: a plateau explains stuck particles and
    # contradicting lanes, not the reverse.
    if any(lane.coarse for lane in lanes):
        return COARSE
    if not ended:
        return UNFINISHED
    if stuck > MOST_STUCK:
        return STUCK
    if chance < DISPERSION_LEVEL:
        return DISPERSED
    return ""
