"""The law of the samples and the honesty of the intervals."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from robgui.analyses.zonnscan.clouds import zone_cloud
from robgui.analyses.zonnscan.points import SOBOL_REPLICATES, base_points, block_size, stretches
from robgui.analyses.zonnscan.tally import clopper_pearson
from tests.analyses.zonnscan.models import exact_index, linear, sweep

CPU = torch.device("cpu")


@pytest.mark.parametrize("sampler", ["sobol", "antithetic", "plain"])
def test_a_zone_at_the_border_of_the_cube_is_uniform_and_never_clipped(sampler: str) -> None:
    x, radius = torch.tensor([[0.0, 0.05, 0.5, 0.98, 1.0]]), 0.2
    cloud, _, _ = zone_cloud("linf", x, [radius], sampler=sampler, samples=4096, seed=0)
    samples = cloud.block(0, 4096, torch.tensor([0])).at(torch.tensor([0]))[0].numpy()
    for i, centre in enumerate(x[0].tolist()):
        low, high = max(0.0, centre - radius), min(1.0, centre + radius)
        assert stats.kstest(samples[:, i], stats.uniform(low, high - low).cdf).pvalue > 1e-3
        assert len(np.unique(samples[:, i])) > 3900 and low <= samples[:, i].min() and samples[:, i].max() <= high


@pytest.mark.parametrize("sampler", ["sobol", "antithetic", "plain"])
def test_any_stretch_can_be_drawn_alone(sampler: str) -> None:
    first, _, _ = base_points(sampler, 7, 1024, 5, CPU)
    second, _, _ = base_points(sampler, 7, 1024, 5, CPU)
    whole = [first.draw(start, stop) for round_ in stretches(1024, 256) for start, stop in round_]
    assert torch.equal(second.draw(512, 768), whole[-2]) and sum(map(len, whole)) == 1024


def test_replicates_of_sobol_points_are_different_and_each_is_balanced() -> None:
    points, _, _ = base_points("sobol", 3, 1024, 0, CPU)
    u = points.draw(0, 64 * SOBOL_REPLICATES).reshape(64, SOBOL_REPLICATES, 3)
    assert not torch.equal(u[:, 0], u[:, 1])
    cells = (u * 64).long()
    for lane in range(SOBOL_REPLICATES):
        for dimension in range(3):
            assert len(torch.unique(cells[:, lane, dimension])) == 64


@pytest.mark.parametrize("cap", [1, 31, 32, 33, 1000, 10_000])
def test_stretches_cover_every_sample_once(cap: int) -> None:
    pairs = [pair for round_ in stretches(cap, 256) for pair in round_]
    assert [start for start, _ in pairs] == [0, *(stop for _, stop in pairs[:-1])] and pairs[-1][1] == cap


def test_a_block_holds_a_bounded_amount_of_numbers() -> None:
    assert block_size(1) == 1024 and block_size(784) == 1024 and block_size(150_528) == 32


@pytest.mark.parametrize("sampler", ["sobol", "antithetic", "plain"])
def test_the_interval_holds_the_truth_in_93_to_97_of_100_cases(sampler: str) -> None:
    weights, bias, x, radii = [5.0, -3.5], 4.0, np.array([0.3, 0.6]), (0.6, 1.0)  # never crosses: no bisection, quick runs
    exact = [exact_index(weights, bias, list(np.maximum(x - r, 0)), list(np.minimum(x + r, 1))) for r in radii]
    classifier = linear(weights, bias)
    results = [sweep(classifier, x, radii=radii, samples=512, sampler=sampler, seed=seed, target_half_width=0) for seed in range(400)]
    held = np.mean([(r.ci_low <= exact) & (exact <= r.ci_high) for r in results], axis=0)
    assert (held >= 0.93).all() and (held <= 0.97).all(), held


def test_clopper_pearson_is_exact_at_both_ends_and_between() -> None:
    low, high = clopper_pearson(np.array([0, 5, 10, 0]), np.array([10, 10, 10, 0]))
    for i, hits in enumerate((0, 5, 10)):
        exact = stats.binomtest(hits, 10).proportion_ci(0.95, method="exact")
        assert (low[i], high[i]) == pytest.approx((exact.low, exact.high))
    assert (low[3], high[3]) == (0, 1)
