"""A first coarse look at a space: which class it shows, and where to start."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.semantic.maps.grid import levels
from robgui.analyses.semantic.regions.params import Mode
from robgui.analyses.semantic.scene.space import Space, usual_class
from robgui.core.errors import ParamsError
from robgui.core.model.randomness import HOST

#: Points along one axis, along each of two axes of a coarse map, and spread over more axes.
_LINE, _COLUMNS, _ROWS, _SPREAD = 61, 25, 13, 200
#: Most points of one model call: few, since somebody waits for the first picture.
_AT_ONCE = 16
#: Preferred distance between starts, as a share of the range.
_APART = 0.3
#: Starts shared by all shapes keep this distance from the ends of the range.
_MARGIN = 0.1


class CoarseScan:
    """A coarse look that is refined: the usual point first, then a lattice whose gaps are filled.

    Attributes:
        points: ``(m, n)`` points, the last of them where all parameters stand at their usual value.
        shares: ``(m, classes)`` scores of all classes there; nan where not yet computed.
        x: ``(W,)`` values of the first axis, when the points are a map.
        y: ``(H,)`` values of the second; ``(1,)`` nan with one axis, ``(0,)`` with more than two.
        looked: How many points have been looked at.
    """

    def __init__(self, space: Space) -> None:
        n, low, high = len(space.axes), space.low.numpy(), space.high.numpy()
        counts = {1: (_LINE,), 2: (_COLUMNS, _ROWS)}.get(n, ())
        lines = [
            # On a periodic axis both ends are the same place.
            np.linspace(low[k], high[k], count, endpoint=not space.axes[k].periodic)
            for k, count in enumerate(counts)
        ]
        if n == 2:
            self.x, self.y = lines
            points = np.stack([grid.ravel() for grid in np.meshgrid(self.x, self.y)], 1)
        elif n == 1:
            self.x, self.y = lines[0], np.full(1, np.nan)
            points = self.x[:, None]
        else:
            self.x = self.y = np.zeros(0)
            points = low + spread(_SPREAD, n) * (high - low)
        self._space = space
        self.points = torch.cat(
            [torch.tensor(points, dtype=torch.float64, device=HOST), space.middle[None]]
        )
        size = len(self.points), space.classifier.classes
        self.shares = torch.full(size, math.nan, device=HOST)
        self.looked = 0
        # (H, W) number of the point whose score a cell shows.
        self._standing = np.full((len(self.y), len(self.x)), -1, dtype=np.int64)

    def look(self, batch: int = 0) -> Iterator[None]:
        """Looks at every point, a few at a time; yields after every batch."""
        for places, stride in self._rounds():
            for start in range(0, len(places), _AT_ONCE):
                some = places[start : start + _AT_ONCE]
                self.shares[some] = yield from self._space.probs(self.points[some], batch)
                self._stand(some, stride)
                self.looked += len(some)
                yield

    def map_of(self, target: int) -> np.ndarray:
        """Scores ``(H, W)`` of a class, from the nearest coarser cell where not yet computed.

        ``(0, 0)`` with more than two axes.
        """
        # Index -1 of ``_standing`` picks the appended nan: not looked at yet.
        scores = np.append(self.shares[:, target].numpy(), np.float32(np.nan))
        return np.asarray(scores[self._standing])

    def lost(self, target: int) -> Tensor:
        """Points ``(k, n)`` looked at so far where another class wins."""
        known = ~self.shares[:, 0].isnan()
        return self.points[known & (self.shares.argmax(1) != target)]

    def usual_class(self) -> int:
        """The class most often seen so far."""
        known = self.shares[~self.shares[:, 0].isnan()]
        return usual_class(known.argmax(1), known)

    def _rounds(self) -> Iterator[tuple[np.ndarray, int]]:
        """Indices of points with the number of cells each stands for along an axis.

        The usual one alone, then coarse to fine.
        """
        last = len(self.points) - 1
        # The usual pose first: it decides the class and is the first picture.
        yield np.array([last]), 0
        if not self._standing.size:
            yield np.arange(last), 0
            return
        for level in levels(*self._standing.shape):
            yield level.cells[:, 0] * len(self.x) + level.cells[:, 1], level.stride

    def _stand(self, places: np.ndarray, stride: int) -> None:
        if stride:
            for place, row, column in zip(places, *np.divmod(places, len(self.x)), strict=True):
                # A finer round overwrites the cells that a coarser point stood for.
                self._standing[row : row + stride, column : column + stride] = place


def spread(count: int, n: int) -> np.ndarray:
    """Points ``(count, n)`` evenly spread in [0, 1], the first in the middle.

    Multiples of the generalised golden ratio.
    """
    ratio = 2.0
    for _ in range(64):  # The root of x^(n + 1) = x + 1.
        ratio = (1 + ratio) ** (1 / (n + 1))
    # The additive recurrence of the generalised golden ratio: low discrepancy for any count.
    return np.asarray((0.5 + np.outer(np.arange(count), ratio ** -np.arange(1, n + 1))) % 1)


def good_starts(space: Space, looked: CoarseScan, target: int, mode: Mode, count: int) -> Tensor:
    """Up to ``count`` starts ``(P, n)`` where the class holds, far from each other.

    For adversarial regions, where it does not hold.
    """
    worth, top = _worth(looked, target, mode)
    return looked.points[_far_apart(space, looked.points, worth, count, top)]


def common_starts(
    space: Space, looked: Sequence[CoarseScan], targets: Sequence[int], mode: Mode, count: int
) -> Tensor:
    """Starts ``(count, n)`` shared by several looks, far from each other.

    Points where the class of each look holds come first, then those where most do.
    """
    parts = [_worth(one, target, mode) for one, target in zip(looked, targets, strict=True)]
    worth = torch.stack([part[0] for part in parts]).mean(0)
    top = torch.stack([part[1] for part in parts]).all(0)
    # Points where some class does not hold come last, but are there if too few hold for all.
    points, worth = looked[0].points, torch.where(top, worth, worth * 1e-3)
    return points[_far_apart(space, points, worth, count, torch.ones_like(top))]


def _worth(looked: CoarseScan, target: int, mode: Mode) -> tuple[Tensor, Tensor]:
    """How good each point is to start from, and whether the class holds there (or does not)."""
    score = looked.shares[:, target].double()
    known = ~score.isnan()  # The others are not computed yet.
    score = torch.where(known, score if mode == "robust" else 1 - score, 0.0)
    top = ((looked.shares.argmax(1) == target) == (mode == "robust")) & known
    # Not 0: where the class holds nowhere, the best of the others still comes first.
    return torch.where(top, score, score * 1e-3), top


def _far_apart(
    space: Space, points: Tensor, worth: Tensor, count: int, allowed: Tensor
) -> list[int]:
    """Indices of up to ``count`` points worth starting from.

    Only ``allowed`` ones except the first.
    """
    # The usual pose is preferred as a start if it is nearly as good as the best.
    usual = bool(worth[-1] >= 0.5 * worth.max())
    if usual:
        first = len(worth) - 1
    else:
        first = int(worth.argmax())
    chosen = [first]
    while len(chosen) < min(count, len(worth)):
        near = _distance(space, points, points[chosen]).amin(1)
        # Worth falls off towards chosen starts: the next one is good and elsewhere.
        left = worth * (near / _APART).clamp(max=1)
        best = int(left.argmax())
        # Fewer starts than asked for rather than one without the class.
        if not allowed[best] or left[best] <= 0:
            break
        chosen.append(best)
    return chosen


def same_starts(space: Space, count: int) -> Tensor:
    """Starts ``(P, n)`` that depend only on the ranges, as in the paper's SRVR."""
    shares = _MARGIN + (1 - 2 * _MARGIN) * spread(count, len(space.axes))
    return space.low + torch.tensor(shares, dtype=torch.float64, device=HOST) * (
        space.high - space.low
    )


