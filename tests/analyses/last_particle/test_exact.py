"""The exact laws: how many killings validate, intervals, power."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from robgui.analyses.last_particle import Law, monte_carlo_bound, power, threshold
from robgui.analyses.last_particle.exact import birth, bound_so_far


def test_two_particles_need_64_killings_for_1e_minus_10_at_one_percent() -> None:
    assert threshold(2, 1e-10, 0.01) == 64


@pytest.mark.parametrize("particles", [2, 3, 10, 50])
@pytest.mark.parametrize("critical", [0.5, 1e-2, 1e-6, 1e-10, 1e-30])
@pytest.mark.parametrize("risk", [0.3, 0.05, 0.01, 1e-4])
def test_m_is_the_smallest_integer_whose_poisson_tail_is_at_most_the_risk(
    particles: int, critical: float, risk: float
) -> None:
    m, mean = threshold(particles, critical, risk), -particles * math.log(critical)
    assert stats.poisson.sf(m - 1, mean) <= risk < (stats.poisson.sf(m - 2, mean) if m > 1 else 1)
    assert special.gammainc(m, mean) <= risk


def test_replicas_count_as_so_many_more_particles() -> None:
    assert threshold(2, 1e-10, 0.01, replicas=5) == threshold(10, 1e-10, 0.01)


@pytest.mark.parametrize("killed", [0, 1, 7, 46, 64])
def test_the_interval_inverts_the_poisson_law_exactly(killed: int) -> None:
    low, high = (float(end) for end in Law(2).interval(killed))
    assert stats.poisson.cdf(killed, -2 * math.log(low)) == pytest.approx(0.025)
    assert (
        high == 1
        if killed == 0
        else stats.poisson.sf(killed - 1, -2 * math.log(high)) == pytest.approx(0.025)
    )
    assert low < Law(2).estimate(np.array([killed])) <= high


def test_the_power_of_two_particles_is_as_published() -> None:
    assert power(np.array([1e-12, 1e-15])) == pytest.approx([0.13, 0.75], abs=0.01)


def test_killing_one_at_once_is_the_poisson_law() -> None:
    assert birth(3, 1, 5.0)[:40] == pytest.approx(stats.poisson.pmf(np.arange(40), 15.0))


@pytest.mark.parametrize(("particles", "kill"), [(20, 15), (100, 75), (5, 2)])
def test_the_law_of_killing_several_is_that_of_a_sum_of_waiting_times(
    particles: int, kill: int
) -> None:
    rng, time, count = np.random.default_rng(0), -math.log(1e-4), 20_000
    waits = rng.exponential(
        1 / (particles - np.arange(700 if particles > 20 else 200) % kill),
        (count, 700 if particles > 20 else 200),
    )
    deaths = (waits.cumsum(1) <= time).sum(1)
    tail = birth(particles, kill, time)[::-1].cumsum()[::-1]
    for quantile in (0.1, 0.5, 0.9):
        c = int(np.quantile(deaths, quantile))
        assert (deaths >= c).mean() == pytest.approx(tail[c], abs=0.015)
    law = Law(particles, kill)
    m = law.threshold(1e-4, 0.01)
    assert law.power(1e-4, m) <= 0.01 < law.power(1e-4, m - 1)
    low, high = law.interval(deaths)
    assert np.mean((low <= 1e-4) & (high >= 1e-4)) == pytest.approx(0.955, abs=0.015)
    assert law.spread(float(deaths.mean())) == pytest.approx(deaths.var(), rel=0.06)


def test_the_tabulated_interval_agrees_with_the_closed_form() -> None:
    from robgui.analyses.last_particle import exact

    counts = np.array([1, 10, 60])
    longest, shortest = Law.__dict__["_times"](Law(2, 1, 3), counts, 0.05)
    assert longest == pytest.approx(special.gammaincinv(counts + 1, 0.975) / 6, rel=2e-3)
    assert shortest[1:] == pytest.approx(special.gammaincinv(counts[1:], 0.025) / 6, rel=2e-3)
    assert exact.OUTSIDE == 0.05


def test_the_estimate_of_killing_several_is_as_stated() -> None:
    assert Law(20, 15).estimate(np.array([37])) == pytest.approx(0.25**2 * (1 - 7 / 20))
    assert Law(20, 15, 2).estimate(np.array([30, 30])) == pytest.approx(0.25**2)


def test_clean_samples_prove_no_more_than_minus_log_risk_over_their_number() -> None:
    assert monte_carlo_bound(0, 1000, 0.01) == pytest.approx(-math.log(0.01) / 1000)
    assert monte_carlo_bound(3, 1000, 0.01) == pytest.approx(stats.beta.ppf(0.99, 4, 997))
    assert math.isnan(monte_carlo_bound(0, 0, 0.01)) and monte_carlo_bound(5, 5, 0.01) == 1


@pytest.mark.parametrize("p", [0.3, 1e-2, 1e-6])
@pytest.mark.parametrize("lines", [2, 20])
def test_the_bound_of_an_unfinished_test_holds_wherever_it_is_stopped(p: float, lines: int) -> None:
    """Its worst moment is its end, when it has killed most."""
    rng, risk = np.random.default_rng(7), 0.05
    killed = rng.poisson(-lines * np.log(p), 4000)
    wrong = [bound_so_far(int(k), lines, 0, 0, risk) < p for k in killed]
    assert np.mean(wrong) <= risk / 2 + 3 * np.sqrt(risk / 2 / 4000)
    bounds = [bound_so_far(k, lines, 0, 0, risk) for k in range(60)]
    assert bounds[0] == 1 and all(np.diff(bounds) < 0)
