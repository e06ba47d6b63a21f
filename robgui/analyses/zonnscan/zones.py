"""What a cloud of samples in many zones is, and the exact one for boxes.

A Cloud holds Z zones (the radii of one input, or one radius around many inputs) and gives samples in all of
them from the same base points. Balls of the infinite norm and user boxes are boxes; other balls are in ``balls``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from robgui.analyses.zonnscan.points import Points, block_size

#: Every sample of a block.
EVERY = slice(None)


class Block(Protocol):
    """A stretch of samples in every zone of a cloud."""

    def prepare(self) -> Iterator[None]:
        """What must be computed before ``at``, in pieces of a few milliseconds."""
        ...

    def at(self, zones: Tensor, rows: slice = EVERY, out: Tensor | None = None) -> Tensor:
        """Some of the samples ``(len(zones), n, d)`` in these of the zones asked for; memory of that shape may be lent."""
        ...


class Cloud(Protocol):
    """Samples in Z zones; ``block_size`` is how many may be made at once, whatever the batch size."""

    lanes: int
    block_size: int

    def block(self, start: int, stop: int, zones: Tensor) -> Block:
        """Samples ``start … stop - 1`` of the zones with these rising numbers; both are multiples of ``lanes``."""
        ...


@dataclass(frozen=True)
class _BoxBlock:
    low: Tensor
    high: Tensor
    u: Tensor

    def prepare(self) -> Iterator[None]:
        return iter(())

    def at(self, zones: Tensor, rows: slice = EVERY, out: Tensor | None = None) -> Tensor:
        return torch.lerp(self.low[zones, None], self.high[zones, None], self.u[rows], out=out)


class BoxCloud:
    """Uniform samples in boxes: component i uniform on [low_i, high_i], never clipped.

    Args:
        low: ``(Z, d)`` lowest corner of each zone.
        high: ``(Z, d)`` highest corner of each zone.
        points: Base points, used by every zone.
    """

    def __init__(self, low: Tensor, high: Tensor, points: Points) -> None:
        self.low = low
        self.high = high
        self.lanes = points.lanes
        self.block_size = block_size(low.shape[1])
        self._points = points

    def block(self, start: int, stop: int, zones: Tensor) -> Block:
        return _BoxBlock(self.low, self.high, self._points.draw(start, stop))


def linf_corners(x: Tensor, radii: Tensor) -> tuple[Tensor, Tensor]:
    """Corners ``(Z, d)`` of B_inf(x, r) ∩ [0, 1]^d for inputs ``(Z or 1, d)`` and radii ``(Z,)``."""
    return (x - radii[:, None]).clamp_min(0), (x + radii[:, None]).clamp_max(1)


def scaled_box(first: Tensor, second: Tensor, radii: Tensor) -> tuple[Tensor, Tensor]:
    """Corners ``(Z, d)`` of the box between two inputs ``(d,)``, shrunk around its centre by each radius (1: all of it)."""
    centre, half = (first + second) / 2, (first - second).abs() / 2
    scale = radii[:, None].clamp_max(1)
    return (centre - scale * half).clamp_min(0), (centre + scale * half).clamp_max(1)
