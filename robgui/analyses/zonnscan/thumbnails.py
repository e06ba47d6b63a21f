"""Small pictures of many inputs."""

from __future__ import annotations

import math

import numpy as np
import torch

from robgui.core.dataset.picture import picture_of

#: Most bytes of all small pictures in one result; with more inputs each becomes smaller.
_BUDGET = 8_000_000
#: Sides in pixels, largest and smallest; below that nothing can be made out.
_LARGEST, _SMALLEST = 64, 12


def thumbnails(values: np.ndarray, kind: str, total: int = 0) -> np.ndarray:
    """Inputs ``(n, *shape)`` in [0, 1] as small pictures ``(n, h, w, 3)`` uint8.

    They are part of ``total`` (0: all of them).
    """
    if not len(values):
        return np.zeros((0, 1, 1, 3), dtype=np.uint8)
    # By the whole, not the part: parts of a run must give pictures of one size to be joined.
    side = max(_SMALLEST, min(_LARGEST, math.isqrt(_BUDGET // (3 * (total or len(values))))))
    return np.stack([_reduced(picture_of(value, kind), side) for value in values])


def _reduced(picture: np.ndarray, side: int) -> np.ndarray:
    """The picture reduced to at most ``side`` on its longer side by averaging pixels."""
    height, width = picture.shape[:2]
    longest = max(height, width)
    if longest <= side:
        return picture
    size = (max(1, round(height * side / longest)), max(1, round(width * side / longest)))
    planes = torch.from_numpy(picture).permute(2, 0, 1)[None].float()
    smaller = torch.nn.functional.interpolate(planes, size=size, mode="area")[0].permute(1, 2, 0)
    return np.asarray(smaller.round().to(torch.uint8).numpy())
