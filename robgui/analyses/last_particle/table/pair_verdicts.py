"""Verdicts on all pairs of an input and a size, recorded once when a pair is decided."""

from __future__ import annotations

import numpy as np

from robgui.analyses.last_particle.pair_tests import PairTests


class PairVerdicts:
    """What the test says of every pair.

    Attributes:
        validated: ``(pairs,)``, as everything below.
        inconclusive: Whether the diagnostics speak against the test.
        finished: Whether the test has ended.
        mixed: Whether the particles moved freely.
        numbers: ``(pairs, 3)`` estimate, lower and upper end.
    """

    def __init__(self, size: int) -> None:
        self.validated, self.inconclusive, self.finished = (
            np.zeros(size, dtype=bool) for _ in range(3)
        )
        self.mixed = np.ones(size, dtype=bool)
        self.numbers = np.full((size, 3), np.nan)

    def update(self, run: PairTests) -> None:
        """Records the new verdicts."""
        # A pair is decided when the tests against all its rival classes have ended.
        ended = run.ended.reshape(run.rivals.shape).all(1)
        for pair in np.flatnonzero(ended & ~self.finished):
            verdict = run.joint(int(pair))
            self.finished[pair], self.validated[pair], self.inconclusive[pair] = (
                True,
                verdict.validated,
                verdict.inconclusive,
            )
            self.mixed[pair] = verdict.mixed
            self.numbers[pair] = verdict.p_estimate, verdict.p_low, verdict.p_high
