"""Intervals and tests of a share, against scipy's own and against coin tosses counted one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from robgui.core.intervals import chance_of_heads, clopper_pearson


@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
@pytest.mark.parametrize(
    ("hits", "trials"), [(0, 1), (0, 20), (1, 20), (7, 20), (19, 20), (20, 20)]
)
def test_the_exact_interval_is_that_of_scipy(hits: int, trials: int, level: float) -> None:
    low, high = clopper_pearson(hits, trials, level)
    known = binomtest(hits, trials).proportion_ci(level, method="exact")
    assert low == pytest.approx(known.low, abs=1e-12)
    assert high == pytest.approx(known.high, abs=1e-12)


def test_no_trials_tell_nothing() -> None:
    low, high = clopper_pearson(np.array([0, 3]), np.array([0, 5]))
    assert np.isnan(low[0]) and np.isnan(high[0]) and 0 < low[1] < 0.6 < high[1] < 1


@pytest.mark.parametrize("tosses", [1, 2, 5])
def test_the_chance_of_heads_counts_every_way_the_coins_can_fall(tosses: int) -> None:
    falls = [sum(coins) for coins in product((0, 1), repeat=tosses)]
    for heads in range(tosses + 2):
        counted = sum(fall >= heads for fall in falls) / len(falls)
        assert chance_of_heads(heads, tosses) == pytest.approx(counted)
