"""The views of tolerance: two curves that bracket the truth, and a bracket for each input."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.tolerance.params import ToleranceParams
from robgui.analyses.tolerance.result import RARE, NoiseTolerance, ToleranceResult
from robgui.core.intervals import clopper_pearson
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
    if not result.done:
        return (_table(result),)
    found: list[View] = [_brackets(result, params)]
    curves = _curves(result, params)
    if curves.lines:
        found = [curves, *found]
    # One input: everything known of it on one axis says more than a curve with one step.
    if result.done == result.total == 1:
        each = range(len(result.networks))
        tables = [table for at in each for table in _axis_tables(result, at)]
        found = [*(_axis(result, at) for at in each), *tables]
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
    """What no known change turns, unless nothing was attacked, and what is proven, if anything is.

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
        turned = Line(f"not turned: {name}", high, ink, steps=True, strong=True, model=network)
        proven = Line(f"proven: {name}", low, ink, steps=True, model=network)
    drawn = []
    if not result.no_attack[network]:
        drawn.append(turned)
    if result.proven[network].any():
        drawn.append(proven)
    return drawn


def _brackets(result: ToleranceResult, params: ToleranceParams) -> Boxes:
    # The minimum makes open brackets equal, so they keep the order of the run.
    order = np.argsort(np.minimum(result.broken[0], params.largest), kind="stable")[:_LANES]
    boxes, spots = [], []
    for lane, row in enumerate(order.tolist()):
        low, high = float(result.proven[0][row]), float(result.broken[0][row])
        open_end = not np.isfinite(high)
        end = params.largest if open_end else high
        if low > 0:
            boxes.append(Box(0.0, lane + 0.15, low, 0.7, "proven", Ink("holds")))
        boxes.append(Box(low, lane + 0.15, end - low, 0.7, "open", Ink("unknown")))
        if not open_end:
            spots.append(Spot(high, lane + 0.5, "turned", Ink("fails"), "cross"))
    left = result.done - len(order)
    note = "Grey: not known. Cross: a change that turns it."
    if result.proven[0].any():
        note = f"Green: proven to stay. {note}"
    if result.blank(0):
        note = "Grey: not known. No attack was tried, for want of gradients, and nothing is proven."
    if left:
        note = f"The {len(order)} inputs that take least; {left} more are in the table. {note}"
    if len(result.networks) > 1:
        name = f": {result.networks[0]}"
    else:
        name = ""
    return Boxes(
        f"Brackets of the inputs{name}",
        Axis(_SIZE.name, low=0, high=params.largest),
        Axis("input"),
        tuple(boxes),
        spots=tuple(spots),
        lanes=tuple(result.names[row] for row in order),
        note=note,
        model=0,
    )


#: What can happen to one input as changes grow, the surest on top; short, to stand beside an axis.
_ATTACK, _HALF, _RARE, _VALIDATED, _PROVEN = (
    "attack",
    "noise 50 %",
    "noise 1e-4",
    "validated 1e-6",
    "proven",
)
_LANES_OF_ONE = (_ATTACK, _HALF, _RARE, _VALIDATED, _PROVEN)
_NOT_KNOWN = "not known"
#: Symbols closer than this part of the axis would cover each other.
_NARROW = 0.03


def _axis(result: ToleranceResult, network: int) -> Boxes:
    """Everything known about how much one input takes, on one axis.

    A box shows what holds at every size within it, which only a proof tells; what noise does is
    known only at the sizes tried.
    """
    proven, broken = float(result.proven[network][0]), float(result.broken[network][0])
    if result.noise:
        noise = result.noise[network]
    else:
        noise = None
    # A proof covers every lane: what no change does, noise does not do either.
    lanes, spots = range(len(_LANES_OF_ONE)) if proven > 0 else (), []
    boxes = [Box(0.0, at + 0.2, proven, 0.6, "proven: no change", Ink("holds")) for at in lanes]
    if np.isfinite(broken):
        spots.append(Spot(broken, _middle(_ATTACK), "turned by an attack", Ink("fails"), "cross"))
        boxes.append(Box(proven, 0.2, broken - proven, 0.6, "not known", Ink("unknown")))
    if noise is not None:
        reach = _reach(proven, broken, noise)
        spots += _tried(noise, _HALF, 0.5, reach) + _tried(noise, _RARE, RARE, reach)
        if noise.validated:
            spots.append(_rarer(noise.validated, _VALIDATED))
    # The smallest keeps the axis from shrinking to nothing.
    ends = [1e-6, *(box.x + box.width for box in boxes), *(spot.x for spot in spots)]
    return Boxes(
        f"What {result.names[0]} takes{_of_model(result, network)}",
        Axis(_SIZE.name, low=0, high=1.1 * max(ends)),
        Axis("what happens"),
        tuple(boxes),
        spots=tuple(spots),
        lanes=_LANES_OF_ONE,
        note="Green bar: proven, no change of these sizes turns the class. Signs: uniform noise of"
        " just this size, 95 % sure at each (validated: 99 %); what noise of other sizes does is"
        " not known. The table has all sizes tried.",
        model=network,
    )


