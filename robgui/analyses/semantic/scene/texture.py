"""Textures: colours between texels, and how they change across a texel and down."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Texture(NamedTuple):
    """An image that repeats beyond its borders."""

    texels: Tensor  # (3, (h + 1) · (w + 1)): the first row and column again at the end
    height: int
    width: int

    @classmethod
    def of(cls, image: Tensor) -> Texture:
        """An image ``(h, w, 3)``; an empty one has no texels."""
        height, width = image.shape[:2]
        wide = torch.cat([image, image[:, :1]], 1)
        repeated = torch.cat([wide, wide[:1]], 0)
        return cls(repeated.flatten(0, 1).t().contiguous(), height, width)

    def sample(self, u: Tensor, v: Tensor) -> Sampled:
        """Mixes the four nearest texels at places ``(n,)``."""
        # Texel centres are at half-integers; v grows upwards, rows downwards.
        x, y = u * self.width - 0.5, (1 - v) * self.height - 0.5
        left, top = x.floor(), y.floor()
        right_share, low_share = x - left, y - top
        line = self.width + 1
        place = _repeated(top, self.height).long() * line + _repeated(left, self.width).long()
        here, right, low, diagonal = (
            self.texels.index_select(1, place + step) for step in (0, 1, line, line + 1)
        )
        both = diagonal - low - right + here
        across = torch.addcmul(right - here, both, low_share)
        down = low - here
        colour = torch.addcmul(torch.addcmul(here, down, low_share), across, right_share)
        return Sampled(colour, across, torch.addcmul(down, both, right_share))


class Sampled(NamedTuple):
    """Colours ``(3, n)`` with their growth for one texel to the right and for one down."""

    colour: Tensor
    across: Tensor
    down: Tensor


def _repeated(place: Tensor, count: int) -> Tensor:
    """Reduces whole numbers modulo ``count``; far quicker than an integer remainder."""
    return place - (place / count).floor_() * count
