"""Aligns two views of the same question, and subtracts the first from the second."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robgui.core.view.axis import Axis
from robgui.core.view.parts import Line, Series
from robgui.core.view.views import Bars, Curves, Matrix, View

#: Views that can be subtracted.
Comparable = Curves | Matrix | Bars


def aligned(first: View, second: View) -> tuple[View, View]:
    """Both views made comparable by eye.

    Same colours, same ranges, same bars in the same places.
    """
    if isinstance(first, Matrix) and isinstance(second, Matrix):
        second = _in_order_of(first, second)
        levels = (min(first.levels[0], second.levels[0]), max(first.levels[1], second.levels[1]))
        return replace(first, levels=levels), replace(second, levels=levels)
    if isinstance(first, Curves) and isinstance(second, Curves):
        return _same_ranges(first, second)
    if isinstance(first, Bars) and isinstance(second, Bars):
        if first.edges is None and second.edges is None:
            names = tuple(dict.fromkeys([*first.names, *second.names]))
            first, second = _spread(first, names), _spread(second, names)
        first, second = _same_series(first, second)
        value = _common(first.value, second.value, [*_heights(first), *_heights(second)])
        return replace(first, value=value), replace(second, value=value)
    return first, second


def difference(first: View, second: View) -> Comparable | str:
    """``second`` minus ``first``; a sentence if their axes differ."""
    if isinstance(first, Curves) and isinstance(second, Curves):
        return _curves(first, second)
    if isinstance(first, Matrix) and isinstance(second, Matrix):
        return _matrix(first, second)
    if isinstance(first, Bars) and isinstance(second, Bars):
        return _bars(first, second)
    return "There is no difference to draw between these two pictures; compare them by eye."


def is_zero(view: Comparable) -> bool:
    """Whether a difference is zero everywhere."""
    if isinstance(view, Curves):
        return not any(np.nan_to_num(line.y).any() for line in view.lines)
    if isinstance(view, Matrix):
        return not np.nan_to_num(view.values).any()
    return not any(np.nan_to_num(row.values).any() for row in view.series)


def _curves(first: Curves, second: Curves) -> Curves | str:
    before = {line.name: line for line in first.lines if not line.quiet}
    both = [line for line in second.lines if line.name in before and not line.quiet]
    here, there = _shared(first.at, second.at)
    both = [line for line in both if line.x is None and before[line.name].x is None]
    if first.x != second.x or not len(here) or not both:
        return (
            f"The two runs do not have the same {first.x.name}; run both with the same settings to"
            " see the difference."
        )
    lines = tuple(
        # Without a band: the ends of two intervals do not subtract to the ends of one.
        replace(line, y=line.y[there] - before[line.name].y[here], low=None, high=None)
        for line in both
    )
    note = second.note
    if len(here) < max(len(first.at), len(second.at)):
        # Said, since places of at least one of the two are missing from the curve.
        note = f"At the {len(here)} places that both runs have."
    most = _most([line.y for line in lines])
    y = replace(
        second.y,
        name=f"difference in {first.y.name}",
        low=-most,
        high=most,
        log=False,
        better="neither",
    )
    return replace(
        second,
        title="Difference",
        at=second.at[there],
        y=y,
        lines=lines,
        marks=(),
        levels=(),
        note=note,
    )


def _shared(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which places two axes have in common, as numbers in each.

    None unless both begin and end alike: a curve may have more places where it bends.
    """
    none = np.zeros(0, dtype=np.int64)
    # Runs over different ranges share no axis, even if single places happen to agree.
    if not len(first) or not len(second) or not np.allclose(first[[0, -1]], second[[0, -1]]):
        return none, none
    nearest = np.abs(first[:, None] - second).argmin(1)
    # Radii are computed, not typed: equal ones differ in their last digits.
    alike = np.isclose(first, second[nearest], rtol=1e-6, atol=1e-9)
    return np.flatnonzero(alike), nearest[alike]


def _in_order_of(first: Matrix, second: Matrix) -> Matrix:
    """The second with rows and columns in the order of the first, if they are the same."""
    names = ((first.rows, second.rows), (first.columns, second.columns))
    if second.classes is not None or second.spots or not all(map(_permuted, names)):
        return second
    rows, columns = ([own.index(name) for name in wanted] for wanted, own in names)
    values = second.values[np.ix_(rows, columns)]
    return replace(second, values=values, rows=first.rows, columns=first.columns)


def _permuted(names: tuple[tuple[str, ...], tuple[str, ...]]) -> bool:
    """Whether both have the same names, each once."""
    wanted, own = names
    return bool(wanted) and len(set(wanted)) == len(wanted) and sorted(wanted) == sorted(own)


def _matrix(first: Matrix, second: Matrix) -> Matrix | str:
    second = _in_order_of(first, second)
    names = (first.rows, first.columns) == (second.rows, second.columns)
    if first.values.shape != second.values.shape or first.rect != second.rect or not names:
        return (
            "The two runs do not have the same axes; run both with the same settings to see the"
            " difference."
        )
    values = second.values - first.values
    most = _most([values])
    scale = replace(second.scale, name=f"difference in {first.scale.name}", low=-most, high=most)
    return replace(
        second,
        title="Difference",
        values=values,
        scale=scale,
        levels=(-most, most),
        worst="middle",
        classes=None,
        guessed=None,
        spots=(),
    )


