"""Small pictures of images, for results that must stay small."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

#: Longest side of a small picture.
SIDE = 96
#: Most bytes of whole images kept in one result.
BUDGET = 4_000_000


def small_pictures(images: Tensor, side: int = SIDE) -> np.ndarray:
    """Images ``(m, c, h, w)`` in [0, 1] as uint8 ``(m, h, w, 3)``, at most ``side`` long."""
    height, width = images.shape[2:]
    scale = min(1.0, side / max(height, width))
    size = max(1, round(height * scale)), max(1, round(width * scale))
    if scale < 1:
        smaller = torch.nn.functional.interpolate(images.float(), size=size, mode="area")
    else:
        smaller = images
    pixels = (smaller[:, :3].clamp(0, 1) * 255).round().to(torch.uint8)
    if pixels.shape[1] != 3:
        pixels = pixels[:, :1].expand(-1, 3, -1, -1)
    return np.ascontiguousarray(pixels.permute(0, 2, 3, 1).cpu().numpy())


def blank_pictures(count: int, shape: tuple[int, ...], side: int = SIDE) -> np.ndarray:
    """White pictures ``(count, h, w, 3)``, sized as ``small_pictures`` would for ``shape``."""
    longest = max(shape[1:])
    scale = min(1.0, side / longest)
    return np.full(
        (count, max(1, round(shape[1] * scale)), max(1, round(shape[2] * scale)), 3),
        255,
        dtype=np.uint8,
    )


def affordable(shape: tuple[int, ...], most: int) -> int:
    """How many whole inputs of ``shape`` a result may carry: at least one, at most ``most``."""
    return max(1, min(most, BUDGET // (4 * int(np.prod(shape)))))
