"""Makes the cloud of samples for a kind of zone."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from robgui.analyses.zonnscan.sampling.balls import ClippedCloud, HitAndRunCloud
from robgui.analyses.zonnscan.sampling.points import base_points
from robgui.analyses.zonnscan.sampling.zones import BoxCloud, Cloud, linf_corners, scaled_box
from robgui.analyses.zonnscan.zone import Sampler, Zone, power


def zone_cloud(
    zone: Zone, corners: Tensor, sizes: Tensor, *, sampler: Sampler, samples: int, seed: int
) -> tuple[Cloud, Sampler, str]:
    """The cloud for every radius, its sampler, and a sentence if another one was asked for.

    Args:
        zone: What the zones look like.
        corners: ``(1, d)`` the input, or ``(2, d)`` the corners of a box.
        sizes: ``(Z,)`` the radii; later changes take effect.
        sampler: How base points are spread.
        samples: Most samples per zone.
        seed: Start of the random numbers.
    """
    if zone in ("linf", "box"):
        points, used, note = base_points(sampler, corners.shape[1], samples, seed, corners.device)
        return BoxCloud(partial(_box, zone, corners, sizes), corners.shape[1], points), used, note
    kind = ClippedCloud if zone.endswith("clipped") else HitAndRunCloud
    # Even and mirrored points are points of a cube; mapped onto a
    # ball they lose what makes them good.
    if sampler == "plain":
        note = ""
    else:
        note = f"Zone {zone} is not a box: plain sampling is used instead of {sampler}."
    return kind(corners, sizes, power(zone), seed), "plain", note


def _box(zone: Zone, corners: Tensor, sizes: Tensor, zones: Tensor) -> tuple[Tensor, Tensor]:
    """Corners of some of the boxes: all of them would be large around a large input."""
    if zone == "box":
        return scaled_box(corners[0], corners[1], sizes[zones])
    return linf_corners(corners, sizes[zones, None])


def radius_of(zone: Zone, corners: Tensor, points: Tensor) -> Tensor:
    """The smallest radius ``(n,)`` whose zone contains each of the points ``(n, d)``."""
    offset = (points - corners.mean(0)).abs()
    if zone == "box":
        half = (corners[0] - corners[1]).abs() / 2
        # A side without length has no offset either.
        return torch.where(half > 0, offset / half, 0).amax(1)
    if zone == "linf":
        return offset.amax(1)
    norm: torch.Tensor = torch.linalg.vector_norm(offset, power(zone), dim=1)
    return norm
