"""The radii of a sweep: the initial ones, and those added where its curves bend."""

from __future__ import annotations

import numpy as np
import torch

from robgui.analyses.zonnscan.params import ZonnscanParams
from robgui.analyses.zonnscan.sampling.bends import next_radius
from robgui.analyses.zonnscan.zone import fitted_radii


class Radii:
    """Radii above 0 by zone number, in the order they were chosen.

    Attributes:
        zero: Whether the input itself is a point of the curve.
        first: How many there were at the beginning.
        used: How many there are now.
        sizes: ``(Z,)`` on the device; those not used yet are 0.

    Args:
        params: Settings of the sweep.
        dims: Values of the input.
        kind: Of the input.
        device: Where the samples are made.
    """

    def __init__(self, params: ZonnscanParams, dims: int, kind: str, device: torch.device) -> None:
        # Radii that a person typed are the question itself: none is added between them.
        added = 0 if params.radii else params.added
        radii = params.radii or fitted_radii(params.zone, dims, kind, few=added > 0)
        self.zero = 0 in radii
        begun = [radius for radius in radii if radius > 0]
        self.first = self.used = len(begun)
        # Room for added radii is reserved: zones keep their numbers, and tensors their size.
        self._values = np.array(begun + [0.0] * added)
        self.sizes = torch.tensor(self._values, dtype=torch.float32, device=device)

    @property
    def largest(self) -> float:
        """The largest radius; 0 where there is the input alone."""
        return float(self._values.max(initial=0.0))

    @property
    def room(self) -> int:
        """How many may still be added."""
        return len(self._values) - self.used

    @property
    def order(self) -> np.ndarray:
        """Zones in use, from the smallest radius on."""
        # Added radii come last in memory but belong between the others on the axis.
        return np.argsort(self._values[: self.used], kind="stable")

    def shown(self, samples: np.ndarray) -> np.ndarray:
        """The same, without added radii that have no ``samples (Z,)`` yet."""
        order = self.order
        # A radius that was just added has no samples yet.
        return np.asarray(order[(order < self.first) | (samples[order] > 0)])

    def of(self, zones: np.ndarray) -> np.ndarray:
        """Radii of the curve: 0 if it is part of it, then those of these zones."""
        return np.concatenate([np.zeros(int(self.zero)), self._values[zones]])

    def add(self, curves: np.ndarray) -> bool:
        """Adds the most informative radius; False if the curves are straight enough.

        Args:
            curves: ``(1 + used, Q)`` what is known, at 0 and then in ``order``.
        """
        # The curve starts at 0, whether or not 0 was asked for.
        wanted = next_radius(np.concatenate([[0.0], self._values[self.order]]), curves)
        if wanted is None or not self.room:
            return False
        self._values[self.used] = wanted
        self.sizes[self.used] = wanted
        self.used += 1
        return True
