"""Where a network keeps the class, counted over the computed poses of a map."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robgui.analyses.semantic.result import MapResult


@dataclass(frozen=True, slots=True)
class Survival:
    """What one network does with the class over all shapes of a map.

    Attributes:
        poses: Poses of the grid.
        known: How many of them are computed.
        kept: At how many of those the class is on top.
        rivals: Classes on top where it is not, the most frequent first.
        area: Share of all poses that show the class on top, those not computed as the coarser ones
            that they lie in; nan when nothing is known.
        mean: Mean score of the class over all poses in the same way; nan when nothing is known.
        nearest: ``(n,)`` pose that loses the class, nearest to the usual one; None for none.
        traps: Places of the network's traps in the list of traps.
        lost_traps: Those of them where the class itself is lost.
    """

    poses: int
    known: int
    kept: int
    rivals: tuple[int, ...]
    area: float
    mean: float
    nearest: np.ndarray | None
    traps: tuple[int, ...]
    lost_traps: tuple[int, ...]

    @property
    def share(self) -> float:
        """The share of the poses that keep the class.

        Cells are computed first where the class changes: while some are missing, their own share
        would misrepresent the rest.
        """
        if self.complete:
            if self.known:
                return self.kept / self.known
            return math.nan
        return self.area

    @property
    def complete(self) -> bool:
        """Whether every pose of the grid is computed."""
        return self.known == self.poses


def survival(result: MapResult, network: int) -> Survival:
    """What a network does with the class over all shapes."""
    target = result.target[:, None, None]
    # (K, H, W); a shape without a class has nothing to survive.
    known = result.computed[network] & (target >= 0)
    lost = known & (result.tops[network] != target)
    rivals, counts = np.unique(result.tops[network][lost], return_counts=True)
    # Also cells that only show a coarser one: together they have the right areas.
    shown = (result.tops[network] >= 0) & (target >= 0)
    on_top = shown & (result.tops[network] == target)
    scores = result.scores[network][shown]
    own = np.flatnonzero(result.traps.network == network)
    fails = result.traps.top1[own] != result.target[result.traps.shape[own]]
    return Survival(
        poses=int(known.size),
        known=int(known.sum()),
        kept=int(known.sum() - lost.sum()),
        rivals=tuple(int(c) for c in rivals[np.argsort(-counts, kind="stable")]),
        area=float(on_top.sum() / shown.sum()) if shown.any() else math.nan,
        mean=float(scores.mean()) if scores.size else math.nan,
        nearest=_nearest(result, lost.any(0)),
        traps=tuple(int(place) for place in own),
        lost_traps=tuple(int(place) for place in own[fails]),
    )


def _nearest(result: MapResult, lost: np.ndarray) -> np.ndarray | None:
    """The pose in ``lost (H, W)`` nearest to the usual one, in shares of the ranges."""
    if not lost.any():
        return None
    rows, columns = np.nonzero(lost)
    points = np.stack([result.x[columns], result.y[rows]], 1)[:, : len(result.axes)]
    apart = np.zeros(len(points))
    for place, axis in enumerate(result.axes):
        # In shares of the range, since degrees and per cent cannot be added.
        share = np.abs(points[:, place] - axis.default) / (axis.high - axis.low)
        # The shorter way round: 350 degrees are 10 from 0.
        apart += (np.minimum(share % 1, 1 - share % 1) if axis.periodic else share) ** 2
    return np.asarray(points[apart.argmin()])
