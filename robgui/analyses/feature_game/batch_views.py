"""What feature games on many images look like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.feature_game.batch_words import median_of_all
from robgui.analyses.feature_game.params import COLUMN, UNITS, FeatureGameBatchParams, Norm
from robgui.analyses.feature_game.result import FeatureGameBatchResult
from robgui.analyses.feature_game.views import FRAMES, finite, picture_for_view
from robgui.core.text.words import count
from robgui.core.view import (
    Axis,
    Bars,
    Column,
    Curves,
    Images,
    Ink,
    Line,
    Mark,
    Picture,
    Series,
    Spot,
    Table,
    View,
    class_inks,
)
from robgui.core.view.parts import ColumnKind

#: Pairs of pictures of a batch.
SHOWN_PAIRS = 12


def batch_views(result: FeatureGameBatchResult, params: FeatureGameBatchParams) -> Sequence[View]:
    """The smallest changes; how many images change by how much; every image as a row."""
    pairs = _worst(result)
    return (
        *([pairs] if pairs.pictures else []),
        _histogram(result, params),
        _shares(result, params),
        _images(result, params.norm),
    )


def _histogram(result: FeatureGameBatchResult, params: FeatureGameBatchParams) -> Bars:
    norm = params.norm
    values = result.severity[:, COLUMN[norm]]
    values = values[np.isfinite(values)]
    heights, edges = _bins(values, whole=norm == "l0")
    middle = median_of_all(result, params)
    if np.isfinite(middle):
        marks = [Mark(middle, "median of all images")]
    else:
        marks = []
    games = int((result.played & ~result.skipped).sum())
    left = games - len(values)
    return Bars(
        "How much it takes",
        Axis("images", kind="count", low=0),
        (),
        (Series("images that change class", heights, Ink("changed")),),
        edges=edges,
        x=Axis(UNITS[norm], kind="count" if norm == "l0" else "number"),
        marks=tuple(marks),
        note=_left_out(left, games) if left else "",
    )


def _left_out(many: int, games: int) -> str:
    stand = "stands" if many == 1 else "stand"
    return f"{count(many, 'image')} of {games:,} could not be changed and {stand} in no bar."


def _bins(values: np.ndarray, *, whole: bool) -> tuple[np.ndarray, np.ndarray]:
    """Heights and edges: one bin for each number of pixels while they are few."""
    if not len(values):
        return np.zeros(1), np.array([0.5, 1.5]) if whole else np.array([0.0, 1.0])
    # More bars than that cannot be told apart.
    if whole and values.max() < 60:
        # Edges between whole numbers: each bar stands on its own count.
        edges = np.arange(0.5, values.max() + 1.5)
    else:
        top = float(values.max())
        edges = np.linspace(0, top if top > 0 else 1.0, 25)
    return np.histogram(values, edges)[0].astype(np.float64), edges


def _worst(result: FeatureGameBatchResult) -> Images:
    pictures: list[Picture] = []
    for rank, place in enumerate(result.worst[:SHOWN_PAIRS].tolist()):
        for which, (image, seen) in enumerate(
            (
                (result.worst_inputs[rank], result.predicted[place]),
                (result.worst_examples[rank], result.found_class[place]),
            )
        ):
            if which == 0:
                caption = result.keys[place]
            else:
                caption = f"{count(int(result.severity[place, 0]), 'pixel')} changed"
            true = int(result.true_class[place])
            if true < 0:
                right = None
            else:
                right = int(seen) == true
            label = result.labels[int(seen)]
            (ink,) = class_inks((label,), result.labels)
            if which:
                frames = _framed(result, rank)
            else:
                frames = ()
            pictures.append(Picture(picture_for_view(image), caption, label, right, ink, frames))
    return Images("The smallest changes", tuple(pictures), pairs=True)


def _framed(result: FeatureGameBatchResult, rank: int) -> tuple[Spot, ...]:
    """A frame around each changed pixel, while they are few enough to be told apart."""
    changed = np.argwhere((result.worst_inputs[rank] != result.worst_examples[rank]).any(0))
    if len(changed) > FRAMES:
        return ()
    return tuple(Spot(int(x), int(y), "", Ink("changed"), "square", 1.0) for y, x in changed)


def _shares(result: FeatureGameBatchResult, params: FeatureGameBatchParams) -> Curves:
    """The share of all images that changes within each severity; below 1 if some never change."""
    games = result.played & ~result.skipped
    values = result.severity[games, COLUMN[params.norm]]
    found = np.sort(values[np.isfinite(values)])
    # Images that never change are in the divisor, so the curve ends below 1.
    at = np.unique(np.concatenate([[0.0], found]))
    share = np.searchsorted(found, at, side="right") / max(1, len(values))
    return Curves(
        "Share of images by the change it takes",
        Axis(UNITS[params.norm], low=0, kind="count" if params.norm == "l0" else "number"),
        Axis("share of all images", kind="share", low=0, high=1, better="low"),
        at,
        (
            Line(
                "images that change class",
                share,
                Ink("changed"),
                symbol="circle",
                steps=True,
                strong=True,
            ),
        ),
    )


def _images(result: FeatureGameBatchResult, norm: Norm) -> Table:
    shown = np.flatnonzero(result.played)
    labels = result.labels

    def name(c: int) -> str:
        if c >= 0:
            return labels[c]
        return ""

    if norm == "l0":
        kind: ColumnKind = "count"
    else:
        kind = "number"
    severities = result.severity[shown, COLUMN[norm]]
    return Table(
        "Every image",
        (
            Column("Image", tuple(result.keys[i] for i in shown)),
            Column("Class", tuple(name(int(result.predicted[i])) for i in shown)),
            Column(
                "Becomes", tuple(name(int(result.found_class[i])) or "none found" for i in shown)
            ),
            Column(UNITS[norm].capitalize(), tuple(finite(value) for value in severities), kind),
            Column(
                "Confidence before",
                tuple(finite(result.confidence_before[i]) for i in shown),
                "share",
            ),
            Column(
                "Confidence after",
                tuple(finite(result.confidence_after[i]) for i in shown),
                "share",
            ),
            Column("Calls", tuple(int(result.calls[i]) for i in shown), "count"),
            Column("Time", tuple(finite(result.seconds[i]) for i in shown), "seconds"),
        ),
    )
