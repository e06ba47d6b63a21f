"""The nearest change of class that a gradient attack finds in the zones of a sweep.

Random samples of a zone are typical points of it and seldom come close to the nearest change of
class: on the demo's images they find it about eight times as far away. Projected gradient ascent on
the margin (Madry et al., 2018) runs at several radii at once, each a row of the batch: first at
radii that halve, then just below the nearest change found, starting from there and from random
places. What it finds is pulled straight towards the input while it still crosses.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.zonnscan.crossing.attack import ascent
from robgui.analyses.zonnscan.crossing.nearest import Crossing, nearest_crossing
from robgui.analyses.zonnscan.sampling.clouds import radius_of
from robgui.analyses.zonnscan.zone import Zone, power
from robgui.core.devices import to_device, to_host
from robgui.core.model.classifier import Classifier
from robgui.core.model.randomness import HOST, host_generator

#: Radii of the first pass: the largest, its half, its quarter … down to 1/512 of it.
HALVED = 10
#: Gradient steps of the first pass.
FIRST_STEPS = 12
#: Later passes search this far below the nearest change found, at this many radii.
BELOW = (0.5, 0.25)
#: Half of these radii start from the nearest change, half from random places.
BETWEEN = 8
#: Gradient steps of each later pass.
STEPS = 16
#: Length of a pass's last steps, as a share of the radius.
_SHORTEST = 0.05
#: A step in an L1 ball moves one value in fifty: spread over all, it would move each next to
#: nothing.
_SPARSE = 50


class GradientSearch:
    """Searches for the nearest change of class; iterating does the work.

    Args:
        classifier: The model; it must give gradients.
        corners: ``(1, d)`` the input, or ``(2, d)`` the corners of a box.
        home: ``(1, C)`` votes of the input.
        zone: What the zones look like.
        largest: The largest radius looked at.
        seed: Start of the random numbers.
        batch: Most inputs per model call; 0 lets the program choose.

    Attributes:
        calls: Inputs the model has seen.
        blind: Whether no gradient pointed anywhere, so nothing was searched.
    """

    def __init__(
        self,
        classifier: Classifier,
        corners: Tensor,
        home: Tensor,
        zone: Zone,
        *,
        largest: float,
        seed: int,
        batch: int = 0,
    ) -> None:
        self._nearest: Crossing | None = None
        self._pulled: Crossing | None = None
        self.calls = 0
        self.blind = True
        self._classifier = classifier
        self._corners = corners
        self._centre = corners.mean(0, keepdim=True)
        self._home = home.clone()  # The output of inference mode cannot be differentiated.
        self._zone = zone
        self._largest = largest
        self._batch = batch
        self._generator = host_generator(seed)

    @property
    def crossing(self) -> Crossing | None:
        """The nearest change found so far; None without any."""
        if self._pulled is not None and self._pulled.radius < _radius(self._nearest):
            return self._pulled
        return self._nearest

    def __iter__(self) -> Iterator[None]:
        # The distance to the boundary is unknown, so the first pass tries every scale in one batch.
        halves = 0.5 ** torch.arange(HALVED, device=self._centre.device)
        starts = self._centre.expand(HALVED, -1)
        yield from self._pull(
            (yield from self._ascend(self._largest * halves, starts, FIRST_STEPS))
        )
        for below in BELOW:
            # Nothing to improve on: no change was found, or the input lies on the boundary itself.
            if self.crossing is None or self.crossing.radius == 0:
                return
            share = torch.arange(BETWEEN, device=self._centre.device) / BETWEEN
            radii = self.crossing.radius * (1 - below * (1 - share))
            found = yield from self._ascend(radii, self._starts(radii, self.crossing), STEPS)
            yield from self._pull(found)

    def _ascend(
        self, radii: Tensor, starts: Tensor, steps: int
    ) -> Generator[None, None, list[Tensor]]:
        """Climbs the margin within each radius; gives the points that cross, the nearest last.

        Once a radius has crossed, larger ones have nothing to add.
        """
        found: list[Tensor] = []
        points = starts
        for step in range(steps + 1):
            margins, gradient = self._margins(points)
            if gradient is None:
                anywhere = margins[:0]
            else:
                anywhere = gradient.any()
            # One transfer for all three: each waits for the device.
            beyond, within, steep = to_host(margins, radii, anywhere)
            self.blind &= not steep.any()
            crossed = np.flatnonzero(beyond > 0).tolist()
            yield
            if crossed:
                nearest = min(crossed, key=within.tolist().__getitem__)
                found.append(points[nearest])
            if gradient is None or step == steps:
                break
            going = beyond <= 0
            if crossed:
                going &= within < within[nearest]
            if not going.any():
                break
            rows = to_device(torch.from_numpy(np.flatnonzero(going)), points.device)
            # Rows that crossed, or lie beyond one that did, leave the
            # batch: they could not do better.
            points, radii, gradient = points[rows], radii[rows], gradient[rows]
            # Long steps first, to leave flat places; short ones last, to settle on the boundary.
            length = max(_SHORTEST, 1 - step / steps) * radii[:, None]
            moved = points + length * self._direction(gradient, points) - self._centre
            points = (self._centre + self._within(moved, radii[:, None])).clamp(0, 1)
        return found

    def _pull(self, found: list[Tensor]) -> Iterator[None]:
        """Pulls what crosses towards the input and keeps the nearest."""
        if not found:
            return
        reach = partial(radius_of, self._zone, self._corners)
        calls = 0
        for now in nearest_crossing(
            self._classifier, torch.stack(found), self._centre, self._home, reach, self._batch
        ):
            self.calls += now.calls - calls
            calls = now.calls
            self._pulled = now
            yield
        # Kept apart until the pull is over: a pass that finds nothing
        # nearer must not lose the nearest.
        self._nearest, self._pulled = self.crossing, None

    def _margins(self, points: Tensor) -> tuple[Tensor, Tensor | None]:
        """How far each point ``(n, d)`` is beyond the boundary, and the gradient of that."""
        self.calls += len(points)
        # Gradients take about four times the memory.
        size = max(1, self._classifier.batch(self._batch) // 4)
        shape = self._classifier.shape
        parts = [
            ascent(self._classifier, points[i : i + size].reshape(-1, *shape), self._margin)
            for i in range(0, len(points), size)
        ]
        # A part without gradient makes the whole batch blind: its rows could not be moved.
        margins = torch.cat([margin for margin, _ in parts])
        known = [gradient.flatten(1) for _, gradient in parts if gradient is not None]
        if len(known) < len(parts):
            return margins, None
        return margins, torch.cat(known).nan_to_num(0.0, 0.0, 0.0)

    def _margin(self, scores: Tensor) -> Tensor:
        """Positive where the votes differ from the input's.

        The best rival minus the class ``(n,)``.

        With several labels: the label nearest to flipping.
        """
        if self._classifier.settings.multi_label:
            # A label flips when its score changes sign; the factor is -1 where the label is on.
            return (scores * (1 - 2 * self._home)).amax(1)
        own = self._home > 0
        return scores.masked_fill(own, -torch.inf).amax(1) - (scores * self._home).sum(1)

    def _direction(self, gradient: Tensor, points: Tensor) -> Tensor:
        """The step ``(n, d)`` of radius 1 that raises the margin most; values at a bound stay."""
        # A value at a bound cannot follow the gradient; counted, it
        # would waste a share of the step.
        stuck = (points <= 0) & (gradient < 0) | (points >= 1) & (gradient > 0)
        free = gradient.masked_fill(stuck, 0)
        if self._zone in ("linf", "box"):
            return free.sign() * self._half_sides()
        if power(self._zone) == 2:
            length: Tensor = torch.linalg.vector_norm(free, dim=1, keepdim=True)
            return free / length.clamp_min(1e-30)
        count = max(1, free.shape[1] // _SPARSE)
        steepest = free.abs().topk(count, dim=1).indices
        return torch.zeros_like(free).scatter(1, steepest, free.gather(1, steepest).sign() / count)

    def _within(self, offsets: Tensor, radii: Tensor) -> Tensor:
        """Projects offsets ``(n, d)`` from the centre into the zones of radii ``(n, 1)``."""
        if self._zone in ("linf", "box"):
            limit = radii * self._half_sides()
            return offsets.clamp(-limit, limit)
        size: Tensor = torch.linalg.vector_norm(offsets, power(self._zone), dim=1, keepdim=True)
        # For L1 the shrunk point is not the nearest of the ball, but
        # it is in it, which is what counts.
        return offsets * (radii / size.clamp_min(1e-30)).clamp_max(1)

    def _half_sides(self) -> Tensor:
        """Half sides ``(1, d)`` of the zone of radius 1."""
        if self._zone == "box":
            return (self._corners[:1] - self._corners[1:]).abs() / 2
        return torch.ones_like(self._centre)

    def _starts(self, radii: Tensor, crossing: Crossing) -> Tensor:
        """Starts, alternately: the nearest change moved into the zone, and a random place."""
        witness = torch.from_numpy(crossing.witness).to(self._centre)
        towards = (witness - self._centre) * (radii / crossing.radius)[:, None]
        noise = (
            torch.rand(towards.shape, generator=self._generator, device=HOST).to(towards) * 2 - 1
        )
        anywhere = self._within(noise * radii[:, None] * self._half_sides(), radii[:, None])
        turn = (torch.arange(len(radii), device=radii.device) % 2 == 0)[:, None]
        return (self._centre + torch.where(turn, towards, anywhere)).clamp(0, 1)


def _radius(crossing: Crossing | None) -> float:
    if crossing is None:
        return float("inf")
    return crossing.radius
