"""Words that maps, regions and SRVR share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.semantic.scene.scene import Axis
from robgui.core.dataset.picture import picture_of
from robgui.core.text.words import number

#: Smallest side of a picture that stands for a finding.
_SMALLEST = 112


def place_words(axes: Sequence[Axis], point: np.ndarray) -> str:
    """``azimuth 120°, elevation 30°``."""
    return ", ".join(f"{axis.title.lower()} {_with_unit(float(value), axis.unit)}" for axis, value in zip(axes, point, strict=True))


def region_place(axes: Sequence[Axis], low: np.ndarray, high: np.ndarray) -> str:
    """``azimuth 100° to 180°, elevation 20° to 60°``."""
    parts = []
    for axis, a, b in zip(axes, low, high, strict=True):
        whole = b - a >= (axis.high - axis.low) * (1 - 1e-9)
        span = "everywhere" if whole else f"{_with_unit(float(a), axis.unit)} to {_with_unit(float(b), axis.unit)}"
        parts.append(f"{axis.title.lower()} {span}")
    return ", ".join(parts)


def axes_words(axes: Sequence[Axis]) -> str:
    """``azimuth × elevation``."""
    return " × ".join(axis.title.lower() for axis in axes)


def finding_picture(image: np.ndarray) -> np.ndarray:
    """An image ``(c, h, w)`` in [0, 1] large enough to look at."""
    picture = picture_of(image, "image")
    factor = max(1, -(-_SMALLEST // max(picture.shape[:2])))
    return np.ascontiguousarray(picture.repeat(factor, 0).repeat(factor, 1))


def _with_unit(value: float, unit: str) -> str:
    text = number(round(value, 1) if unit == "°" else float(f"{value:.3g}"))
    return f"{text}{unit}" if unit == "°" else f"{text} {unit}".rstrip()
