"""What tolerance looks like: two curves that hold the truth between them, a bracket for each
input.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.tolerance.params import ToleranceParams
from robgui.analyses.tolerance.result import RARE, ToleranceResult
from robgui.core.text.words import number, rough_percent
from robgui.core.view import (
    Axis,
    Box,
    Boxes,
    Column,
    Curves,
    Images,
    Ink,
    Line,
    Mark,
    Picture,
    Spot,
    Table,
    View,
)

#: Points of a curve, and brackets that can be read.
_POINTS, _LANES = 200, 30
_SIZE = Axis("change of every value", low=0)


def views(result: ToleranceResult, params: ToleranceParams) -> Sequence[View]:
    """The curves first, then the brackets of the inputs, examples, the table."""
    found: list[View] = [_curves(result, params), _brackets(result, params)]
    if result.done == result.total == 1:
        each = range(len(result.networks))
        found = [*(_axis(result, at) for at in each), *(_axis_table(result, at) for at in each)]
    if result.examples:
        found.append(_examples(result))
    return (*found, _table(result))


def _curves(result: ToleranceResult, params: ToleranceParams) -> Curves:
    at = np.linspace(0, params.largest, _POINTS)
    lines = [
        line for network in range(len(result.networks)) for line in _lines(result, network, at)
    ]
    return Curves(
        "Inputs that keep their class",
        Axis(_SIZE.name, low=0, high=params.largest),
        Axis("share of the inputs", kind="share", low=0, high=1, better="high"),
        at,
        tuple(lines),
        marks=(Mark(params.hold, "must take", Ink("risk")),),
        note=_band_words(result),
    )


def _band_words(result: ToleranceResult) -> str:
    """What lies between the lines, and what the choice of inputs adds."""
    between = "For these inputs the truth lies above what is proven and below what is turned"
    if len(result.networks) > 1:
        room = rough_percent(result.margin())
        return f"{between}; the choice of inputs leaves {room} open to either side (95 %)."
    return (
        f"{between}; the bands add what the choice of inputs leaves open (95 % for the whole"
        " curve)."
    )


def _lines(result: ToleranceResult, network: int, at: np.ndarray) -> list[Line]:
    """What no known change turns, unless nothing was attacked, and what is proven.

    The bands of several models would cover each other.
    """
    margin, high = result.margin(), result.kept_at_most(network, at)
    low = result.kept_at_least(network, at)
    below, above = np.maximum(0, low - margin), np.minimum(1, high + margin)
    turned = Line(
        "no change known that turns them", high, Ink("changed"), low=high, high=above, steps=True,
        strong=True,
    )  # fmt: skip
    proven = Line("proven to stay", low, Ink("holds"), low=below, high=low, steps=True)
    if len(result.networks) > 1:
        name, ink = result.networks[network], Ink("series", network)
        turned = Line(f"not turned: {name}", high, ink, steps=True, strong=True)
        proven = Line(f"proven: {name}", low, ink, steps=True)
    return [proven] if result.no_attack[network] else [turned, proven]


def _brackets(result: ToleranceResult, params: ToleranceParams) -> Boxes:
    order = np.argsort(np.minimum(result.broken[0], params.largest), kind="stable")[:_LANES]
    boxes, spots = [], []
    for lane, row in enumerate(order.tolist()):
        low, high = float(result.proven[0][row]), float(result.broken[0][row])
        open_end = not np.isfinite(high)
        end = params.largest if open_end else high
        boxes.append(Box(0.0, lane + 0.15, low, 0.7, "proven", Ink("holds")))
        boxes.append(Box(low, lane + 0.15, end - low, 0.7, "open", Ink("unknown")))
        if not open_end:
            spots.append(Spot(high, lane + 0.5, "turned", Ink("fails"), "cross"))
    left = result.done - len(order)
    note = "Green: proven to stay. Grey: not known. Cross: a change that turns it."
    if left:
        note = f"The {len(order)} inputs that take least; {left} more are in the table. {note}"
    name = f": {result.networks[0]}" if len(result.networks) > 1 else ""
    return Boxes(
        f"Brackets of the inputs{name}",
        Axis(_SIZE.name, low=0, high=params.largest),
        Axis("input"),
        tuple(boxes),
        spots=tuple(spots),
        lanes=tuple(result.names[row] for row in order),
        note=note,
    )


#: What can happen to one input as changes grow, the surest on top; short, to stand beside an axis.
_ATTACK, _HALF, _RARE, _VALIDATED, _PROVEN = (
    "attack",
    "noise 50 %",
    "noise 1e-4",
    "validated 1e-6",
    "proven",
)


def _takes(result: ToleranceResult, network: int) -> list[tuple[str, float, float]]:
    """What happens to the only input, and between which sizes it begins; 0 and inf where that is
    not known.
    """
    noise = result.noise[network] if result.noise else None
    proven = float(result.proven[network][0])
    rare, half = (noise.fails(chance) if noise else (0.0, np.inf) for chance in (RARE, 0.5))
    # where nothing turns it, noise does not either
    validated = max(proven, noise.validated if noise is not None else 0.0)
    return [
        (_ATTACK, proven, float(result.broken[network][0])),
        (_HALF, max(proven, half[0]), half[1]),
        (_RARE, max(proven, rare[0]), rare[1]),
        (_VALIDATED, validated, np.inf),
        (_PROVEN, proven, np.inf),
    ]


def _axis(result: ToleranceResult, network: int) -> Boxes:
    """All that is known of how much one input takes, on one axis."""
    rows = _takes(result, network)
    boxes, spots = [], []
    for lane, (name, low, high) in enumerate(rows):
        if low > 0:
            boxes.append(Box(0.0, lane + 0.2, low, 0.6, "not yet", Ink("holds")))
        if np.isfinite(high):
            ink = Ink("fails" if name == _ATTACK else "risk")
            boxes.append(Box(low, lane + 0.2, high - low, 0.6, "not known", Ink("unknown")))
            spots.append(Spot(high, lane + 0.5, name, ink, "cross"))
    reach = [end for _, low, high in rows for end in (low, high) if np.isfinite(end)]
    return Boxes(
        f"What {result.names[0]} takes{_of_model(result, network)}",
        Axis(_SIZE.name, low=0, high=1.1 * max([*reach, 1e-6])),
        Axis("what happens"),
        tuple(boxes),
        spots=tuple(spots),
        lanes=tuple(name for name, _, _ in rows),
        note="Green: it does not happen yet. Grey: not known. Cross: it happens here. Proven: no"
        " change turns the class. Validated: uniform noise of that size turns it more rarely than"
        " 1e-6, 99 % sure; how often noise does is 95 % sure at each of the sizes tried, and not"
        " known between them.",
    )


def _axis_table(result: ToleranceResult, network: int) -> Table:
    """The same in numbers."""
    rows = _takes(result, network)[::-1]
    words = tuple(_size_words(low, high, seen=name == _ATTACK) for name, low, high in rows)
    names = Column("What happens", tuple(name for name, _, _ in rows))
    return Table(
        f"Sizes{_of_model(result, network)}",
        (names, Column("Change of every value", words)),
    )


def _of_model(result: ToleranceResult, network: int) -> str:
    return f": {result.networks[network]}" if len(result.networks) > 1 else ""


def _size_words(low: float, high: float, *, seen: bool) -> str:
    """Between which sizes something begins, or at which it was seen; or that it is not known."""
    if seen:
        return number(high) if np.isfinite(high) else "not known"
    if low > 0 and np.isfinite(high):
        return f"{number(low)} to {number(high)}"
    if low > 0:
        return f"up to {number(low)}"
    return f"below {number(high)}" if np.isfinite(high) else "not known"


def _examples(result: ToleranceResult) -> Images:
    pictures = []
    for one in result.examples:
        model = f"{result.networks[one.network]}, " if len(result.networks) > 1 else ""
        pictures += [
            Picture(one.picture, f"{model}{one.name}", result.labels[one.network][one.before]),
            Picture(
                one.changed,
                f"changed by {number(one.size)}",
                result.labels[one.network][one.after],
                right=False,
            ),
        ]
    return Images("The smallest changes that turn an input", tuple(pictures), pairs=True)


def _table(result: ToleranceResult) -> Table:
    columns = [Column("Input", result.names)]
    for network, name in enumerate(result.networks):
        several = f" {name}" if len(result.networks) > 1 else ""
        turned = result.broken[network]
        cells = tuple(float(size) if np.isfinite(size) else None for size in turned)
        columns += [
            Column(f"Proven up to{several}", tuple(map(float, result.proven[network])), "number"),
            Column(f"Turned by{several}", cells, "number"),
            Column(f"Wrong as it is{several}", tuple(map(bool, result.wrong[network]))),
        ]
    return Table("Inputs", tuple(columns), note="Changes of every value, 0 to 1.")
