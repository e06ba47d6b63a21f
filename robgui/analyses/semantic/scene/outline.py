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

from robgui.analyses.semantic.scene.corners import Corners
from robgui.analyses.semantic.scene.visibility import NEAR, expand, inverse_depth
from robgui.core.devices import places

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


class _Crossings(NamedTuple):
    """Where edges cross between the centres of two neighbouring pixels, ``n`` times."""

    edge: Tensor  # (n,) which edge
    line: Tensor  # (n,) row or column along which it crosses
    before: Tensor  # (n,) the pixel before the crossing, in the other axis
    one: Tensor  # (n,) place of that pixel
    two: Tensor  # (n,) place of the other


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
    # Which edges show, and between which pixels, is a discrete choice; only where they cross has a
    # gradient.
    with torch.no_grad():
        ends, found = _found(corners, edges, front, seen, size)
    lines = _lines(corners.at(ends.index_select(1, found.edge)), size)
    (start, end), (across, to) = lines.along, lines.across
    share = (found.line - start) / (end - start)
    beyond = across + share * (to - across) - found.before
    slant = ((to - across) / (end - start)).abs()
    takes = _area_beyond(torch.stack([beyond, 1 - beyond]), slant)
    return Mixing(found.one, found.two, takes[0], takes[1])


def _found(
    corners: Corners, edges: EdgeTable, front: Tensor, seen: Tensor, size: tuple[int, int]
) -> tuple[Tensor, _Crossings]:
    """Ends ``(2, a)`` of edges as places among the corners, and crossings that show."""
    # An edge is on the outline if one of its faces shows its front and the other its back.
    fold = front.index_select(1, edges.faces[0]) != front.index_select(1, edges.faces[1])
    # Faces wound against each other disagree about front and back: there, agreement is the fold.
    fold = fold != edges.turned
    chosen = places((fold | edges.always).flatten())
    picture = chosen.div(len(edges.turned), rounding_mode="floor")
    edge = chosen - picture * len(edges.turned)
    start = picture * corners.vertices
    ends = edges.ends.index_select(1, edge) + start
    points = corners.at(ends)
    if bool((points[2] < NEAR).any()):
        kept = places((points[2] >= NEAR).any(0))
        chosen, picture, edge, start = (
            values.index_select(0, kept) for values in (chosen, picture, edge, start)
        )
        ends, points = ends.index_select(1, kept), points.index_select(2, kept)
    lines = _lines(points, size)
    # At a fold, or at the rim of an open surface, the object is on one side only; a crease has
    # surface on both.
    one_sided = fold.flatten().index_select(0, chosen) | (
        edges.faces[0] == edges.faces[1]
    ).index_select(0, edge)
    third = corners.at(edges.opposite[0].index_select(0, edge) + start)
    side = _side(lines, third, size) * (one_sided & (third[2] > NEAR))
    return ends, _crossings(lines, side, picture, seen, size)


def _lines(points: Tensor, size: tuple[int, int]) -> _Lines:
    """Edges with ends ``(3, 2, a)`` on the screen, cut at the near plane."""
    if bool((points[2].detach() < NEAR).any()):
        points = _cut(points)
    z = points[2]
    x, y = points[0] / z + (size[1] / 2 - 0.5), points[1] / z + (size[0] / 2 - 0.5)
    # Walk along the longer axis: each row or column is then crossed at most once.
    flat = ((x[1] - x[0]).abs() > (y[1] - y[0]).abs()).detach()
    return _Lines(torch.where(flat, x, y), torch.where(flat, y, x), 1 / z.detach(), flat)


def _cut(points: Tensor) -> Tensor:
    """Moves an end that is behind the near plane along its edge onto the plane."""
    z = points[2]
    behind = z < NEAR
    share = torch.where(behind, (NEAR - z) / torch.where(behind, z.flip(0) - z, 1), 0)
    x, y, z = points + share * (points.flip(1) - points)
    return torch.stack([x, y, z.clamp_min(NEAR)])


