"""Meshes and views shared by the tests of the renderer."""

from __future__ import annotations

import torch
from torch import Tensor

from robgui.analyses.semantic.scene.meshes.mesh import Mesh, make_mesh
from robgui.analyses.semantic.scene.render import View

CPU = torch.device("cpu")


def view(azimuth: Tensor | float, elevation: Tensor | float, **others: float) -> View:
    """Views whose light comes from above the right shoulder, on black.

    One number stands for all pictures.
    """
    settings = {
        "distance": 2.732,
        "roll": 0.0,
        "light_azimuth": 45.0,
        "light_elevation": 60.0,
        "light": 0.5,
        "ambient": 0.5,
    } | others
    azimuth, elevation = (
        torch.as_tensor(azimuth).reshape(-1),
        torch.as_tensor(elevation).reshape(-1),
    )
    count = max(len(azimuth), len(elevation))
    background = settings.pop("background", 0.0)
    rest = [torch.full((count,), float(value)) for value in settings.values()]
    return View(
        azimuth.expand(count),
        elevation.expand(count),
        *rest,
        torch.ones(count, 3),
        torch.full((count, 3), background),
    )


def boxes(
    *extents: tuple[
        tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]
    ],
) -> Mesh:
    """Boxes of given centre, size and colour, without rescaling surprises: the first should be 2
    long.
    """
    import numpy as np
    import trimesh

    vertices, faces, colours = [], [], []
    for centre, size, colour in extents:
        box = trimesh.creation.box(extents=size)
        faces.append(np.asarray(box.faces) + sum(map(len, vertices)))
        vertices.append(np.asarray(box.vertices) + centre)
        colours.append(np.tile(colour, (len(box.vertices), 1)))
    return make_mesh(
        np.concatenate(vertices),
        np.concatenate(faces),
        name="boxes",
        colours=np.concatenate(colours),
    )
