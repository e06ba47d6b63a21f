"""One failure probability from everything that was sampled.

The rule, for k failures among n plain samples (after the last part of the method's notes on
statistics; intervals by Clopper and Pearson, 1934, for plain samples, by the exact law of the
counts for the test, and by a defensive mixture for samples around failures):

- k >= 10: the plain samples give the probability. They assume nothing.
- Otherwise the samples around failures give it where enough of them count, else the test, else the
  plain samples. The interval is widened to hold k / n.
- Where two of them exclude each other, one has missed a way to fail or is the one in twenty that
  misses by chance, and the panel says so: the interval then spans both. Only the test can miss ways
  to fail without noticing it: beside a way that met failures it lowers no end, and it raises none
  above what the plain samples allow. Without samples around failures the plain ones decide.
- Where the test cannot tell, the upper end is that of the plain samples: nothing else speaks of
  failures that were not found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robgui.core.intervals import clopper_pearson

#: With at least this many failing plain samples their share is the probability.
ENOUGH_FAILURES = 10
#: Where a probability comes from.
NOTHING, PLAIN, TEST, AROUND = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class Ends:
    """Estimate and ends of a 95 % interval, of any shape; nan where nothing is known."""

    p: np.ndarray | float
    low: np.ndarray | float
    high: np.ndarray | float


@dataclass(frozen=True, slots=True)
class Chances:
    """The one probability, of the shape of what it was made from.

    Attributes:
        p: Estimate; nan where nothing is known.
        low: Lower end of the 95 % interval.
        high: Upper end.
        source: NOTHING, PLAIN, TEST or AROUND.
        agree: False where two ways of sampling exclude each other.
    """

    p: np.ndarray
    low: np.ndarray
    high: np.ndarray
    source: np.ndarray
    agree: np.ndarray


def combined(
    test: Ends, around: Ends, failures: np.ndarray | int, samples: np.ndarray | int
) -> Chances:
    """The one probability; ``test`` with lower end 0 where it is validated.

    Args:
        test: What the test says.
        around: What the samples around failures say.
        failures: Plain samples that fail.
        samples: Plain samples.
    """
    k, n = (np.asarray(each, dtype=np.int64) for each in np.broadcast_arrays(failures, samples))
    # Without a failure the plain samples give no estimate, but their upper end stays in force.
    plain_low, plain_high = clopper_pearson(k, n)
    share = np.where(k > 0, k / np.maximum(n, 1), np.nan)
    seen = Ends(share, np.where(k > 0, plain_low, np.nan), np.where(k > 0, plain_high, np.nan))
    agree = _agree(seen, around, test)
    source = _source(test, around, k, agree)
    p, low, high = (
        np.select([source == PLAIN, source == AROUND, source == TEST], parts, np.nan)
        for parts in (
            (seen.p, around.p, test.p),
            (seen.low, around.low, test.low),
            (seen.high, around.high, test.high),
        )
    )
    # A disagreement is shown, not resolved: the interval covers both sides of it.
    apart = ~agree & (source == AROUND)
    allowed = np.where(n > 0, np.fmin(test.high, plain_high), test.high)
    low = np.where(apart, np.fmin(around.low, seen.low), np.fmin(low, share))
    high = np.where(apart, _largest(seen.high, around.high, allowed), np.fmax(high, share))
    # Samples around known failures say nothing of failures elsewhere.
    alone = (source == AROUND) & np.isnan(test.high)
    high = np.where(alone & (n > 0), np.fmax(high, plain_high), high)
    return Chances(p, low, high, source, agree)


def _source(test: Ends, around: Ends, k: np.ndarray, agree: np.ndarray) -> np.ndarray:
    return np.select(
        [
            k >= ENOUGH_FAILURES,
            np.isfinite(around.p) & np.ones(k.shape, dtype=bool),
            np.isfinite(test.p) & ((k == 0) | agree & (np.asarray(test.low) > 0)),
            k > 0,
        ],
        [PLAIN, AROUND, TEST, PLAIN],
        NOTHING,
    )


def _agree(*known: Ends) -> np.ndarray:
    """Whether all intervals have a point in common; what is not known agrees with all."""
    lows = np.stack(np.broadcast_arrays(*(np.nan_to_num(each.low, nan=0.0) for each in known)))
    highs = np.stack(np.broadcast_arrays(*(np.nan_to_num(each.high, nan=1.0) for each in known)))
    return np.asarray(lows.max(0) <= highs.min(0))


def _largest(*ends: np.ndarray | float) -> np.ndarray:
    return np.asarray(np.stack(np.broadcast_arrays(*(np.nan_to_num(e) for e in ends))).max(0))
