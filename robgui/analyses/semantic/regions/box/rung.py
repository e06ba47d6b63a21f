"""A box of poses, and poses drawn evenly in several boxes at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Rung:
    """A box: ``low`` and ``high`` ``(n,)``, and the length of a turn, inf where none leads back."""

    low: np.ndarray
    high: np.ndarray
    turns: np.ndarray | float = np.inf

    @property
    def volume(self) -> float:
        """Product of the sides."""
        return float((self.high - self.low).prod())

    def placed(self, points: np.ndarray) -> np.ndarray:
        """Poses ``(m, n)`` counted from the lower faces, as full turns allow."""
        around = np.isfinite(self.turns)
        if not around.any():
            return points
        return np.where(around, self.low + (points - self.low) % self.turns, points)

    def holds(self, points: np.ndarray) -> np.ndarray:
        """Which points ``(m, n)`` lie inside, full turns apart or not."""
        here = self.placed(points)
        return np.asarray(((here >= self.low) & (here <= self.high)).all(1))

    def drawn(self, count: int, generator: np.random.Generator) -> np.ndarray:
        """Poses ``(count, n)``, uniform inside."""
        unit = generator.random((count, len(self.low)))
        return np.asarray(self.low + (self.high - self.low) * unit)


def drawn_in_all(
    boxes: Sequence[Rung], count: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Poses ``(count, n)``, uniform in the union of boxes, and which boxes hold them ``(k, m)``."""
    volumes = np.array([max(box.volume, 1e-300) for box in boxes])
    points, held = np.zeros((0, len(boxes[0].low))), np.zeros((len(boxes), 0), dtype=bool)
    while len(points) < count:
        chosen = generator.choice(len(boxes), count, p=volumes / volumes.sum())
        some = np.empty((count, points.shape[1]))
        for place, box in enumerate(boxes):
            some[chosen == place] = box.drawn(int((chosen == place).sum()), generator)
        inside = np.stack([box.holds(some) for box in boxes])
        # A pose in several boxes is proposed by each of them, and is kept as if by one.
        kept = generator.random(count) * inside.sum(0) < 1
        points = np.concatenate([points, some[kept]])
        held = np.concatenate([held, inside[:, kept]], 1)
    return points[:count], held[:, :count]
