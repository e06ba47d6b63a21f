"""Reduces faces: vertices in one cell of a grid that face the same way become one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robgui.analyses.semantic.scene.meshes.topology import face_normals, welded

#: Cells along the longest side, at first and at least. A finer grid shows nothing more at the usual
#: input sizes.
_FINEST, _COARSEST = 256, 4
#: Vertices of a cell whose normals have a smaller cosine than this belong to two sheets, for
#: example both sides of a brim.
_OTHER_SHEET = -0.3


class _Surface(NamedTuple):
    vertices: np.ndarray  # (v, 3)
    faces: np.ndarray  # (f, 3)
    values: np.ndarray  # (v, k)
    texture: np.ndarray  # (v, 2) place in the texture, or (v, 0)


def decimate(
    vertices: np.ndarray, faces: np.ndarray, values: np.ndarray, texture: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Reduces a mesh to at most ``most`` faces, on a grid as fine as that allows.

    The vertices of a cell move to their mean, and their values become the mean. Places in the
    texture are averaged only if they are close to each other, so a seam stays a seam.

    Args:
        vertices: ``(v, 3)``.
        faces: ``(f, 3)``.
        values: ``(v, k)`` of vertices, such as colours.
        texture: ``(v, 2)`` places in the texture, or ``(v, 0)``.
        most: Faces wanted at most.
    """
    surface = _Surface(vertices, faces, values, texture)
    # On the finest grid first: what remains is small enough for eight more tries.
    surface = _merged(surface, _clusters(surface, _vertex_normals(surface), _FINEST), _FINEST)
    if len(surface.faces) <= most:
        return surface
    normals, low, high = _vertex_normals(surface), _COARSEST, _FINEST
    while high - low > 1:
        middle = (low + high) // 2
        # Faces do not fall strictly with the grid, so bisection finds a
        # good one, not always the finest.
        if len(_surviving(_clusters(surface, normals, middle)[surface.faces])) <= most:
            low = middle
        else:
            high = middle
    return _merged(surface, _clusters(surface, normals, low), low)


def _side(vertices: np.ndarray, count: int) -> float:
    """Length of a cell."""
    return max(float(np.ptp(vertices, axis=0).max()), 1e-30) / count


def _vertex_normals(surface: _Surface) -> np.ndarray:
    """``(v, 3)`` unit normals, the same for vertices at the same place."""
    place = welded(surface.vertices)
    corners, of_faces, count = (
        place[surface.faces].T,
        face_normals(surface.vertices, surface.faces).T,
        int(place.max()) + 1,
    )
    sums = np.stack(
        [sum(np.bincount(corner, column, count) for corner in corners) for column in of_faces],
        axis=1,
    )
    return np.asarray(
        (sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-30))[place]
    )


def _clusters(surface: _Surface, normals: np.ndarray, count: int) -> np.ndarray:
    """``(v,)`` which cell and sheet each vertex lies in, numbered without gaps."""
    vertices = surface.vertices
    grid = np.minimum((vertices - vertices.min(0)) / _side(vertices, count), count - 1).astype(
        np.int64
    )
    cell = _numbered((grid[:, 0] * count + grid[:, 1]) * count + grid[:, 2])
    first = np.zeros((int(cell.max()) + 1, 3))
    # Of all vertices of a cell one writes last; any of them will do to tell two sheets apart.
    first[cell] = normals
    other = (normals * first[cell]).sum(1) < _OTHER_SHEET
    return _numbered(2 * cell + other)


def _numbered(keys: np.ndarray) -> np.ndarray:
    return np.asarray(np.unique(keys, return_inverse=True)[1].reshape(-1))


def _surviving(corners: np.ndarray) -> np.ndarray:
    """Rows of ``(f, 3)`` with three different clusters, one of each three, in order."""
    a, b, c = corners.T
    rows = np.flatnonzero((a != b) & (b != c) & (c != a))
    first, second, third = np.sort(corners[rows], axis=1).T
    # Two of the three in one number: there are fewer than 2^31 clusters.
    pair = first * (int(corners.max(initial=0)) + 1) + second
    order = np.lexsort((third, pair))
    pair, third = pair[order], third[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (pair[1:] != pair[:-1]) | (third[1:] != third[:-1])
    return np.asarray(np.sort(rows[order[new]]))


def _merged(surface: _Surface, cluster: np.ndarray, count: int) -> _Surface:
    kept = surface.faces[_surviving(cluster[surface.faces])]
    patch = _patches(surface, count)
    # One place, several vertices: on both sides of a seam a place has two colours.
    vertex = _numbered(cluster * (int(patch.max()) + 1) + patch)
    member = np.zeros(int(vertex.max()) + 1, dtype=np.int64)
    member[vertex] = np.arange(len(vertex))
    places = _means(surface.vertices, cluster)[cluster[member]]
    merged = vertex[kept]
    # A face flipped by the move is flipped back.
    over = (face_normals(surface.vertices, kept) * face_normals(places, merged)).sum(1) < 0
    merged[over] = merged[over][:, ::-1]
    return _Surface(places, merged, _means(surface.values, vertex), _means(surface.texture, vertex))


def _patches(surface: _Surface, count: int) -> np.ndarray:
    """``(v,)`` which square of the texture each vertex lies in.

    A square is about twice as wide as a cell of the grid there.
    """
    if not surface.texture.shape[1]:
        return np.zeros(len(surface.vertices), dtype=np.int64)
    flat = np.concatenate([surface.texture, np.zeros((len(surface.texture), 1))], axis=1)
    areas = [
        np.linalg.norm(face_normals(places, surface.faces), axis=1).sum()
        for places in (flat, surface.vertices)
    ]
    width = 2 * np.sqrt(areas[0] / areas[1]) * _side(surface.vertices, count)
    square = ((surface.texture - surface.texture.min(0)) / max(float(width), 1e-4)).astype(np.int64)
    return np.asarray(square[:, 0] * (int(square[:, 1].max()) + 1) + square[:, 1])


def _means(values: np.ndarray, number: np.ndarray) -> np.ndarray:
    count = np.bincount(number)
    columns = [np.bincount(number, weights=column) / count for column in values.T]
    if columns:
        return np.stack(columns, axis=1)
    return np.zeros((len(count), 0))
