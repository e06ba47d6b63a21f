"""One input: everything known of how much it takes, on one axis."""

from __future__ import annotations

import numpy as np

from robgui.analyses.tolerance.result import RARE, NoiseTolerance, ToleranceResult
from robgui.core.intervals import clopper_pearson
from robgui.core.text.words import number
from robgui.core.view import Axis, Box, Boxes, Column, Ink, Spot, Table, View

SIZE = "change of every value"
#: The size is a part of the range that every value has.
RANGE = "1 = its whole range"


def views_of_one(result: ToleranceResult) -> list[View]:
    """The axis of each model, then the same in numbers."""
    each = range(len(result.networks))
    tables = [table for at in each for table in _axis_tables(result, at)]
    return [*(_axis(result, at) for at in each), *tables]


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
    # A lane is one high: a fifth stays free on either side of the bar.
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
        Axis(SIZE, low=0, high=1.1 * max(ends), remark=RANGE),
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
