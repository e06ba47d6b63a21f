"""Leaps: they keep the law of the counts whatever their direction is, cost a third of the calls, and
are told.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor, nn

from robgui.analyses.last_particle import LastParticleParams, last_particle
from robgui.analyses.last_particle.estimates import FunctionScore
from robgui.analyses.last_particle.exact import Law
from robgui.analyses.last_particle.noise.priors import Prior
from robgui.analyses.last_particle.particles.guided import beyond, resteered
from robgui.analyses.last_particle.particles.outcome import outcome
from robgui.analyses.last_particle.particles.setup import Setup
from robgui.analyses.last_particle.particles.splitting import Splitting
from robgui.analyses.last_particle.sampling.steep import SteepDirections
from robgui.core.dataset import from_arrays
from robgui.core.model.classifier import Classifier
from tests.analyses.last_particle.scores import linear_classifier

DIM = 30
HALF = np.full((1, 8), 0.5, dtype=np.float32)
QUICK = {"samples": 0, "attack_steps": 0, "importance": 0, "proof": False}


class Fixed:
    """The first axis turned towards the second one."""

    calls = 0

    def __init__(self, cosine: float) -> None:
        self._direction = torch.zeros(DIM)
        self._direction[0], self._direction[1] = cosine, (1 - cosine**2) ** 0.5

    def directions(self, tests: Tensor) -> Generator[None, None, Tensor]:
        yield
        return self._direction.expand(len(tests), -1)


def returned(work: Generator[None, None, Tensor]) -> Tensor:
    """What the work gives in the end."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def killed(p: float, guide: Fixed, steps: int, runs: int) -> tuple[np.ndarray, list[object]]:
    """Killed in tests of a linear score, and what they say."""
    bound = float(stats.norm.isf(p))
    law = Law(2, 1, 10)
    m = law.threshold(1e-30, 0.01)
    setup = Setup(DIM, runs, 2, 1, steps, 10, m, 3, 4096, False)
    score = FunctionScore(lambda z, _: z[:, 0] - bound)
    splitting = Splitting(score, setup, torch.device("cpu"), guide)
    for _ in splitting.rounds():
        pass
    told = [
        outcome(law, m, splitting.lanes[10 * i : 10 * (i + 1)], ended=True) for i in range(runs)
    ]
    return splitting.killed.sum(1), told


@pytest.mark.parametrize(("p", "cosine"), [(1e-3, 1.0), (1e-3, 0.5), (1e-8, 0.8)])
def test_counts_keep_their_law_whatever_the_direction_of_the_leaps(p: float, cosine: float) -> None:
    counts, told = killed(p, Fixed(cosine), 12, 60)
    mean = -20 * np.log(p)
    assert abs(counts.mean() / mean - 1) < 4 / np.sqrt(60 * mean) + 0.015
    assert sum(one.p_low <= p <= one.p_high for one in told) >= 52
    assert sum(one.inconclusive for one in told) <= 3


def test_too_few_leaps_in_a_bad_direction_are_mostly_noticed() -> None:
    """A third to a half of those that are not noticed call failures too rare."""
    _, told = killed(1e-8, Fixed(0.3), 4, 60)
    assert sum(one.inconclusive for one in told) >= 30
    assert sum(one.p_high < 1e-8 for one in told if not one.inconclusive) <= 12


def test_places_beyond_a_bound_follow_the_normal_law_there() -> None:
    uniform = np.random.default_rng(0).random((20_000,))
    for bound in (-3.0, 0.0, 6.0):
        places = beyond(np.full(20_000, bound), uniform)
        assert places.min() > bound
        tails = stats.norm.sf(places) / stats.norm.sf(bound)
        assert stats.kstest(tails, "uniform").pvalue > 1e-3


def test_the_bound_goes_back_where_particles_stand_before_it_and_leaps_shrink_where_refused() -> (
    None
):
    before = np.array([[True, False], [True, False]])
    accepted = np.array([[False, False], [False, False]])
    distance, across = resteered(np.zeros(2), np.zeros(2), before, accepted)
    assert distance[0] > 0 > distance[1], "the first goes back, the second comes nearer"
    assert across[0] == 0 and across[1] < 0, "who cannot leap says nothing of the size"
    _, across = resteered(np.zeros(2), np.full(2, 5.0), ~before, ~accepted)
    assert across.max() <= np.log(2)


def test_the_direction_is_that_of_the_rival_that_is_nearest_to_winning() -> None:
    weights = torch.tensor([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    layer = nn.Linear(3, 3)
    with torch.no_grad():
        layer.weight.copy_(weights)
        layer.bias.copy_(torch.tensor([0.0, -1.5, -3.0]))  # 1 short by 1.0, 2 by a quarter of it
    classifier = Classifier.from_module(nn.Sequential(layer), (3,), output="logits")
    x = torch.full((1, 3), 0.5)
    prior = Prior(
        "gaussian", x, torch.tensor([0.1]), torch.tensor([0]), scale=torch.ones(3), bounds=None
    )
    search = SteepDirections(classifier, prior, torch.tensor([0])).directions(torch.tensor([0]))
    assert torch.allclose(returned(search), torch.tensor([[0.0, 1.0, 0.0]]), atol=1e-6)


def test_ten_repetitions_with_leaps_cost_less_than_three_without() -> None:
    made = linear_classifier(1e-9, "box", 0.1)
    data = from_arrays(HALF, kind="table")
    calls = {}
    for name, settings in (
        ("leaps", {}),
        ("three", {"replicas": 3, "guided": False}),
        ("published", {"preset": "paper"}),
    ):
        params = LastParticleParams.parse({"eps": 0.01, **QUICK, **settings})
        *_, step = last_particle(made, data, params)
        assert step.result.validated
        assert step.result.leaps is (name == "leaps")
        calls[name] = step.result.model_calls
    assert calls["leaps"] < calls["three"] and calls["published"] == 2562


class Steps(nn.Module):
    """A score in coarse steps, whose gradient shows nothing of them."""

    def forward(self, x: Tensor) -> Tensor:
        lead = (4 * x.sum(1)).floor() / 4 - 12
        return torch.stack([torch.zeros_like(lead), lead + 0 * x[:, 0]], 1)


def test_what_leaps_leave_undecided_is_repeated_as_published() -> None:
    classifier = Classifier.from_module(Steps(), (8,), output="logits")
    data = from_arrays(HALF, kind="table")
    # repetitions take other random numbers: those of the second next seed
    with_leaps, without = (
        list(
            last_particle(classifier, data, LastParticleParams.parse({"eps": 0.1, **QUICK, **own}))
        )[-1].result
        for own in ({"seed": 0}, {"guided": False, "seed": 2})
    )
    assert without.inconclusive and with_leaps.inconclusive
    assert with_leaps.reason == without.reason
    assert with_leaps.model_calls > without.model_calls, "both tests are counted"
