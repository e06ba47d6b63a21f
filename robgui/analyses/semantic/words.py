"""Words shared by maps, regions and the safe share of the range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from robgui.core.text.words import number
from robgui.core.verdict import Status

if TYPE_CHECKING:
    from robgui.analyses.semantic.scene.scene import SceneAxis

#: Transforms that reveal what lies beyond the border of an image.
_MOVING = {"rotation", "scale", "shift_x", "shift_y", "shear"}
#: Smallest side of a finding's picture.
_SMALLEST = 112
#: A side or volume this near to the whole counts as the whole: rounding makes no region smaller.
WHOLE = 1e-6


def place_words(axes: Sequence[SceneAxis], point: np.ndarray) -> str:
    """``azimuth 120°, elevation 30°``."""
    values = zip(axes, point, strict=True)
    return ", ".join(f"{axis.title.lower()} {with_unit(float(v), axis.unit)}" for axis, v in values)


def region_place(axes: Sequence[SceneAxis], low: np.ndarray, high: np.ndarray) -> str:
    """``azimuth 100° to 180°, elevation everywhere``."""
    parts = []
    for axis, a, b in zip(axes, low, high, strict=True):
        whole = b - a >= (axis.high - axis.low) * (1 - WHOLE)
        if whole:
            span = "everywhere"
        else:
            span = _span(axis, float(a), float(b))
        parts.append(f"{axis.title.lower()} {span}")
    return ", ".join(parts)


def range_words(axes: Sequence[SceneAxis]) -> str:
    """``azimuth 0° to 360°, elevation -10° to 90°``: the whole range examined."""
    return ", ".join(f"{axis.title.lower()} {_span(axis, axis.low, axis.high)}" for axis in axes)


def axes_words(axes: Sequence[SceneAxis]) -> str:
    """``azimuth × elevation``."""
    return " × ".join(axis.title.lower() for axis in axes)


def with_unit(value: float, unit: str) -> str:
    """``35°``, ``50 %``, ``2.73``."""
    # A tenth of a degree is finer than any grid.
    text = number(round(value, 1) if unit == "°" else float(f"{value:.3g}"))
    if unit == "°":
        return f"{text}{unit}"
    return f"{text} {unit}".rstrip()


def setting_words(share: float) -> str:
    """A share from the settings: ``80 %``, ``0.5 %``."""
    return f"{number(100 * share)} %"


def sentence_case(words: str) -> str:
    """The same with a capital first letter; names further on keep their case."""
    return words[:1].upper() + words[1:]


def border_words(axes: Sequence[SceneAxis], image: bool) -> str:
    """What lies beyond the border of an image that is moved or shrunk; else empty."""
    if not image or not any(axis.name in _MOVING for axis in axes):
        return ""
    return "Where a transformed image does not reach, its border pixels are stretched outwards."


def worst_status(statuses: Iterable[Status]) -> Status:
    """The status that matters most."""
    # Status is declared from what matters most to what matters least.
    order = list(Status)
    return min(statuses, key=order.index)


def finding_picture(image: np.ndarray) -> np.ndarray:
    """An image ``(c, h, w)`` in [0, 1] as a picture large enough to look at."""
    from robgui.core.dataset.picture import picture_of

    picture = picture_of(image, "image")
    # Whole multiples, so pixels stay square.
    factor = max(1, -(-_SMALLEST // max(picture.shape[:2])))
    return np.ascontiguousarray(picture.repeat(factor, 0).repeat(factor, 1))


def _span(axis: SceneAxis, low: float, high: float) -> str:
    return f"{with_unit(low, axis.unit)} to {with_unit(high, axis.unit)}"
