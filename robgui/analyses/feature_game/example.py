"""A found example as an input and as pictures: difference, changed pixels, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robgui.analyses.feature_game.result import FeatureGameResult, Outcome
from robgui.core.dataset.picture import picture_of

#: Darker pixels in blue, brighter ones in vermilion, white where nothing has changed.
_DARKER, _BRIGHTER = np.array([0, 114, 178]), np.array([213, 94, 0])

#: Changed pixels are framed in this colour, the fixed colour of what is changed.
_FRAME = (213, 94, 0)


def pictures(result: FeatureGameResult) -> dict[str, np.ndarray]:
    """Name -> uint8 ``(h, w, 3)``.

    ``example`` holds exactly the values that the model was shown.
    """
    changed = np.zeros(result.input.shape[1:], dtype=bool)
    changed[result.changed[:, 1], result.changed[:, 0]] = True
    return {
        "original": picture_of(result.input, "image"),
        "example": picture_of(result.best, "image"),
        "difference": difference(result.input, result.best),
        "changed": np.repeat(np.where(changed, 255, 0).astype(np.uint8)[:, :, None], 3, axis=2),
    }


def difference(image: np.ndarray, example: np.ndarray) -> np.ndarray:
    """The mean change of each pixel's channels as a colour around white: uint8 ``(h, w, 3)``."""
    change = (example.astype(np.float64) - image).mean(0)
    changed = (example != image).any(0)
    # A change whose channels cancel out still shows.
    strength = np.where(changed, np.maximum(np.abs(change), 0.15), 0.0)[:, :, None]
    colour = np.where(change[:, :, None] < 0, _DARKER, _BRIGHTER)
    return np.asarray(np.round(255 + strength * (colour - 255.0)), dtype=np.uint8)


def example_of(image: np.ndarray, outcome: Outcome) -> np.ndarray:
    """The example of an outcome ``(c, h, w)`` in [0, 1], made from the image of the result."""
    example = image.copy()
    # ``changed`` holds x and y; arrays are indexed by row and column.
    example[:, outcome.changed[:, 1], outcome.changed[:, 0]] = outcome.values.T.astype(
        np.float32
    ) / np.float32(255)
    return example


def before_and_after(
    image: np.ndarray, example: np.ndarray, changed: Sequence[Any] | np.ndarray
) -> np.ndarray:
    """Image and example side by side, enlarged, changed pixels framed: uint8 ``(h, w, 3)``."""
    # Six times a 28 × 28 digit.
    factor = max(1, -(-168 // max(image.shape[1:])))
    parts = [picture_of(x, "image").repeat(factor, 0).repeat(factor, 1) for x in (image, example)]
    for x, y in np.asarray(changed).reshape(-1, 2).tolist():
        _frame(parts[1], x * factor, y * factor, factor)
    white = np.full((parts[0].shape[0], 8, 3), 255, dtype=np.uint8)
    return np.ascontiguousarray(np.concatenate([parts[0], white, parts[1]], axis=1))


def _frame(picture: np.ndarray, left: int, top: int, size: int) -> None:
    """A frame just outside the square, at least two pixels away from it where pixels are small."""
    gap = 1 if size >= 4 else 2
    low_y, high_y = max(0, top - gap), min(picture.shape[0] - 1, top + size - 1 + gap)
    low_x, high_x = max(0, left - gap), min(picture.shape[1] - 1, left + size - 1 + gap)
    picture[[low_y, high_y], low_x : high_x + 1] = _FRAME
    picture[low_y : high_y + 1, [low_x, high_x]] = _FRAME
