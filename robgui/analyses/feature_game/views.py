"""What a feature game looks like: before and after, where it looked, how the severity fell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.feature_game.params import FeatureGameBatchParams, FeatureGameParams, Norm
from robgui.analyses.feature_game.result import (
    FeatureGameBatchResult,
    FeatureGameResult,
    Outcome,
    Persistence,
)
from robgui.analyses.feature_game.words import COLUMN, NO_GUARANTEE, UNITS
from robgui.core.text.words import count, number, percent, rough_percent
from robgui.core.view import (
    Axis,
    Bars,
    Column,
    Curves,
    Images,
    Ink,
    Line,
    Mark,
    Matrix,
    Picture,
    Series,
    Spot,
    Table,
    Tree,
    View,
)
from robgui.core.view.parts import ColumnKind

#: Classes whose confidence is shown before and after.
SHOWN_CLASSES = 8
#: Pairs of pictures of a batch.
SHOWN_PAIRS = 12
#: Frames around changed pixels; a picture with more would show nothing but frames.
_FRAMES = 400


def game_views(result: FeatureGameResult, params: FeatureGameParams) -> Sequence[View]:
    """The image and its example first.

    Then where the search looked, how it went, and every search as a row.
    """
    return (
        _before_and_after(result),
        _severity_by_iteration(result, params.norm),
        _confidences(result),
        _saliency(result),
        _features(result),
        *((_by_search(result, params.norm),) if len(result.outcomes) > 1 else ()),
        _searches(result),
        _tree(result),
        _evidence(result),
        *(() if result.persistence is None else (_turned(result, result.persistence),)),
    )


def _picture(image: np.ndarray) -> np.ndarray:
    from robgui.core.dataset.picture import picture_of

    return picture_of(image, "image")


def _before_and_after(result: FeatureGameResult) -> Images:
    before = float(result.confidence[result.original])
    name = result.labels[result.original]
    first = Picture(
        _picture(result.input),
        result.input_name,
        f"{name} {percent(before)}",
        _right(result, result.original),
        Ink("original", name=name),
    )
    if result.found_class < 0:
        note = f"No example found with {count(result.model_calls, 'model call')}."
        return Images("The image", (first,), note=note)
    other = result.labels[result.found_class]
    after = float(result.found_confidence[result.found_class])
    frames = tuple(
        Spot(x + 0.5, y + 0.5, "", Ink("changed"), "square", 1.0)
        for x, y in result.changed[:_FRAMES].tolist()
    )
    second = Picture(
        _picture(result.best),
        f"{count(len(result.changed), 'pixel')} changed",
        f"{other} {percent(after)}",
        _right(result, result.found_class),
        Ink("changed", name=other),
        frames,
    )
    return Images("Before and after", (first, second), pairs=True)


def _right(result: FeatureGameResult, seen: int) -> bool | None:
    return None if result.true_class < 0 else seen == result.true_class


def _severity_by_iteration(result: FeatureGameResult, norm: Norm) -> Curves:
    rows = result.history if len(result.history) else np.full((1, 3), np.nan)
    lines = (
        Line("best so far", rows[:, 0], Ink("series", 0), strong=True),
        Line("this iteration", rows[:, 1], Ink("series", 1), symbol="square"),
        Line("mean of the last ten", rows[:, 2], Ink("series", 2)),
    )
    return Curves(
        "How the change shrinks",
        Axis("iteration", kind="count", low=0),
        Axis(UNITS[norm], low=0, kind="count" if norm == "l0" else "number", better="high"),
        np.arange(1, len(rows) + 1, dtype=np.float64),
        lines,
    )


def _confidences(result: FeatureGameResult) -> Bars:
    order = np.argsort(-np.maximum(result.confidence, result.found_confidence), kind="stable")[
        :SHOWN_CLASSES
    ]
    rows = [Series("before", result.confidence[order].astype(np.float64), Ink("original"))]
    if result.found_class >= 0:
        rows.append(
            Series("after", result.found_confidence[order].astype(np.float64), Ink("changed"))
        )
    names = tuple(result.labels[int(c)] for c in order)
    return Bars(
        "Confidence",
        Axis("confidence", kind="share", low=0, high=1),
        names,
        tuple(rows),
        x=Axis("class"),
    )


def _saliency(result: FeatureGameResult) -> Matrix:
    """The share of the search that each pixel gets; the image's top row is the matrix's last."""
    values = result.saliency[::-1]
    high = float(values.max()) if values.size else 1.0
    changed = tuple(
        Spot(x + 0.5, values.shape[0] - y - 0.5, "changed", Ink("changed"), "square", 1.0)
        for x, y in result.changed[:_FRAMES].tolist()
    )
    return Matrix(
        "Where the search looks",
        Axis("x", "pixels"),
        Axis("y", "pixels from below"),
        values,
        Axis("share of the search"),
        (0.0, high or 1.0),
        spots=changed,
    )


def _features(result: FeatureGameResult) -> Images:
    spots = tuple(
        Spot(x + 0.5, y + 0.5, "feature", Ink("series", 5), "circle", max(size, 1.0))
        for x, y, size, _ in result.keypoints.tolist()
    )
    words = "grid cells" if result.keypoint_source == "grid" else "features"
    picture = Picture(
        _picture(result.input),
        f"{len(result.keypoints):,} {words} ({result.keypoint_source})",
        spots=spots,
    )
    return Images("Features of the image", (picture,))


def _by_search(result: FeatureGameResult, norm: Norm) -> Bars:
    names = tuple(_search_name(result, one) for one in result.outcomes)
    values = np.array([one.severity.by(norm) for one in result.outcomes], dtype=np.float64)
    note = (
        "Against chance or an opponent the number is what play reached with the calls allowed, not"
        " the value of the game."
    )
    return Bars(
        "Change found by each search",
        Axis(UNITS[norm], low=0, better="high"),
        names,
        (Series("change", values, Ink("changed")),),
        x=Axis("search"),
        note=note if any(one.player != "cooperative" for one in result.outcomes) else "",
    )


def _search_name(result: FeatureGameResult, outcome: Outcome) -> str:
    helper = {
        "cooperative": "helped",
        "nature": "against chance",
        "adversarial": "against an opponent",
    }[outcome.player]
    return f"{helper}, to {result.labels[outcome.target]}" if outcome.target >= 0 else helper


def _searches(result: FeatureGameResult) -> Table:
    outcomes = result.outcomes
    found = [
        result.labels[one.found_class] if one.found_class >= 0 else "none found" for one in outcomes
    ]
    return Table(
        "Searches",
        (
            Column("Search", tuple(_search_name(result, one) for one in outcomes)),
            Column("Becomes", tuple(found)),
            Column("Pixels", tuple(_whole(one.severity.l0_pixels) for one in outcomes), "count"),
            Column("Sum of changes", tuple(_finite(one.severity.l1) for one in outcomes), "number"),
            Column("Distance", tuple(_finite(one.severity.l2) for one in outcomes), "number"),
            Column(
                "Largest change", tuple(_finite(one.severity.linf) for one in outcomes), "number"
            ),
            Column(
                "First found after",
                tuple(one.first_calls or None for one in outcomes),
                "count",
                "calls",
            ),
            Column("Calls", tuple(one.model_calls for one in outcomes), "count"),
            Column("Time", tuple(one.seconds for one in outcomes), "seconds"),
            Column("Ended because", tuple(one.ended or "still searching" for one in outcomes)),
        ),
    )


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _whole(value: float) -> int | None:
    return int(value) if np.isfinite(value) else None


def _evidence(result: FeatureGameResult) -> Table:
    """What the search has seen of the network's steepness; evidence, no guarantee."""
    seen = result.evidence
    rows = [
        ("images shown to the model", f"{result.model_calls:,}"),
        ("one-pixel moves tried", f"{seen.singles:,} of {seen.moves:,}"),
        ("largest change of the confidence per unit of change", number(seen.lipschitz)),
        ("smallest fall of the confidence that changed the class", number(seen.gap)),
        ("step that the paper's Theorem 4 would ask for", number(seen.tau)),
    ]
    names, values = zip(*rows, strict=True)
    note = (
        NO_GUARANTEE
        if result.found_class < 0
        else "A smaller change may exist: the search has seen a few of very many images."
    )
    return Table("Evidence", (Column("What", names), Column("Value", values)), note)


