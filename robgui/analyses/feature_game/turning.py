"""Does an example still fool the model when rotated and scaled (the paper's Figure 5)?"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.feature_game.result import Persistence
from robgui.core.model.classifier import Classifier

#: Turns in degrees and sizes at which an example is looked at again, as in the paper's Figure 5.
ANGLES = tuple(float(angle) for angle in range(-30, 31, 5))
SCALES = (0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3)
#: Images shown to the model: image and example at every angle and scale.
#: 40 calls.
PERSISTENCE_CALLS = 2 * (len(ANGLES) + len(SCALES))


def persistence(
    classifier: Classifier, image: np.ndarray, example: np.ndarray, original: int
) -> Persistence:
    """Classes of the image and its example ``(c, h, w)``, turned and scaled about the centre.

    Only angles and scales at which the image itself keeps its class count: where it does not,
    nothing can be said.
    """
    pair = classifier.tensor(np.stack([image, example]))
    views = torch.cat(
        [turned(pair, angle) for angle in ANGLES] + [scaled(pair, scale) for scale in SCALES]
    )
    # (2, views): image and example alternate.
    classes = classifier.infer(views).argmax(1).reshape(-1, 2).T.cpu().numpy()
    rotated, resized = classes[:, : len(ANGLES)], classes[:, len(ANGLES) :]
    return Persistence(
        np.array(ANGLES),
        np.array(SCALES),
        rotated,
        resized,
        _kept(rotated, original, ANGLES, 0.0),
        _kept(resized, original, SCALES, 1.0),
    )


def turned(x: Tensor, degrees: float) -> Tensor:
    """Images ``(n, c, h, w)`` turned anticlockwise.

    What comes in from outside repeats the border.
    """
    angle = math.radians(degrees)
    # affine_grid scales both sides to [-1, 1]; without the ratio a
    # turn would shear an oblong image.
    ratio = x.shape[2] / x.shape[3]
    cos, sin = math.cos(angle), math.sin(angle)
    # With y pointing down, a sampling grid turned
    # clockwise shows the image turned anticlockwise.
    return _transformed(x, ((cos, -sin * ratio), (sin / ratio, cos)))


def scaled(x: Tensor, factor: float) -> Tensor:
    """Images ``(n, c, h, w)`` enlarged by the factor about their centre.

    What comes in from outside repeats the border.
    """
    return _transformed(x, ((1 / factor, 0.0), (0.0, 1 / factor)))


def _transformed(x: Tensor, matrix: tuple[tuple[float, float], tuple[float, float]]) -> Tensor:
    # Where each pixel comes from: the inverse of the turn, as affine_grid asks for it.
    theta = torch.tensor([[*matrix[0], 0.0], [*matrix[1], 0.0]], device=x.device).expand(
        len(x), 2, 3
    )
    grid = torch.nn.functional.affine_grid(theta, list(x.shape), align_corners=False)
    return torch.nn.functional.grid_sample(
        x, grid, mode="bilinear", padding_mode="border", align_corners=False
    ).clamp(0, 1)


def _kept(classes: np.ndarray, original: int, values: tuple[float, ...], still: float) -> float:
    """Share of the views in which the image keeps its class and the example has another."""
    # The view as it is was already found to fool the model.
    counted = (classes[0] == original) & (np.array(values) != still)
    if counted.any():
        return float((classes[1][counted] != original).mean())
    return float("nan")
