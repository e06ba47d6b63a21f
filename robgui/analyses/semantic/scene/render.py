"""Renders a mesh: batched, in pure torch, differentiable in pose, light and colour.

A z-buffer without gradient decides visibility (``visibility``), visible pixels are shaded with
gradient (``shading``), and edges between surfaces are smoothed with gradient (``outline``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.semantic.scene.camera import camera, direction
from robgui.analyses.semantic.scene.canvas import composed
from robgui.analyses.semantic.scene.meshes.mesh import Mesh
from robgui.analyses.semantic.scene.outline import EdgeTable, mixing
from robgui.analyses.semantic.scene.shading import Pixels, Surface, shade, texture_table
from robgui.analyses.semantic.scene.visibility import Corners, nearest

#: Pixels, vertices and faces processed at once; small enough for a processor's cache.
_AT_ONCE = 600_000


class View(NamedTuple):
    """How m pictures are taken; angles in degrees, each field ``(m,)`` except the last two."""

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
        columns = [np.zeros((len(mesh.vertices), 0), dtype=np.float32)]
        self._colour: Tensor | None = None
        # One colour for the whole mesh is a factor in the end, not a value at every vertex.
        if (mesh.colours == mesh.colours[:1]).all():
            self._colour = self._tensor(mesh.colours[0])
        else:
            columns.append(mesh.colours)
        if mesh.textured:
            columns.append(mesh.uv)
        self._surface = Surface(
            self._tensor(mesh.faces.T),
            self._tensor(np.concatenate(columns, axis=1)),
            texture_table(self._tensor(mesh.texture)),
            (mesh.texture.shape[0], mesh.texture.shape[1]),
        )
        edges = mesh.edges
        self._edges = EdgeTable(
            *(
                self._tensor(part)
                for part in (edges.ends, edges.faces, edges.opposite, edges.turned, edges.always)
            )
        )
        # In double precision: the sign decides whether a face shows its front.
        a, b, c = (mesh.vertices[mesh.faces[:, i]].astype(np.float64) for i in range(3))
        outward = np.cross(b - a, c - a)
        self._outward = self._tensor(
            # The plane of each face, evaluated at the camera: positive in front of it.
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
        projection, eye = camera(view.azimuth, view.elevation, view.distance, view.roll, self.size)
        towards = direction(view.light_azimuth, view.light_elevation).float()
        corners = Corners(
            *(_affine(row[:, :3], self._vertices) + row[:, 3:] for row in projection.unbind(1))
        )
        # Visibility jumps, so it has no gradient; outlines (``mixing``) carry the gradient of the
        # silhouette.
        with torch.no_grad():
            seen = nearest(corners, self._surface.faces, self.size)
            front = _affine(eye, self._outward[:3]) + self._outward[3] > 0
        pixels = shade(corners, _affine(towards, self._normals), self._surface, seen, self.size)
        mix = mixing(corners, self._edges, front, seen, self.size)
        return composed(view.background, self._lit(view, pixels), pixels.place, mix, self.size)

    def _lit(self, view: View, pixels: Pixels) -> Tensor:
        """Colours ``(3, n)`` of the pixels under the light."""
        tint = view.tint
        if self._colour is not None:
            tint = tint * self._colour
        # Pixels are sorted by picture, so a split by counts gives each its own.
        count = torch.bincount(pixels.picture, minlength=len(tint)).tolist()
        # One slice per picture: the gradient of a per-pixel lookup is slow to sum.
        colour = torch.cat(
            [
                (ambient + light * lit) * own[:, None]
                for ambient, light, lit, own in zip(
                    view.ambient, view.light, torch.split(pixels.lit, count), tint, strict=True
                )
            ],
            1,
        )
        if pixels.colour is not None:
            colour = colour * pixels.colour
        return colour

    def _tensor(self, values: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)


def _affine(rows: Tensor, points: Tensor) -> Tensor:
    """Products ``(m, v)`` of ``(m, 3)`` and ``(3, v)``.

    Unlike a matrix product, the same for every m.
    """
    first, second, third = rows[:, :, None].unbind(1)
    return first * points[0] + second * points[1] + third * points[2]
