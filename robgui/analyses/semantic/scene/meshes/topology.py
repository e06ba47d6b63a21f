"""Mesh topology: welded places, edges and their faces, smooth parts and their normals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

#: Faces that meet at less than this angle are one smooth surface; a sharper edge is a crease.
CREASE_DEGREES = 35.0


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges ``e`` at which the colour of a picture may jump, depending on the view.

    Attributes:
        ends: ``(2, e)`` vertices.
        faces: ``(2, e)`` faces on both sides; twice the same at the rim of an open surface.
        opposite: ``(2, e)`` the third vertex of each face.
        turned: ``(e,)`` whether the two faces are wound against each other.
        always: ``(e,)`` creases and rims, which are drawn in every view; others only where the
            surface folds.
    """

    ends: np.ndarray
    faces: np.ndarray
    opposite: np.ndarray
    turned: np.ndarray
    always: np.ndarray


def welded(vertices: np.ndarray) -> np.ndarray:
    """``(v,)`` the same number for vertices at the same place; the mesh is about 2 wide."""
    # Up to two millionths apart is the same place, and 3 · 5e5 still fits into 21 bits.
    x, y, z = ((vertices + 1.5) * 5e5).round().astype(np.int64).T
    # 21 bits each: quicker than comparing rows.
    return np.asarray(np.unique((x << 42) + (y << 21) + z, return_inverse=True)[1].reshape(-1))


def face_normals(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """``(f, 3)`` normals whose length is twice the area."""
    a, b, c = (vertices[faces[:, i]].astype(np.float64) for i in range(3))
    return np.asarray(np.cross(b - a, c - a))


def find_edges(vertices: np.ndarray, faces: np.ndarray) -> tuple[Edges, np.ndarray]:
    """The edges of a mesh, and ``(f,)`` the smooth part that each face belongs to."""
    place = welded(vertices)
    starts, ends, third = _half_edges(faces)
    owner = np.tile(np.arange(len(faces)), 3)
    # An edge is found from either of its faces, which run along it in opposite directions.
    low, high = np.minimum(place[starts], place[ends]), np.maximum(place[starts], place[ends])
    order = np.lexsort((high, low))
    new = np.concatenate([[True], (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0)])
    first = np.flatnonzero(new)
    uses = np.diff(np.append(first, len(order)))
    one, two = order[first], order[np.minimum(first + 1, len(order) - 1)]
    # A rim has one face, which stands on both sides.
    two = np.where(uses >= 2, two, one)
    turned = (place[starts[one]] == place[starts[two]]) & (uses == 2)
    normals = face_normals(vertices, faces)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    cosine = np.einsum("ij,ij->i", normals[owner[one]], normals[owner[two]])
    smooth = (uses == 2) & ~turned & (cosine > np.cos(np.radians(CREASE_DEGREES)))
    edges = Edges(
        ends=np.stack([starts[one], ends[one]]),
        faces=np.stack([owner[one], owner[two]]),
        opposite=np.stack([third[one], third[two]]),
        turned=turned,
        always=~smooth,
    )
    return edges, _parts(owner[one][smooth], owner[two][smooth], len(faces))


def smooth_corners(
    vertices: np.ndarray, faces: np.ndarray, part: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Splits vertices at creases.

    Returns ``(v',)`` old vertices, ``(f, 3)`` new faces and ``(v', 3)`` unit normals. A normal is
    the area-weighted mean of the surrounding faces within one smooth part.
    """
    place = welded(vertices)
    corner, owner = faces.reshape(-1), np.repeat(part, 3)
    _, joint = np.unique(np.stack([place[corner], owner]), axis=1, return_inverse=True)
    joint = joint.reshape(-1)
    sums = np.zeros((joint.max() + 1, 3))
    # Normals as long as twice the area: their sum is weighted by area.
    np.add.at(sums, joint, np.repeat(face_normals(vertices, faces), 3, axis=0))
    (old, _), first, new = np.unique(
        np.stack([corner, owner]), axis=1, return_index=True, return_inverse=True
    )
    normals = sums[joint[first]]
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    return old, new.reshape(-1, 3), normals


def _half_edges(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start, end and third vertex of every side of every face, ``(3 · f,)`` each."""
    a, b, c = faces.T
    return np.concatenate([a, b, c]), np.concatenate([b, c, a]), np.concatenate([c, a, b])


def _parts(one: np.ndarray, two: np.ndarray, count: int) -> np.ndarray:
    graph = coo_matrix((np.ones(len(one), dtype=np.int8), (one, two)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1])
