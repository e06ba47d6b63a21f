"""Matrices of classes: confusions, distances and bias, in one order of the classes."""

from __future__ import annotations

import numpy as np

from robgui.analyses.deepinspect.labels import ClassErrors
from robgui.analyses.deepinspect.result import DeepInspectResult
from robgui.core.class_errors import DARKEST
from robgui.core.view import Axis, Matrix

#: Why a cell of a matrix of classes is empty.
SAME_CLASS, RIGHT = "same class, or too few inputs", "right answers, or too few inputs"


def _matrix(
    title: str,
    values: np.ndarray,
    order: np.ndarray,
    names: tuple[str, ...],
    scale: Axis,
    worst: str,
    axes: tuple[str, str],
) -> Matrix:
    """A matrix of classes, the first at the top as in any table."""
    # Row 0 of a Matrix is drawn at the bottom, hence the reversed rows.
    shown = np.asarray(values, dtype=np.float64)[np.ix_(order[::-1], order)]
    finite = shown[np.isfinite(shown)]
    if len(finite):
        # 0 belongs to the scale, or the least of similar values would look like none.
        low = min(0.0, float(finite.min()))
    else:
        low = 0.0
    high = float(finite.max()) if len(finite) else 1.0
    if scale.kind == "share":
        high = max(high, DARKEST)
    ordered = tuple(names[int(c)] for c in order)
    return Matrix(
        title,
        Axis(axes[0]),
        Axis(axes[1]),
        shown,
        scale,
        (low, high if high > low else low + 1.0),
        worst="high" if worst == "high" else "low",
        rows=ordered[::-1],
        columns=ordered,
        unknown=SAME_CLASS if axes[0] == axes[1] else RIGHT,
        note=f"Empty cells: {SAME_CLASS if axes[0] == axes[1] else RIGHT}.",
    )


def confusions(result: DeepInspectResult, errors: ClassErrors, order: np.ndarray) -> Matrix:
    """What each true class is taken for, from the labels."""
    scale = Axis("share of the true class", kind="share", low=0, high=1, better="low")
    axes = ("predicted class", "true class")
    return _matrix(
        "What is taken for what", errors.directed, order, result.classes, scale, "high", axes
    )


def true_confusion(result: DeepInspectResult, order: np.ndarray) -> Matrix:
    """How often either of two classes is taken for the other."""
    values = np.where(np.eye(len(result.classes), dtype=bool), np.nan, result.conf)
    scale = Axis("true confusion", kind="share", low=0, high=1, better="low")
    return _matrix(
        "True confusion", values, order, result.classes, scale, "high", ("class", "class")
    )


def distances(result: DeepInspectResult, order: np.ndarray) -> Matrix:
    """In standard deviations from the mean, so two networks can be laid side by side."""
    scale = Axis("distance, in standard deviations (low: alike)", better="high")
    values = standardised(result.napvd)
    return _matrix(
        "Distance between classes", values, order, result.classes, scale, "low", ("class", "class")
    )


def biases(result: DeepInspectResult, order: np.ndarray) -> Matrix:
    """How unevenly two classes lie beside third ones."""
    values = np.where(np.eye(len(result.classes), dtype=bool), np.nan, result.avg_bias)
    scale = Axis("average bias", better="low")
    return _matrix(
        "Bias between classes", values, order, result.classes, scale, "high", ("class", "class")
    )


def standardised(distance: np.ndarray) -> np.ndarray:
    """Distances in standard deviations from their mean over unordered pairs.

    Nan on the diagonal and where unknown.
    """
    values = distance[np.triu_indices(len(distance), 1)]
    values = values[np.isfinite(values)]
    spread = float(values.std()) if len(values) else 0.0
    centred = distance - (float(values.mean()) if len(values) else 0.0)
    if spread > 0:
        scaled = centred / spread
    else:
        # Not zeros: nan stays nan.
        scaled = centred * 0
    np.fill_diagonal(scaled, np.nan)
    return scaled
