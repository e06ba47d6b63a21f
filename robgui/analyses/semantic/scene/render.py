"""Renders a mesh: batched, in pure torch, differentiable in pose, light and colour.

A z-buffer without gradient decides visibility (``visibility``), visible pixels are shaded with
gradient (``shading``, ``lighting``), and edges between surfaces are smoothed with gradient
(``outline``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.semantic.scene.camera import camera, direction
from robgui.analyses.semantic.scene.canvas import composed
from robgui.analyses.semantic.scene.corners import Corners, affine
from robgui.analyses.semantic.scene.lighting import Lamp, lit_colours
from robgui.analyses.semantic.scene.meshes.mesh import Mesh
from robgui.analyses.semantic.scene.outline import EdgeTable, mixing
from robgui.analyses.semantic.scene.shading import Surface, shown
from robgui.analyses.semantic.scene.texture import Texture
from robgui.analyses.semantic.scene.visibility import nearest

#: Pixels, vertices and faces processed at once; small enough for a processor's cache.
_AT_ONCE = 700_000


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


class _Poses(NamedTuple):
    """Where m pictures are taken from and what is behind the object."""

    projection: Tensor  # (m, 3, 4)
    eye: Tensor  # (m, 3)
    towards: Tensor  # (m, 3) the light
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
            self._tensor(mesh.faces.T), self._tensor(np.concatenate(columns, axis=1).T)
        )
        self._texture = Texture.of(self._tensor(mesh.texture))
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
        # Once for all pictures: so little is computed that every operation counts.
        projection, eye = camera(view.azimuth, view.elevation, view.distance, view.roll, self.size)
        towards = direction(view.light_azimuth, view.light_elevation).float()
        tint = view.tint
        if self._colour is not None:
            tint = tint * self._colour
        poses = _Poses(projection, eye, towards, view.background)
        lamp = Lamp(view.ambient, view.light, tint)
        each = self.size[0] * self.size[1] + 4 * len(self.mesh.faces)
        most = max(1, _AT_ONCE // each)
        if len(projection) <= most:
            return self._draw(poses, lamp)
        # As many in each part: a small one would cost nearly as much as a large one.
        size = math.ceil(len(projection) / math.ceil(len(projection) / most))
        parts = (slice(start, start + size) for start in range(0, len(projection), size))
        return torch.cat(
            [
                self._draw(
                    _Poses(*(values[part] for values in poses)),
                    Lamp(*(values[part] for values in lamp)),
                )
                for part in parts
            ]
        )

    def _draw(self, poses: _Poses, lamp: Lamp) -> Tensor:
        corners = Corners(poses.projection, poses.towards, self._vertices, self._normals)
        # Visibility jumps, so it has no gradient; outlines (``mixing``) carry the gradient of the
        # silhouette.
        with torch.no_grad():
            seen = nearest(corners, self._surface.faces, self.size)
            front = affine(poses.eye, self._outward[:3]) + self._outward[3] > 0
        pixels = shown(corners, self._surface, seen, self.size)
        colours = lit_colours(pixels.planes, lamp, pixels.seen, self._texture)
        mix = mixing(corners, self._edges, front, seen, self.size)
        return composed(poses.background, colours, pixels.place, mix, self.size)

    def _tensor(self, values: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)
