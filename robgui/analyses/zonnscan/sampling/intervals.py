"""The 95 % intervals of what was counted, valid after an early stop."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import special

from robgui.analyses.zonnscan.resolution import rare, rarer, resolution
from robgui.analyses.zonnscan.sampling.points import SOBOL_REPLICATES, round_ends
from robgui.analyses.zonnscan.sampling.tally import Counts, ratio

#: Probability outside a 95 % interval at either end.
TAIL = 0.025
#: Fewest samples before a zone may stop early; with fewer, the estimate of its own spread is a
#: guess.
FEWEST = 64
#: Of the 5 % outside the interval of a share, the part reserved for all early stops together.
EARLY = 0.01
#: Samples of an antithetic pair.
ANTITHETIC = 2
#: A large share of changes need not be known more closely than this fraction of it.
LARGE_SHARE = 0.2
#: Entropies that spread less than this are equal up to rounding in single precision.
_CONSTANT = 1e-6
#: The skewness of entropies that spread less than this is lost in rounding, along with any harm it
#: could do.
_SKEWNESS_KNOWN = 1e-4
#: Student's interval needs this many samples times the square of their skewness (Cochran,
#: "Sampling Techniques").
_PER_SKEWNESS = 25


def half_widths(counts: Counts) -> np.ndarray:
    """Half-widths ``(Z,)`` of Student's 95 % intervals of the index.

    Infinite where not available yet.

    Replicated Sobol: over the replicates. Plain and antithetic: over samples or pairs; where all of
    them are equal to single precision that interval is empty, and 3/n stands in, because a value
    seen in no sample may still have probability 3/n.
    """
    lanes = counts.lane_sums.shape[1]
    rows = counts.samples // lanes
    if lanes == SOBOL_REPLICATES:
        # The replicates are independent and their points are not: Student's interval over 32 means.
        half = (
            special.stdtrit(lanes - 1, 1 - TAIL)
            * counts.replicates.std(1, ddof=1)
            / math.sqrt(lanes)
        )
        return np.where(rows > 0, half, np.inf)
    # Raw sums of squares lose digits; a variance just below 0 is rounding.
    variance = np.maximum(
        ratio(counts.squares - rows * np.nan_to_num(counts.index) ** 2, rows - 1), 0
    )
    student = special.stdtrit(np.maximum(rows - 1, 1), 1 - TAIL)
    half = np.where(
        variance > _CONSTANT**2,
        student * np.sqrt(ratio(variance, rows)),
        # The rule of three: a value seen in none of n samples has probability below 3/n with 95 %
        # confidence.
        ratio(np.full(len(rows), 3.0), counts.samples),
    )
    return np.where(rows > 1, half, np.inf)


def safe_half_widths(counts: Counts) -> np.ndarray:
    """Half-widths ``(Z,)`` that keep their promise near sharp boundaries too.

    The larger side of ``intervals``.
    """
    return np.asarray(half_widths(counts) + _per_zone(rarer, counts))


def intervals(counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Both ends ``(Z,)`` of the 95 % intervals of the index, in [0, 1]; nan without samples.

    Student's term plus what rare values may add. Rare values are extreme on the side with room:
    above a small index, below a large one. An index that the samples cannot tell from 0 has an
    interval from 0 to at least what they can resolve. Measured at the default settings by
    ``tests/bench/studies/coverage_zonnscan.py``.
    """
    index, half = counts.index, half_widths(counts)
    small, outer, inner = index < 0.5, _per_zone(rarer, counts), _per_zone(rare, counts)
    least = _per_zone(resolution, counts)
    low = np.clip(index - half - np.where(small, inner, outer), 0, 1)
    high = np.clip(index + half + np.where(small, outer, inner), 0, 1)
    # Below the resolution the samples cannot tell the index from 0, whatever their spread.
    hidden = index < least
    return np.where(hidden, 0.0, low), np.where(
        hidden, np.minimum(1, np.maximum(high, least)), high
    )


def _per_zone(of: Callable[[float], float], counts: Counts) -> np.ndarray:
    return np.array([of(samples) for samples in counts.samples.tolist()])


