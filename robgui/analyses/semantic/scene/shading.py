"""Colours of the pixels that see a face, perspective-correct and differentiable."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from robgui.analyses.semantic.scene.visibility import Corners

#: Mask for the lower half of a ``visibility`` entry: the number of the face that the pixel sees.
_FACE = (1 << 32) - 1


class Surface(NamedTuple):
    """What does not change with the view."""

    faces: Tensor  # (3, f) vertices
    values: (
        Tensor  # (v, k) of vertices: nothing, colours (3), or colours and place in the texture (5)
    )
    texture: Tensor  # what ``texture_table`` gives, empty without a texture
    texels: tuple[int, int]  # height and width of the texture


class Pixels(NamedTuple):
    """Pixels that see a face, ``n`` of them."""

    place: Tensor  # (n,) place in the buffer
    picture: Tensor  # (n,) which picture
    lit: Tensor  # (n,) cosine between the shown side and the light, 0 when turned away
    colour: Tensor | None  # (3, n) of the surface, None when it has one colour only


def shade(
    corners: Corners, cosine: Tensor, surface: Surface, seen: Tensor, size: tuple[int, int]
) -> Pixels:
    """Interpolates light and colour at the pixels.

    A value ``q`` given at the corners is, divided by depth, linear on the screen; so is 1/depth;
    their quotient is q.

    Args:
        corners: Projected vertices.
        cosine: ``(m, v)`` between the vertex normals and the light.
        surface: The mesh.
        seen: What ``visibility.nearest`` gives.
        size: Height and width.
    """
    height, width = size
    place = seen.nonzero().squeeze(1)
    picture = place.div(height * width, rounding_mode="floor")
    rest = place - picture * (height * width)
    row = rest.div(width, rounding_mode="floor")
    x, y = (rest - row * width).float() - (width / 2 - 0.5), row.float() - (height / 2 - 0.5)
    # Faces are numbered through all pictures of the batch.
    number = (seen.index_select(0, place) & _FACE) + picture * surface.faces.shape[1]
    # Planes are computed once per visible face, not per pixel.
    used, slot = _distinct(number, len(corners.x) * surface.faces.shape[1])
    planes = _planes(corners, cosine, surface, used)
    values: Tensor = OnPlanes.apply(planes, slot, x, y)  # type: ignore[no-untyped-call]
    # Undo the division by depth: perspective-correct interpolation.
    depth = values[0].reciprocal()
    lit = (values[1] * depth).clamp_min(0)
    colour = None
    if len(values) >= 5:
        colour = values[2:5] * depth
    if surface.texture.numel():
        u, v = values[-2] * depth, values[-1] * depth
        sampled = sample(surface.texture, surface.texels, u, v)
        colour = sampled if colour is None else colour * sampled
    return Pixels(place, picture, lit, colour)


class OnPlanes(torch.autograd.Function):
    """Values ``(k, n)`` at pixels, of planes ``(3 · k, u)`` over x, y, 1.

    The gradient is written out: that of single operations would be copied for every column.
    """

    @staticmethod
    def forward(ctx: Any, planes: Tensor, slot: Tensor, x: Tensor, y: Tensor) -> Tensor:
        ctx.save_for_backward(slot, x, y)
        ctx.shape = planes.shape
        a, b, c = planes.index_select(1, slot).chunk(3)
        return torch.addcmul(torch.addcmul(c, a, x), b, y)

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        slot, x, y = ctx.saved_tensors
        (gradient,) = given
        # The gradient of a·x + b·y + c by (a, b, c), summed over the pixels of each face.
        rows = torch.cat([gradient * x, gradient * y, gradient])
        return rows.new_zeros(ctx.shape).index_add(1, slot, rows), None, None, None


def _distinct(number: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """The distinct numbers in rising order, and the index of each number among them."""
    present = torch.zeros(most, dtype=torch.int64, device=number.device)
    present.scatter_(0, number, 1)
    return present.nonzero().squeeze(1), (present.cumsum(0) - 1).index_select(0, number)


def _planes(corners: Corners, cosine: Tensor, surface: Surface, used: Tensor) -> Tensor:
    """Coefficients over x, y, 1 of 1/depth, cosine/depth and values/depth on each used face.

    ``(3 · (2 + k), u)``.
    """
    picture = used.div(surface.faces.shape[1], rounding_mode="floor")
    vertex = surface.faces.index_select(1, used - picture * surface.faces.shape[1])
    place = vertex + picture * corners.x.shape[1]
    x, y, z, q = (
        values.flatten().index_select(0, place.flatten()).view(3, -1)
        for values in (*corners, cosine)
    )
    (x1, x2), (y1, y2), (z1, z2) = (
        (values.roll(-1, 0), values.roll(-2, 0)) for values in (x, y, z)
    )
    a, b, c = y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, x1 * y2 - y1 * x2
    volume = x[0] * a[0] + y[0] * b[0] + z[0] * c[0]
    lines = torch.stack([a, b, c]) / volume  # (3 coefficients, 3 corners, u)
    # with corners in anticlockwise order seen from outside, the volume is negative where the front
    # shows
    # Normals point outwards, so the light is flipped on a face seen from behind: both sides of a
    # thin sheet are lit.
    q = q * -volume.detach().sign()
    fixed = surface.values.index_select(0, vertex.flatten()).view(
        *vertex.shape, surface.values.shape[1]
    )
    columns = [
        lines.sum(1),
        (lines * q).sum(1),
        *((lines * value).sum(1) for value in fixed.unbind(2)),
    ]
    return torch.stack(columns, 1).flatten(0, 1)


def _repeated(place: Tensor, count: int) -> Tensor:
    """Reduces whole numbers modulo ``count``; far quicker than an integer remainder."""
    return place - (place / count).floor_() * count


def texture_table(texture: Tensor) -> Tensor:
    """``(12, h · w)`` bilinear coefficients of each texel and its right and lower neighbours.

    The colour there, and its growth with both fractions and with their product. The texture repeats
    beyond its borders.
    """
    right, low = texture.roll(-1, 1), texture.roll(-1, 0)
    # Bilinear interpolation as t + r·(right - t) + l·(low - t) + r·l·both: one lookup instead of
    # four.
    both = low.roll(-1, 1) - low - right + texture
    parts = torch.cat([texture, right - texture, low - texture, both], 2)
    return parts.flatten(0, 1).t().contiguous()


def sample(texture: Tensor, size: tuple[int, int], u: Tensor, v: Tensor) -> Tensor:
    """Bilinear colours ``(3, n)`` between the four nearest texels."""
    height, width = size
    # Texel centres are at half-integers; v grows upwards, rows downwards.
    x, y = u * width - 0.5, (1 - v) * height - 0.5
    left, top = x.detach().floor(), y.detach().floor()
    texel = _repeated(top, height).long() * width + _repeated(left, width).long()
    right_share, low_share = x - left, y - top
    rows = texture.index_select(1, texel)
    across = torch.addcmul(rows[3:6], rows[9:], low_share)
    return torch.addcmul(torch.addcmul(rows[:3], rows[6:9], low_share), across, right_share)
