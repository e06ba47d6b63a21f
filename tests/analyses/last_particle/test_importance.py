"""Importance sampling around failures, against failure probabilities in closed form."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import integrate, stats
from torch import Tensor

from robgui.analyses.last_particle.estimates import FunctionScore
from robgui.analyses.last_particle.sampling.importance import ENOUGH, Importance, Measured

DIM = 30
CPU = torch.device("cpu")


def measure(score, centres: Tensor, seed: int, samples: int = 4000) -> Measured:
    importance = Importance(FunctionScore(score), 0, centres, samples, seed, 4096)
    for _ in importance.run():
        pass
    return importance.measured


def direction(seed: int = 0) -> Tensor:
    source = torch.Generator(CPU).manual_seed(seed)
    ray = torch.randn(DIM, generator=source, device=CPU)
    return ray / ray.norm()


def covered(found: list[Measured], p: float) -> tuple[float, float]:
    """How often the interval holds p, and how far the mean is from it, in its own errors."""
    ratios = np.array([each.p / p for each in found])
    share = np.mean([each.low <= p <= each.high for each in found])
    return float(share), float((ratios.mean() - 1) / (ratios.std() / np.sqrt(len(ratios))))


#: Common, rare and hardly ever; what lies between is measured in the same way.
SPAN = [0.3, 1e-6, 1e-12]
BETWEEN = [pytest.param(p, marks=pytest.mark.slow) for p in (1e-2, 1e-4, 1e-9)]


@pytest.mark.parametrize("p", [*SPAN, *BETWEEN])
def test_a_linear_score_is_measured_without_bias_and_its_interval_covers(p: float) -> None:
    ray, bound = direction(), float(stats.norm.isf(p))
    found = [measure(lambda z, _: z @ ray - bound, bound * ray[None], seed) for seed in range(200)]
    share, off = covered(found, p)
    assert share >= 0.93 and abs(off) < 3.5, (share, off)
    widths = [each.high / each.low for each in found]
    assert np.median(widths) < 1.4


@pytest.mark.parametrize("p", [1e-140, 1e-160, 1e-250])
def test_weights_whose_squares_are_too_small_for_a_double_are_measured(p: float) -> None:
    ray, bound = direction(), float(stats.norm.isf(p))
    found = [measure(lambda z, _: z @ ray - bound, bound * ray[None], seed) for seed in range(20)]
    measured = [each for each in found if each.effective >= ENOUGH]
    assert len(measured) >= 15 and all(np.isfinite(each.effective) for each in found)
    assert sum(each.low <= p <= each.high for each in measured) >= len(measured) - 1


@pytest.mark.parametrize(
    "p", [1e-8, *(pytest.param(p, marks=pytest.mark.slow) for p in (0.2, 1e-3))]
)
def test_two_ways_to_fail_are_measured_together(p: float) -> None:
    """Beyond the bound on either side; the second one a little rarer."""
    ray = direction(1)
    near, far = (float(stats.norm.isf(share * p)) for share in (0.7, 0.3))
    centres = torch.stack([near * ray, -far * ray])

    def score(z: Tensor, _: Tensor) -> Tensor:
        along = z @ ray
        return torch.maximum(along - near, -along - far)

    found = [measure(score, centres, seed) for seed in range(200)]
    share, off = covered(found, p)
    assert share >= 0.93 and abs(off) < 3.5, (share, off)


def test_without_the_second_way_the_number_is_that_of_the_first_and_plain_samples_add_to_it() -> (
    None
):
    """A way that no centre points to is seen by the plain half, as far as that reaches."""
    ray, other = direction(2), direction(3)
    other = other - (other @ ray) * ray
    other = other / other.norm()
    rare, common = float(stats.norm.isf(1e-7)), float(stats.norm.isf(0.05))

    def score(z: Tensor, _: Tensor) -> Tensor:
        return torch.maximum(z @ ray - rare, z @ other - common)

    found = [measure(score, rare * ray[None], seed, 8000) for seed in range(60)]
    assert covered(found, 1 - (1 - 1e-7) * 0.95)[0] >= 0.9


def test_a_curved_edge_is_covered_too() -> None:
    """Noise across the way to failure helps: the score also rises with 20 squares."""
    bound, bend = 5.0, 0.2
    squares = stats.chi2(20)
    truth = integrate.quad(
        lambda x: stats.norm.sf(bound - bend * (x - 20) / 40**0.5) * squares.pdf(x), 0, 200
    )[0]
    centre = torch.zeros((1, DIM), device=CPU)
    centre[0, 0] = 0.9 * bound

    def score(z: Tensor, _: Tensor) -> Tensor:
        return z[:, 0] - bound + bend * (z[:, 1:21].square().sum(1) - 20) / 40**0.5

    found = [measure(score, centre, seed, 10_000) for seed in range(100)]
    told = [each for each in found if np.isfinite(each.p)]
    assert len(told) > 90 and covered(told, truth)[0] >= 0.93


def test_too_few_points_give_no_number_but_say_how_few() -> None:
    """The centre lies far off: hardly a point fails, and those that do have unlike weights."""
    ray, other = direction(4), direction(5)
    bound = float(stats.norm.isf(1e-9))
    found = measure(lambda z, _: z @ ray - bound, bound * ray[None] + 12 * other[None], 0)
    assert np.isnan(found.p) and found.effective < ENOUGH and found.samples == 4000


def test_where_too_few_points_count_more_are_drawn_and_the_interval_still_covers() -> None:
    ray, p = direction(6), 1e-6
    bound = float(stats.norm.isf(p))
    found = [
        measure(lambda z, _: z @ ray - bound, bound * ray[None], seed, 400) for seed in range(200)
    ]
    longer = [each for each in found if each.samples > 400]
    assert len(longer) > 20 and max(each.samples for each in found) <= 4 * 400
    told = [each for each in longer if np.isfinite(each.p)]
    assert len(told) > 0.9 * len(longer) and covered(told, p)[0] >= 0.93


@pytest.mark.parametrize("samples", [400, 3000])
def test_the_batch_does_not_change_the_number(samples: int) -> None:
    ray, bound = direction(), 4.0
    results = []
    for rows in (64, 4096):
        importance = Importance(
            FunctionScore(lambda z, _: z @ ray - bound), 0, bound * ray[None], samples, 3, rows
        )
        for _ in importance.run():
            pass
        results.append(importance.measured)
    assert results[0].p == pytest.approx(results[1].p, rel=1e-9)
    assert results[0].samples == results[1].samples >= samples
