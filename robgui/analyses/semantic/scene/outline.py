"""Antialiased outlines: how much of a pixel lies beyond a surface's edge, with gradient.

Where a surface folds away from the camera, ends or has a crease, the colour jumps between two
neighbouring pixels. The projected edge crosses the line between their centres at a place that moves
with the pose; each of the two pixels takes the other's colour in proportion to its exact area
beyond the edge. This is what gives a picture a gradient in the pose; inside a surface the shading
has its own.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from robgui.analyses.semantic.scene.visibility import NEAR, Corners, expand, inverse_depth

#: How far, in pixel widths, an edge may lie behind its pixel's surface and still count as its edge,
#: as in a concave corner.
_TOLERANCE = 4.0


class EdgeTable(NamedTuple):
    """The fields of ``topology.Edges`` as tensors."""

    ends: Tensor
    faces: Tensor
    opposite: Tensor
    turned: Tensor
    always: Tensor


class Mixing(NamedTuple):
    """Pairs of neighbouring pixels with an edge between them, ``n`` of them."""

    one: Tensor  # (n,) place of the left or upper pixel
    two: Tensor  # (n,) place of the other
    one_takes: Tensor  # (n,) how much of the first shows the other's colour
    two_takes: Tensor  # (n,) how much of the second shows the first's colour


class _Lines(NamedTuple):
    """Edges on the screen, ``a`` of them, along the axis in which they are longer."""

    along: Tensor  # (2, a) both ends in that axis, in pixels from the centre of pixel 0
    across: Tensor  # (2, a) both ends in the other axis
    near: Tensor  # (2, a) 1/depth of both ends
    flat: Tensor  # (a,) whether that axis is x
    side: Tensor  # (a,) on which side across the surface lies: -1, 1 or 0 for both


def mixing(
    corners: Corners, edges: EdgeTable, front: Tensor, seen: Tensor, size: tuple[int, int]
) -> Mixing:
    """Which pixels share colours at edges, differentiable in the corners.

    Args:
        corners: Projected vertices.
        edges: The mesh's edges.
        front: ``(m, f)`` whether each face shows its front.
        seen: What ``visibility.nearest`` gives.
        size: Height and width.
    """
    # An edge is on the outline if one of its faces shows its front and the other its back.
    fold = front.index_select(1, edges.faces[0]) != front.index_select(1, edges.faces[1])
    # Faces wound against each other disagree about front and back: there, agreement is the fold.
    fold = fold != edges.turned
    chosen = (fold | edges.always).flatten().nonzero().squeeze(1)
    picture = chosen.div(len(edges.turned), rounding_mode="floor")
    edge = chosen - picture * len(edges.turned)
    # At a fold, or at the rim of an open surface, the object is on one side only; a crease has
    # surface on both.
    one_sided = fold.flatten().index_select(0, chosen) | (
        edges.faces[0] == edges.faces[1]
    ).index_select(0, edge)
    lines, kept = _lines(corners, edges, picture, edge, one_sided, size)
    return _crossings(lines, picture.index_select(0, kept), seen, size)


def _lines(
    corners: Corners,
    edges: EdgeTable,
    picture: Tensor,
    edge: Tensor,
    one_sided: Tensor,
    size: tuple[int, int],
) -> tuple[_Lines, Tensor]:
    """The edges on the screen, cut at the near plane, and which of them are in front of it."""
    start = picture * corners.x.shape[1]
    x, y, z = _points(corners, edges.ends.index_select(1, edge) + start)
    kept = (z.detach() >= NEAR).any(0).nonzero().squeeze(1)
    if bool((z.detach() < NEAR).any()):
        x, y, z = _cut(*(values.index_select(1, kept) for values in (x, y, z)))
    third = _points(
        corners,
        edges.opposite[0].index_select(0, edge.index_select(0, kept)) + start.index_select(0, kept),
    )
    x, y = x / z + (size[1] / 2 - 0.5), y / z + (size[0] / 2 - 0.5)
    # Walk along the longer axis: each row or column is then crossed at most once.
    flat = (x[1] - x[0]).abs() > (y[1] - y[0]).abs()
    along, across = torch.where(flat, x, y), torch.where(flat, y, x)
    # The side is a discrete choice, without gradient: where the third corner of the face lies.
    with torch.no_grad():
        inner_x, inner_y = (
            third[0] / third[2] + (size[1] / 2 - 0.5),
            third[1] / third[2] + (size[0] / 2 - 0.5),
        )
        inner_along, inner_across = (
            torch.where(flat, inner_x, inner_y),
            torch.where(flat, inner_y, inner_x),
        )
        share = (inner_along - along[0]) / (along[1] - along[0])
        side = (inner_across - torch.lerp(across[0], across[1], share)).sign()
        side = side * (one_sided.index_select(0, kept) & (third[2] > NEAR))
    return _Lines(along, across, (1 / z).detach(), flat, side), kept


def _points(corners: Corners, place: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    x, y, z = (
        values.flatten().index_select(0, place.flatten()).view(place.shape) for values in corners
    )
    return x, y, z


def _cut(x: Tensor, y: Tensor, z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Moves an end ``(2, a)`` that is behind the near plane along its edge onto the plane."""
    other = z.flip(0)
    behind = z < NEAR
    share = torch.where(behind, (NEAR - z) / torch.where(behind, other - z, 1), 0)
    x, y, z = (values + share * (values.flip(0) - values) for values in (x, y, z))
    return x, y, z.clamp_min(NEAR)


