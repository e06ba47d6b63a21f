"""Colours of the pixels that see a face, perspective-correct and differentiable."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from robgui.analyses.semantic.scene.visibility import Corners

#: The lower half of what ``visibility`` holds of a pixel: the number of the face that it sees.
_FACE = (1 << 32) - 1


class Surface(NamedTuple):
    """What does not change with the view."""

    faces: Tensor  # (3, f) vertices
    values: (
        Tensor  # (v, k) of vertices: nothing, colours (3), or colours and place in the texture (5)
    )
    texture: Tensor  # (h, w, 3), empty without


class Pixels(NamedTuple):
    """Pixels that see a face, ``n`` of them."""

    place: Tensor  # (n,) place in the buffer
    picture: Tensor  # (n,) which picture
    lit: Tensor  # (n,) cosine between the shown side and the light, 0 when turned away
    colour: Tensor | None  # (n, 3) of the surface, None when it is plain


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
    number = (seen.index_select(0, place) & _FACE) + picture * surface.faces.shape[1]
    used, slot = _distinct(number, len(corners.x) * surface.faces.shape[1])
    # taken apart in one go: its way back is then one operation too, not one for every column
    planes = _planes(corners, cosine, surface, used).index_select(0, slot).unbind(1)
    columns = len(planes) // 3
    a, b, c = planes[:columns], planes[columns : 2 * columns], planes[2 * columns :]
    values = [torch.addcmul(torch.addcmul(c[i], a[i], x), b[i], y) for i in range(columns)]
    depth = values[0].reciprocal()
    lit = (values[1] * depth).clamp_min(0)
    if columns > 2:
        colour = torch.stack([value * depth for value in values[2:5]], 1)
    else:
        colour = None
    if colour is not None and columns > 5:
        colour = colour * _sample(surface.texture, values[5] * depth, values[6] * depth)
    return Pixels(place, picture, lit, colour)


def _distinct(number: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """The distinct numbers in rising order, and where each one stands among them."""
    present = torch.zeros(most, dtype=torch.int64, device=number.device)
    present.index_fill_(0, number, 1)
    return present.nonzero().squeeze(1), (present.cumsum(0) - 1).index_select(0, number)


def _planes(corners: Corners, cosine: Tensor, surface: Surface, used: Tensor) -> Tensor:
    """Coefficients over x, y, 1 of 1/depth, cosine/depth and values/depth on each used face:
    ``(u, 3 · (2 + k))``.
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
    q = q * -volume.detach().sign()
    fixed = surface.values.index_select(0, vertex.flatten()).view(
        *vertex.shape, surface.values.shape[1]
    )
    columns = [
        lines.sum(1),
        (lines * q).sum(1),
        *((lines * value).sum(1) for value in fixed.unbind(2)),
    ]
    return torch.stack(columns, 1).flatten(0, 1).t().contiguous()


def _sample(texture: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """Colours ``(n, 3)`` between the four nearest texels.

    The texture repeats beyond its borders.
    """
    height, width = texture.shape[:2]
    table = texture.reshape(-1, 3)
    x, y = u * width - 0.5, (1 - v) * height - 0.5
    left, top = x.detach().floor(), y.detach().floor()
    right_share, low_share = (x - left)[:, None], (y - top)[:, None]
    columns = [(left.long() + i).remainder(width) for i in (0, 1)]
    rows = [(top.long() + i).remainder(height) * width for i in (0, 1)]
    upper, lower = (
        torch.lerp(
            table.index_select(0, row + columns[0]),
            table.index_select(0, row + columns[1]),
            right_share,
        )
        for row in rows
    )
    return torch.lerp(upper, lower, low_share)
