"""Exact confidence intervals and tests of a share, for engines and for words.

scipy is imported on first use, and only the part needed: words are made in the window, whose start
must stay fast.
"""

from __future__ import annotations

import numpy as np


def clopper_pearson(
    hits: np.ndarray | int, trials: np.ndarray | int, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """The exact interval of a share: lower and upper ends, shaped like ``hits``.

    (nan, nan) without trials. Clopper and Pearson (1934): whatever the true share, each end misses
    it with a chance of at most (1 - level) / 2.
    """
    from scipy.special import betaincinv

    k, n = np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    tail = (1 - level) / 2
    # Clamped where an end is known to be 0 or 1: the inverse is not defined there.
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - np.maximum(k, 1) + 1, tail), 0.0)
    high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail), 1.0)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def chance_of_heads(heads: int, tosses: int) -> float:
    """The chance that a fair coin shows at least ``heads`` heads: the one-sided exact sign test."""
    from scipy.special import bdtrc

    # bdtrc(k) is the chance of more than k.
    if heads > 0:
        return float(bdtrc(heads - 1, tosses, 0.5))
    return 1.0
