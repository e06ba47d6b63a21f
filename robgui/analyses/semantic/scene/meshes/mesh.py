"""Mesh: a surface ready to be drawn, made from arrays or read from a file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robgui.analyses.semantic.scene.meshes.decimate import decimate
from robgui.analyses.semantic.scene.meshes.topology import (
    Edges,
    face_normals,
    find_edges,
    smooth_corners,
)
from robgui.core.errors import DataError

#: Meshes with more faces are simplified: at 224 pixels they would be smaller than a pixel.
MOST_FACES = 20_000
#: Default colour of a mesh.
PLAIN = 0.8


@dataclass(frozen=True, slots=True)
class Mesh:
    """Triangles with the longest side of their box from -1 to 1, y up, and how they are coloured.

    Attributes:
        name: What to call it.
        vertices: ``(v, 3)``; split at creases and texture seams.
        normals: ``(v, 3)`` of unit length.
        faces: ``(f, 3)`` vertices.
        edges: Where the picture may jump.
        colours: ``(v, 3)`` in [0, 1], multiplied with the texture if there is one.
        uv: ``(v, 2)`` place in the texture, u to the right and v up, or ``(0, 2)``.
        texture: ``(h, w, 3)`` in [0, 1], first row on top, or ``(0, 0, 3)``.
        notes: What was changed while reading, in sentences.
    """

    name: str
    vertices: np.ndarray
    normals: np.ndarray
    faces: np.ndarray
    edges: Edges
    colours: np.ndarray
    uv: np.ndarray
    texture: np.ndarray
    notes: tuple[str, ...] = ()

    @property
    def textured(self) -> bool:
        """Whether its colours come from a picture."""
        return self.texture.size > 0


def make_mesh(
    vertices: np.ndarray,
    faces: np.ndarray,
    *,
    name: str,
    colours: np.ndarray | None = None,
    uv: np.ndarray | None = None,
    texture: np.ndarray | None = None,
    most_faces: int = MOST_FACES,
    notes: tuple[str, ...] = (),
) -> Mesh:
    """A mesh from arrays, as in ``Mesh``.

    Bad faces are dropped, the size becomes 2 and too many faces are merged; changes are added to
    the ``notes``.

    Raises:
        DataError: Nothing is left to draw, or the arrays do not fit together.
    """
    vertices, faces = np.asarray(vertices, dtype=np.float64), np.asarray(faces, dtype=np.int64)
    _check(vertices, faces, name)
    textured = uv is not None and texture is not None and np.shape(uv)[1] > 0
    values = _values(len(vertices), colours, uv if textured else None)
    vertices, faces, values, changed = _cleaned(vertices, faces, values, name)
    if len(faces) > most_faces:
        before = len(faces)
        vertices, faces, *both = decimate(vertices, faces, values[:, :3], values[:, 3:], most_faces)
        values = np.concatenate(both, axis=1)
        # Again: merged vertices leave faces without area and a box that is a little smaller.
        vertices, faces, values, _ = _cleaned(vertices, faces, values, name)
        changed.append(f"{name} was simplified from {before:,} to {len(faces):,} faces.")
    vertices, faces, values = _joined(vertices, faces, values)
    edges, part = find_edges(vertices, faces)
    old, split, normals = smooth_corners(vertices, faces, part)
    return Mesh(
        name=name,
        vertices=vertices[old].astype(np.float32),
        normals=normals.astype(np.float32),
        faces=split,
        edges=_on_split(edges, faces, split),
        colours=values[old, :3].clip(0, 1).astype(np.float32),
        uv=values[old, 3:].astype(np.float32) if textured else np.zeros((0, 2), np.float32),
        texture=np.asarray(texture if textured else np.zeros((0, 0, 3)), dtype=np.float32),
        notes=(*notes, *changed),
    )


def _values(many: int, colours: np.ndarray | None, uv: np.ndarray | None) -> np.ndarray:
    """What each vertex carries: its colour, and its place in the texture if there is one."""
    if colours is None:
        painted = np.full((many, 3), PLAIN)
    else:
        painted = np.asarray(colours, np.float64)
    if uv is None:
        placed = np.zeros((many, 0))
    else:
        placed = np.asarray(uv, np.float64)
    values: np.ndarray = np.nan_to_num(np.hstack([painted, placed]), posinf=0, neginf=0)
    return values


def _check(vertices: np.ndarray, faces: np.ndarray, name: str) -> None:
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise DataError(
            f"{name}: the vertices of a mesh must be rows of three numbers, not of shape"
            f" {vertices.shape}."
        )
    if not faces.size:
        raise DataError(
            f"{name} has no faces; save it as a surface of triangles, not as points or lines."
        )
    if faces.ndim != 2 or faces.shape[1] != 3:
        raise DataError(
            f"{name}: the faces of a mesh must be rows of three vertices, not of shape"
            f" {faces.shape}."
        )
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise DataError(
            f"{name}: a face names vertex {faces.max() if faces.min() >= 0 else faces.min():,}, "
            f"but there are {len(vertices):,} vertices; the file is damaged."
        )


def _cleaned(
    vertices: np.ndarray, faces: np.ndarray, values: np.ndarray, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Removes faces that cannot be drawn and unused vertices.

    Centres it and scales its longest side to 2.
    """
    notes: list[str] = []
    whole = np.isfinite(vertices).all(1)[faces].all(1)
    if not whole.all():
        notes.append(
            f"{name}: {int((~whole).sum()):,} of {len(faces):,} faces have a corner that is not a"
            " number and were left out."
        )
        faces = faces[whole]
    if not len(faces):
        raise DataError(f"{name}: no face has three corners that are numbers; the file is damaged.")
    # A stray vertex far away would make the rest of the mesh tiny.
    used = np.flatnonzero(np.bincount(faces.reshape(-1), minlength=len(vertices)))
    low, high = vertices[used].min(0), vertices[used].max(0)
    half = float((high - low).max()) / 2
    if not 0 < half < np.inf:
        raise DataError(
            f"{name}: all vertices lie at one place, or too far apart to be drawn; the file is"
            " damaged."
        )
    vertices, values = (vertices[used] - (low + high) / 2) / half, values[used]
    place = np.zeros(used[-1] + 1, dtype=np.int64)
    place[used] = np.arange(len(used))
    faces = place[faces]
    full = np.linalg.norm(face_normals(vertices, faces), axis=1) > 1e-12
    if not full.any():
        raise DataError(f"{name}: no face has an area; the file is damaged or flat.")
    if not full.all():
        notes.append(
            f"{name}: {int((~full).sum()):,} of {len(faces):,} faces have no area and were left"
            " out."
        )
    return vertices, faces[full], values, notes


def _joined(
    vertices: np.ndarray, faces: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merges vertices with the same place and values.

    Some formats repeat them for every face.
    """
    # To a millionth of half the mesh: text formats repeat places with rounding.
    rounded = np.round(np.concatenate([vertices, values], axis=1) * 1e6).astype(np.int64)
    _, first, number = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    return vertices[first], number.reshape(-1)[faces], values[first]


def _on_split(edges: Edges, faces: np.ndarray, split: np.ndarray) -> Edges:
    """The same edges on vertices split at creases; any vertex at the same place will do."""
    new = np.empty(int(faces.max()) + 1, dtype=np.int64)
    new[faces.reshape(-1)] = split.reshape(-1)
    return Edges(new[edges.ends], edges.faces, new[edges.opposite], edges.turned, edges.always)