def given_starts(space: Space, starts: tuple[tuple[float, ...], ...]) -> Tensor:
    """The starts of the settings ``(P, n)``, checked against the ranges."""
    for start in starts:
        if len(start) != len(space.axes):
            names = ", ".join(axis.name for axis in space.axes)
            raise ParamsError(
                f"starts: {', '.join(f'{v:g}' for v in start)} has {len(start)} numbers, not one"
                f" for each of {names}."
            )
        for axis, value in zip(space.axes, start, strict=True):
            if not axis.periodic and not axis.low <= value <= axis.high:
                raise ParamsError(
                    f"starts: {axis.name} = {value:g} is outside {axis.low:g} to {axis.high:g};"
                    " choose a start inside."
                )
    return space.wrapped(torch.tensor(starts, dtype=torch.float64, device=HOST))


def _distance(space: Space, points: Tensor, others: Tensor) -> Tensor:
    """Largest difference ``(m, k)`` in any parameter, as a share of its range.

    The short way around on periodic ones.
    """
    # The largest difference over the axes, since boxes are compared, not balls.
    apart = ((points[:, None] - others[None]) / (space.high - space.low)).abs()
    turns = torch.tensor(space.periodic, device=points.device)
    # Around a periodic axis the shorter way counts.
    return torch.where(turns, torch.minimum(apart, 1 - apart), apart).amax(2)