def _side(lines: _Lines, third: Tensor, size: tuple[int, int]) -> Tensor:
    """On which side across ``(a,)`` the third corner ``(3, a)`` of an edge's face lies: -1 or 1."""
    x, y = third[0] / third[2] + (size[1] / 2 - 0.5), third[1] / third[2] + (size[0] / 2 - 0.5)
    along, across = torch.where(lines.flat, x, y), torch.where(lines.flat, y, x)
    share = (along - lines.along[0]) / (lines.along[1] - lines.along[0])
    return (across - torch.lerp(lines.across[0], lines.across[1], share)).sign()


def _crossings(
    lines: _Lines, side: Tensor, picture: Tensor, seen: Tensor, size: tuple[int, int]
) -> _Crossings:
    """Crossings that are not hidden, the outermost between the same two pixels.

    ``side`` is that of the surface, 0 if it is on both.
    """
    height, width = size
    long = torch.where(lines.flat, width, height)
    low, high = lines.along.aminmax(dim=0)
    # Centres of pixels from the first to the last that the edge passes.
    first = low.ceil().clamp_min(0)
    count = torch.minimum(high.ceil(), long).sub(first).long()
    some = places(count > 0)
    owner, step = expand(count.index_select(0, some))
    owner = some.index_select(0, owner)
    line = step + first.long().index_select(0, owner)
    along, across = lines.along.index_select(1, owner), lines.across.index_select(1, owner)
    share = (line - along[0]) / (along[1] - along[0])
    crossing = across[0] + share * (across[1] - across[0])
    # The edge crosses between the centres of pixel ``one`` and its neighbour.
    before = crossing.floor()
    flat = lines.flat.index_select(0, owner)
    inside = (before >= 0) & (before < torch.where(flat, height, width) - 1)
    column = before.clamp(0, max(size)).long()
    one = picture.index_select(0, owner) * (height * width) + torch.where(
        flat, column * width + line, line * width + column
    )
    two = one + torch.where(flat, width, 1)
    near = lines.near.index_select(1, owner)
    depth = torch.lerp(near[0], near[1], share)
    side = side.index_select(0, owner)
    shown = _shown(depth, side, inside, one, two, seen, min(size))
    beyond = crossing - before
    # Larger is further outside the surface; a crease (side 0) ranks behind every outline.
    outward = torch.where(side == 0, beyond - 2, torch.where(side < 0, beyond, 1 - beyond))
    shown = shown.index_select(
        0, _outermost((2 * one + flat).index_select(0, shown), outward.index_select(0, shown))
    )
    return _Crossings(
        *(values.index_select(0, shown) for values in (owner, line, before, one, two))
    )


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
    return places(inside & shown & ((two - one) * side >= 0))


def _outermost(pair: Tensor, outward: Tensor) -> Tensor:
    """Of the crossings between the same two pixels, the outermost, where the last surface ends."""
    # One sort for two keys: the pair of pixels first, then the outermost crossing, to 20 bits.
    _, order = (pair * (1 << 24) - ((outward + 2) * (1 << 20)).long()).sort(stable=True)
    pair = pair.index_select(0, order)
    new = torch.ones_like(pair, dtype=torch.bool)
    new[1:] = pair[1:] != pair[:-1]
    return order.index_select(0, places(new))


def _area_beyond(distance: Tensor, slant: Tensor) -> Tensor:
    """The share of a pixel beyond a straight edge.

    The edge passes the pixel's centre at ``distance`` and moves ``slant`` <= 1 per row.
    """
    # The exact area of a unit square beyond a straight line, for lines flatter than 45°. Below 0.01
    # the formula divides by nearly 0, and the line is straight enough.
    slant = slant.clamp(0.01, 1)
    far, near = (0.5 - distance + slant / 2).clamp_min(0), (0.5 - distance - slant / 2).clamp_min(0)
    return (far * far - near * near) / (2 * slant)
