"""Control variates from neighbouring radii: most radii of a sweep need few samples of their own.

All zones of a sweep share their base points, so a zone can be told from two others around it: a few samples give the
relation, and what those two learn from more samples is carried over. Everything happens within each replicate;
replicates stay independent of each other, and the spread of the carried-over values gives the interval.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from robgui.analyses.zonnscan.sampling.tally import TAIL

#: A zone waits for the two around it when what they cannot tell of it is within this share of the target.
LEFT_OVER = 0.5
#: Zones that others wait for go on to this share of the target, which leaves room for what they cannot tell.
AHEAD = 0.95


class Neighbours:
    """Estimates of zones in a row, each between the first and the last relying on two around it."""

    def __init__(self, zones: int) -> None:
        self._sides = enclosing(zones)
        self._seen: dict[int, np.ndarray] = {}
        self._nothing = np.full((zones, 1), np.nan)

    def remember(self, samples: np.ndarray, means: np.ndarray) -> None:
        """Keeps means ``(Z, replicates)`` of zones that have taken so many samples ``(Z,)``, to compare equal numbers later."""
        for count in np.unique(samples).tolist():
            kept = self._seen.setdefault(count, np.full_like(means, np.nan))
            kept[samples == count] = means[samples == count]

    def estimates(self, samples: np.ndarray, means: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Index, half-width of its 95 % interval, and half-width of what the two zones around do not tell, ``(Z,)`` each.

        A zone whose two neighbours are ahead of it takes over how far they have moved since they were where it is.
        The two factors fitted for that cost two degrees of freedom.
        """
        carried, own = means.copy(), means.copy()
        moved, told = np.zeros((2, len(means)), dtype=bool)
        if not self._seen:
            half = _half_widths(means, told)
            return means.mean(1), half, half
        for zone, sides in self._sides.items():
            then = self._seen.get(int(samples[zone]), self._nothing)[sides]
            if (samples[sides] >= samples[zone]).all() and np.isfinite(then).all():
                centred = then - then.mean(1, keepdims=True)
                factors = np.linalg.lstsq(centred.T, means[zone] - means[zone].mean(), rcond=None)[0]
                carried[zone] += factors @ (carried[sides] - then)
                own[zone] -= factors @ centred
                moved[zone], told[zone] = (carried[zone] != means[zone]).any(), True
        return carried.mean(1), _half_widths(carried, moved), _half_widths(own, told)

    def unsure(self, samples: np.ndarray, means: np.ndarray, below: np.ndarray, target: float) -> np.ndarray:
        """Which zones ``(Z,)`` of those ``below`` the cap should take more samples now.

        A zone that is not sure enough waits while one of the two around it can go on, unless too much of it is its own.
        """
        _, half, own = self.estimates(samples, means)
        going = below & (half > target)
        for zone, sides in reversed(self._sides.items()):  # the narrowest gaps first: they rely on the others
            ahead = [side for side in sides if below[side] and half[side] > AHEAD * target]
            if going[zone] and own[zone] <= LEFT_OVER * target and ahead:
                going[zone] = False
                going[ahead] = True
        return going


def enclosing(zones: int) -> dict[int, list[int]]:
    """Every zone but the first and the last -> the two around it: gaps are halved again and again, the widest first."""
    found: dict[int, list[int]] = {}
    gaps = [(0, zones - 1)]
    while gaps:
        middles = {(low + high) // 2: [low, high] for low, high in gaps if high - low > 1}
        found |= middles
        gaps = [gap for middle, (low, high) in middles.items() for gap in ((low, middle), (middle, high))]
    return found


def _half_widths(means: np.ndarray, fitted: np.ndarray) -> np.ndarray:
    """Half-widths of Student's 95 % intervals of the mean of each row; two factors were fitted to some rows."""
    free = means.shape[1] - np.where(fitted, 3, 1)
    return np.asarray(special.stdtrit(free, 1 - TAIL) * np.sqrt(means.var(1) / free))
