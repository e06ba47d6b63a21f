"""The move that keeps the noise law: preconditioned Crank–Nicolson above a level, ties broken by a second coordinate.

z' = (z + s g) / sqrt(1 + s²) with g ~ N(0, I) leaves N(0, I) as it is; accepting only what lies above the level
leaves the conditional law as it is. Scores may be tied (trees, saturated outputs), so each particle also carries
u ~ U(0, 1) and particles are ordered by (score, u). The code keeps the rest v = 1 - u: it shrinks towards 0 on a long
plateau, where u would run out of digits.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import torch
from torch import Tensor

#: Numbers drawn for one lane at a time. Fixed, so that a lane's random numbers do not depend on the batch.
_DRAWN = 8192
#: The acceptance that the size of the moves is steered to.
TARGET = 0.35
#: One accepted move of this size keeps less than half of the old point. Without a bound the size runs away while nearly
#: everything is accepted, and is far too large when the level leaps.
LARGEST_MOVE = 2.0

#: Seconds of moves between two moments at which the run can be stopped or shown.
_BREATH = 0.02

Bound = Callable[[Tensor], Tensor]


class Streams:
    """One stream of random numbers per lane, so that what a lane does depends on neither its neighbours nor the batch.

    Args:
        seed: Seed of the run.
        device: Where the numbers are drawn.
    """

    def __init__(self, seed: int, device: torch.device) -> None:
        self._seed = seed
        self._device = device
        self._generators: dict[int, torch.Generator] = {}

    def open(self, lane: int) -> None:
        """Starts the stream of a lane."""
        start = int(np.random.SeedSequence([self._seed, lane]).generate_state(1, np.uint64)[0]) >> 1
        self._generators[lane] = torch.Generator(self._device).manual_seed(start)

    def close(self, lane: int) -> None:
        """Forgets the stream of a lane that has ended."""
        del self._generators[lane]

    def normal(self, lanes: Sequence[int], out: Tensor, sizes: Sequence[float] | None = None) -> Tensor:
        """Fills ``out[i]`` with normal numbers of the i-th lane, of standard deviation ``sizes[i]`` or 1."""
        for lane, part, size in zip(lanes, out, sizes or [1.0] * len(lanes), strict=True):
            part.normal_(0.0, size, generator=self._generators[lane])
        return out

    def uniform(self, lanes: Sequence[int], *size: int) -> Tensor:
        """Uniform numbers ``(lanes, *size)``, double precision."""
        out = torch.empty((len(lanes), *size), dtype=torch.float64, device=self._device)
        for lane, part in zip(lanes, out, strict=True):
            part.uniform_(generator=self._generators[lane])
        return out


class Moves:
    """Moves of n particles at once, each above the level of its lane.

    Attributes:
        latent: Where the particles are.
        heights: Their scores.
        rests: Their v = 1 - u.
        accepted: For every step so far ``(n,)``.
        scores: For every step so far ``(n,)``, of what was proposed.
        level_rest: ``(n,)`` v to stay under on the level.

    Args:
        score: Latent ``(n, dim)`` -> scores ``(n,)``; fails where it is above 0.
        latent: ``(n, dim)`` where the particles start; changed in place.
        heights: ``(n,)`` their scores, double precision.
        rests: ``(n,)`` their v = 1 - u.
        level: ``(n,)`` scores to exceed.
        level_rest: ``(n,)`` v to stay under on the level.
        size: ``(n, 1)`` s.
    """

    def __init__(
        self, score: Bound, latent: Tensor, heights: Tensor, rests: Tensor, level: Tensor, level_rest: Tensor, size: Tensor
    ) -> None:
        self.latent, self.heights, self.rests = latent, heights, rests
        self._score, self._level, self.level_rest = score, level, level_rest
        self._just_below = torch.nextafter(level, torch.full_like(level, -torch.inf))
        self._kept = (1 / torch.sqrt(1 + size * size)).to(latent.dtype)
        self._proposed = torch.empty_like(latent)
        self.accepted: list[Tensor] = []
        self.scores: list[Tensor] = []

    def step(self, noise: Tensor, rests: Tensor, rests_on_level: Tensor) -> None:
        """One move of every particle.

        Args:
            noise: ``(n, dim)`` s g / sqrt(1 + s²).
            rests: ``(n,)`` uniform numbers, the new v of a particle above its level.
            rests_on_level: ``(n,)`` the new v of a particle on its level: the same shrunk to the rest of the level.
        """
        torch.addcmul(noise, self.latent, self._kept, out=self._proposed)
        heights = self._score(self._proposed).to(self.heights.dtype)
        accepted = heights > torch.where(self.rests < self.level_rest, self._just_below, self._level)
        torch.where(accepted[:, None], self._proposed, self.latent, out=self.latent)
        self.heights = torch.where(accepted, heights, self.heights)
        self.rests = torch.where(self.heights == self._level, rests_on_level, rests)
        self.accepted.append(accepted)
        self.scores.append(heights)

    @torch.inference_mode()
    def steps(self, moves: Iterator[tuple[Tensor, Tensor, Tensor]]) -> bool:
        """Makes moves until a breath is due; False when there are no more."""
        ends = time.monotonic() + _BREATH
        for move in moves:
            self.step(*move)
            if time.monotonic() > ends:
                return True
        return False


def moved(moves: Moves, streams: Streams, lanes: Sequence[int], sizes: Sequence[float], steps: int, rests: Tensor) -> Iterator[None]:
    """Makes all moves, one model call each; yields now and then.

    Args:
        moves: The moves.
        streams: Where the noise comes from.
        lanes: The lanes, each with as many particles as are killed at once.
        sizes: s of every lane.
        steps: t.
        rests: ``(lanes, t, kill)`` uniform numbers for the second coordinate.
    """
    ahead = _drawn(moves, streams, lanes, sizes, steps, rests)
    while moves.steps(ahead):
        yield
    yield


def _drawn(
    moves: Moves, streams: Streams, lanes: Sequence[int], sizes: Sequence[float], steps: int, rests: Tensor
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """What each step takes, drawn for several steps at a time; the next ones are drawn while the model answers."""
    dim, kill = moves.latent.shape[1], rests.shape[2]
    added = [size / math.sqrt(1 + size * size) for size in sizes]
    stretch = max(1, min(steps, _DRAWN // (kill * dim)))
    shape = (2, len(lanes), stretch, kill, dim)
    turns = itertools.cycle(torch.empty(shape, dtype=moves.latent.dtype, device=moves.latent.device))
    above = rests.transpose(0, 1).flatten(1)
    below = above * moves.level_rest

    @torch.inference_mode()
    def draw(count: int, out: Tensor) -> Tensor:
        return streams.normal(lanes, out[:, :count], added).transpose(0, 1).flatten(1, 2)

    counts = [min(stretch, steps - first) for first in range(0, steps, stretch)]
    for noise in _ahead([partial(draw, count, next(turns)) for count in counts]):
        yield from zip(noise.unbind(), above[: len(noise)].unbind(), below[: len(noise)].unbind(), strict=True)
        above, below = above[len(noise) :], below[len(noise) :]


def _ahead(makings: Sequence[Callable[[], Tensor]]) -> Iterator[Tensor]:
    """What each making gives; while one is in use the next is made by another thread."""
    made = makings[0]()
    if len(makings) == 1:
        yield made
        return
    with ThreadPoolExecutor(1) as other:
        for making in makings[1:]:
            coming = other.submit(making)
            yield made
            made = coming.result()
        yield made


def resized(log_size: Tensor, acceptance: Tensor) -> Tensor:
    """The logarithm of s after a replacement: log s + acceptance - .35, at most log 2."""
    return (log_size + acceptance - TARGET).clamp_max(math.log(LARGEST_MOVE))
