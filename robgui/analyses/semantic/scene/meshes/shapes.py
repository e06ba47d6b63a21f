"""The bundled meshes: generated in code, or read from resources/meshes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from robgui import resources
from robgui.analyses.semantic.scene.meshes.file import read_mesh
from robgui.analyses.semantic.scene.meshes.mesh import Mesh, make_mesh
from robgui.core.errors import DataError

#: Bundled files; all have y up.
_FILES = {
    "teapot": "teapot.ply",
    "scanned_mug": "scanned_mug.glb",
    "scanned_pitcher": "scanned_pitcher.glb",
}


def bundled_meshes() -> tuple[str, ...]:
    """Names of the meshes that come with the program."""
    return (*_FILES, *_GENERATED)


@lru_cache(maxsize=32)
def bundled(name: str) -> Mesh:
    """One of the bundled meshes; DataError for an unknown name."""
    if name in _FILES:
        return read_mesh(resources.path("meshes", _FILES[name]), up="y")
    if name not in _GENERATED:
        raise DataError(
            f"There is no bundled mesh {name!r}; choose one of {', '.join(bundled_meshes())}, or a"
            " mesh file."
        )
    surface = _GENERATED[name]()
    return make_mesh(np.asarray(surface.vertices), np.asarray(surface.faces), name=name)


def _ellipsoid() -> Any:
    from trimesh.creation import icosphere

    sphere = icosphere(subdivisions=4)
    sphere.vertices = sphere.vertices * [1.0, 0.6, 0.8]
    return sphere


def _box() -> Any:
    return _boxes((0, 0, 0, 2, 1.2, 1.6))


def _torus() -> Any:
    from trimesh.creation import torus

    return _upright(torus(0.7, 0.3, major_sections=56, minor_sections=22))


def _chair() -> Any:
    legs = [(x, 0.42, z, 0.1, 0.84, 0.1) for x in (-0.4, 0.4) for z in (-0.4, 0.4)]
    posts = [(x, 1.4, -0.4, 0.1, 1.0, 0.1) for x in (-0.4, 0.4)]
    rails = [(0, y, -0.4, 0.7, 0.16, 0.06) for y in (1.2, 1.5, 1.8)]
    return _boxes((0, 0.87, 0, 0.94, 0.08, 0.94), *legs, *posts, *rails)


def _table() -> Any:
    legs = [(x, 0.45, z, 0.1, 0.9, 0.1) for x in (-0.85, 0.85) for z in (-0.5, 0.5)]
    return _boxes((0, 0.94, 0, 2.0, 0.08, 1.3), *legs)


def _mug() -> Any:
    from trimesh.creation import torus
    from trimesh.util import concatenate

    wall = [(0, 0), (0.8, 0), (0.84, 0.04), (0.84, 1.8), (0.76, 1.8), (0.76, 0.12), (0, 0.12)]
    handle = torus(0.5, 0.1, major_sections=32, minor_sections=12)
    # A ring lies in x and y; it is stood up and moved until less than half of it is hidden in the
    # wall.
    handle.vertices = handle.vertices[:, [0, 2, 1]] * [1, 1, -1] + [1.0, 0, 0.95]
    # Inside the mug the ring would show through its opening.
    outside = handle.vertices[handle.faces].mean(1)[:, 0] > 0.8
    handle.update_faces(outside)
    return _upright(concatenate([_turned(wall, 48), handle]))


def _bottle() -> Any:
    return _upright(
        _turned(
            [
                (0, 0),
                (0.5, 0),
                (0.55, 0.06),
                (0.55, 1.7),
                (0.5, 1.95),
                (0.22, 2.3),
                (0.18, 2.4),
                (0.18, 2.9),
                (0, 2.9),
            ],
            40,
        )
    )


def _vase() -> Any:
    heights = np.linspace(0, 2, 33)
    radii = 0.42 + 0.22 * np.sin(heights * 2.4 - 0.3) + 0.08 * (heights / 2) ** 6
    outside = list(zip(radii, heights, strict=True))
    inside = [(radius - 0.05, max(height, 0.08)) for radius, height in outside[::-1]]
    return _upright(_turned([(0, 0), *outside, *inside, (0, 0.08)], 40))


_GENERATED: dict[str, Callable[[], Any]] = {
    "mug": _mug,
    "bottle": _bottle,
    "vase": _vase,
    "chair": _chair,
    "table": _table,
    "ellipsoid": _ellipsoid,
    "box": _box,
    "torus": _torus,
}


def _boxes(*boxes: tuple[float, float, float, float, float, float]) -> Any:
    """Boxes given by centre and size."""
    from trimesh.creation import box
    from trimesh.util import concatenate

    made = [box(extents=size) for *_, size in ((*b[:3], b[3:]) for b in boxes)]
    for shape, where in zip(made, boxes, strict=True):
        shape.vertices = shape.vertices + np.asarray(where[:3])
    if len(made) > 1:
        return concatenate(made)
    return made[0]


def _turned(profile: list[tuple[float, float]], sections: int) -> Any:
    """A surface turned around z from radii and heights."""
    from trimesh.creation import revolve

    return revolve(np.asarray(profile, dtype=np.float64), sections=sections)


def _upright(surface: Any) -> Any:
    """The same with y up instead of z."""
    surface.vertices = surface.vertices[:, [0, 2, 1]] * [1, 1, -1]
    return surface