def _turned(result: FeatureGameResult, turned: Persistence) -> Table:
    """Whether the example still works when it is turned or scaled."""
    rows = [
        (f"turned by {number(float(angle))}°", *pair)
        for angle, pair in zip(turned.angles, turned.rotated_class.T, strict=True)
    ]
    rows += [
        (f"scaled to {rough_percent(float(scale))}", *pair)
        for scale, pair in zip(turned.scales, turned.scaled_class.T, strict=True)
    ]
    labels, original = result.labels, result.original
    return Table(
        "Turned and scaled",
        (
            Column("View", tuple(words for words, _, _ in rows)),
            Column("Image", tuple(labels[int(image)] for _, image, _ in rows)),
            Column("Example", tuple(labels[int(example)] for _, _, example in rows)),
            Column(
                "Still fooled",
                tuple(
                    "yes" if image == original != example else "no" for _, image, example in rows
                ),
            ),
        ),
    )


def _tree(result: FeatureGameResult) -> Tree:
    tree = result.tree
    names = tuple(
        _node_name(int(k), x, y)
        for k, (x, y) in zip(tree.keypoint, tree.pixel.tolist(), strict=True)
    )
    return Tree(
        "Moves that were tried",
        tree.parent,
        names,
        tree.visits.astype(np.float64),
        tree.reward.astype(np.float64),
        Axis("mean reward", low=0, high=1),
        Axis("visits", kind="count"),
        note=f"{tree.nodes:,} positions in all; those that matter most are shown.",
    )


