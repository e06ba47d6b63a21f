"""Plain draws before the first moves: they keep the law of the counts exactly, and save calls."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from scipy import special, stats
from torch import Tensor

from robgui.analyses.last_particle.cost import plain_draws
from robgui.analyses.last_particle.estimates import FunctionScore
from robgui.analyses.last_particle.exact import Law
from robgui.analyses.last_particle.particles.beginning import Beginning, Draws, Particles
from robgui.analyses.last_particle.particles.lanes import Lanes
from robgui.analyses.last_particle.particles.outcome import outcome
from robgui.analyses.last_particle.particles.setup import Margins, Setup
from robgui.analyses.last_particle.particles.splitting import Splitting
from robgui.analyses.last_particle.particles.streams import Streams
from tests.analyses.last_particle.test_guided import DIM, Fixed

CPU = torch.device("cpu")


def setup(
    tests: int, *, particles: int = 2, steps: int = 12, replicas: int = 1, m: int = 10**6
) -> Setup:
    return Setup(DIM, tests, particles, 1, steps, replicas, m, 3, 4096, False)


def drawn(numbers: Setup) -> int:
    return plain_draws(numbers.particles, numbers.kill, numbers.steps)


def begun(numbers: Setup, score: FunctionScore) -> tuple[Beginning, Lanes, np.ndarray]:
    """The first particles of all lanes, what is told of the lanes, and calls of the tests."""
    told = Lanes(numbers.tests * numbers.replicas, trace=True)
    calls = np.zeros(numbers.tests, dtype=np.int64)
    streams = Streams(numbers.seed, CPU, 1.0)
    lanes = np.arange(len(told.killed))
    for lane in lanes.tolist():
        streams.open(lane)
    draws = Draws(Margins(score, CPU), streams, numbers, drawn(numbers), told, calls)
    work = draws.first(lanes)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value, told, calls


def fits(counts: np.ndarray, chances: np.ndarray) -> float:
    """How likely the counts are to differ so much from their law; what is rare is put together."""
    often = np.flatnonzero(chances * len(counts) >= 5)
    expected = np.append(chances[often], 1 - chances[often].sum()) * len(counts)
    seen = np.array([(counts == each).sum() for each in often])
    met = np.append(seen, len(counts) - seen.sum())
    return float(stats.chi2.sf(((met - expected) ** 2 / expected).sum(), len(often)))


@pytest.mark.parametrize("particles", [2, 5])
def test_draws_kill_as_often_as_records_are_broken(particles: int) -> None:
    """The i-th draw is among the N highest with probability N / i, whatever the others did."""
    numbers = setup(4000, particles=particles)
    draws = drawn(numbers)
    _, told, calls = begun(numbers, FunctionScore(lambda z, _: z[:, 0] - 40))
    chances = np.ones(1)
    for each in range(particles + 1, draws + 1):
        share = particles / each
        chances = np.convolve(chances, [1 - share, share])
    assert fits(told.killed, chances) > 1e-3
    assert (calls == draws).all()


@pytest.mark.parametrize(("p", "step"), [(0.2, 0.0), (1e-3, 0.0), (1e-3, 0.5), (1e-3, 3.0)])
def test_whatever_follows_exactly_the_count_is_poisson(p: float, step: float) -> None:
    """After the draws every new particle is drawn exactly above the level; ties are broken by u.

    So the law of the count is that of draws and method alone: there are no moves to blame. A score
    in steps is the same, as particles are ordered by score and u.
    """
    bound = float(stats.norm.isf(p))

    def score(z: Tensor, _: Tensor) -> Tensor:
        height = z[:, 0] - bound
        return torch.floor(height / step) * step + step if step else height

    first, told, _ = begun(setup(6000), FunctionScore(score))
    random = np.random.default_rng(1)
    counts = told.killed.copy()
    for lane, (heights, rests) in enumerate(zip(*first.particles[1:], strict=True)):
        counts[lane] += sum(1 for _ in exactly(heights, rests, p, bound, step, random))
    assert fits(counts, stats.poisson.pmf(np.arange(60), -2 * np.log(p))) > 1e-3


def exactly(
    heights: np.ndarray,
    rests: np.ndarray,
    p: float,
    bound: float,
    step: float,
    random: np.random.Generator,
) -> Iterator[None]:
    """Kills the lowest of a lane until all fail, each replaced by an exact draw above it."""
    # Every particle as its place in the order of all: the share of the noise that lies above it.
    tails = [
        tied(height, rest, bound, step) if step else tail(height, bound)
        for height, rest in zip(heights, rests, strict=True)
    ]
    while max(tails) >= p:
        lowest = int(np.argmax(tails))
        tails[lowest] *= random.random()
        yield


def tail(height: float, bound: float) -> float:
    return float(special.ndtr(-(height + bound)))


def tied(height: float, rest: float, bound: float, step: float) -> float:
    """Of a score rounded up: above lies what is higher, and what is equal with a smaller v."""
    higher, same = tail(height, bound), tail(height - step, bound) - tail(height, bound)
    return higher + rest * same


def test_intervals_hold_the_probability_as_often_as_they_say() -> None:
    """Four hundred tests of a linear score, with the moves, and their counts against their law."""
    p, runs, law = 1e-4, 400, Law(2, 1, 10)
    bound, m = float(stats.norm.isf(p)), law.threshold(1e-30, 0.01)
    score = FunctionScore(lambda z, _: z[:, 0] - bound)
    splitting = Splitting(score, setup(runs, replicas=10, m=m), CPU, Fixed(0.9))
    for _ in splitting.rounds():
        pass
    told = [outcome(law, m, splitting.lanes[10 * i :][:10], ended=True) for i in range(runs)]
    held = sum(one.p_low <= p <= one.p_high for one in told)
    assert stats.binom.cdf(held, runs, 0.95) > 1e-3, held
    counts, mean = splitting.killed.sum(1), -20 * np.log(p)
    assert abs(counts.mean() - mean) < 4 * np.sqrt(mean / runs)
    assert counts.var() / mean == pytest.approx(1, abs=0.3)


def test_draws_end_where_a_lane_fails_and_where_its_test_is_decided() -> None:
    numbers = setup(50)
    _, told, calls = begun(numbers, FunctionScore(lambda z, _: z[:, 0].abs() + 1))
    assert not told.killed.any() and (calls == 2).all()
    numbers = setup(50, replicas=10, m=12)
    _, told, calls = begun(numbers, FunctionScore(lambda z, _: z[:, 0] - 40))
    counts = told.killed.reshape(50, 10).sum(1)
    assert counts.min() >= 12 and counts.max() < 22 and calls.max() < 10 * drawn(numbers)


def test_a_draw_is_told_as_a_round_and_is_its_own_ancestor() -> None:
    first, told, _ = begun(setup(40), FunctionScore(lambda z, _: z[:, 0] - 40))
    for lane, one in enumerate(told[:]):
        assert len(one.levels) == one.killed == one.rounds == one.counts[-1]
        assert (np.diff(one.levels) > 0).all() and one.levels[-1] < first.particles.heights[
            lane
        ].min()
        assert all(0 < each <= 1 for each in one.acceptance)
        assert len(np.unique(first.ancestor[lane])) == 2
        heights = first.particles.latent[lane, :, 0].numpy() - 40
        assert (heights == first.particles.heights[lane]).all(), "points and scores belong together"
    assert not told.moved.any(), "stuck particles are counted among moved ones alone"


def test_draws_are_whole_populations_and_several_killed_at_once_are_moved_from_the_start() -> None:
    assert plain_draws(2, 1, 12) == 18 and plain_draws(3, 1, 2) == 3 and plain_draws(5, 1, 9) == 30
    assert plain_draws(20, 15, 12) == 20


def test_what_lies_on_the_level_enters_by_its_second_coordinate() -> None:
    told = Lanes(2, trace=False)
    start = Particles(torch.zeros(2, 2, 1), np.full((2, 2), -1.0), np.array([[0.9, 0.5]] * 2))
    lanes = Beginning(told, setup(2), np.arange(2), start)
    lanes.take(
        np.arange(2),
        Particles(torch.ones(2, 1, 1), np.full((2, 1), -1.0), np.array([[0.8], [0.95]])),
    )
    assert told.killed.tolist() == [1, 0]
    assert lanes.particles.rests.tolist() == [[0.8, 0.5], [0.9, 0.5]]
    assert lanes.particles.latent[:, :, 0].tolist() == [[1, 0], [0, 0]]
