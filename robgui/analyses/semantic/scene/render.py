"""Pictures of a mesh: batched, in pure torch, differentiable in pose, light and colour.

Visibility is decided by a z-buffer without gradient (``visibility``), visible pixels are shaded
with gradient (``shading``), and edges between surfaces are made smooth with gradient (``outline``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.semantic.scene.camera import camera, direction
from robgui.analyses.semantic.scene.meshes.mesh import Mesh
from robgui.analyses.semantic.scene.outline import EdgeTable, mixing
from robgui.analyses.semantic.scene.shading import Surface, shade
from robgui.analyses.semantic.scene.visibility import Corners, nearest

#: Pixels, vertices and faces that are worked on at once; small enough for a processor's cache.
_AT_ONCE = 400_000


class View(NamedTuple):
    """How m pictures are taken; angles in degrees, each field ``(m,)`` but the last two."""

    azimuth: Tensor
    elevation: Tensor
    distance: Tensor
    roll: Tensor
    light_azimuth: Tensor
    light_elevation: Tensor
    light: Tensor
    ambient: Tensor
    tint: Tensor  # (m, 3) factor on the object's colours
    background: Tensor  # (m, 3)


class Renderer:
    """Draws one mesh at one size.

    Args:
        mesh: What to draw.
        size: Height and width in pixels.
        device: Where to compute.
    """

    def __init__(self, mesh: Mesh, size: tuple[int, int], device: torch.device | str) -> None:
        self.mesh = mesh
        self.size = size
        self.device = torch.device(device)
        self._vertices, self._normals = self._tensor(mesh.vertices.T), self._tensor(mesh.normals.T)
        self._colour = self._tensor(mesh.colours[0])
        columns = [np.zeros((len(mesh.vertices), 0), dtype=np.float32)]
        columns += [] if mesh.plain else [mesh.colours]
        columns += [mesh.uv] if mesh.textured and not mesh.plain else []
        self._surface = Surface(
            self._tensor(mesh.faces.T),
            self._tensor(np.concatenate(columns, axis=1)),
            self._tensor(mesh.texture),
        )
        edges = mesh.edges
        self._edges = EdgeTable(
            *(
                self._tensor(part)
                for part in (edges.ends, edges.faces, edges.opposite, edges.turned, edges.always)
            )
        )
        a, b, c = (mesh.vertices[mesh.faces[:, i]].astype(np.float64) for i in range(3))
        outward = np.cross(b - a, c - a)
        self._outward = self._tensor(
            np.concatenate([outward, -(outward * a).sum(1, keepdims=True)], axis=1).T.astype(
                np.float32
            )
        )

    def __call__(self, view: View) -> Tensor:
        """Pictures ``(m, 3, h, w)`` in [0, 1].

        Each one is the same whatever else is in the batch.
        """
        each = self.size[0] * self.size[1] + 4 * len(self.mesh.faces)
        size = max(1, _AT_ONCE // each)
        if len(view.azimuth) <= size:
            return self._draw(view)
        starts = range(0, len(view.azimuth), size)
        return torch.cat(
            [
                self._draw(View(*(values[start : start + size] for values in view)))
                for start in starts
            ]
        )

    def _draw(self, view: View) -> Tensor:
        height, width = self.size
        projection, eye = camera(view.azimuth, view.elevation, view.distance, view.roll, self.size)
        towards = direction(view.light_azimuth, view.light_elevation).float()
        corners = Corners(
            *(_affine(row[:, :3], self._vertices) + row[:, 3:] for row in projection.unbind(1))
        )
        with torch.no_grad():
            seen = nearest(corners, self._surface.faces, self.size)
            front = _affine(eye, self._outward[:3]) + self._outward[3] > 0
        pixels = shade(corners, _affine(towards, self._normals), self._surface, seen, self.size)
        light = (
            view.ambient.index_select(0, pixels.picture)
            + view.light.index_select(0, pixels.picture) * pixels.lit
        )
        if pixels.colour is None:
            tint = view.tint * self._colour
        else:
            tint = view.tint
        colour = light[:, None] * tint.index_select(0, pixels.picture)
        if pixels.colour is not None:
            colour = colour * pixels.colour
        # memory of its own, no view: for the gradient, writing into a view copies all of it
        canvas = torch.cat([one.expand(height * width, 3) for one in view.background])
        canvas.index_copy_(0, pixels.place, colour)
        mix = mixing(corners, self._edges, front, seen, self.size)
        jump = canvas.index_select(0, mix.two) - canvas.index_select(0, mix.one)
        # unlike index_add_ the same on every run on a GPU too
        canvas.index_put_((mix.one,), mix.one_takes[:, None] * jump, accumulate=True)
        canvas.index_put_((mix.two,), mix.two_takes[:, None] * -jump, accumulate=True)
        return canvas.view(-1, height, width, 3).permute(0, 3, 1, 2).contiguous().clamp_(0, 1)

    def _tensor(self, values: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)


def _affine(rows: Tensor, points: Tensor) -> Tensor:
    """Products ``(m, v)`` of ``(m, 3)`` and ``(3, v)``.

    Unlike a matrix product the same for every m.
    """
    first, second, third = rows[:, :, None].unbind(1)
    return first * points[0] + second * points[1] + third * points[2]