def _node_name(keypoint: int, x: int, y: int) -> str:
    if keypoint >= 0:
        return f"feature {keypoint}"
    return f"pixel {x}, {y}" if x >= 0 else "start"


def batch_views(result: FeatureGameBatchResult, params: FeatureGameBatchParams) -> Sequence[View]:
    """How many images change by how much; the smallest changes; every image as a row."""
    return (
        _histogram(result, params.norm),
        _worst(result),
        _middle(result, params.norm),
        _images(result, params.norm),
    )


def _histogram(result: FeatureGameBatchResult, norm: Norm) -> Bars:
    values = result.severity[:, COLUMN[norm]]
    values = values[np.isfinite(values)]
    heights, edges = _bins(values, whole=norm == "l0")
    marks = (
        [Mark(result.median, f"median {number(result.median)}")]
        if np.isfinite(result.median)
        else []
    )
    if np.isfinite(result.mean):
        marks.append(Mark(result.mean, f"mean {number(result.mean)}"))
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
        note=(
            f"{count(left, 'image')} of {games:,} could not be changed and stand in no bar."
            if left
            else ""
        ),
    )


def _bins(values: np.ndarray, *, whole: bool) -> tuple[np.ndarray, np.ndarray]:
    """Heights and edges: one bin for each number of pixels while they are few."""
    if not len(values):
        return np.zeros(1), np.array([0.5, 1.5]) if whole else np.array([0.0, 1.0])
    if whole and values.max() < 60:
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
            caption = (
                result.keys[place]
                if which == 0
                else f"{count(int(result.severity[place, 0]), 'pixel')} changed"
            )
            true = int(result.true_class[place])
            right = None if true < 0 else int(seen) == true
            ink = Ink("changed" if which else "original", name=result.labels[int(seen)])
            pictures.append(Picture(_picture(image), caption, result.labels[int(seen)], right, ink))
    return Images("The smallest changes", tuple(pictures), pairs=True)


def _middle(result: FeatureGameBatchResult, norm: Norm) -> Bars:
    values = np.array([result.mean, result.median], dtype=np.float64)
    axis = Axis(UNITS[norm], low=0, better="high")
    return Bars(
        "Mean and median change",
        axis,
        ("mean", "median"),
        (Series("images that change class", values, Ink("changed")),),
    )


def _images(result: FeatureGameBatchResult, norm: Norm) -> Table:
    shown = np.flatnonzero(result.played)
    labels = result.labels

    def name(c: int) -> str:
        return labels[c] if c >= 0 else ""

    kind: ColumnKind = "count" if norm == "l0" else "number"
    severities = result.severity[shown, COLUMN[norm]]
    return Table(
        "Every image",
        (
            Column("Image", tuple(result.keys[i] for i in shown)),
            Column("Class", tuple(name(int(result.predicted[i])) for i in shown)),
            Column(
                "Becomes", tuple(name(int(result.found_class[i])) or "none found" for i in shown)
            ),
            Column(UNITS[norm].capitalize(), tuple(_finite(value) for value in severities), kind),
            Column(
                "Confidence before",
                tuple(_finite(result.confidence_before[i]) for i in shown),
                "share",
            ),
            Column(
                "Confidence after",
                tuple(_finite(result.confidence_after[i]) for i in shown),
                "share",
            ),
            Column("Calls", tuple(int(result.calls[i]) for i in shown), "count"),
            Column("Time", tuple(_finite(result.seconds[i]) for i in shown), "seconds"),
        ),
    )
