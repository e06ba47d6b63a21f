"""The attack of the sweep, followed by restarts from random places with another objective.

The sweep climbs the lead of the strongest rival, which may be the wrong one. The restarts climb the
lead of all rivals together, as training does (Madry et al., 2018), just below the nearest change
found.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from robgui.analyses.zonnscan.crossing.gradient_search import GradientSearch
from robgui.core.model.randomness import HOST

#: Sizes of the restarts, as shares of the nearest change found, and restarts at each.
SHARES = (0.6, 0.7, 0.8, 0.88, 0.95)
RESTARTS = 3
#: Gradient steps of each restart.
STEPS = 20


class RestartedSearch(GradientSearch):
    """Searches for the nearest change of class; iterating does the work."""

    _together = False

    def __iter__(self) -> Iterator[None]:
        yield from super().__iter__()
        # Restarts look below a known change; without one there is no size to scale.
        if self.crossing is None or self.crossing.radius == 0:
            return
        self._together = True
        # Sizes below the nearest change only: above it nothing new could be learnt.
        shares = torch.tensor(SHARES, device=self._centre.device).repeat(RESTARTS)
        radii = self.crossing.radius * shares
        yield from self._pull((yield from self._ascend(radii, self._scattered(radii), STEPS)))

    def _scattered(self, radii: Tensor) -> Tensor:
        """Random places of the zones; the first of each size is the input itself."""
        shape = len(radii), self._centre.shape[1]
        noise = torch.rand(shape, generator=self._generator, device=HOST) * 2 - 1
        # ``repeat`` lists all sizes before the second restart: these
        # rows are the first of each size.
        noise[: len(SHARES)] = 0
        reach = radii[:, None] * self._half_sides()
        return (self._centre + noise.to(self._centre) * reach).clamp(0, 1)

    def _margin(self, scores: Tensor) -> Tensor:
        """The lead of the best rival; in restarts its gradient is that of all rivals together."""
        lead = super()._margin(scores)
        if not self._together:
            return lead
        own = self._home > 0
        rivals = scores.masked_fill(own, -torch.inf).logsumexp(1)
        all_lead = rivals - (scores * self._home).sum(1)
        # Value of the one, gradient of the other: success is still told by the best rival's lead.
        return all_lead + (lead - all_lead).detach()
