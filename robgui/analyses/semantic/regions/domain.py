"""Domain: the ranges in which regions grow, and the units they are measured in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Domain:
    """The ranges of n axes, measured in shares of the ranges or in the units of the axes.

    Attributes:
        origin: ``(n,)`` where the lengths are counted from, in the units of the axes.
        unit: ``(n,)`` how long 1 is, in the units of the axes.
        floor: ``(n,)`` where the ranges begin.
        ceiling: ``(n,)`` where they end.
        wraps: ``(n,)`` bool, which ranges lead back to their beginning.
        clip: Whether regions end where the ranges end.
    """

    origin: np.ndarray
    unit: np.ndarray
    floor: np.ndarray
    ceiling: np.ndarray
    wraps: np.ndarray
    clip: bool

    @classmethod
    def of(
        cls,
        low: np.ndarray,
        high: np.ndarray,
        periodic: Sequence[bool],
        *,
        shares: bool,
        clip: bool,
    ) -> Domain:
        """Ranges from ``low`` to ``high`` ``(n,)``, in shares of them or in the axes' own units."""
        if shares:
            origin, unit = (low, high - low)
        else:
            origin, unit = (np.zeros(len(low)), np.ones(len(low)))
        return cls(
            origin,
            unit,
            (low - origin) / unit,
            (high - origin) / unit,
            np.array(periodic, dtype=bool),
            clip,
        )

    @property
    def width(self) -> np.ndarray:
        """``(n,)`` how long the ranges are."""
        return np.asarray(self.ceiling - self.floor)

    def measured(self, points: np.ndarray) -> np.ndarray:
        """Converts points ``(..., n)`` from the units of the axes to those of the domain."""
        return np.asarray((points - self.origin) / self.unit)

    def in_units(self, points: np.ndarray) -> np.ndarray:
        """Converts points ``(..., n)`` from the units of the domain to those of the axes."""
        return np.asarray(self.origin + self.unit * points)

    def wrapped(self, points: np.ndarray) -> np.ndarray:
        """Points ``(..., n)`` brought into range.

        Around on periodic axes; on others to the nearest end if regions are clipped.
        """
        # The result of this modulo is never negative, so one formula serves both directions.
        around = self.floor + (points - self.floor) % self.width
        # Points inside keep every digit.
        inside = (points >= self.floor) & (points <= self.ceiling)
        if self.clip:
            held = points.clip(self.floor, self.ceiling)
        else:
            held = points
        return np.where(inside, points, np.where(self.wraps, around, held))

    def held(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds ``(R, n)`` of regions kept in range, at most one period wide on periodic axes."""
        if not self.clip:
            return a, b
        # Too wide a region on a periodic axis is narrowed evenly at both ends.
        excess = ((b - a) - self.width).clip(0) / 2
        low = np.where(self.wraps, a + excess, a.clip(self.floor, self.ceiling))
        high = np.where(self.wraps, b - excess, b.clip(self.floor, self.ceiling))
        return low, high

    def share(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Share ``(R,)`` of the whole domain that each region fills."""
        low, high = (
            np.where(self.wraps, side, side.clip(self.floor, self.ceiling)) for side in (a, b)
        )
        return np.asarray(((high - low) / self.width).clip(0, 1).prod(1))

    def reached(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Whether ``(R,)`` a bound has reached the end of its range, or a region wraps around."""
        # Rounding: a region narrowed to one turn is that wide only up to the last digits.
        near = 1e-9 * self.width
        ends = (a <= self.floor + near) | (b >= self.ceiling - near)
        around = b - a >= self.width - near
        return np.asarray(np.where(self.wraps, around, ends).any(1))