def _middle(name: str) -> float:
    """Where the symbols of a lane stand."""
    return _LANES_OF_ONE.index(name) + 0.5


def _rarer(size: float, name: str) -> Spot:
    return Spot(size, _middle(name), "noise: more rarely", Ink("holds"), "circle")


def _tried(noise: NoiseTolerance, name: str, chance: float, reach: float) -> list[Spot]:
    """What noise does at each size tried, as far as they can be told apart on the axis."""
    found = []
    for size, told in zip(noise.sizes.tolist(), noise.told(chance).tolist(), strict=True):
        if not _NARROW * reach < size <= reach:
            continue
        if told < 0:
            found.append(_rarer(size, name))
        elif told > 0:
            found.append(Spot(size, _middle(name), "noise: more often", Ink("risk"), "cross"))
        else:
            found.append(Spot(size, _middle(name), "noise: not known", Ink("unknown"), "diamond"))
    return found


def _reach(proven: float, broken: float, noise: NoiseTolerance) -> float:
    """The largest size at which anything begins or is known to hold."""
    ends = [proven, broken, noise.validated, *noise.fails(RARE), *noise.fails(0.5)]
    return max(end for end in ends if np.isfinite(end))


def _axis_tables(result: ToleranceResult, network: int) -> list[Table]:
    """The same in numbers, and every size of noise that was tried."""
    proven, broken = float(result.proven[network][0]), float(result.broken[network][0])
    if result.noise:
        noise = result.noise[network]
    else:
        noise = None
    words = {
        _PROVEN: f"up to {number(proven)}" if proven > 0 else _NOT_KNOWN,
        _VALIDATED: number(noise.validated) if noise and noise.validated else _NOT_KNOWN,
        _RARE: _noise_cell(noise, RARE),
        _HALF: _noise_cell(noise, 0.5),
        _ATTACK: number(broken) if np.isfinite(broken) else _NOT_KNOWN,
    }
    columns = (
        Column("What happens", tuple(words)),
        Column("Change of every value", tuple(words.values())),
    )
    sizes = Table(f"Sizes{_of_model(result, network)}", columns, model=network)
    if noise is None:
        return [sizes]
    return [sizes, _noise_table(result, network, noise)]


def _noise_cell(noise: NoiseTolerance | None, chance: float) -> str:
    """The sizes tried at which noise fails more rarely and more often."""
    if noise is None:
        return _NOT_KNOWN
    low, high = noise.fails(chance)
    if low > 0:
        said = [f"more rarely at {number(low)}"]
    else:
        said = []
    if np.isfinite(high):
        said.append(f"more often at {number(high)}")
    return ", ".join(said) or _NOT_KNOWN


def _noise_table(result: ToleranceResult, network: int, noise: NoiseTolerance) -> Table:
    low, high = clopper_pearson(noise.failures, noise.samples)
    columns = (
        Column("Size of the noise", tuple(noise.sizes.tolist()), "number"),
        Column("Samples", tuple(noise.samples.tolist()), "count"),
        Column("Other class", tuple(noise.failures.tolist()), "count"),
        Column("Chance from", tuple(low.tolist()), "probability"),
        Column("to", tuple(high.tolist()), "probability"),
    )
    return Table(
        f"Noise tried{_of_model(result, network)}",
        columns,
        note="Chance that noise of this size turns the class, 95 % sure at each size.",
        model=network,
    )


def _of_model(result: ToleranceResult, network: int) -> str:
    if len(result.networks) > 1:
        return f": {result.networks[network]}"
    return ""


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
    return Images("The smallest changes that turn an input", tuple(pictures), pairs=True)


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
            Column(f"Turned by{several}", cells, "number"),
            Column(f"Wrong as it is{several}", tuple(map(bool, result.wrong[network]))),
        ]
    return Table("Inputs", tuple(columns), note="Changes of every value, 0 to 1.")
