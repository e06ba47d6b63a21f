"""What attribution looks like: the picture, with what speaks for the class on it, way by way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.feature_game.attribution.params import AttributionParams
from robgui.analyses.feature_game.attribution.result import AttributionResult
from robgui.analyses.feature_game.attribution.words import so_far
from robgui.core.text.words import percent
from robgui.core.view import Axis, Images, Matrix, Picture, View

#: Blue speaks for the class, vermilion against it, as in the matrices below.
_FOR, _AGAINST = np.array([0, 114, 178]), np.array([213, 94, 0])
_COLOURS = "Blue speaks for the class, vermilion against it; each picture has its own scale."
_UNITS = {"covering": "chance lost when covered", "integrated gradients": "added to the score"}


def views(result: AttributionResult, params: AttributionParams) -> Sequence[View]:
    """Pictures first, then a matrix of each way whose values can be read."""
    return (
        _pictures(result),
        *(
            _matrix(result, way, at, name)
            for at, name in enumerate(result.names)
            for way in range(len(result.ways))
            if result.has(way, at)
        ),
    )


def _pictures(result: AttributionResult) -> Images:
    shown = []
    for at, name in enumerate(result.names):
        answer = result.labels[int(result.predicted[at])]
        shown.append(Picture(result.pictures[at], name, answer))
        for way, title in enumerate(result.ways):
            if result.has(way, at):
                shown.append(Picture(overlay(result.pictures[at], result.heat[way, at]), title))
    return Images(
        f"What speaks for “{result.labels[result.target]}”",
        tuple(shown),
        columns=1 + len(result.ways),
        note=" ".join(filter(None, [_COLOURS, so_far(result), *result.missing])),
    )


def overlay(picture: np.ndarray, heat: np.ndarray) -> np.ndarray:
    """Heat ``(h, w)`` in colour on a grey picture ``(h, w, 3)``, the strongest at full strength."""
    # Half the contrast, from 96 to 223: colour
    # then stands out on dark and on light parts.
    grey = np.repeat(picture.mean(2, keepdims=True), 3, 2) * 0.5 + 96
    largest = max(float(np.abs(heat).max()), 1e-12)
    # A power below 1 lifts weak heat, which would hardly show beside the strongest.
    strength = (np.abs(heat) / largest)[..., None] ** 0.7
    colour = np.where(heat[..., None] > 0, _FOR, _AGAINST)
    return np.asarray((grey * (1 - strength) + colour * strength).clip(0, 255), np.uint8)


def _matrix(result: AttributionResult, way: int, at: int, name: str) -> Matrix:
    heat, title = result.heat[way, at], result.ways[way]
    largest = max(float(np.abs(heat).max()), 1e-12)
    scale = Axis(_UNITS.get(title, "seen for the class"))
    if len(result.names) > 1:
        of = f", {name}"
    else:
        of = ""
    chance = percent(float(result.confidence[at]))
    return Matrix(
        f"{title[0].upper()}{title[1:]}{of}",
        Axis("column", unit="pixels"),
        Axis("row from below", unit="pixels"),
        # Row 0 of a Matrix is the lowest.
        heat[::-1].astype(np.float64),
        scale,
        (-largest, largest),
        worst="middle",
        note=f"The class “{result.labels[result.target]}” has a chance of {chance}.",
    )
