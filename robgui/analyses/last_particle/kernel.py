"""The move that keeps the noise law: preconditioned Crank–Nicolson above a level, ties broken by a second coordinate.

z' = (z + s g) / sqrt(1 + s²) with g ~ N(0, I) leaves N(0, I) as it is; accepting only what lies above the level
leaves the conditional law as it is. Scores may be tied (trees, saturated outputs), so each particle also carries
u ~ U(0, 1) and particles are ordered by (score, u). The code keeps the rest v = 1 - u: it shrinks towards 0 on a long
plateau, where u would run out of digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

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
        self._score, self._level, self._level_rest = score, level, level_rest
        self._kept = (1 / torch.sqrt(1 + size * size)).to(latent.dtype)
        self._proposed = torch.empty_like(latent)
        self.accepted: list[Tensor] = []
        self.scores: list[Tensor] = []

    @torch.inference_mode()
    def step(self, noise: Tensor, uniform: Tensor) -> None:
        """One move of every particle.

        Args:
            noise: ``(n, dim)`` s g / sqrt(1 + s²).
            uniform: ``(n,)`` for the second coordinate above the level, on which it is shrunk to the rest.
        """
        torch.addcmul(noise, self.latent, self._kept, out=self._proposed)
        heights = self._score(self._proposed).to(self.heights.dtype)
        accepted = (heights > self._level) | ((heights == self._level) & (self.rests < self._level_rest))
        torch.where(accepted[:, None], self._proposed, self.latent, out=self.latent)
        self.heights = torch.where(accepted, heights, self.heights)
        self.rests = torch.where(self.heights == self._level, self._level_rest * uniform, uniform)
        self.accepted.append(accepted)
        self.scores.append(heights)


def moved(moves: Moves, streams: Streams, lanes: Sequence[int], sizes: Sequence[float], steps: int, rests: Tensor) -> Iterator[None]:
    """Makes all moves, one model call each; yields after each.

    Args:
        moves: The moves.
        streams: Where the noise comes from.
        lanes: The lanes, each with as many particles as are killed at once.
        sizes: s of every lane.
        steps: t.
        rests: ``(lanes, t, kill)`` uniform numbers for the second coordinate.
    """
    dim, kill = moves.latent.shape[1], rests.shape[2]
    added = [size / math.sqrt(1 + size * size) for size in sizes]
    stretch = max(1, min(steps, _DRAWN // (kill * dim)))
    noise = torch.empty((len(lanes), stretch, kill, dim), dtype=moves.latent.dtype, device=moves.latent.device)
    for first in range(0, steps, stretch):
        count = min(stretch, steps - first)
        block = streams.normal(lanes, noise[:, :count], added)
        for i in range(count):
            moves.step(block[:, i].reshape(-1, dim), rests[:, first + i].reshape(-1))
            yield


def resized(log_size: Tensor, acceptance: Tensor) -> Tensor:
    """The logarithm of s after a replacement: log s + acceptance - .35, at most log 2."""
    return (log_size + acceptance - TARGET).clamp_max(math.log(LARGEST_MOVE))