def too_skewed(counts: Counts) -> np.ndarray:
    """Zones ``(Z,)`` where a few extreme samples or pairs make Student's interval too short.

    Sobol points do not need it: with it their intervals hold no more often, for a fifth more
    samples. Near a sharp boundary most entropies are close to 0 and a few are not: until several of
    these are seen, the spread is more often underestimated than overestimated, and a zone that
    stopped then would promise too much.
    """
    lanes = counts.lane_sums.shape[1]
    rows = counts.samples // lanes
    if lanes == SOBOL_REPLICATES:
        return np.zeros(len(rows), dtype=bool)
    mean, square, cube = (
        ratio(sums, rows)
        for sums in (
            counts.lane_sums.sum(1) / counts.lane_sums.shape[1],
            counts.squares,
            counts.cubes,
        )
    )
    spread = np.sqrt(np.maximum(square - mean**2, 0))
    # The third central moment from the raw ones that were summed: E[x³] - 3 m E[x²] + 2 m³.
    skewness = ratio(cube - 3 * mean * square + 2 * mean**3, spread**3)
    return np.asarray((spread > _SKEWNESS_KNOWN) & (rows < _PER_SKEWNESS * skewness**2))


def shares(counts: Counts, cap: int, stops: bool) -> tuple[np.ndarray, np.ndarray]:
    """Both ends ``(Z,)`` of the 95 % intervals of the share of samples that cross.

    A zone that may stop by itself checks its interval again and again, and each check could mislead
    it. So 1 % of error is shared among the checks before the cap and 4 % are kept for the cap: the
    interval where a zone stops holds whatever made it stop (Clopper and Pearson at each check,
    Bonferroni over them). The two samples of an antithetic pair may say the same, so a pair counts
    as one.
    """
    if counts.lane_sums.shape[1] == ANTITHETIC:
        alike = ANTITHETIC
    else:
        alike = 1
    # A pair counts as one draw, crossed by the mean of its two.
    crossed, samples = counts.crossed / alike, counts.samples / alike
    if not stops:
        return clopper_pearson_arrays(crossed, samples)
    # One look after every round in which a zone may stop.
    looks = sum(1 for end in round_ends(cap) if FEWEST <= end < cap)
    early = EARLY / 2 / max(1, looks)
    tail = np.where(counts.samples < cap, early, TAIL - EARLY / 2)
    return clopper_pearson_arrays(crossed, samples, tail)


def clopper_pearson_arrays(
    hits: np.ndarray, trials: np.ndarray, tail: np.ndarray | float = TAIL
) -> tuple[np.ndarray, np.ndarray]:
    """Exact interval of a share: ``hits`` of ``trials``; (0, 1) without trials.

    ``tail`` is what it leaves out at either end.
    """
    hits, trials = np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    inner = np.maximum(trials - hits, 0)
    # The ends are quantiles of Beta(k, n - k + 1) and Beta(k + 1, n - k) (Clopper and Pearson,
    # 1934); where k is 0 or n, one of the two laws does not exist and the end is 0 or 1.
    some, others = np.where(hits > 0, hits, 1), np.where(inner > 0, inner, 1)
    low = np.where(hits > 0, special.betaincinv(some, inner + 1, tail), 0.0)
    high = np.where(inner > 0, special.betaincinv(hits + 1, others, 1 - tail), 1.0)
    return low, high


def unsure(counts: Counts, cap: int, target: float, target_share: float) -> np.ndarray:
    """Zones ``(Z,)`` that need more samples: their index or share of changes is not precise enough.

    Args:
        counts: What was counted.
        cap: Most samples per zone.
        target: Half-width of the index at which a zone may stop; 0 never stops early.
        target_share: Half-width of the share of changes, or a fifth of that share where it is
            large; 0 does not watch it.
    """
    return np.asarray((counts.samples < cap) & (doubt(counts, cap, target, target_share) > 1))


def doubt(counts: Counts, cap: int, target: float, target_share: float) -> np.ndarray:
    """How many times ``(Z,)`` too wide a zone's wider interval is.

    Infinite where its width cannot be trusted yet, or none is asked for. The arguments are those of
    ``unsure``.
    """
    if target == 0:
        return np.full(len(counts.samples), np.inf)
    low, high = intervals(counts)
    wide = (high - low) / (2 * target)
    if target_share > 0:
        least, most = shares(counts, cap, stops=True)
        closely = np.maximum(target_share, LARGE_SHARE * np.nan_to_num(counts.crossing))
        wide = np.maximum(wide, (most - least) / (2 * closely))
    # Whatever the width: with few or very skewed samples its estimate cannot be trusted.
    early = (counts.samples < FEWEST) | too_skewed(counts)
    return np.where(early, np.inf, wide)
