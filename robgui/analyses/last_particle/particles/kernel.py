"""The move that preserves the noise law: preconditioned Crank–Nicolson above a level.

K(X, s) of Algorithm 2, which the paper requires only to be reversible with respect to the noise
law: z' = (z + s g) / sqrt(1 + s²) with g ~ N(0, I) preserves N(0, I); accepting only what lies
above the level preserves the conditional law.

Scores may be tied (trees, saturated outputs), so each particle also carries u ~ U(0, 1), and
particles are ordered by (score, u). The code keeps the rest v = 1 - u: it shrinks towards 0 on a
long plateau, where u would run out of digits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

#: Target acceptance for the size of the moves. The paper names none; .2 with a decaying gain passed
#: failing inputs far more often than the risk allows.
TARGET = 0.35
#: Largest size: one accepted move of it keeps less than half of the old point. Without a limit the
#: size runs away while nearly everything is accepted, and is far too large when the level jumps.
LARGEST_MOVE = 2.0

#: Seconds of moves between two points where the run can be stopped or shown.
BREATH = 0.02

Bound = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Level:
    """What n particles must stay above during t moves.

    After every move v is drawn again: from (0, 1) above the level, from (0, rest of the level) on
    it. The latter is always below the rest, so all that a move has to know about v is prepared for
    all moves beforehand.

    Attributes:
        bars: ``(t, n)`` what the score has to reach: the level when v is under the rest, else the
            next larger number.
        held: ``(n,)`` 0 for particles that move freely along the level once they are on it, 1 for
            the others; None if all are others.
    """

    bars: Tensor
    held: Tensor | None


class Moves:
    """Moves n particles at once, each above the level of its lane.

    Attributes:
        latent: Where the particles are.
        accepted: ``(t, n)`` 1 where a proposal was accepted, 0 elsewhere, as far as moves were
            made.
        scores: For every step so far ``(n,)``, of what was proposed.

    Args:
        score: Latent ``(n, dim)`` -> scores ``(n,)``; fails where it is above 0.
        latent: ``(n, dim)`` where the particles start; changed in place.
        heights: ``(n,)`` their scores.
        level: The level.
        size: ``(n,)`` s.
    """

    def __init__(
        self, score: Bound, latent: Tensor, heights: Tensor, level: Level, size: np.ndarray
    ) -> None:
        self.latent, self._score, self._held = latent, score, level.held
        # What freely moving particles may always reach: their own score, which is below a bar only
        # on the level.
        self._own = heights
        if self._held is not None:
            self._own = heights.masked_fill(self._held > 0, torch.inf)
        # 1 / sqrt(1 + s²): what the move keeps of the old point. The noise comes already scaled.
        self._kept = torch.from_numpy(1 / np.sqrt(1 + size * size)).to(latent)[:, None]
        self._proposed = torch.empty_like(latent)
        # Numbers, not truth values: they are the weights with which proposals replace particles.
        self.accepted = latent.new_empty(level.bars.shape)
        self._steps = zip(
            level.bars.unbind(),
            self.accepted.unbind(),
            self.accepted[:, :, None].unbind(),
            strict=True,
        )
        self.scores: list[Tensor] = []

    def step(self, noise: Tensor) -> None:
        """One move of every particle with noise ``(n, dim)``: s g / sqrt(1 + s²)."""
        # z' = z / sqrt(1 + s²) + s g / sqrt(1 + s²), in one pass without temporaries.
        torch.addcmul(noise, self.latent, self._kept, out=self._proposed)
        self._decided()

    def _decided(self, able: Tensor | None = None) -> Tensor:
        """Moves to the proposal where it lies above the level and the particle is ``able``.

        Gives 1 there and 0 elsewhere.
        """
        heights, (bar, accepted, weights) = self._score(self._proposed), next(self._steps)
        # On a plateau a particle at the level's own score may move along it, whatever its v.
        if self._held is not None:
            bar = torch.minimum(bar, self._own)
        torch.ge(heights, bar, out=accepted)
        if able is not None:
            accepted.mul_(able)
        # Exact at 0 and 1, and faster than torch.where.
        self.latent.lerp_(self._proposed, weights)
        # Needed during the moves only on a plateau; ``heights_after`` tells the last.
        if self._held is not None:
            self._own = torch.where(accepted > self._held, heights, self._own)
        self.scores.append(heights)
        return accepted

    @torch.inference_mode()
    def steps(self, noise: Iterator[Tensor]) -> bool:
        """Makes moves until the next pause is due; False if none are left."""
        # The clock is read after each move: a slow model gives one move per pause, a fast one many.
        ends = time.monotonic() + BREATH
        for each in noise:
            self.step(each)
            if time.monotonic() > ends:
                return True
        return False


def heights_after(start: np.ndarray, scores: np.ndarray, accepted: np.ndarray) -> np.ndarray:
    """Scores ``(n,)`` after moves: of the last accepted proposal, or of the start if none was.

    Args:
        start: ``(n,)`` scores before.
        scores: ``(t, n)`` of what was proposed.
        accepted: ``(t, n)`` whether it was accepted.
    """
    last = len(scores) - 1 - accepted[::-1].argmax(0)
    return np.where(accepted.any(0), scores[last, np.arange(len(start))], start)


def resized(log_size: np.ndarray, acceptance: np.ndarray, target: float = TARGET) -> np.ndarray:
    """The log of s after a replacement: log s + acceptance - .35, at most log 2."""
    # Robbins-Monro with gain 1 on the logarithm: it does not decay, since the right size shrinks as
    # the level rises.
    return np.asarray(np.minimum(log_size + acceptance - target, math.log(LARGEST_MOVE)))
