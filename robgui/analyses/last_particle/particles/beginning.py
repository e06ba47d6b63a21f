"""The first particles of tests, where plain draws are cheaper than moves.

Near the start most plain draws lie above the level, and one that does is exactly what a new
particle has to be: independent of all others, with the law of the noise above the level. So first
the lowest particle L is replaced by plain draws: those below L are thrown away, the first above it
takes its place, and one more has been killed.

The law of the count stays exact. Given L and all that was thrown away, which lies below L, the
other particles are independent with the law above L: nothing below L says more of them. When draws
end depends on nothing else: on their number, which is fixed, on the test's levels so far, and on
whether L is above 0. So whatever replaces L afterwards, a draw or a moved copy, meets the state
that the method describes, and the levels form the same Poisson process as without draws.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.particles.lanes import Lanes
from robgui.analyses.last_particle.particles.order import above, lowest_first
from robgui.analyses.last_particle.particles.setup import Margins, Setup
from robgui.analyses.last_particle.particles.streams import Streams


class Particles(NamedTuple):
    """Points of some lanes, n of each.

    Attributes:
        latent: ``(lanes, n, dim)``.
        heights: ``(lanes, n)`` scores.
        rests: ``(lanes, n)`` v, see ``kernel``.
    """

    latent: Tensor
    heights: np.ndarray
    rests: np.ndarray


class Draws:
    """Draws the first particles of tests and scores them.

    Args:
        scores: The score.
        streams: Where random numbers come from.
        setup: The numbers of the run.
        draws: Points of a lane at most; N for no more than its particles.
        told: Where killings are counted.
        calls: ``(tests,)`` where model calls are counted.
    """

    def __init__(
        self,
        scores: Margins,
        streams: Streams,
        setup: Setup,
        draws: int,
        told: Lanes,
        calls: np.ndarray,
    ) -> None:
        self._scores, self._streams, self._setup = scores, streams, setup
        self._more = draws // setup.particles - 1
        self._told, self._calls = told, calls

    def first(self, lanes: np.ndarray) -> Generator[None, None, Beginning]:
        """The first particles of lanes, all those of some tests; yields after every model call."""
        begun = Beginning(self._told, self._setup, lanes, (yield from self._drawn(lanes)))
        for _ in range(self._more):
            places = begun.undecided()
            if not len(places):
                break
            begun.take(places, (yield from self._drawn(lanes[places])))
        return begun

    def _drawn(self, lanes: np.ndarray) -> Generator[None, None, Particles]:
        """N points of every lane."""
        s, numbers = self._setup, lanes.tolist()
        owner = np.repeat(lanes // s.replicas, s.particles)
        latent = self._streams.normal_inside(
            numbers, s.particles, s.dim, self._scores.inside(owner)
        )
        rests = self._streams.uniform(numbers, s.particles)
        heights = yield from self._scored(latent.flatten(0, 1), owner)
        np.add.at(self._calls, owner, 1)
        return Particles(latent, heights.reshape(rests.shape), rests)

    def _scored(self, latent: Tensor, owner: np.ndarray) -> Generator[None, None, np.ndarray]:
        parts: list[np.ndarray] = []
        for first in range(0, len(latent), self._setup.rows):
            some = slice(first, first + self._setup.rows)
            parts.append(self._scores.of(latent[some], owner[some]))
            yield
        return np.concatenate(parts)


class Beginning:
    """The particles of some lanes, as plain draws replace them.

    Attributes:
        lanes: ``(a,)`` their numbers.
        particles: N of each.
        ancestor: ``(a, N)``: every draw is its own.

    Args:
        told: Where killings are counted.
        setup: The numbers of the run.
        lanes: See above; all lanes of some tests.
        particles: See above; changed in place.
    """

    def __init__(self, told: Lanes, setup: Setup, lanes: np.ndarray, particles: Particles) -> None:
        self._told, self._setup = told, setup
        self.lanes, self.particles = lanes, particles
        self.ancestor = np.tile(np.arange(setup.particles), (len(lanes), 1))
        self._tries = np.zeros(len(lanes), dtype=np.int64)
        self._drawn = setup.particles

    def undecided(self) -> np.ndarray:
        """Places of the lanes whose lowest particle has yet to die."""
        s = self._setup
        killed = self._told.killed[self.lanes].reshape(-1, s.replicas).sum(1)
        few_killed = np.repeat(killed < s.m, s.replicas)
        return np.flatnonzero(few_killed & (self.particles.heights <= 0).any(1))

    def take(self, places: np.ndarray, drawn: Particles) -> None:
        """Takes the draws of the lanes at ``places``, one after the other."""
        for each in range(drawn.heights.shape[1]):
            still = np.flatnonzero(np.isin(places, self.undecided()))
            one = drawn.latent[:, each], drawn.heights[still, each], drawn.rests[still, each]
            self._take_one(places[still], still, *one)

    def _take_one(
        self,
        places: np.ndarray,
        rows: np.ndarray,
        latent: Tensor,
        heights: np.ndarray,
        rests: np.ndarray,
    ) -> None:
        """One draw for each of ``places``, in ``rows`` of ``latent``."""
        own = self.particles
        lowest = lowest_first(own.heights[places], own.rests[places])[:, 0]
        level = own.heights[places, lowest]
        enters = above(heights, rests, level, own.rests[places, lowest])
        self._tries[places] += 1
        places, died, rows = places[enters], lowest[enters], rows[enters]
        into, which, source = (
            torch.from_numpy(each).to(latent.device) for each in (places, died, rows)
        )
        own.latent[into, which] = latent[source]
        own.heights[places, died], own.rests[places, died] = heights[enters], rests[enters]
        self.ancestor[places, died] = self._drawn
        self._drawn += 1
        lanes = self.lanes[places]
        self._told.killed[lanes] += 1
        self._told.rounds[lanes] += 1
        self._told.add_round(lanes, level[enters], 1 / self._tries[places])
        self._tries[places] = 0
