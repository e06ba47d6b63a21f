"""Leaps: moves that redraw a particle's position along the score's slope and go far across it.

A level confines particles only along the slope, but the published moves are equally short in all
directions, and along the slope they are a random walk. With u a unit vector fixed before the test
began, a leap draws u·z' from N(0, 1) beyond a bound c, and across u z' = (z + s g) / sqrt(1 + s²).
Restricted to points beyond c this preserves N(0, I), so accepting what lies above the level
preserves the law there; particles before c do not leap, and walk as published.

The bound lies just before the position of the particle that died: it was on the level, and given
the level it says nothing about the others. So neither u nor c can make the test wrong, they can
only cost calls. This is not in the paper; it needs gradients (white-box).
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from scipy.special import ndtr, ndtri
from torch import Tensor

from robgui.analyses.last_particle.particles.kernel import LARGEST_MOVE, Bound, Level, Moves

#: The share of particles that may stand before the bound, where they cannot leap, and the
#: acceptance of the others: targets for the distance of the bound and the size across; and the gain
#: of the control.
_BEFORE, _ACCEPTED, _GAIN = 0.1, 0.5, 0.5
#: Target acceptance of the published moves between leaps: higher than without leaps, since there
#: are few of them and a particle that never moves is a copy of another.
WALKED = 0.5
#: Nearest and farthest the bound may be to the particle that died, in standard deviations.
_NEAREST, _FARTHEST = 1e-3, 3.0


class Guide(Protocol):
    """Where the directions come from.

    Attributes:
        calls: Model calls for the direction of one test.
    """

    calls: int

    def directions(self, tests: Tensor) -> Generator[None, None, Tensor]:
        """Unit vectors ``(tests, dim)`` of some tests."""
        ...


@dataclass(frozen=True)
class Leaps:
    """The leaps of n particles in a round.

    Attributes:
        directions: ``(n, dim)`` u.
        bound: ``(n,)`` c, in units of the latent.
        places: ``(leaps, n)`` u·z' of every leap.
        size: ``(n,)`` s across the direction.
    """

    directions: Tensor
    bound: Tensor
    places: Tensor
    size: Tensor


class GuidedMoves(Moves):
    """Leaps and published moves in turn; as ``Moves``.

    Attributes:
        before: For every leap so far, ``(n,)`` which particles stood before the bound.
    """

    def __init__(
        self,
        score: Bound,
        latent: Tensor,
        heights: Tensor,
        level: Level,
        size: np.ndarray,
        leaps: Leaps,
    ) -> None:
        super().__init__(score, latent, heights, level, size)
        self._leaps, self._places = leaps, iter(leaps.places.unbind())
        across = (leaps.size * leaps.size).to(latent.dtype)[:, None]
        self._kept_across = 1 / torch.sqrt(1 + across)
        # The noise comes as s g / sqrt(1 + s²), with the s of the published move.
        own = torch.from_numpy(size * size).to(latent)[:, None]
        # Turns the noise of the published size into that of the size across: one stream serves both
        # moves.
        self._louder = torch.sqrt(across / (1 + across) * (1 + own) / own)
        self._here = self._along(latent)
        self._leaping = True
        self.before: list[Tensor] = []

    def step(self, noise: Tensor) -> None:
        """A leap or a published move, with noise ``(n, dim)``."""
        # By turns: leaps move far along the slope, published moves keep particles before the bound
        # alive.
        leaping, self._leaping = self._leaping, not self._leaping
        if not leaping:
            super().step(noise)
            self._here = self._along(self.latent)
            return
        place, before = next(self._places), self._here <= self._leaps.bound
        self.before.append(before)
        torch.mul(noise, self._louder, out=self._proposed)
        self._proposed.addcmul_(self.latent, self._kept_across)
        self._proposed.addcmul_(
            # Replaces the component along u by the drawn one; across u the proposal stays a
            # Crank-Nicolson move.
            self._leaps.directions,
            (place - self._along(self._proposed))[:, None],
        )
        accepted = self._decided(~before)
        # Kept up to date instead of recomputed: an accepted leap stands exactly where it was drawn.
        self._here = torch.lerp(self._here, place, accepted)

    def _along(self, latent: Tensor) -> Tensor:
        along: Tensor = torch.linalg.vecdot(self._leaps.directions, latent)
        return along


def beyond(bound: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Standard normal numbers beyond the bounds, from uniform ones."""
    # Inverse transform in the upper tail, which keeps digits where Φ(bound) is 1.
    return np.asarray(-ndtri(ndtr(-bound) * uniform))


def resteered(
    log_distance: np.ndarray, log_across: np.ndarray, before: np.ndarray, accepted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The logs ``(a,)`` of the bound's distance and of s across, after a round.

    Args:
        log_distance: ``(a,)`` before.
        log_across: ``(a,)`` before.
        before: ``(leaps, a)`` which particles stood before the bound.
        accepted: ``(leaps, a)`` which leaps were accepted.
    """
    able = (~before).sum(0)
    share = accepted.sum(0) / np.maximum(1, able)
    log_across = np.where(able > 0, log_across + _GAIN * (share - _ACCEPTED), log_across)
    # More particles before the bound than wanted: move the bound further down.
    log_distance = log_distance + _GAIN * (before.mean(0) - _BEFORE)
    return (
        np.clip(log_distance, math.log(_NEAREST), math.log(_FARTHEST)),
        np.minimum(log_across, math.log(LARGEST_MOVE)),
    )
