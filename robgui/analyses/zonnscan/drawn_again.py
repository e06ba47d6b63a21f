"""Draws samples of a sweep again from its seed, for a panel or a report."""

from __future__ import annotations

import numpy as np
import torch

from robgui.analyses.zonnscan.params import ZonnscanParams
from robgui.analyses.zonnscan.result import ZonnscanResult, corners_drawn, how_drawn
from robgui.analyses.zonnscan.sampling.clouds import zone_cloud
from robgui.analyses.zonnscan.sampling.points import FIRST_ROUND
from robgui.analyses.zonnscan.sampling.tally import SHOWN
from robgui.analyses.zonnscan.zone import Sampler, Zone


def zone_samples(
    result: ZonnscanResult, params: ZonnscanParams, radius: float, count: int = SHOWN
) -> np.ndarray:
    """The first samples ``(count, *shape)`` of the zone with this radius, as the run drew them.

    At most 32. At a radius of the sweep their classes are in ``shown_class``.
    """
    if radius <= 0:
        return np.repeat(result.input[None], count, axis=0)
    return samples_of(corners_drawn(result), radius, **how_drawn(result, params), count=count)


def samples_of(
    corners: np.ndarray,
    radius: float,
    *,
    zone: Zone,
    sampler: Sampler,
    samples: int,
    seed: int,
    count: int,
) -> np.ndarray:
    """The first ``count`` samples of a zone around ``corners``, drawn as a run draws them."""
    flat = torch.from_numpy(np.ascontiguousarray(corners)).flatten(1)
    size = torch.tensor([radius], dtype=flat.dtype, device=flat.device)
    cloud, _, _ = zone_cloud(zone, flat, size, sampler=sampler, samples=samples, seed=seed)
    first = torch.zeros(1, dtype=torch.int64, device=flat.device)
    # The first round, as the run drew it: a block of another length would have other points.
    block = cloud.block(0, min(FIRST_ROUND, samples // cloud.lanes * cloud.lanes), first)
    for _ in block.prepare():
        continue
    return np.asarray(block.at(first)[0, :count].reshape(-1, *corners.shape[1:]).numpy())
