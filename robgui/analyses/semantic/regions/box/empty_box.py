"""The largest box around a start that contains no pose known to lose the class.

A box is described by its reach from the start along every axis, up and down. Each lost pose must be
cut off by one of the faces; which one is best is tried greedily, in several orders of the poses,
and every box is then widened until each face meets a lost pose or the end of its range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robgui.analyses.semantic.regions.domain import Domain

#: Gap between a face and the lost pose it meets, as a share of the range.
APART = 0.0025
#: Orders in which lost poses are cut off; all but the first are random.
ORDERS = 6
#: A box is abandoned for another one this many times as large.
FAR_LARGER = 2.0


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a box goes from its start: ``down`` and ``up`` ``(n,)``, neither below 0."""

    down: np.ndarray
    up: np.ndarray

    @property
    def sides(self) -> np.ndarray:
        """``(n,)`` lengths."""
        return np.asarray(self.down + self.up)

    @property
    def volume(self) -> float:
        """Product of the lengths."""
        return float(self.sides.prod())


class EmptyBox:
    """The ranges around one start, and boxes in them that avoid given poses.

    Args:
        seed: ``(n,)`` the start.
        domain: The ranges.
    """

    def __init__(self, seed: np.ndarray, domain: Domain) -> None:
        self._seed, self._wraps, self._width = seed, domain.wraps, domain.width
        half = domain.width / 2
        self._whole = Reach(
            # On a periodic axis the whole range is half a turn each way.
            np.where(domain.wraps, half, seed - domain.floor),
            np.where(domain.wraps, half, domain.ceiling - seed),
        )

    def largest(
        self, lost: np.ndarray, generator: np.random.Generator, now: Reach | None = None
    ) -> Reach:
        """The largest of some boxes without the poses ``lost (m, n)``.

        Given a box ``now``, that one cut down, unless another is far larger: the largest of many
        boxes is the one whose lost poses are not known yet, and a box that jumps is never known
        well.
        """
        up, down = self._distances(lost)
        share = np.minimum(up, down) / self._width
        # Nearest first, then random orders: greedy cutting depends on the order, and no single one
        # is best.
        keys = [share.max(1)] + [generator.random(len(lost)) for _ in range(ORDERS - 1)]
        # Always from the whole range too: a box once cut wrongly could else never recover.
        best = self._best(self._whole, up, down, keys)
        if now is None:
            return best
        cut = self._best(now, up, down, keys)
        if best.volume > FAR_LARGER * cut.volume:
            return best
        return cut

    def _best(self, box: Reach, up: np.ndarray, down: np.ndarray, keys: list[np.ndarray]) -> Reach:
        """The largest box left when poses are cut off in several orders."""
        found = [self._widened(self._cut(box, up, down, key), up, down) for key in keys]
        return max(found, key=lambda one: one.volume)

    def free(self, box: Reach) -> tuple[np.ndarray, np.ndarray]:
        """Which faces, lower and upper ``(n,)``, could move outwards.

        Not at the end of their range.
        """
        # A box that goes all the way around has no faces on that axis.
        around = self._wraps & (box.sides >= self._width - 1e-9)
        return (
            ~around & (self._wraps | (box.down < self._whole.down - 1e-9)),
            ~around & (self._wraps | (box.up < self._whole.up - 1e-9)),
        )

    def _distances(self, lost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distance of each pose from the start, going up and going down ``(m, n)``.

        On a periodic axis both are finite; on others one of them is.
        """
        away = lost - self._seed
        around = away % self._width
        up = np.where(self._wraps, around, np.where(away >= 0, away, np.inf))
        down = np.where(self._wraps, self._width - around, np.where(away < 0, -away, np.inf))
        return up, down

    def _cut(self, box: Reach, up: np.ndarray, down: np.ndarray, key: np.ndarray) -> Reach:
        """A box without the poses, those with the smallest key cut off first.

        Poses nearer to the start than ``APART`` stay.
        """
        kept = (np.minimum(up, down) > APART).any(1)
        while True:
            up, down, key = up[kept], down[kept], key[kept]
            kept = ((up <= box.up) | (down <= box.down)).all(1)
            if not kept.any():
                return box
            place = int(np.where(kept, key, np.inf).argmin())
            box = self._without(box, up[place], down[place])

    def _without(self, box: Reach, up: np.ndarray, down: np.ndarray) -> Reach:
        """The box without one pose, cut where it costs the least volume."""
        # If the box wraps all the way around, it is opened at the pose.
        around = self._wraps & (box.sides >= self._width - 1e-9)
        new_up = np.where(around | (up <= box.up), up - APART, box.up)
        new_down = np.where(around | (down <= box.down), down - APART, box.down)
        kept = (new_up + new_down) / np.maximum(box.sides, 1e-12)
        # Too near along this axis: cutting there would leave a box without thickness.
        kept[np.minimum(up, down) <= APART] = -1.0
        one = np.arange(len(up)) == int(kept.argmax())
        return Reach(np.where(one, new_down, box.down), np.where(one, new_up, box.up))

    def _widened(self, box: Reach, up: np.ndarray, down: np.ndarray) -> Reach:
        """The box with every face moved out to a lost pose or to the end of its range."""
        reach_up, reach_down = box.up.copy(), box.down.copy()
        for axis in range(len(reach_up)):
            within = (up <= reach_up) | (down <= reach_down)
            # Only poses beside the box in all other axes can stop a face of this one.
            within[:, axis] = True
            beside = within.all(1)
            for reach, other, away, whole in (
                (reach_up, reach_down, up, self._whole.up),
                (reach_down, reach_up, down, self._whole.down),
            ):
                end = whole[axis]
                if self._wraps[axis]:
                    # Both faces share one turn.
                    end = self._width[axis] - other[axis]
                nearest = float(away[beside, axis].min(initial=np.inf)) - APART
                reach[axis] = max(reach[axis], min(end, nearest))
        return Reach(reach_down, reach_up)
