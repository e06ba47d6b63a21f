"""What a feature game looks like: before and after, where it looked, how the severity fell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.feature_game.opponent_words import AS_PUBLISHED, RIVALS
from robgui.analyses.feature_game.params import UNITS, FeatureGameParams, Norm
from robgui.analyses.feature_game.result import (
    FeatureGameResult,
    Outcome,
    Persistence,
)
from robgui.analyses.feature_game.words import NO_GUARANTEE, none_found
from robgui.core.text.words import count, number, percent, rough_percent, with_share
from robgui.core.view import (
    Axis,
    Bars,
    Column,
    Curves,
    Images,
    Ink,
    Line,
    Matrix,
    Picture,
    Series,
    Spot,
    Table,
    Tree,
    View,
    class_inks,
)

#: Classes whose confidence is shown before and after.
SHOWN_CLASSES = 8
#: With more changed pixels than this none is framed: the picture would show nothing but frames.
FRAMES = 100


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
        *((_by_search(result, params),) if len(result.outcomes) > 1 else ()),
        _searches(result),
        _tree(result),
        _evidence(result),
        *(() if result.persistence is None else (_turned(result, result.persistence),)),
    )


def picture_for_view(image: np.ndarray) -> np.ndarray:
    """An image as pixels ``(h, w, 3)``."""
    from robgui.core.dataset.picture import picture_of

    return picture_of(image, "image")


def _before_and_after(result: FeatureGameResult) -> Images:
    before = float(result.confidence[result.original])
    name = result.labels[result.original]
    first = Picture(
        picture_for_view(result.input),
        result.input_name,
        with_share(name, percent(before)),
        _right(result, result.original),
        class_inks((name,), result.labels, ("class",))[0],
    )
    if result.found_class < 0:
        note = f"{none_found(result).capitalize()}."
        return Images("The image", (first,), note=note)
    other = result.labels[result.found_class]
    after = float(result.found_confidence[result.found_class])
    frames = tuple(Spot(x, y, "", Ink("changed"), "square", 1.0) for x, y in _framed(result))
    second = Picture(
        picture_for_view(result.best),
        f"{count(len(result.changed), 'pixel')} changed",
        with_share(other, percent(after)),
        _right(result, result.found_class),
        class_inks((name, other), result.labels, ("class", "rival"))[1],
        frames,
    )
    return Images("Before and after", (first, second), pairs=True)


def _framed(result: FeatureGameResult) -> list[list[int]]:
    changed: list[list[int]] = result.changed.tolist()
    if len(changed) <= FRAMES:
        return changed
    return []


def _right(result: FeatureGameResult, seen: int) -> bool | None:
    if result.true_class < 0:
        return None
    return seen == result.true_class


def _severity_by_iteration(result: FeatureGameResult, norm: Norm) -> Curves:
    if len(result.history):
        rows = result.history
    else:
        rows = np.full((1, 3), np.nan)
    games = bool(result.outcomes) and len(result.outcomes[-1].games) > 0
    lines = (
        Line(
            "middle so far" if games else "best so far", rows[:, 0], Ink("series", 0), strong=True
        ),
        Line(
            "this game" if games else "this iteration",
            rows[:, 1],
            Ink("series", 1),
            symbol="square",
        ),
        Line("mean of the last ten", rows[:, 2], Ink("series", 2)),
    )
    return Curves(
        "How the games end" if games else "How the change shrinks",
        Axis("game" if games else "iteration", kind="count", low=0),
        Axis(UNITS[norm], low=0, kind="count" if norm == "l0" else "number", better="high"),
        np.arange(1, len(rows) + 1, dtype=np.float64),
        lines,
        note="A gap is a game that did not change the class." if games else "",
    )


def _confidences(result: FeatureGameResult) -> Bars:
    # By the higher of both, so the class before and the one after are among those shown.
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
    if values.size:
        high = float(values.max())
    else:
        high = 1.0
    changed = tuple(
        # Middle of the pixel; rows of a matrix count from below.
        Spot(x + 0.5, values.shape[0] - y - 0.5, "changed", Ink("changed"), "square", 1.0)
        for x, y in _framed(result)
    )
    return Matrix(
        "Where the search looks",
        Axis("x", "pixels"),
        Axis("y from below", "pixels"),
        values,
        Axis("share of the search"),
        (0.0, high or 1.0),
        spots=changed,
    )


def _features(result: FeatureGameResult) -> Images:
    spots = tuple(
        Spot(x, y, "feature", Ink("series", 5), "circle", max(size, 1.0))
        for x, y, size, _ in result.keypoints.tolist()
    )
    if result.keypoint_source == "grid":
        words = "grid cells"
    else:
        words = "features"
    picture = Picture(
        picture_for_view(result.input),
        f"{len(result.keypoints):,} {words} ({result.keypoint_source})",
        spots=spots,
    )
    return Images("Features of the image", (picture,))


def _by_search(result: FeatureGameResult, params: FeatureGameParams) -> Bars:
    norm = params.norm
    names = tuple(_search_name(result, one) for one in result.outcomes)
    rows = [_spread(one, params) for one in result.outcomes]
    low, values, high = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    if params.preset == "paper":
        note = AS_PUBLISHED
    else:
        note = (
            "Against chance or an opponent: median and quartiles of whole games; no bar where"
            " fewer than half of them changed the class."
        )
    return Bars(
        "Change found by each search",
        Axis(UNITS[norm], low=0, better="high"),
        names,
        (Series("change", values, Ink("changed"), low, high),),
        x=Axis("search"),
        note=note if any(one.player != "cooperative" for one in result.outcomes) else "",
    )


def _spread(outcome: Outcome, params: FeatureGameParams) -> tuple[float, float, float]:
    """Lower end, value and upper end of a bar; nan for what is not known."""
    if outcome.player == "cooperative" or params.preset == "paper":
        return np.nan, outcome.severity.by(params.norm), np.nan
    low, middle, high = (end if np.isfinite(end) else np.nan for end in outcome.quartiles)
    return low, middle, high


def _search_name(result: FeatureGameResult, outcome: Outcome) -> str:
    helper = RIVALS[outcome.player]
    if outcome.target >= 0:
        return f"{helper}, to {result.labels[outcome.target]}"
    return helper


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
            Column("Sum of changes", tuple(finite(one.severity.l1) for one in outcomes), "number"),
            Column("Distance", tuple(finite(one.severity.l2) for one in outcomes), "number"),
            Column(
                "Largest change", tuple(finite(one.severity.linf) for one in outcomes), "number"
            ),
            Column(
                "First found after",
                tuple(one.first_calls or None for one in outcomes),
                "count",
                "calls",
            ),
            Column("Calls", tuple(one.model_calls for one in outcomes), "count"),
            Column("Time", tuple(one.seconds for one in outcomes), "seconds"),
            Column("Ended because", tuple(one.ended or "not ended" for one in outcomes)),
        ),
    )


def finite(value: float) -> float | None:
    """The value, or None if it is unknown."""
    if np.isfinite(value):
        return float(value)
    return None


def _whole(value: float) -> int | None:
    if np.isfinite(value):
        return int(value)
    return None


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
    if result.found_class < 0:
        note = NO_GUARANTEE
    else:
        note = "A smaller change may exist: the search has seen a few of very many images."
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
        note=f"{count(tree.nodes, 'position')} in all; those that matter most are shown.",
    )


def _node_name(keypoint: int, x: int, y: int) -> str:
    if keypoint >= 0:
        return f"feature {keypoint}"
    if x >= 0:
        return f"pixel {x}, {y}"
    return "start"
