"""The public kernel against scores of known failure probability, 500 inputs in one call."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor

from robgui.analyses.last_particle import InputEstimates, Law, estimate
from robgui.analyses.last_particle.exact import birth
from robgui.analyses.last_particle.particles.outcome import COARSE
from robgui.core.errors import ModelError, ParamsError
from tests.analyses.last_particle.scores import DIM, gaussian_score, uniform_score
from tests.guards import no_deviceless_factories

RUNS = 500


def calibrated(result: InputEstimates, p: float, rate: float) -> None:
    """The mean of M is within three standard errors of its law's, and the interval covers p
    about 95 times in 100.
    """
    mean = -rate * np.log(p)
    assert abs(result.killed.mean() - mean) < 3 * np.sqrt(mean / len(result.killed))
    covered = ((result.p_low <= p) & (p <= result.p_high)).mean()
    exact = _coverage(mean)
    assert abs(covered - exact) < 3 * np.sqrt(exact * (1 - exact) / len(result.killed))
    assert result.mixed.mean() > 0.99


def _coverage(mean: float) -> float:
    """How often the exact interval covers when M is Poisson: 95 % or somewhat more, as counts
    are whole numbers.
    """
    counts = np.arange(int(mean + 10 * np.sqrt(mean) + 20))
    inside = (stats.poisson.cdf(counts, mean) > 0.025) & (
        stats.poisson.sf(counts - 1, mean) > 0.025
    )
    return float(stats.poisson.pmf(counts, mean)[inside].sum())


@pytest.mark.parametrize("p", [1e-3, 1e-6, 1e-12])
def test_killings_on_a_linear_score_under_gaussian_noise_follow_the_poisson_law(p: float) -> None:
    calibrated(estimate(gaussian_score(p), DIM, critical=1e-30, inputs=RUNS, seed=3), p, 2)


@pytest.mark.parametrize("p", [1e-3, 1e-9])
def test_killings_on_a_linear_score_under_uniform_noise_follow_the_poisson_law(p: float) -> None:
    calibrated(estimate(uniform_score(p), DIM, critical=1e-30, inputs=RUNS, seed=4), p, 2)


def test_killings_of_replicas_add_up() -> None:
    result = estimate(gaussian_score(1e-4), DIM, critical=1e-30, inputs=150, replicas=5, seed=5)
    calibrated(result, 1e-4, 10)
    assert (
        result.replica_killed.shape == (150, 5)
        and (result.replica_killed.sum(1) == result.killed).all()
    )
    assert result.dispersion.mean() == pytest.approx(1, abs=0.25)


@pytest.mark.parametrize("step", [0.0, 0.1, 0.5])
def test_false_passes_at_the_critical_probability_are_no_more_than_the_risk_even_with_ties(
    step: float,
) -> None:
    result = estimate(gaussian_score(1e-6, step), DIM, critical=1e-6, inputs=RUNS, seed=6)
    assert result.validated.sum() <= stats.binom.isf(0.001, RUNS, 0.01)
    assert result.inconclusive.mean() < 0.1
    assert set(result.reason) <= {"", COARSE}


def test_killing_several_at_once_is_calibrated_too() -> None:
    result = estimate(
        gaussian_score(1e-6),
        DIM,
        particles=20,
        kill=15,
        steps=20,
        critical=1e-6,
        inputs=200,
        seed=7,
    )
    assert result.validated.sum() <= stats.binom.isf(0.001, 200, 0.01)
    assert ((result.p_low <= 1e-6) & (result.p_high >= 1e-6)).mean() > 0.9
    pmf = birth(20, 15, -np.log(1e-6))
    mean = float(pmf @ np.arange(len(pmf)))
    free = estimate(
        gaussian_score(1e-6),
        DIM,
        particles=20,
        kill=15,
        steps=20,
        critical=1e-30,
        inputs=200,
        seed=7,
    )
    assert abs(free.killed.mean() - mean) < 3 * np.sqrt(Law(20, 15).spread(mean) / 200)


def test_what_never_fails_is_validated_with_2562_calls() -> None:
    result = estimate(lambda z, i: z[:, 0] - 40, DIM, inputs=3)
    assert result.validated.all() and (result.killed == 64).all() and result.m == 64
    assert (
        (result.model_calls == 2562).all()
        and (result.p_low == 0).all()
        and (result.p_high < 1e-10).all()
    )
    assert result.failure == (None, None, None) and len(result.levels[0]) == 64 == len(
        result.acceptance[0]
    )
    assert (np.diff(result.levels[0]) > 0).all() and result.acceptance[0].mean() == pytest.approx(
        0.35, abs=0.07
    )


def test_a_constant_score_is_never_validated() -> None:
    result = estimate(lambda z, i: torch.full((len(z),), -1.0, device=z.device), 3, inputs=50)
    assert (
        result.inconclusive.all()
        and not result.validated.any()
        and (result.model_calls < 2562).all()
    )
    several = estimate(
        lambda z, i: -torch.ones_like(z[:, 0]), 3, particles=20, kill=15, steps=20, inputs=5
    )
    assert several.inconclusive.all()


def test_what_always_fails_fails_at_once_and_shows_it() -> None:
    result = estimate(lambda z, i: z[:, 0].abs() + 1, 2)
    assert not result.validated[0] and not result.inconclusive[0] and result.killed[0] == 0
    assert result.p_estimate[0] == 1 and result.p_high[0] == 1 and result.model_calls[0] == 2
    assert result.failure[0] is not None and result.failure[0].shape == (2,)


def test_a_failure_really_fails() -> None:
    score = gaussian_score(1e-5)
    result = estimate(score, DIM, inputs=20)
    for failure in result.failure:
        assert failure is not None and score(torch.from_numpy(failure)[None], torch.zeros(1)) > 0


def test_an_input_gives_the_same_result_in_any_company_and_any_batch() -> None:
    """The score works row by row, so that not even rounding depends on the batch."""
    bounds = torch.tensor([3.0, 5.0, 4.0, 9.0, 2.0])

    def score(latent: Tensor, index: Tensor) -> Tensor:
        return latent[:, 0] - bounds[index]

    whole = estimate(score, 4, inputs=5, replicas=2, seed=8, steps=9)
    for batch in (1, 7):
        part = estimate(score, 4, inputs=5, replicas=2, seed=8, steps=9, batch=batch)
        assert (part.killed == whole.killed).all() and (part.p_estimate == whole.p_estimate).all()
        assert all((a == b).all() for a, b in zip(part.levels, whole.levels, strict=True))
        assert (part.model_calls == whole.model_calls).all()
    few = estimate(score, 4, inputs=2, replicas=2, seed=8, steps=9)
    assert (few.killed == whole.killed[:2]).all()


def test_model_calls_are_counted_and_batches_stay_full() -> None:
    sizes: list[int] = []
    newest: list[int] = []

    def score(latent: Tensor, index: Tensor) -> Tensor:
        sizes.append(len(latent))
        newest.append(int(index.max()))
        return latent[:, 0] - torch.where(index % 2 == 0, 1.0, 8.0)

    result = estimate(score, 2, inputs=60, batch=20, steps=8)
    assert sum(sizes) == result.model_calls.sum() and max(sizes) == 20
    waiting = newest.index(59)
    assert waiting > 100
    assert np.mean(sizes[:waiting]) > 19.9, (
        "only the place of a lane given up on a plateau may stay empty, for one round"
    )


def test_every_tensor_is_made_on_a_named_device() -> None:
    with no_deviceless_factories():
        estimate(gaussian_score(1e-2), DIM, inputs=2, replicas=2, particles=4, kill=2)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"particles": 1}, "particles = 1: at least 2"),
        ({"critical": 1.0}, "critical = 1: it is a probability"),
        ({"critical": 0.0}, "critical = 0"),
        ({"risk": 1.5}, "risk = 1.5"),
        ({"steps": 0}, "steps = 0"),
        ({"inputs": 0}, "inputs = 0"),
        ({"kill": 2}, "kill = 2"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_one_sentence(
    settings: dict[str, float], words: str
) -> None:
    with pytest.raises(ParamsError, match=words):
        estimate(gaussian_score(1e-3), DIM, **settings)


def test_a_score_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(ModelError, match="not a number"):
        estimate(lambda z, i: z[:, 0] * float("nan"), 2)
    with pytest.raises(ModelError, match="not a number"):
        estimate(lambda z, i: torch.where(z[:, 0] > 2, float("nan"), z[:, 0] - 9), 2, inputs=20)
    with pytest.raises(ModelError, match="one number for each"):
        estimate(lambda z, i: z, 2)


@pytest.mark.parametrize("particles", [20, 100])
def test_several_killed_at_once_on_a_coarse_staircase_are_told_not_trusted(particles: int) -> None:
    """Steps of two standard deviations; steps of a quarter are fine."""
    settings = {"particles": particles, "kill": particles * 3 // 4, "steps": 20}
    coarse = estimate(gaussian_score(1e-6, 2.0), DIM, inputs=40, seed=3, **settings)
    fine = estimate(gaussian_score(1e-6, 0.25), DIM, inputs=40, seed=3, **settings)
    assert coarse.inconclusive.mean() > 0.8 and any("in steps" in why for why in coarse.reason)
    assert not fine.inconclusive.any()