def _crossings(lines: _Lines, picture: Tensor, seen: Tensor, size: tuple[int, int]) -> Mixing:
    height, width = size
    long = torch.where(lines.flat, width, height)
    low, high = lines.along.detach().aminmax(dim=0)
    # Centres of pixels from the first to the last that the edge passes.
    first = low.ceil().clamp_min(0)
    count = torch.minimum(high.ceil(), long).sub(first).long()
    some = (count > 0).nonzero().squeeze(1)
    owner, step = expand(count.index_select(0, some))
    owner = some.index_select(0, owner)
    line = step + first.long().index_select(0, owner)
    along, across = lines.along.index_select(1, owner), lines.across.index_select(1, owner)
    share = (line - along[0]) / (along[1] - along[0])
    crossing = across[0] + share * (across[1] - across[0])
    # The edge crosses between the centres of pixel ``one`` and its neighbour.
    one = crossing.detach().floor()
    flat = lines.flat.index_select(0, owner)
    inside = (one >= 0) & (one < torch.where(flat, height, width) - 1)
    before = one.clamp(0, max(size)).long()
    place = picture.index_select(0, owner) * (height * width) + torch.where(
        flat, before * width + line, line * width + before
    )
    beside = place + torch.where(flat, width, 1)
    near = lines.near.index_select(1, owner)
    depth = torch.lerp(near[0], near[1], share.detach())
    side = lines.side.index_select(0, owner)
    shown = _shown(depth, side, inside, place, beside, seen, min(size))
    beyond = crossing.detach() - one
    # Larger is further outside the surface; a crease (side 0) ranks behind every outline.
    outward = torch.where(side == 0, beyond - 2, torch.where(side < 0, beyond, 1 - beyond))
    shown = shown.index_select(
        0, _outermost((2 * place + flat).index_select(0, shown), outward.index_select(0, shown))
    )
    place, beside, crossing, one, along, across = (
        values.index_select(-1, shown) for values in (place, beside, crossing, one, along, across)
    )
    slant = ((across[1] - across[0]) / (along[1] - along[0])).abs()
    beyond = crossing - one
    return Mixing(place, beside, _area_beyond(beyond, slant), _area_beyond(1 - beyond, slant))


def _shown(
    depth: Tensor,
    side: Tensor,
    inside: Tensor,
    place: Tensor,
    beside: Tensor,
    seen: Tensor,
    pixels: int,
) -> Tensor:
    """Which crossings are not hidden.

    In front of the farther pixel, and the nearer pixel on the surface's side.

    ``depth`` is the edge's 1/depth there.
    """
    one, two = (
        inverse_depth(seen.index_select(0, where.clamp(max=len(seen) - 1)))
        for where in (place, beside)
    )
    # 2 tan 30° / pixels is a pixel's width at depth 1
    shown = depth * (1 + _TOLERANCE * 1.1547 / pixels) >= torch.minimum(one, two)
    return (inside & shown & ((two - one) * side >= 0)).nonzero().squeeze(1)


def _outermost(pair: Tensor, outward: Tensor) -> Tensor:
    """Of the crossings between the same two pixels, the outermost, where the last surface ends."""
    # One sort for two keys: the pair of pixels first, then the outermost crossing, to 20 bits.
    _, order = (pair * (1 << 24) - ((outward + 2) * (1 << 20)).long()).sort(stable=True)
    pair = pair.index_select(0, order)
    new = torch.ones_like(pair, dtype=torch.bool)
    new[1:] = pair[1:] != pair[:-1]
    return order.index_select(0, new.nonzero().squeeze(1))


def _area_beyond(distance: Tensor, slant: Tensor) -> Tensor:
    """The share of a pixel beyond a straight edge.

    The edge passes the pixel's centre at ``distance`` and moves ``slant`` <= 1 per row.
    """
    # The exact area of a unit square beyond a straight line, for lines flatter than 45°. Below 0.01
    # the formula divides by nearly 0, and the line is straight enough.
    slant = slant.clamp(0.01, 1)
    far, near = (0.5 - distance + slant / 2).clamp_min(0), (0.5 - distance - slant / 2).clamp_min(0)
    return (far * far - near * near) / (2 * slant)
