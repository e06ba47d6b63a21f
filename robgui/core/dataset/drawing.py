"""Small pictures of what is not a picture: table rows, sequences, unreadable files."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

#: The Okabe-Ito colours that are visible on white.
_COLOURS = (
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (230, 159, 0),
    (86, 180, 233),
)
_PLANES = (("longitude", "latitude"), ("lon", "lat"), ("lng", "lat"), ("x", "y"))


def cross(size: int) -> np.ndarray:
    """A grey square with a cross: there should be a picture here."""
    size = max(1, size)
    picture = np.full((size, size, 3), 160, np.uint8)
    near, far = size // 4, size - 1 - size // 4
    for start, end in (((near, near), (far, far)), ((near, far), (far, near))):
        cv2.line(picture, start, end, (90, 90, 90), max(1, size // 24), cv2.LINE_AA)
    return picture


def bars(unit: np.ndarray, size: int) -> np.ndarray:
    """One bar per column of a table row, ``unit`` in [0, 1]."""
    picture = np.full((max(1, size), max(1, size), 3), 255, np.uint8)
    edges = np.linspace(0, size, len(unit) + 1).round().astype(int)
    for value, left, right in zip(unit, edges[:-1], edges[1:], strict=True):
        top = size - 1 - round(float(np.clip(value, 0, 1)) * (size - 1))
        # A gap of one pixel between bars that are wide enough, and never a bar without width.
        picture[top:, left : max(left + 1, right - (right - left > 2))] = _COLOURS[0]
    return picture


def track(unit: np.ndarray, features: Sequence[str], size: int) -> np.ndarray:
    """A sequence ``(t, f)`` in [0, 1].

    A path in the plane if columns are named for one, else one line per column.
    """
    picture = np.full((max(1, size), max(1, size), 3), 255, np.uint8)
    if plane := plane_columns(features):
        _line(picture, unit[:, plane[0]], unit[:, plane[1]], _COLOURS[0])
        return picture
    time = np.linspace(0, 1, len(unit))
    for column, colour in zip(range(unit.shape[1]), _COLOURS, strict=False):
        _line(picture, time, unit[:, column], colour)
    return picture


def on_ground(picture: np.ndarray, ground: Sequence[int]) -> np.ndarray:
    """A drawing on white as it looks on another ground.

    The whiter a pixel, the more shows through.
    """
    # Drawings are ink on white: how far a pixel is from white says how much ink covers the ground.
    values = picture.astype(np.float32)
    ink = 1 - values.min(2, keepdims=True) / 255
    shown = values - 255 * (1 - ink) + (1 - ink) * np.asarray(ground, np.float32)
    return np.asarray(shown.round().clip(0, 255), np.uint8)


def plane_columns(features: Sequence[str]) -> tuple[int, int] | None:
    """The two columns named like coordinates in the plane, if any."""
    lower = [feature.casefold() for feature in features]
    for across, up in _PLANES:
        if across in lower and up in lower:
            return lower.index(across), lower.index(up)
    return None


def _line(
    picture: np.ndarray, across: np.ndarray, up: np.ndarray, colour: tuple[int, int, int]
) -> None:
    last = len(picture) - 1
    margin = min(2, last // 4)
    # 1 - up: rows of a picture count from the top.
    points = np.stack([across, 1 - up], 1).clip(0, 1) * (last - 2 * margin) + margin
    cv2.polylines(
        picture,
        # OpenCV takes points as ``(n, 1, 2)`` int32 only.
        [points.round().astype(np.int32)[:, None]],
        False,
        colour,
        max(1, len(picture) // 64),
        cv2.LINE_AA,
    )
