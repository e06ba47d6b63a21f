"""Drops of water and mud on the lens."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import torch
from torch import Tensor

from robgui.analyses.corruptions.kinds.kind import Generators
from robgui.analyses.corruptions.kinds.smoothing import smooth
from robgui.core.model.randomness import HOST

#: Mean, deviation and width of the noise, its threshold for liquid, strength or softness, mud.
Spatter = tuple[float, float, float, float, float, bool]

#: Colours of the reference implementation of Hendrycks and Dietterich (2019).
_WATER = (175 / 255, 238 / 255, 238 / 255)
_MUD = (63 / 255, 42 / 255, 20 / 255)
#: Light falls from the upper left.
_RELIEF = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]])


def splashed(x: Tensor, constant: Spatter, generators: Generators) -> Tensor:
    """Water shines on the picture; mud hides it."""
    *_, strength, mud = constant
    liquid = [_liquid(x.shape[2:], constant, one) for one in generators]
    if mud:
        cover = torch.stack([_hidden(one, strength) for one in liquid]).to(x)[:, None]
        return x * (1 - cover) + tinted(cover, _MUD, x.shape[1])
    shine = torch.stack([_shine(one) for one in liquid]).to(x)[:, None]
    return x + strength * tinted(shine, _WATER, x.shape[1])


def tinted(layer: Tensor, colour: Sequence[float], channels: int) -> Tensor:
    """A layer ``(n, 1, h, w)`` in a colour; grey unless pictures have three channels."""
    tint = torch.tensor(colour).to(layer)
    if channels != len(colour):
        tint = tint.mean().expand(channels)
    return layer * tint.view(1, -1, 1, 1)


def _liquid(shape: torch.Size, constant: Spatter, generator: torch.Generator) -> Tensor:
    """Where there is liquid, and how much; 0 elsewhere."""
    mean, deviation, width, least = constant[:4]
    drawn = torch.randn(tuple(shape), generator=generator, device=HOST).double()
    layer = smooth(mean + deviation * drawn, width)
    return torch.where(layer < least, torch.zeros_like(layer), layer)


def _hidden(liquid: Tensor, softness: float) -> Tensor:
    """How much of each pixel mud hides: nearly all or nothing."""
    cover = smooth((liquid > 0).double(), softness)
    # 0.8, the Canny limits 50 and 150 and the depth of 20 below are the reference implementation's.
    return torch.where(cover < 0.8, torch.zeros_like(cover), cover)


def _shine(liquid: Tensor) -> Tensor:
    """How much light drops send to each pixel, at most 1: their relief, from their edges."""
    drops = (liquid.clip(0, 1) * 255).byte().numpy()
    depth = cv2.distanceTransform(255 - cv2.Canny(drops, 50, 150), cv2.DIST_L2, 5)
    depth = cv2.blur(np.minimum(depth, 20), (3, 3)).astype(np.uint8)
    relief = cv2.filter2D(cv2.equalizeHist(depth), cv2.CV_8U, _RELIEF)
    shine = drops * cv2.blur(relief, (3, 3)).astype(np.float32)
    return torch.from_numpy(shine / max(float(shine.max()), 1e-9))
