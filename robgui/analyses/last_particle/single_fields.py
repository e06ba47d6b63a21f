"""Parts of the result for one input: what its lanes say, and what was sampled besides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robgui.analyses.last_particle.exact import Law
from robgui.analyses.last_particle.pair_tests import JointOutcome, PairTests
from robgui.analyses.last_particle.particles.lanes import Lane
from robgui.analyses.last_particle.sampling.around import Around, Screened


def tests_of(run: PairTests, joint: JointOutcome) -> dict[str, Any]:
    """What each test of the input says: one test, or one for every rival."""
    return {
        "test_class": run.rivals[0],
        "test_p": np.array([each.p_estimate for each in joint.tests]),
        "test_killed": np.array([each.killed for each in joint.tests]),
        "test_validated": np.array([each.validated for each in joint.tests]),
        "test_low": np.array([each.p_low for each in joint.tests]),
        "test_high": np.array([each.p_high for each in joint.tests]),
    }


def around_fields(around: Around, screened: Screened | None, note: str) -> dict[str, Any]:
    """What was sampled around failures, or why nothing was, and which rivals were searched for."""
    if screened is None:
        rivals = around.rivals
    else:
        rivals = tuple(screened.rivals.tolist())
    return {
        "around_p": around.measured.p,
        "around_low": around.measured.low,
        "around_high": around.measured.high,
        "around_samples": around.measured.samples,
        "around_effective": around.measured.effective,
        "around_found": around.found,
        "around_note": note,
        "searched": np.array(rivals, dtype=np.int64),
        "screened": screened is not None,
        "hidden": screened is not None and screened.joint.p_low > 0,
    }


def trace(law: Law, lanes: Sequence[Lane]) -> np.ndarray:
    """Lower end, estimate and upper end, had the test stopped at each round, ``(k, 3)``."""
    rounds = max(len(lane.counts) for lane in lanes)
    counts = np.array(
        # A lane that has ended keeps its count while the others go on.
        [[*lane.counts, *[lane.killed] * (rounds - len(lane.counts))] for lane in lanes]
    ).reshape(len(lanes), rounds)
    low, high = law.interval(counts.sum(0))
    estimates = [law.estimate(counts[:, k]) for k in range(rounds)]
    return np.stack([low, np.array(estimates), high], axis=1)


def padded(rows: Sequence[Sequence[float]]) -> np.ndarray:
    """Lists of different length as one array, nan after their ends."""
    longest = max(map(len, rows))
    return np.array([[*row, *[float("nan")] * (longest - len(row))] for row in rows]).reshape(
        len(rows), longest
    )
