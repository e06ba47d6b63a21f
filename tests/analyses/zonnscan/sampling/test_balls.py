"""L1 and L2 balls cut by the cube: the law of the samples against exact ones."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from robgui.analyses.zonnscan import ZonnscanParams, zone_samples
from robgui.analyses.zonnscan.sampling.balls import unit_ball
from robgui.analyses.zonnscan.sampling.clouds import radius_of, zone_cloud
from tests.analyses.zonnscan.models import last_step, small_mlp, sweep

ZERO = torch.tensor([0])


def drawn(zone: str, centre: torch.Tensor, radius: float, count: int) -> np.ndarray:
    cloud, _, _ = zone_cloud(
        zone,
        centre,
        torch.tensor([radius], dtype=centre.dtype),
        sampler="plain",
        samples=count,
        seed=0,
    )
    block = cloud.block(0, count, ZERO)
    for _ in block.prepare():
        continue
    return block.at(ZERO)[0].double().numpy()


def rejected(centre: np.ndarray, radius: float, power: int, count: int) -> np.ndarray:
    """Exact samples of ball ∩ cube by rejection, for few dimensions."""
    rng = np.random.default_rng(1)
    x = rng.uniform(
        np.maximum(centre - radius, 0), np.minimum(centre + radius, 1), (60 * count, len(centre))
    )
    return x[(np.abs(x - centre) ** power).sum(1) <= radius**power][:count]


@pytest.mark.parametrize(("zone", "power"), [("l2", 2), ("l1", 1)])
@pytest.mark.parametrize("radius", [0.2, 0.7])
def test_hit_and_run_in_three_dimensions_has_the_law_of_rejection(
    zone: str, power: int, radius: float
) -> None:
    centre = np.array([0.0, 0.3, 0.95])
    ours, exact = (
        drawn(zone, torch.from_numpy(centre[None].astype(np.float32)), radius, 4000),
        rejected(centre, radius, power, 20_000),
    )
    views = [*np.eye(3), np.array([1.0, -1.0, 0.5])]
    for view in views:
        assert stats.ks_2samp(ours @ view, exact @ view).pvalue > 1e-3
    norms = [(np.abs(x - centre) ** power).sum(1) for x in (ours, exact)]
    assert stats.ks_2samp(*norms).pvalue > 1e-3


@pytest.mark.parametrize(("zone", "power"), [("l2", 2), ("l1", 1)])
def test_hit_and_run_in_fifty_dimensions_has_the_known_marginals(zone: str, power: int) -> None:
    """At the corner of the cube, ball ∩ cube is one orthant of the ball: the ball's samples
    without their signs.
    """
    samples = drawn(zone, torch.zeros((1, 50)), 0.5, 8000)
    exact = (
        0.5
        * unit_ball(20_000, 50, power, torch.Generator("cpu").manual_seed(3)).abs().double().numpy()
    )
    for i in (0, 20, 49):
        assert stats.ks_2samp(samples[:, i], exact[:, i]).pvalue > 1e-3
    assert stats.ks_2samp(samples.max(1), exact.max(1)).pvalue > 1e-3
    assert stats.ks_2samp((samples**power).sum(1), (exact**power).sum(1)).pvalue > 1e-3


@pytest.mark.parametrize("power", [1, 2])
def test_the_norm_of_a_uniform_point_of_a_ball_to_the_dimension_is_uniform(power: int) -> None:
    points = (
        unit_ball(5000, 6, power, torch.Generator("cpu").manual_seed(0))
        .double()
        .abs()
        .pow(power)
        .sum(1)
        .pow(1 / power)
        .numpy()
    )
    assert stats.kstest(points**6, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("zone", ["l2", "l1", "l2_clipped", "l1_clipped"])
def test_every_sample_lies_in_ball_and_cube(zone: str) -> None:
    centre = torch.rand(
        (1, 30), generator=torch.Generator("cpu").manual_seed(0), device="cpu"
    ).round(decimals=1)
    samples = drawn(zone, centre, 0.8, 200)
    assert samples.min() >= 0 and samples.max() <= 1
    assert float(radius_of(zone, centre, torch.from_numpy(samples)).max()) <= 0.8 * (1 + 1e-5)


def test_a_ball_larger_than_the_cube_is_the_whole_cube() -> None:
    samples = drawn("l2", torch.tensor([[0.0, 0.5]]), 2.0, 3000)
    for i in range(2):
        assert stats.kstest(samples[:, i], "uniform").pvalue > 1e-3


@pytest.mark.parametrize("zone", ["l2", "l1", "l2_clipped"])
def test_a_sweep_of_a_ball_says_that_sampling_is_plain_and_can_be_drawn_again(zone: str) -> None:
    classifier = small_mlp()
    step = last_step(
        classifier, np.full((1, 6, 6), 0.3), zone=zone, radii=(0.0, 0.5, 2.0), samples=96
    )
    result = step.result
    assert "plain" in step.note and result.sampler == "plain" and np.isfinite(result.index).all()
    shown = zone_samples(result, ZonnscanParams(zone=zone), 2.0)
    assert np.array_equal(classifier.infer(shown).argmax(1).numpy(), result.shown_class[2])


def test_the_smallest_crossing_radius_is_measured_in_the_zones_norm() -> None:
    result = sweep(
        small_mlp(gain=15.0), np.full((1, 6, 6), 0.5), zone="l2", radii=(1.0, 2.0), samples=128
    )
    offset = (result.witness[0] - result.input).ravel()
    assert result.crossing_radius == pytest.approx(float(np.linalg.norm(offset)), rel=1e-4)
