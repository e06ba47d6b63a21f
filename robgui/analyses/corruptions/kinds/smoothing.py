"""Filters shared by several kinds: Gaussians, streaks and enlargements."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

#: How a picture continues beyond its border: its last pixel, or mirrored with that pixel twice.
Border = Literal["last", "mirror"]


def smooth(x: Tensor, deviation: float, border: Border = "last", reach: float = 4) -> Tensor:
    """Pictures ``(…, h, w)`` filtered with a Gaussian, cut off after ``reach`` deviations."""
    rows, columns = (_bell(size, deviation, border, reach) for size in x.shape[-2:])
    # A Gaussian is separable: two products with a (size, size) matrix
    # instead of a wide convolution.
    return rows.to(x) @ x @ columns.to(x).T


@lru_cache(maxsize=64)
def _bell(size: int, deviation: float, border: Border, reach: float) -> Tensor:
    """``(size, size)`` weights of the filter along one side, with the border folded in.

    A Gaussian may be much wider than the picture, which padding does not allow.
    """
    # SciPy's rule for the reach of its filter.
    furthest = int(reach * deviation + 0.5)
    steps = np.arange(-furthest, furthest + 1)
    if furthest:
        line = np.exp(-(steps**2) / (2 * deviation**2))
    else:
        # Too narrow to reach a neighbour; dividing by a deviation of 0 is avoided as well.
        line = np.ones(1)
    source = np.arange(size)[:, None] + steps
    if border == "last":
        source = source.clip(0, size - 1)
    else:
        # Mirrored with the border pixel twice: a period of twice the size.
        source = source % (2 * size)
        source = np.where(source < size, source, 2 * size - 1 - source)
    weights = np.zeros((size, size))
    to = np.broadcast_to(np.arange(size)[:, None], source.shape)
    # Weights that fall on the same pixel by clipping or mirroring add up.
    np.add.at(weights, (to, source), np.broadcast_to(line / line.sum(), source.shape))
    return torch.from_numpy(weights)


def streak(x: Tensor, reach: int, deviation: float, angle: float) -> Tensor:
    """Pictures ``(…, h, w)`` smeared along a line, weighted like half a Gaussian.

    The line is ``2 reach`` pixels long, as in ImageMagick, whose blur the published sets use.
    """
    height, width = x.shape[-2:]
    length = 2 * reach
    flat = x.reshape(-1, 1, height, width)
    # By the whole length on each side, since the angle may point anywhere.
    padded = functional.pad(flat, (length,) * 4, mode="replicate")
    weights = np.exp(-(np.arange(length + 1) ** 2) / (2 * deviation**2))
    total = torch.zeros_like(flat)
    for step, weight in enumerate((weights / weights.sum()).tolist()):
        row = length + round(step * math.sin(angle))
        column = length + round(step * math.cos(angle))
        total += weight * padded[..., row : row + height, column : column + width]
    return total.reshape(x.shape)


def enlarged(x: Tensor, factor: float) -> Tensor:
    """The middle of pictures ``(n, c, h, w)``, enlarged to their size."""
    height, width = x.shape[2:]
    # Rounded up, as published.
    inner = math.ceil(height / factor), math.ceil(width / factor)
    top, left = (height - inner[0]) // 2, (width - inner[1]) // 2
    middle = x[:, :, top : top + inner[0], left : left + inner[1]]
    return functional.interpolate(middle, (height, width), mode="bilinear", align_corners=False)
