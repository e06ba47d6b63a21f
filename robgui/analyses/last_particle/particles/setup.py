"""The input of a run of many tests: the score of a latent point, and the numbers."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.particles.kernel import Bound
from robgui.core.errors import ModelError


class Score(Protocol):
    """The margin of failure of a latent point; fails where it is above 0.

    Attributes:
        spread: Standard deviation of the latent points.
    """

    spread: float

    def bind(self, tests: Tensor) -> Bound:
        """The score of latent points, where row i belongs to test ``tests[i]``.

        Reused for many calls.
        """
        ...

    def inside(self, tests: Tensor) -> Bound | None:
        """Latent points -> which of them belong to the noise; None if all do.

        The score of the others is -inf.
        """
        ...

    def together(self) -> AbstractContextManager[None]:
        """Entered around many calls; whether the model's answers are sound may be asked once."""
        ...


@dataclass(frozen=True)
class Setup:
    """The numbers of a run.

    Attributes:
        dim: Latent dimensions.
        tests: How many tests.
        particles: N.
        kill: K.
        steps: t.
        replicas: R.
        m: Killings that validate.
        seed: Start of the random numbers.
        rows: Particles per model call at most.
        trace: Keep the levels of every round.
        chosen: The tests to be run; None for all. A test's course depends on its number, not on
            which others are run.
    """

    dim: int
    tests: int
    particles: int
    kill: int
    steps: int
    replicas: int
    m: int
    seed: int
    rows: int
    trace: bool = True
    chosen: tuple[int, ...] | None = None


class Margins:
    """The score of points of any tests.

    What is bound to the tests that asked last is kept: they ask again and again.

    Args:
        score: The score.
        device: Where the points are.
    """

    def __init__(self, score: Score, device: torch.device) -> None:
        self._score, self._device = score, device
        self._last: tuple[np.ndarray, Bound] | None = None

    def bound(self, owner: np.ndarray) -> Bound:
        """The score of points that belong to the tests ``owner``."""
        if self._last is None or not np.array_equal(self._last[0], owner):
            self._last = owner, self._score.bind(torch.from_numpy(owner).to(self._device))
        return self._last[1]

    def inside(self, owner: np.ndarray) -> Bound | None:
        """See ``Score``."""
        return self._score.inside(torch.from_numpy(owner).to(self._device))

    def together(self) -> AbstractContextManager[None]:
        """See ``Score``."""
        return self._score.together()

    @torch.inference_mode()
    def of(self, latent: Tensor, owner: np.ndarray) -> np.ndarray:
        """The scores ``(n,)`` of points ``(n, dim)`` of the tests ``owner``."""
        heights: np.ndarray = self.bound(owner)(latent).cpu().numpy()
        check(heights)
        return heights


def check(scores: np.ndarray) -> None:
    """Refuses scores that are NaN: nothing lies above or below them."""
    if np.isnan(scores).any():
        raise ModelError(
            "The score of a noisy input is not a number (NaN); check the model's weights, mean and"
            " std, or the score function."
        )
