"""The smallest radius at which a sample crosses into another class, by bisection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.zonnscan.sampling.points import stretches
from robgui.analyses.zonnscan.sampling.scan import Scan
from robgui.analyses.zonnscan.sampling.tally import read_scores
from robgui.analyses.zonnscan.sampling.zones import Cloud
from robgui.core.devices import to_device, to_host
from robgui.core.model.classifier import Classifier

#: Crossing samples pulled towards the input, and the number of halvings.
CANDIDATES = 64
#: A 4,096th of the way: less than one of the 255 steps of an 8-bit value.
HALVINGS = 12
#: Halvings after which samples that can no longer become the nearest are dropped.
_RACED = (2, 4, 7)


class Crossing:
    """The nearest of some points of another class; read from the device on first use.

    Attributes:
        calls: Model calls that it took to find.

    Args:
        points: ``(m, d)`` the points.
        classes: ``(m, 1)`` their classes.
        radii: ``(m,)`` their radii.
        calls: Model calls that they took to find.
    """

    def __init__(self, points: Tensor, classes: Tensor, radii: Tensor, calls: int) -> None:
        best = radii.argmin(0, keepdim=True)
        self._there = radii[best], points[best], classes[best]
        self.calls = calls

    @cached_property
    def _here(self) -> tuple[np.ndarray, ...]:
        return to_host(*self._there)

    @property
    def radius(self) -> float:
        """How far away it is."""
        return float(self._here[0][0])

    @property
    def witness(self) -> np.ndarray:
        """The point itself ``(d,)``."""
        point: np.ndarray = self._here[1][0]
        return point

    @property
    def klass(self) -> int:
        """Its class."""
        return int(self._here[2][0, 0])


def nearest_crossing(
    classifier: Classifier,
    candidates: Tensor,
    centre: Tensor,
    home: Tensor,
    reach: Callable[[Tensor], Tensor],
    batch: int = 0,
) -> Iterator[Crossing]:
    """Pulls crossing samples straight towards the centre while they cross.

    Yields the nearest after each halving. Zones are convex and contain their centre, so each such
    point lies in a smaller zone; what is reported has been seen to cross. A candidate on the
    boundary that does not cross a second time (another batch, other rounding) counts as infinitely
    far. One that could only cross beyond the nearest point found is dropped, which changes no
    answer.

    Args:
        classifier: The model.
        candidates: ``(m, d)`` samples that cross.
        centre: ``(1, d)`` the input.
        home: ``(1, C)`` votes of the input.
        reach: Points ``(m, d)`` -> the smallest radius ``(m,)`` whose zone holds each.
        batch: Most inputs per model call.
    """
    multi_label = classifier.settings.multi_label
    # Shares of the way to each candidate: ``far`` crosses, ``near`` does not (the centre itself).
    far, near = torch.ones_like(candidates[:, :1]), torch.zeros_like(candidates[:, :1])
    classes, whole = torch.full_like(far, -1, dtype=torch.int64), reach(candidates)
    # The first look is at the candidates themselves: they may not cross again in another batch.
    middle, calls = far, 0
    for halving in range(1, HALVINGS + 1):
        points = torch.lerp(centre, candidates, middle)
        reading = read_scores(
            classifier.infer(points.reshape(-1, *classifier.shape), batch), multi_label
        )
        calls += len(points)
        crosses = (reading.votes != home).any(1, keepdim=True)
        far, near = torch.where(crosses, middle, far), torch.where(crosses, near, middle)
        classes = torch.where(crosses, reading.top, classes)
        points = torch.lerp(centre, candidates, far)
        # Only what was seen to cross has a radius.
        radii = torch.where(classes[:, 0] >= 0, reach(points), torch.inf)
        yield Crossing(points, classes, radii, calls)
        if halving in _RACED:  # Along a ray from the centre, radii grow with the share.
            # A candidate whose lower end is already further than the best can no longer win.
            able = (near[:, 0] * whole <= radii.min()).nonzero()[:, 0]
            candidates, far, near, classes, whole = (
                values.index_select(0, able) for values in (candidates, far, near, classes, whole)
            )
        middle = (far + near) / 2


def crossing_samples(scan: Scan, cloud: Cloud, order: np.ndarray) -> Tensor | None:
    """Up to 64 samples ``(m, d)`` that crossed in the smallest zone with any; None if none did.

    ``order`` lists the zones from the smallest on.
    """
    (crossed,) = to_host(scan.tally.crossed)
    zones = order[crossed[order].any(1)]
    if not len(zones):
        return None
    # The smallest zone with a crossing: its samples are the nearest known to begin with.
    numbers = np.flatnonzero(crossed[zones[0]])[:CANDIDATES].tolist()
    zone = to_device(torch.from_numpy(zones[:1].copy()), scan.tally.crossed.device)
    return torch.cat(list(_drawn_again(scan, cloud, zone, numbers)))


def _drawn_again(scan: Scan, cloud: Cloud, zone: Tensor, numbers: list[int]) -> Iterator[Tensor]:
    for start, stop in (
        stretch for round_ in stretches(scan.cap, cloud.block_size) for stretch in round_
    ):
        rows = [number - start for number in numbers if start <= number < stop]
        if rows:
            # Samples are not kept: a stretch is drawn again from its seed.
            block = cloud.block(start, stop, zone)
            for _ in block.prepare():
                continue
            yield block.at(zone)[0, torch.tensor(rows, device=zone.device)]
