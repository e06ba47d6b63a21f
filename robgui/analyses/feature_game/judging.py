"""How small a change of class is, in its own norm: what decides between a failure and a risk."""

from __future__ import annotations

import math

import numpy as np

from robgui.analyses.feature_game.params import Judged, Norm
from robgui.core.text.words import number, percent


def share_of(distance: float, norm: Norm, image: np.ndarray) -> float:
    """A distance as a share of the largest that an image ``(c, h, w)`` allows in its norm.

    The largest is all pixels for L0, and every value from 0 to 1 for the others.
    """
    return distance / largest(norm, image)


def largest(norm: Norm, image: np.ndarray) -> float:
    """The largest distance that an image allows."""
    values = float(image.size)
    pixels = float(image.shape[-1] * image.shape[-2])
    largest_of: dict[Norm, float] = {
        "l0": pixels,
        "l1": values,
        # The diagonal of the cube of all images.
        "l2": math.sqrt(values),
        "linf": 1.0,
    }
    return largest_of[norm]


def is_small(distance: float, norm: Norm, image: np.ndarray, params: Judged) -> bool:
    """Whether a change counts as a failure, not only as a risk."""
    return share_of(distance, norm, image) <= _threshold(norm, params)


def rule(norm: Norm, image: np.ndarray, params: Judged) -> str:
    """By which threshold a change is judged, in a sentence."""
    share = percent(_threshold(norm, params))
    if norm == "l0":
        return f"Up to {share} of the pixels count as a failure, more as a risk."
    most = number(_threshold(norm, params) * largest(norm, image))
    return (
        f"Up to {most}, {share} of the largest distance in this norm, counts as a failure, more as"
        " a risk."
    )


def _threshold(norm: Norm, params: Judged) -> float:
    if norm == "l0":
        return params.few_pixels
    return params.small_change
