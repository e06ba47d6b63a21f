"""What DeepInspect's results look like."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robgui.analyses.deepinspect import matrices
from robgui.analyses.deepinspect.labels import FEWEST, ClassErrors, errors_of, mixed_up
from robgui.analyses.deepinspect.pairs import Order, beyond_noise, class_order, pixels_apart
from robgui.analyses.deepinspect.params import DeepInspectParams
from robgui.analyses.deepinspect.result import (
    DeepInspectResult,
    Quality,
)
from robgui.core.text.words import count, number, percent
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
    Table,
    View,
)

#: Most classes whose bars can be read; the worst are shown.
SHOWN_CLASSES = 24
#: Rows of the table of pairs.
SHOWN_PAIRS = 200
#: Points of a scatter; more would not be visible.
_POINTS = 5_000
_SHARE = Axis("share", low=0, high=1, kind="share")


def inspect_views(
    result: DeepInspectResult, params: DeepInspectParams, order_by: Order = "likeness"
) -> Sequence[View]:
    """With labels, what the model takes for what.

    Then distances and bias, the pairs, and how well distances find errors.
    """
    order = class_order(result, order_by)
    errors = errors_of(result)
    views: list[View] = []
    if errors is not None:
        views += [
            matrices.confusions(result, errors, order),
            _class_bars(result, errors, params.most_wrong),
        ]
    elif result.conf.size:
        views.append(matrices.true_confusion(result, order))
    views += [
        matrices.distances(result, order),
        matrices.biases(result, order),
        _pairs(result, errors),
        _histogram(result),
    ]
    if result.confusion is not None and result.confusion.pairs:
        views += [_scatter(result), _ranking(result.confusion)]
    if result.exhibits:
        views.append(_exhibits(result))
    return views


def _class_bars(result: DeepInspectResult, errors: ClassErrors, limit: float) -> Bars:
    shown = errors.order[errors.members[errors.order] > 0][:SHOWN_CLASSES]
    left = int((errors.members > 0).sum()) - len(shown)
    # In steps of a tenth, so a live axis seldom moves.
    top = min(1.0, math.ceil(10 * float(errors.high[shown].max(initial=limit)) + 0.5) / 10)
    return Bars(
        "Errors by class",
        Axis("inputs of the class that are wrong", kind="share", low=0, high=top, better="low"),
        tuple(result.classes[int(c)] for c in shown),
        (
            # Neutral: the limit and the interval say which class fails, not the height alone.
            Series(
                "wrong", errors.share[shown], Ink("series"), errors.low[shown], errors.high[shown]
            ),
        ),
        x=Axis("true class"),
        levels=(Mark(limit, f"limit: {percent(limit)}", Ink("fails")),),
        note=_bars_note(left),
    )


def _bars_note(left: int) -> str:
    rule = "Lines: 95 % intervals; a class fails where the whole interval is above the limit."
    if left > 0:
        return f"{rule} Worst first; {left:,} better classes are not shown."
    return rule


def _pairs(result: DeepInspectResult, errors: ClassErrors | None) -> Table:
    """The pairs that stand out, most alike first: how sure, what the labels say, pixels apart."""
    pairs = (result.confusion_pairs if len(result.confusion_pairs) else result.confusion_top)[
        :SHOWN_PAIRS
    ]
    a, b = pairs[:, 0], pairs[:, 1]
    columns = [
        Column("Class", tuple(result.classes[int(c)] for c in a)),
        Column("and class", tuple(result.classes[int(c)] for c in b)),
        Column("Distance", cells(result.napvd[a, b]), "number"),
        Column("in deviations", cells(matrices.standardised(result.napvd)[a, b]), "number"),
    ]
    if result.napvd_high.size:
        sure = tuple(beyond_noise(result, *pair) for pair in pairs.tolist())
        columns += [
            Column("at least", cells(result.napvd_low[a, b]), "number"),
            Column("at most", cells(result.napvd_high[a, b]), "number"),
            Column("Beyond noise", sure),
        ]
    if errors is not None:
        columns.append(Column("Mixed up", mixed_up(errors, a, b)))
    elif result.conf.size:
        columns.append(Column("True confusion", cells(result.conf[a, b]), "share"))
    if result.confirmations:
        apart = tuple(_apart(pixels_apart(result, *pair)) for pair in pairs.tolist())
        columns.append(Column("Pixels apart", apart))
    columns.append(Column("Bias", cells(result.avg_bias[a, b]), "number"))
    if len(result.confusion_pairs):
        title = "Pairs that look alike"
    else:
        title = "Nearest pairs"
    note = (
        "Most alike to the network first, whether it mixes them up or not; distance has no"
        " direction. In deviations: from the mean of all pairs, as in the matrix."
    )
    if result.napvd_high.size:
        note += (
            " Beyond noise: the whole 95 % interval of the distance is below the limit; unknown"
            f" with fewer than {FEWEST} inputs of a class."
        )
    return Table(title, tuple(columns), note)


def _apart(pixels: float | None) -> str:
    if pixels is None:
        return ""
    if np.isfinite(pixels):
        return f"{int(pixels):,}"
    return "none found"


def cells(values: np.ndarray) -> tuple[float | None, ...]:
    """Values for a table, None if unknown."""
    return tuple(float(value) if np.isfinite(value) else None for value in values)


def _histogram(result: DeepInspectResult) -> Bars:
    values = _upper(result.napvd)
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if high - low < 1e-6 * max(1.0, high):  # Equal distances differ by rounding alone.
        low, high = low - 0.5, high + 0.5
    # About four pairs to a bar.
    heights, edges = np.histogram(values, min(60, max(5, len(values) // 4)), (low, high))
    limit = (Mark(result.confusion_limit, "limit"),) if np.isfinite(result.confusion_limit) else ()
    return Bars(
        "Distances of all pairs",
        Axis("pairs", kind="count", low=0),
        (),
        (Series("pairs", heights.astype(np.float64), Ink("series")),),
        edges=edges,
        x=Axis("distance of two classes"),
        marks=limit,
        note=f"{_left_of_limit(result)} left of the limit stand out; it can be dragged."
        if limit
        else "The limit is not known yet.",
    )


def _left_of_limit(result: DeepInspectResult) -> str:
    known = int((result.counts > 0).sum())
    return f"{len(result.confusion_pairs):,} of {count(known * (known - 1) // 2, 'pair')}"


def _scatter(result: DeepInspectResult) -> Curves:
    distance, conf = _upper(result.napvd), _upper(result.conf)
    known = np.flatnonzero(np.isfinite(distance) & np.isfinite(conf))
    # Evenly spaced over the pairs, so no class is favoured and a redraw shows the same points.
    known = known[:: max(1, -(-len(known) // _POINTS))]
    x, y = distance[known], conf[known]
    below = x < result.confusion_limit
    return Curves(
        "Distance against true confusion",
        Axis("distance of two classes"),
        Axis("true confusion", kind="share", low=0),
        np.zeros(0),
        (
            Line("stands out", y[below], Ink("risk"), x[below], symbol="square", line=False),
            Line("other pairs", y[~below], Ink("other"), x[~below], symbol="circle", line=False),
        ),
        marks=(
            (Mark(result.confusion_limit, "limit"),) if np.isfinite(result.confusion_limit) else ()
        ),
        note=(
            f"Rank correlation {number(result.spearman_confusion)}; -1: the nearest are the most"
            " confused."
        ),
    )


def _ranking(quality: Quality) -> Curves:
    lines = [
        Line(
            f"distances (area {number(quality.aucec)})",
            quality.found,
            Ink("series", 0),
            strong=True,
        ),
        Line(
            f"best possible (area {number(quality.aucec_optimal)})",
            quality.found_optimal,
            Ink("text"),
        ),
    ]
    if np.isfinite(quality.aucec_mode):
        lines.append(
            Line(
                f"last-layer weights (area {number(quality.aucec_mode)})",
                quality.found_mode,
                Ink("series", 2),
            )
        )
    lines.append(Line("chance (area 0.5)", quality.cost, Ink("quiet")))
    return Curves(
        "How soon the true confusions are found",
        Axis("pairs inspected", kind="share", low=0, high=1),
        Axis("true confusions found", kind="share", low=0, high=1, better="high"),
        quality.cost,
        tuple(lines),
    )


def _exhibits(result: DeepInspectResult) -> Images:
    pictures = tuple(
        Picture(one.picture, _caption(result, one.first, one.second, one.kind))
        for one in result.exhibits
    )
    return Images("Inputs of the worst classes and pairs", pictures, columns=2)


def _caption(result: DeepInspectResult, first: int, second: int, kind: str) -> str:
    if kind == "input":
        return f"{result.classes[first]}, seen as {result.classes[second]}"
    if kind == "class":
        return f"{result.classes[first]}, wrong" + (
            f": {result.classes[second]}" if second >= 0 else ""
        )
    return f"{result.classes[first]} and {result.classes[second]}"


def _upper(matrix: np.ndarray) -> np.ndarray:
    first, second = np.triu_indices(len(matrix), 1)
    return np.asarray(matrix[first, second], dtype=np.float64)
