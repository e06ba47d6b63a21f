"""The smallest radius at which a sample crosses into another class, by bisection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.zonnscan.sampling.points import stretches
from robgui.analyses.zonnscan.sampling.scan import Scan
from robgui.analyses.zonnscan.sampling.tally import read_scores
from robgui.analyses.zonnscan.sampling.zones import Cloud
from robgui.core.devices import to_host
from robgui.core.model.classifier import Classifier

#: Crossing samples that are pulled towards the input, and how often the way is halved: 64 · 12
#: calls at most.
CANDIDATES = 64
HALVINGS = 12


@dataclass(frozen=True, slots=True)
class Crossing:
    """A point of another class: its radius, itself ``(d,)``, its class, and the calls it took to
    find.
    """

    radius: float
    witness: np.ndarray
    klass: int
    calls: int


def nearest_crossing(
    classifier: Classifier,
    candidates: Tensor,
    centre: Tensor,
    home: Tensor,
    reach: Callable[[Tensor], Tensor],
    batch: int = 0,
) -> Iterator[Crossing]:
    """Pulls crossing samples straight towards the centre as long as they cross.

    Yields the nearest after each halving.

    Zones are convex and hold their centre, so each such point lies in a smaller zone; what is
    reported has been seen to cross. A candidate on the boundary that does not cross a second time
    (another batch, other rounding) counts as infinitely far.

    Args:
        classifier: The model.
        candidates: ``(m, d)`` samples that cross.
        centre: ``(1, d)`` the input.
        home: ``(1, C)`` votes of the input.
        reach: Points ``(m, d)`` -> the smallest radius ``(m,)`` whose zone holds each.
        batch: Most inputs per model call.
    """
    multi_label = classifier.settings.multi_label
    far, near = torch.ones_like(candidates[:, :1]), torch.zeros_like(candidates[:, :1])
    classes = torch.full_like(far, -1, dtype=torch.int64)
    middle = far
    for halving in range(HALVINGS):
        points = torch.lerp(centre, candidates, middle)
        reading = read_scores(
            classifier.infer(points.reshape(-1, *classifier.shape), batch), multi_label
        )
        crosses = (reading.votes != home).any(1, keepdim=True)
        far, near = torch.where(crosses, middle, far), torch.where(crosses, near, middle)
        classes = torch.where(crosses, reading.top, classes)
        points = torch.lerp(centre, candidates, far)
        yield _nearest(
            points,
            classes,
            torch.where(classes[:, 0] >= 0, reach(points), torch.inf),
            (halving + 1) * len(points),
        )
        middle = (far + near) / 2


def crossing_samples(scan: Scan, cloud: Cloud) -> Tensor | None:
    """Up to 64 samples ``(m, d)`` that crossed in the smallest zone in which any did.

    None when none did.
    """
    crossed = scan.tally.crossed
    zones = torch.nonzero(crossed.any(1)).flatten().tolist()
    if not zones:
        return None
    numbers = torch.nonzero(crossed[zones[0]]).flatten()[:CANDIDATES].tolist()
    zone = torch.tensor(zones[:1], device=crossed.device)
    return torch.cat(list(_drawn_again(scan, cloud, zone, numbers)))


def _drawn_again(scan: Scan, cloud: Cloud, zone: Tensor, numbers: list[int]) -> Iterator[Tensor]:
    for start, stop in (
        stretch for round_ in stretches(scan.cap, cloud.block_size) for stretch in round_
    ):
        rows = [number - start for number in numbers if start <= number < stop]
        if rows:
            block = cloud.block(start, stop, zone)
            for _ in block.prepare():
                continue
            yield block.at(zone)[0, torch.tensor(rows, device=zone.device)]


def _nearest(points: Tensor, classes: Tensor, radii: Tensor, calls: int) -> Crossing:
    best = radii.argmin(0, keepdim=True)
    radius, witness, klass = to_host(radii[best], points[best], classes[best])
    return Crossing(
        radius=float(radius[0]), witness=witness[0], klass=int(klass[0, 0]), calls=calls
    )
