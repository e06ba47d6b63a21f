"""Which pixels see a face, and the planes of its values on the screen."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from robgui.analyses.semantic.scene.corners import Corners
from robgui.analyses.semantic.scene.lighting import SeenPixels
from robgui.core.devices import places

#: Mask for the lower half of a ``visibility`` entry: the number of the face that the pixel sees.
_FACE = (1 << 32) - 1


class Surface(NamedTuple):
    """What does not change with the view."""

    faces: Tensor  # (3, f) vertices
    values: Tensor  # (k, v) colours (3) of the vertices and their place in the texture (2), if any


class ShownFaces(NamedTuple):
    """Pixels that see a face, ``n`` of them, and planes of the ``u`` faces they see."""

    place: Tensor  # (n,) place in the buffer
    seen: SeenPixels
    planes: Tensor  # (3 · (2 + k), u) as ``lighting.lit_colours`` takes them


def shown(corners: Corners, surface: Surface, nearest: Tensor, size: tuple[int, int]) -> ShownFaces:
    """The pixels that see a face, with what is linear there.

    Args:
        corners: Projected vertices.
        surface: The mesh.
        nearest: What ``visibility.nearest`` gives.
        size: Height and width.
    """
    height, width = size
    place = places(nearest != 0)
    picture = place.div(height * width, rounding_mode="floor")
    rest = place - picture * (height * width)
    row = rest.div(width, rounding_mode="floor")
    x, y = (rest - row * width).float() - (width / 2 - 0.5), row.float() - (height / 2 - 0.5)
    # Faces are numbered through all pictures of the batch.
    number = (nearest.index_select(0, place) & _FACE) + picture * surface.faces.shape[1]
    # Planes are computed once per visible face, not per pixel.
    used, slot = _distinct(number, len(corners.x) * surface.faces.shape[1])
    counts = torch.bincount(picture, minlength=len(corners.x)).tolist()
    return ShownFaces(place, SeenPixels(slot, x, y, counts), planes_of(corners.rows, surface, used))


def planes_of(rows: Tensor, surface: Surface, used: Tensor) -> Tensor:
    """Coefficients over x, y, 1 of 1/depth, cosine/depth and values/depth on each used face.

    Args:
        rows: ``(4, m, v)`` as in ``Corners``; the planes are differentiable in them.
        surface: The mesh, with k values at every vertex.
        used: ``(u,)`` picture · faces + face.

    Returns:
        ``(3 · (2 + k), u)``.
    """
    planes: Tensor = _Planes.apply(rows, surface, used)  # type: ignore[no-untyped-call]
    return planes


def _distinct(number: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """The distinct numbers in rising order, and the index of each number among them."""
    present = torch.zeros(most, dtype=torch.bool, device=number.device)
    present.index_fill_(0, number, True)
    return places(present), (present.cumsum(0) - 1).index_select(0, number)


class _Planes(torch.autograd.Function):
    """With the corners of a face as columns of a matrix, its lines are the rows of the inverse.

    The gradient of an inverse is written out in products.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, surface: Surface, used: Tensor) -> Tensor:
        picture = used.div(surface.faces.shape[1], rounding_mode="floor")
        vertex = surface.faces.index_select(1, used - picture * surface.faces.shape[1])
        place = (vertex + picture * rows.shape[2]).flatten()
        corner = rows.flatten(1).index_select(1, place).view(4, *vertex.shape)
        (x1, y1, z1), (x2, y2, z2) = corner[:3].roll(-1, 1), corner[:3].roll(-2, 1)
        a, b, c = y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, x1 * y2 - y1 * x2
        x, y, z = corner[:3, 0]
        volume = x * a[0] + y * b[0] + z * c[0]
        lines = torch.stack([a, b, c]) / volume  # (3 coefficients, 3 corners, u)
        # With corners in anticlockwise order seen from outside, the volume is negative where the
        # front shows. Normals point outwards, so the light is flipped on a face seen from behind:
        # both sides of a thin sheet are lit.
        shown = -volume.sign()
        count = len(surface.values)
        fixed = surface.values.index_select(1, vertex.flatten()).view(count, *vertex.shape)
        values = torch.cat([(corner[3] * shown)[None], fixed])
        ctx.save_for_backward(place, lines, shown, values)
        ctx.shape = rows.shape
        columns = [lines.sum(1), *((lines * value).sum(1) for value in values)]
        return torch.stack(columns, 1).flatten(0, 1)

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        place, lines, shown, values = ctx.saved_tensors
        gradient = given[0].view(3, 1 + len(values), *shown.shape)
        # By the lines (3 coefficients, 3 corners, u), then by the matrix they are the inverse of.
        of_lines = (gradient[:, 1:, None] * values).sum(1) + gradient[:, :1]
        product = (of_lines[:, :, None] * lines[:, None]).sum(0)
        of_corner = -(lines[:, :, None] * product).sum(1)
        of_cosine = (gradient[:, 1:2] * lines).sum(0) * shown
        rows = torch.cat([of_corner, of_cosine[None]]).flatten(1)
        total = rows.new_zeros((4, ctx.shape[1] * ctx.shape[2])).index_add(1, place, rows)
        return total.view(ctx.shape), None, None
