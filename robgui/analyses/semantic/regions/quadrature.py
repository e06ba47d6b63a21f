"""Nodes and weights on a box: means over the box and each of its faces from one grid of points."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np


@dataclass(frozen=True, slots=True)
class Nodes:
    """N nodes on the unit box with trapezoid weights.

    Attributes:
        unit: ``(N, n)`` coordinates in [0, 1].
        weight: ``(N,)`` weights of the mean over the box; their sum is 1.
        lower: ``(n, N)`` weights of the mean over the face where coordinate k is 0; each row sums
            to 1.
        upper: ``(n, N)`` the same where it is 1.
    """

    unit: np.ndarray
    weight: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def grid(cls, n: int, q: int) -> Nodes:
        """All q^n nodes of a grid with ``q`` nodes along each of ``n`` axes.

        Q = 2 are the corners alone.
        """
        places = np.array(list(product(range(q), repeat=n)))
        line = np.ones(q)
        # Trapezoid: an end counts half, as it would belong to a neighbouring interval too.
        line[0] = line[-1] = 0.5
        single = (line / line.sum())[places]
        weight = single.prod(1)
        # (n, N): the weight without its factor along axis k is that of the face across k.
        others, unit = weight / single.T, places / (q - 1)
        return cls(unit, weight, others * (unit.T == 0), others * (unit.T == 1))

    @classmethod
    def surface(cls, n: int, q: int) -> Nodes:
        """The nodes of that grid that lie on a face.

        The weights of the mean over the box are rescaled to compensate.
        """
        whole = cls.grid(n, q)
        # The inner nodes cost calls and move no bound.
        rows = ((whole.unit == 0) | (whole.unit == 1)).any(1)
        weight = whole.weight[rows]
        return cls(
            whole.unit[rows], weight / weight.sum(), whole.lower[:, rows], whole.upper[:, rows]
        )

    def faces(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means of values ``(R, N)`` over the lower and upper faces, each ``(R, n)``."""
        return values @ self.lower.T, values @ self.upper.T
