"""What the safe share of the range looks like: bars with their error, and where the regions lie."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from robgui.analyses.semantic.regions.params import METHOD_WORDS
from robgui.analyses.semantic.result import SrvrResult, pieces
from robgui.analyses.semantic.views import METHOD_INKS, view_axis
from robgui.analyses.semantic.volume_ratio.params import TITLE, SrvrParams
from robgui.analyses.semantic.volume_ratio.words import SafeShare, safe_share
from robgui.core.view import Axis, Bars, Box, Boxes, Column, Ink, Mark, Series, Spot, Table, View

_SHARE = Axis("share of the range", low=0.0, kind="share", better="high")


def srvr_views(result: SrvrResult, params: SrvrParams) -> Sequence[View]:
    """The bars first, then their numbers, every shape, and where the regions lie."""
    shares = [safe_share(result, network) for network in range(len(result.networks))]
    views: list[View] = [_bars(result, params, shares), _table(result, shares)]
    # With one network its bars show the ways already.
    if len(shares) > 1 and len(result.methods) > 1:
        views.insert(1, _by_way(result))
    if len(result.shapes) > 1:
        views.append(_by_shape(result))
    if len(result.axes) == 2:
        views.append(_where(result))
    return views


def _bars(result: SrvrResult, params: SrvrParams, shares: list[SafeShare]) -> Bars:
    """A bar for every network.

    A single network has a bar for every way to grow, so another one can be laid beside it.
    """
    mean = np.array([one.mean for one in shares])
    low, high = (np.array([getattr(one, end) for one in shares]) for end in ("low", "high"))
    levels = (Mark(params.enough, "enough", Ink("holds")),) if params.mode == "robust" else ()
    if np.isfinite(low).any():
        note = "The thin lines are 95 % intervals over shapes and starts."
    else:
        note = "One shape and one start have no interval."
    if len(shares) == 1:
        names = ("mean", *(METHOD_WORDS[method] for method in result.methods))
        # Only the mean has an interval.
        gap = np.full(len(result.methods), np.nan)
        values = np.concatenate([mean, result.by_method[0]])
        row = Series(
            "share of the range",
            values,
            Ink("series", 0),
            low=np.concatenate([low, gap]),
            high=np.concatenate([high, gap]),
        )
        return Bars(TITLE, _SHARE, names, (row,), x=Axis("way to grow"), levels=levels, note=note)
    row = Series("share of the range", mean, Ink("series", 0), low=low, high=high)
    x = Axis("network")
    return Bars(TITLE, _SHARE, result.networks, (row,), x=x, levels=levels, note=note)


def _by_way(result: SrvrResult) -> Bars:
    """A group for every network, a bar for every way to grow."""
    ways = zip(result.methods, result.by_method.T, strict=True)
    rows = [Series(METHOD_WORDS[method], row, METHOD_INKS[method]) for method, row in ways]
    return Bars("By way to grow", _SHARE, result.networks, tuple(rows), x=Axis("network"))


def _table(result: SrvrResult, shares: list[SafeShare]) -> Table:
    columns = [
        Column("Network", result.networks),
        Column("Safe share", _cells([one.mean for one in shares]), "share"),
        Column("From (95 %)", _cells([one.low for one in shares]), "share"),
        Column("To (95 %)", _cells([one.high for one in shares]), "share"),
        Column("Regions", _counts(result.regions), "count"),
        Column("Starts", tuple(one.starts for one in shares), "count"),
        Column("Starts lost", tuple(one.lost for one in shares), "count"),
        Column("Never grew", _counts(result.never_grew), "count"),
        Column("Reached the end", _counts(result.hits), "count"),
        Column("Still growing when stopped", _counts(result.unconverged), "count"),
    ]
    ways = zip(result.methods, result.by_method.T, strict=True)
    columns += [Column(METHOD_WORDS[method], _cells(row), "share") for method, row in ways]
    return Table("Networks", tuple(columns))


def _by_shape(result: SrvrResult) -> Table:
    """The mean share of every shape, a column for each network."""
    volumes = result.volume.mean((2, 3))
    classes = tuple(result.labels[c] if c >= 0 else "" for c in result.target)
    columns = [Column("Shape", result.shapes), Column("Class", classes)]
    columns += [Column(name, _cells(volumes[m]), "share") for m, name in enumerate(result.networks)]
    return Table("Share of the range for every shape", tuple(columns))


def _where(result: SrvrResult) -> Boxes:
    """The regions of the first network on the first shape.

    Crosses are starts that lose the class.
    """
    boxes = []
    for start, (q, method) in product(range(len(result.starts)), enumerate(result.methods)):
        at = (0, 0, start, q)
        # A region that never grew is a dot that would hide its start.
        if result.grew[at]:
            bounds = zip(result.axes, result.low[at], result.high[at], strict=True)
            spans = [pieces(axis, float(a), float(b)) for axis, a, b in bounds]
            look = METHOD_WORDS[method], METHOD_INKS[method]
            sides = product(*spans)
            boxes += [Box(x0, y0, x1 - x0, y1 - y0, *look) for (x0, x1), (y0, y1) in sides]
    x, y = (view_axis(axis) for axis in result.axes)
    spots = tuple(_start(result, place) for place in range(len(result.starts)))
    note = f"{result.networks[0]} on {result.shapes[0]}."
    return Boxes("Where the regions lie", x, y, tuple(boxes), None, spots, note=note, model=0)


def _start(result: SrvrResult, place: int) -> Spot:
    at, top = result.starts[place], int(result.start_top1[0, 0, place])
    if top < 0 or top == result.target[0]:
        return Spot(float(at[0]), float(at[1]), "start", Ink("text"), "circle")
    return Spot(float(at[0]), float(at[1]), "start that loses the class", Ink("fails"), "cross")


def _cells(values: Sequence[float] | np.ndarray) -> tuple[float | None, ...]:
    return tuple(float(value) if np.isfinite(value) else None for value in values)


def _counts(values: np.ndarray) -> tuple[int, ...]:
    return tuple(int(value) for value in values)
