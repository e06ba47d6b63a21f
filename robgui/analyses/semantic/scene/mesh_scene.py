"""MeshScene: a mesh seen by a camera under a light."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import interpolate

from robgui.analyses.semantic.scene.axes import AXES, DISTANCE
from robgui.analyses.semantic.scene.camera import FIELD_OF_VIEW
from robgui.analyses.semantic.scene.meshes.mesh import Mesh
from robgui.analyses.semantic.scene.meshes.topology import face_normals
from robgui.analyses.semantic.scene.render import Renderer, View
from robgui.analyses.semantic.scene.scene import SceneAxis
from robgui.core.errors import DataError

#: Red, green and blue in a grey picture (ITU-R BT.601).
LUMINANCE = (0.299, 0.587, 0.114)


class MeshScene:
    """Pictures of one mesh as a network's inputs; a Scene.

    Attributes:
        name: Name of the mesh.
        axes: Camera, light and colours; the same for every mesh.
        exact_gradient: False: along a real mesh central differences are more accurate.
        mesh: What is drawn.
        notes: What was changed while the mesh was read, in sentences.

    Args:
        mesh: What to draw.
        shape: Channels (1 or 3), height and width of a picture.
        device: Where to compute.
    """

    exact_gradient = False

    def __init__(self, mesh: Mesh, shape: tuple[int, ...], device: torch.device | str) -> None:
        if len(shape) != 3 or shape[0] not in (1, 3):
            raise DataError(
                f"{mesh.name} cannot be drawn for inputs of shape {tuple(shape)}; choose a network"
                " for grey or colour images."
            )
        self.name = mesh.name
        self.axes: tuple[SceneAxis, ...] = AXES
        self.mesh = mesh
        self.notes = mesh.notes
        self._grey = shape[0] == 1
        size = (shape[1], shape[2])
        self._renderer = Renderer(
            replace(mesh, texture=_fitting_texture(mesh, min(size))), size, device
        )

    def images(self, values: Tensor, moved: Sequence[bool] | None = None) -> Tensor:
        """Parameters ``(m, len(axes))`` -> pictures ``(m, c, h, w)`` in [0, 1]; differentiable."""
        values = values.float()
        azimuth, elevation, distance, roll, light_azimuth, light_elevation = values[:, :6].unbind(1)
        shares = values[:, 6:] / 100
        view = View(
            azimuth=azimuth,
            elevation=elevation,
            distance=distance,
            roll=roll,
            light_azimuth=light_azimuth,
            light_elevation=light_elevation,
            light=shares[:, 0],
            ambient=shares[:, 1],
            tint=shares[:, 2:5],
            background=shares[:, 5:].expand(-1, 3),
        )
        pictures = self._renderer(view)
        if not self._grey:
            return pictures
        red, green, blue = (pictures[:, i : i + 1] * share for i, share in enumerate(LUMINANCE))
        return red + green + blue


def _fitting_texture(mesh: Mesh, pixels: int) -> np.ndarray:
    """The texture averaged down to about one texel per pixel at the usual distance.

    A finer one would flicker.
    """
    if not mesh.textured:
        return mesh.texture
    height, width = mesh.texture.shape[:2]
    focal = pixels / 2 / math.tan(math.radians(FIELD_OF_VIEW) / 2)
    area = (
        np.linalg.norm(face_normals(mesh.vertices, mesh.faces), axis=1).sum()
        * (focal / DISTANCE) ** 2
    )
    flat = np.concatenate([mesh.uv * [width, height], np.zeros((len(mesh.uv), 1))], axis=1)
    texels = np.linalg.norm(face_normals(flat, mesh.faces), axis=1).sum()
    # Both areas have the same factor 2 of their normals, which cancels.
    factor = int(math.sqrt(texels / area))
    if factor < 2:
        return mesh.texture
    planes = torch.from_numpy(mesh.texture).permute(2, 0, 1)[None]
    small = interpolate(
        planes, size=(max(1, height // factor), max(1, width // factor)), mode="area"
    )
    return np.ascontiguousarray(small[0].permute(1, 2, 0).numpy())