def _bars(first: Bars, second: Bars) -> Bars | Curves | str:
    if first.edges is not None or second.edges is not None:
        return _histograms(first, second)
    # In the order of the first, as ``aligned`` shows both.
    names = tuple(name for name in first.names if name in second.names)
    before = {row.name: row for row in first.series}
    both = [row for row in second.series if row.name in before]
    if not names or not both:
        return "The two runs have no number in common, so there is nothing to subtract."
    at_first = [first.names.index(name) for name in names]
    at_second = [second.names.index(name) for name in names]
    # On a logarithmic axis the ratio is what the eye compares: subtract the powers of ten.
    on = np.log10 if second.value.log else np.asarray
    rows = tuple(
        Series(row.name, on(row.values[at_second]) - on(before[row.name].values[at_first]), row.ink)
        for row in both
    )
    most = _most([row.values for row in rows])
    scale = second.value
    if scale.log:
        scale = replace(scale, unit="powers of ten", kind="number")
    value = replace(
        scale,
        name=f"difference in {first.value.name}",
        low=-most,
        high=most,
        log=False,
        better="neither",
    )
    return replace(
        second, title="Difference", value=value, names=names, series=rows, stacked=False, levels=()
    )


def _histograms(first: Bars, second: Bars) -> Bars | Curves | str:
    one, two = first.edges, second.edges
    if one is None or two is None or one.shape != two.shape or not np.allclose(one, two):
        return "The two histograms have different bins, so there is nothing to subtract."
    before = {row.name: row for row in first.series}
    both = [row for row in second.series if row.name in before]
    if not both:
        return "The two runs have no set in common, so there is nothing to subtract."
    rows = tuple(Series(row.name, row.values - before[row.name].values, row.ink) for row in both)
    most = _most([row.values for row in rows])
    value = replace(
        second.value,
        name=f"difference in {first.value.name}",
        low=-most,
        high=most,
        better="neither",
    )
    # Parts of a whole grow at each other's cost: stacked, their differences would cover each other.
    if second.stacked:
        lines = tuple(Line(row.name, row.values, row.ink, steps=True) for row in rows)
        return Curves("Difference", second.x, value, two[1:], lines, marks=second.marks)
    return replace(second, title="Difference", value=value, series=rows, levels=(), marks=())


def _same_ranges(first: Curves, second: Curves) -> tuple[Curves, Curves]:
    """Both over axes that contain both: a line stands equally high in each."""
    both = [*first.lines, *second.lines]
    places = [*(line.x for line in both if line.x is not None), first.at, second.at]
    ends = [end for line in both for end in (line.y, line.low, line.high) if end is not None]
    x, y = _common(first.x, second.x, places), _common(first.y, second.y, ends)
    return replace(first, x=x, y=y), replace(second, x=x, y=y)


def _common(first: Axis, second: Axis, data: Sequence[np.ndarray]) -> Axis:
    """The first axis, from the lower start to the higher end of both, stated or in the data."""
    parts = [part for array in data if (part := array[np.isfinite(array)]).size]
    low = min((float(part.min()) for part in parts), default=math.nan)
    high = max((float(part.max()) for part in parts), default=math.nan)
    stated = math.isfinite(first.low + second.low), math.isfinite(first.high + second.high)
    # Only if both state it: one that leaves its start to the data may reach below.
    if stated[0]:
        low = min(first.low, second.low)
    if stated[1]:
        high = max(first.high, second.high)
    return replace(first, low=low, high=high)


def _heights(bars: Bars) -> list[np.ndarray]:
    """Where bars begin and end: at zero, unless their axis is logarithmic."""
    ends = [
        end for row in bars.series for end in (row.values, row.low, row.high) if end is not None
    ]
    if bars.stacked and bars.series:
        ends.append(np.nansum([row.values for row in bars.series], axis=0))
    # Bars stand on zero, so zero is part of the range; a logarithmic axis has no zero.
    if bars.value.log:
        return ends
    return [*ends, np.zeros(1)]


def _spread(bars: Bars, names: tuple[str, ...]) -> Bars:
    """The same bars with a gap for every name that is missing."""

    def wide(values: np.ndarray | None) -> np.ndarray | None:
        if values is None:
            return None
        known = dict(zip(bars.names, values.tolist(), strict=True))
        return np.array([known.get(name, np.nan) for name in names], dtype=float)

    rows = tuple(
        Series(row.name, np.asarray(wide(row.values)), row.ink, wide(row.low), wide(row.high))
        for row in bars.series
    )
    return replace(bars, names=names, series=rows)


def _same_series(first: Bars, second: Bars) -> tuple[Bars, Bars]:
    """Both with the same rows of bars in the same order.

    A row's position sets its fill; a row that one of them lacks is empty there.
    """
    # The first comes last, so the ink is its own where both have a row.
    rows = {row.name: row for row in (*second.series, *first.series)}
    names = dict.fromkeys(row.name for row in (*first.series, *second.series))
    sides = [{row.name for row in bars.series} for bars in (first, second)]
    doubled = any(
        len(side) < len(bars.series) for side, bars in zip(sides, (first, second), strict=True)
    )
    if doubled or not sides[0] & sides[1]:
        return first, second

    def filled(bars: Bars) -> Bars:
        own = {row.name: row for row in bars.series}
        none = np.full(len(bars.series[0].values), np.nan)
        series = (
            replace(own[name], ink=rows[name].ink)
            if name in own
            else Series(name, none, rows[name].ink)
            for name in names
        )
        return replace(bars, series=tuple(series))

    return filled(first), filled(second)


def _most(arrays: list[np.ndarray]) -> float:
    """The largest distance from zero, for a symmetric axis."""
    sizes = [float(np.nanmax(np.abs(array), initial=0.0)) for array in arrays if array.size]
    # An axis from 0 to 0 cannot be drawn.
    return max(sizes, default=0.0) or 1.0
