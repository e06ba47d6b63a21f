"""The views of tolerance: how many inputs are proven, undecided and turned at every size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.tolerance.one_input import RANGE, SIZE, views_of_one
from robgui.analyses.tolerance.params import ToleranceParams
from robgui.analyses.tolerance.result import Counted, ToleranceResult
from robgui.analyses.tolerance.words import all_words
from robgui.core.text.words import count, number
from robgui.core.view import (
    Axis,
    Bars,
    Box,
    Boxes,
    Column,
    Images,
    Ink,
    Mark,
    Picture,
    Series,
    Spot,
    Table,
    View,
)

#: Sizes at which inputs are counted, and brackets that can be read.
_BINS, _LANES = 100, 30


def views(result: ToleranceResult, params: ToleranceParams) -> Sequence[View]:
    """How many inputs take what first, then each input, examples, the table."""
    several = len(result.networks) > 1
    # One input: everything known of it on one axis says more than a count of one.
    if result.done == result.total == 1:
        found = views_of_one(result)
    elif several:
        first, *others = (_by_size(result, params, at) for at in range(len(result.networks)))
        found = [first, _side_by_side(result, params), *others]
    else:
        found = [_by_size(result, params, 0)]
        if result.done:
            found.append(_brackets(result, params))
    if result.examples:
        found.append(_examples(result))
    return (*found, _table(result))


def _by_size(result: ToleranceResult, params: ToleranceParams, network: int) -> Bars:
    """Of one model, how many inputs are proven, undecided and turned at every size."""
    # What must be taken is an edge: there the picture says what the sentence says.
    edges = np.unique(np.append(np.linspace(0, params.largest, _BINS + 1), params.hold))
    counted = result.counted(network, edges[1:])
    title = "How much change the inputs take"
    if len(result.networks) > 1:
        title = f"What {result.networks[network]} takes"
    return Bars(
        title,
        Axis("inputs", kind="count", low=0, high=result.total),
        (),
        _series(counted),
        stacked=True,
        edges=edges,
        x=Axis(SIZE, low=0, high=params.largest, remark=RANGE),
        marks=(Mark(params.hold, f"must take {number(params.hold)}", Ink("text")),),
        note=_note(result, all_words(result, params, network)),
        model=network if len(result.networks) > 1 else None,
    )


def _side_by_side(result: ToleranceResult, params: ToleranceParams) -> Bars:
    """What every model does at the size that must be taken."""
    size = np.array([params.hold])
    each = [result.counted(at, size) for at in range(len(result.networks))]
    together = Counted(*(np.concatenate(parts) for parts in zip(*each, strict=True)))
    return Bars(
        f"All models at {number(params.hold)}",
        Axis("inputs", kind="count", low=0, high=result.total),
        result.networks,
        _series(together),
        stacked=True,
        note=_note(
            result,
            f"What becomes of the inputs when values change by at most {number(params.hold)}.",
        ),
    )


def _note(result: ToleranceResult, words: str) -> str:
    """What is said below a picture: first how many inputs are not in it."""
    if result.complete:
        return words
    left = count(result.total - result.done, "input")
    return f"Not looked at: {left}, the empty room on top. {words}".rstrip()


def _series(counted: Counted) -> tuple[Series, ...]:
    """From the bottom what is sure to stay, then what is undecided, then what is broken."""
    series = [
        Series("proven to keep their class", counted.proven, Ink("holds")),
        Series("undecided", counted.undecided, Ink("unknown")),
        Series("change class", counted.turned, Ink("changed")),
    ]
    if counted.wrong.any():
        series.append(Series("wrong even unchanged", counted.wrong, Ink("fails")))
    return tuple(series)


def _brackets(result: ToleranceResult, params: ToleranceParams) -> Boxes:
    # The minimum makes open brackets equal, so they keep the order of the run.
    order = np.argsort(np.minimum(result.broken[0], params.largest), kind="stable")[:_LANES]
    boxes, spots = [], []
    for lane, row in enumerate(order.tolist()):
        low, high = float(result.proven[0][row]), float(result.broken[0][row])
        open_end = not np.isfinite(high)
        if open_end:
            end = params.largest
        else:
            end = high
        if low > 0:
            boxes.append(Box(0.0, lane + 0.15, low, 0.7, "proven", Ink("holds")))
        boxes.append(Box(low, lane + 0.15, end - low, 0.7, "undecided", Ink("unknown")))
        if not open_end:
            spots.append(Spot(high, lane + 0.5, "changes class", Ink("fails"), "cross"))
    left = result.done - len(order)
    note = "Grey: undecided. Cross: a change that turns the class."
    if result.proven[0].any():
        note = f"Green: proven to keep the class. {note}"
    if result.blank(0):
        note = "Grey: undecided. No attack was tried, for want of gradients, and nothing is proven."
    if left:
        note = f"The {len(order)} inputs that take least; {left} more are in the table. {note}"
    return Boxes(
        "Each input",
        Axis(SIZE, low=0, high=params.largest, remark=RANGE),
        Axis("input"),
        tuple(boxes),
        spots=tuple(spots),
        lanes=tuple(result.names[row] for row in order),
        note=note,
    )


def _examples(result: ToleranceResult) -> Images:
    pictures = []
    for one in result.examples:
        if len(result.networks) > 1:
            model = f"{result.networks[one.network]}, "
        else:
            model = ""
        pictures += [
            Picture(one.picture, f"{model}{one.name}", result.labels[one.network][one.before]),
            Picture(
                one.changed,
                f"changed by {number(one.size)}",
                result.labels[one.network][one.after],
                right=False,
            ),
        ]
    return Images("The smallest changes that turn the class", tuple(pictures), pairs=True)


def _table(result: ToleranceResult) -> Table:
    columns = [Column("Input", result.names)]
    for network, name in enumerate(result.networks):
        if len(result.networks) > 1:
            several = f" {name}"
        else:
            several = ""
        turned = result.broken[network]
        cells = tuple(float(size) if np.isfinite(size) else None for size in turned)
        columns += [
            Column(f"Proven up to{several}", tuple(map(float, result.proven[network])), "number"),
            Column(f"Changes class at{several}", cells, "number"),
            Column(f"Wrong unchanged{several}", tuple(map(bool, result.wrong[network]))),
        ]
    return Table("Inputs", tuple(columns), note=f"Sizes: {SIZE}, {RANGE}.")
