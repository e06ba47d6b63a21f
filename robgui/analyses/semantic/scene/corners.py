"""Corners of a mesh on the screen of every picture, differentiable in camera and light.

A corner is projected to ``p = (f·X, f·Y, Z)``: screen coordinates from the centre in pixels, y
down, times depth.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Corners:
    """Projected vertices of m pictures, and how each faces the light.

    Attributes:
        rows: ``(4, m, v)`` x, y, z and the cosine between normal and light.

    Args:
        projection: ``(m, 3, 4)`` what ``camera`` gives.
        towards: ``(m, 3)`` where the light comes from.
        vertices: ``(3, v)`` in the space of the mesh.
        normals: ``(3, v)`` of unit length.
    """

    def __init__(
        self, projection: Tensor, towards: Tensor, vertices: Tensor, normals: Tensor
    ) -> None:
        self.rows: Tensor = _Projected.apply(  # type: ignore[no-untyped-call]
            projection, towards, vertices, normals
        )
        self.x, self.y, self.z, _ = self.rows.detach()

    @property
    def vertices(self) -> int:
        """How many a picture has."""
        return self.rows.shape[2]

    def at(self, place: Tensor) -> Tensor:
        """``(3, ...)`` x, y and z at places counted through all pictures; differentiable."""
        rows = self.rows[:3].flatten(1)
        return rows.index_select(1, place.flatten()).view(3, *place.shape)


def affine(rows: Tensor, points: Tensor) -> Tensor:
    """Products ``(..., v)`` of ``(..., 3)`` and ``(3, v)``.

    Unlike a matrix product, the same whatever else is in the batch.
    """
    first, second, third = rows[..., None].unbind(-2)
    return first * points[0] + second * points[1] + third * points[2]


class _Projected(torch.autograd.Function):
    """The gradient is written out: it is a product of matrices."""

    @staticmethod
    def forward(
        ctx: Any, projection: Tensor, towards: Tensor, vertices: Tensor, normals: Tensor
    ) -> Tensor:
        ctx.save_for_backward(vertices, normals)
        rows = projection.transpose(0, 1)
        seen = affine(rows[..., :3], vertices) + rows[..., 3:]
        return torch.cat([seen, affine(towards, normals)[None]])

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        vertices, normals = ctx.saved_tensors
        (gradient,) = given
        turned = gradient[:3] @ vertices.t()
        rows = torch.cat([turned, gradient[:3].sum(2, keepdim=True)], 2)
        return rows.transpose(0, 1), gradient[3] @ normals.t(), None, None
