"""Pictures of a found example, ready to be saved as PNG files: the example, the difference, the changed pixels."""

from __future__ import annotations

import numpy as np

from robgui.analyses.feature_game.result import FeatureGameResult
from robgui.core.dataset.picture import picture_of

#: Darker pixels in blue, brighter ones in vermilion, white where nothing has changed.
_DARKER, _BRIGHTER = np.array([0, 114, 178]), np.array([213, 94, 0])


def pictures(result: FeatureGameResult) -> dict[str, np.ndarray]:
    """Name -> uint8 ``(h, w, 3)``; ``example`` holds exactly the values that the model was shown."""
    changed = np.zeros(result.input.shape[1:], dtype=bool)
    changed[result.changed[:, 1], result.changed[:, 0]] = True
    return {
        "original": picture_of(result.input, "image"),
        "example": picture_of(result.best, "image"),
        "difference": difference(result.input, result.best),
        "changed": np.repeat(np.where(changed, 255, 0).astype(np.uint8)[:, :, None], 3, axis=2),
    }


def difference(image: np.ndarray, example: np.ndarray) -> np.ndarray:
    """The mean change of each pixel's channels as a colour, centred on white: uint8 ``(h, w, 3)``."""
    change = (example.astype(np.float64) - image).mean(0)
    changed = (example != image).any(0)
    # a change whose channels cancel out still shows
    strength = np.where(changed, np.maximum(np.abs(change), 0.15), 0.0)[:, :, None]
    colour = np.where(change[:, :, None] < 0, _DARKER, _BRIGHTER)
    return np.asarray(np.round(255 + strength * (colour - 255.0)), dtype=np.uint8)
