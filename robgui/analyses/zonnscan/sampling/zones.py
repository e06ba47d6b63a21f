"""Clouds of samples in many zones, and the exact one for boxes.

A Cloud has Z zones (the radii of one input, or one radius around many inputs) and gives samples in
all of them from the same base points. Balls of the infinite norm and user boxes are boxes; other
balls are in ``balls``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from robgui.analyses.zonnscan.sampling.points import Points, block_size

#: Every sample of a block.
EVERY = slice(None)


class Block(Protocol):
    """A stretch of samples in every zone of a cloud."""

    def prepare(self) -> Iterator[None]:
        """Computes what ``at`` needs, in pieces of a few milliseconds."""
        ...

    def at(self, zones: Tensor, rows: slice = EVERY, out: Tensor | None = None) -> Tensor:
        """Some of the samples ``(len(zones), n, d)`` in some of the zones.

        Memory of that shape may be lent.
        """
        ...


class Cloud(Protocol):
    """Samples in Z zones; at most ``block_size`` are made at once, whatever the batch size."""

    lanes: int
    block_size: int

    def block(self, start: int, stop: int, zones: Tensor) -> Block:
        """Samples ``start … stop - 1`` of the zones with these rising numbers.

        Both are multiples of ``lanes``.
        """
        ...


#: Numbers of zones ``(n,)`` -> the lowest and the highest corner ``(n, d)`` of each.
Corners = Callable[[Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class _BoxBlock:
    corners: Corners
    u: Tensor

    def prepare(self) -> Iterator[None]:
        return iter(())

    def at(self, zones: Tensor, rows: slice = EVERY, out: Tensor | None = None) -> Tensor:
        # The same u for every zone (common random numbers): the curve over radii
        # is smooth, and two radii differ by more than chance only if the zones do.
        low, high = self.corners(zones)
        return torch.lerp(low[:, None], high[:, None], self.u[rows], out=out)


class BoxCloud:
    """Uniform samples in boxes: component i uniform on [low_i, high_i], never clipped.

    Args:
        corners: Those of each zone, made as they are needed.
        dims: d.
        points: Base points, used by every zone.
    """

    def __init__(self, corners: Corners, dims: int, points: Points) -> None:
        self.lanes = points.lanes
        self.block_size = block_size(dims)
        self._corners = corners
        self._points = points

    @classmethod
    def between(cls, low: Tensor, high: Tensor, points: Points) -> BoxCloud:
        """Boxes with these corners ``(Z, d)``."""
        return cls(lambda zones: (low[zones], high[zones]), low.shape[1], points)

    @classmethod
    def around(cls, x: Tensor, radius: float, points: Points) -> BoxCloud:
        """The zone B_inf(x, r) ∩ [0, 1]^d around each of Z inputs ``(Z, d)``."""
        return cls(lambda zones: linf_corners(x[zones], radius), x.shape[1], points)

    def block(self, start: int, stop: int, zones: Tensor) -> Block:
        return _BoxBlock(self._corners, self._points.draw(start, stop))


def linf_corners(x: Tensor, radius: Tensor | float) -> tuple[Tensor, Tensor]:
    """Corners ``(Z, d)`` of B_inf(x, r) ∩ [0, 1]^d.

    For inputs ``(Z or 1, d)`` and one radius or radii ``(Z, 1)``.
    """
    # Z = B_inf(X, r) ∩ [0, 1]^d (Section II-B). The corners are clipped,
    # not the samples: clipped samples would pile up on the faces.
    return (x - radius).clamp_min(0), (x + radius).clamp_max(1)


def scaled_box(first: Tensor, second: Tensor, radii: Tensor) -> tuple[Tensor, Tensor]:
    """Corners ``(Z, d)`` of the box between two inputs ``(d,)``, scaled about its centre."""
    centre, half = (first + second) / 2, (first - second).abs() / 2
    # Radius 1 is the whole box of the user; there is no larger one.
    scale = radii[:, None].clamp_max(1)
    return (centre - scale * half).clamp_min(0), (centre + scale * half).clamp_max(1)
