"""What growing regions look like: boxes over the map step by step, and what is inside them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from robgui.analyses.semantic.regions.lost import lost_in, mode_of, shown_region, size_of
from robgui.analyses.semantic.regions.params import METHOD_WORDS, SHORT_WORDS, RegionsParams
from robgui.analyses.semantic.result import RegionsResult, pieces
from robgui.analyses.semantic.views import METHOD_INKS, SCORE, score_matrix, view_axis
from robgui.analyses.semantic.words import place_words, range_words
from robgui.core.text.words import number
from robgui.core.view import (
    Axis,
    Bars,
    Box,
    Boxes,
    Column,
    Curves,
    Film,
    Images,
    Ink,
    Line,
    Mark,
    Matrix,
    Picture,
    Series,
    Spot,
    Table,
    View,
)

#: Most frames in a film.
MOST_FRAMES = 32
#: Share of its lane that a box takes; the rest is gaps.
_THICK = 0.7
_SHARE = Axis("share of the range", low=0.0, high=1.0, kind="share")
#: Every way to find a region, in the order of legends.
_WAYS = tuple(METHOD_WORDS)
#: Two numbers, one for each axis.
Pair = tuple[float, float]


def regions_views(result: RegionsResult, params: RegionsParams) -> Sequence[View]:
    """The growing first, then what was found inside, every region, pictures, sizes and losses."""
    views: list[View] = [growth_film(result)]
    if len(result.axes) == 1:
        views.append(score_curve(result))
    if result.method:
        region = shown_region(result, params)
        pictures = region_pictures(result, region)
        views += [
            lost_bars(result, params),
            region_table(result),
            *([pictures] if pictures.pictures else []),
        ]
        views.append(bounds_table(result))
        if mode_of(result, params) != "box":  # Boxes have one way to grow and no loss.
            views += [size_bars(result), loss_curves(result)]
    return views


def growth_film(
    result: RegionsResult,
    start: int = -1,
    ground: Matrix | None = None,
    most: int = MOST_FRAMES,
) -> Film:
    """The regions of one start, or (below 0) of all, growing on ``ground`` or the coarse map."""
    if result.method:
        steps = result.trace.shape[1]
    else:
        steps = 1
    last = steps - 1
    # Rounded up, so there are never more frames than ``most``; the last step is always one.
    stride = max(1, -(-last // (most - 1)))
    shown = list(dict.fromkeys([*range(0, steps, stride), last]))
    ground = ground or backdrop(result)
    frames = tuple(boxes_at(result, step, start, ground) for step in shown)
    names = tuple(f"step {step:,} of {last:,}" for step in shown)
    if not result.method:
        names = ("looking where the class holds",)
    return Film("Regions growing", frames, names, note=_subject(result))


def boxes_at(result: RegionsResult, step: int, start: int, ground: Matrix | None) -> Boxes:
    """The regions after one step: rectangles over two parameters, bars in lanes otherwise."""
    shown = (result.start_number == start) | (start < 0)
    rows = [int(row) for row in np.flatnonzero(shown)]
    if len(result.axes) == 2:
        return _on_map(result, rows, step, ground)
    if len(result.axes) == 1:
        return _on_line(result, rows, step)
    return _in_lanes(result, rows, step)


def backdrop(result: RegionsResult) -> Matrix | None:
    """The coarse map behind regions of two parameters."""
    if len(result.axes) != 2:
        return None
    grid = (result.map_x, result.map_y)
    return score_matrix("Score of the class", result.axes, grid, result.map_score)


def score_curve(result: RegionsResult) -> Curves:
    """The score over a single parameter."""
    line = Line(
        "score of the class",
        np.asarray(result.map_score[0], dtype=float),
        Ink("class"),
        strong=True,
    )
    return Curves("Score of the class", view_axis(result.axes[0]), SCORE, result.map_x, (line,))


def lost_bars(result: RegionsResult, params: RegionsParams) -> Bars:
    """Share of the poses inside each region that lose the class, with its upper bound."""
    inside = [lost_in(result, row) for row in range(len(result.method))]
    share = np.array([one.share for one in inside])
    most = np.array([one.most if one.known else np.nan for one in inside])
    series = Series("lost", share, Ink("fails"), low=share, high=most)
    value = Axis("poses lost inside", low=0.0, kind="share", better="low")
    level: tuple[Mark, ...] = ()
    if params.mode != "adversarial":
        level = (Mark(params.most_lost, "allowed", Ink("holds")),)
    note = "Thin line: up to the bound of 95 % confidence."
    return Bars(
        "What is lost inside",
        value,
        _names(result),
        (series,),
        x=Axis("region"),
        levels=level,
        note=note,
    )


def region_table(result: RegionsResult) -> Table:
    """One row for every region: size, what is lost inside, and what became of it."""
    inside = [lost_in(result, row) for row in range(len(result.method))]
    columns = [
        Column("Region", _names(result)),
        Column("Share lost", tuple(one.share if one.known else None for one in inside), "share"),
        Column("At most (95 %)", tuple(one.most if one.known else None for one in inside), "share"),
        Column(
            "Range filled",
            tuple(size_of(result, row) for row in range(len(result.method))),
            "share",
        ),
        Column("Poses lost", tuple(one.lost if one.known else None for one in inside), "count"),
        Column("of", tuple(one.total if one.known else None for one in inside), "count"),
        Column("Fate", tuple(fate(result, row) for row in range(len(result.method)))),
    ]
    return Table("Regions", tuple(columns))


def fate(result: RegionsResult, row: int) -> str:
    """What became of a region."""
    if not result.grown[row]:
        return "start does not fit"
    words = (
        ("never grew", result.never_grew[row]),
        ("reached the end", result.hit_domain[row]),
        ("still growing when stopped", not result.converged[row]),
    )
    return ", ".join(name for name, true in words if true) or "came to rest"


def loss_curves(result: RegionsResult, step: int = -1) -> Curves:
    """What each way to grow minimises; a mark where a film stands."""
    count = result.loss.shape[1]
    lines: list[Line] = []
    for row in sorted(range(len(result.method)), key=lambda row: _WAYS.index(result.method[row])):
        name = METHOD_WORDS[result.method[row]]
        # One entry in the legend for each way to grow.
        quiet = any(line.name == name for line in lines)
        lines.append(
            Line(
                name,
                np.asarray(result.loss[row], float),
                METHOD_INKS[result.method[row]],
                quiet=quiet,
            )
        )
    marks = (Mark(float(step), "step on show"),) if step >= 0 else ()
    x = Axis("step", low=0.0, high=float(max(1, count)), kind="count")
    steps = np.arange(count, dtype=float)
    return Curves("Loss", x, Axis("loss", better="low"), steps, tuple(lines), marks)


def _on_map(result: RegionsResult, rows: list[int], step: int, ground: Matrix | None) -> Boxes:
    boxes = []
    for row in rows:
        low, high = result.trace[row, step]
        sides = zip(result.axes, low, high, strict=True)
        spans = [pieces(axis, float(a), float(b)) for axis, a, b in sides]
        for (x0, x1), (y0, y1) in product(*spans):
            boxes.append(_box(result, row, (x0, y0), (x1 - x0, y1 - y0)))
    starts = {int(result.start_number[row]): result.start[row].tolist() for row in rows}
    spots = tuple(_start(place, at[0], at[1]) for place, at in starts.items())
    x, y = (view_axis(axis) for axis in result.axes)
    return Boxes("Regions", x, y, tuple(boxes), ground, spots)


def _on_line(result: RegionsResult, rows: list[int], step: int) -> Boxes:
    """A lane for every region, the first on top."""
    (axis,) = result.axes
    boxes, spots = [], []
    for lane, row in enumerate(reversed(rows)):
        low, high = result.trace[row, step, :, 0]
        for a, b in pieces(axis, float(low), float(high)):
            boxes.append(_box(result, row, (a, lane + (1 - _THICK) / 2), (b - a, _THICK)))
        spots.append(_start(result.start_number[row], float(result.start[row, 0]), lane + 0.5))
    lanes = tuple(_names(result)[row] for row in reversed(rows))
    return Boxes("Regions", view_axis(axis), Axis(""), tuple(boxes), None, tuple(spots), lanes)


def _in_lanes(result: RegionsResult, rows: list[int], step: int) -> Boxes:
    """A lane for every parameter, the first on top; the regions share its height."""
    boxes, spots, n = [], [], len(result.axes)
    thick = _THICK / max(1, len(rows))
    for p, axis in enumerate(result.axes):
        width = axis.high - axis.low
        for place, row in enumerate(rows):
            # Lanes count from below, parameters from above.
            level = n - 1 - p + (1 + _THICK) / 2 - (place + 1) * thick
            low, high = result.trace[row, step, :, p]
            for a, b in pieces(axis, float(low), float(high)):
                corner, size = ((a - axis.low) / width, level), ((b - a) / width, thick)
                boxes.append(_box(result, row, corner, size))
            at = (float(result.start[row, p]) - axis.low) / width
            spots.append(_start(result.start_number[row], at, level + thick / 2))
    lanes = tuple(axis.title for axis in reversed(result.axes))
    note = f"The whole ranges: {range_words(result.axes)}."
    return Boxes("Regions", _SHARE, Axis(""), tuple(boxes), None, tuple(spots), lanes, note)


def _start(place: int, x: float, y: float) -> Spot:
    return Spot(x, y, f"start {place + 1}", Ink("text"), "circle")


def _box(result: RegionsResult, row: int, corner: Pair, size: Pair) -> Box:
    method = result.method[row]
    width, height = (max(0.0, side) for side in size)
    return Box(*corner, width, height, METHOD_WORDS[method], METHOD_INKS[method])


#: True of a run that still goes on, and of one that was stopped.
_NO_PICTURES = "Pictures are made at the end of the growing; a run stopped before has none."

_NO_REGION = "No region grew. Choose a start where the class holds, and run again."


def region_pictures(result: RegionsResult, region: int) -> Images:
    """Pictures from inside a region and from just outside; none before the growing is over."""
    title = "Inside and just outside"
    if result.method and not (result.start_top1 == result.target).any():
        return Images(title, (), note=_NO_REGION)
    if region < 0 or not result.inside_scores.size:
        return Images(title, (), note=_NO_PICTURES)
    pictures = []
    for side in ("inside", "outside"):
        parts = [f"{side}_{part}" for part in ("pictures", "scores", "top1", "points")]
        rows = [getattr(result, part)[region] for part in parts]
        for picture, score, top, at in zip(*rows, strict=True):
            if top >= 0:
                caption = f"{side}, score {number(float(score))}"
                kept = bool(top == result.target)
                where = place_words(result.axes, at)
                pictures.append(Picture(picture, caption, result.labels[top], kept, detail=where))
    name, wanted = _names(result)[region], result.labels[result.target]
    note = f"Poses inside {name} and just outside; the score is that of “{wanted}”."
    return Images(title, tuple(pictures), note=note)


def bounds_table(result: RegionsResult) -> Table:
    """Scores inside every region, where it began and how far it goes."""
    known = zip(result.holds, np.isfinite(result.inside_mean), strict=True)
    allowed = tuple(bool(fits) if told else None for fits, told in known)
    columns = [
        Column("Region", _names(result)),
        Column("Mean score", _cells(result.inside_mean), "number"),
        Column("Variance", _cells(result.inside_var), "number"),
        Column("As the settings ask", allowed),
    ]
    for p, axis in enumerate(result.axes):
        for name, values in (("start", result.start), ("from", result.low), ("to", result.high)):
            cells = tuple(values[:, p].tolist())
            columns.append(Column(f"{axis.title} {name}", cells, "number", axis.unit))
    return Table("Scores and bounds", tuple(columns))


def size_bars(result: RegionsResult) -> Bars:
    """The mean size that each way to grow reaches."""
    methods = [method for method in _WAYS if method in result.method]
    owner = np.array(result.method)
    sizes = np.array([float(result.volume[owner == method].mean()) for method in methods])
    names = tuple(METHOD_WORDS[method] for method in methods)
    row = Series("mean share of the range", sizes, Ink("series", 0))
    value = Axis("share of the range", low=0.0, kind="share")
    return Bars("Mean size by way to grow", value, names, (row,), x=Axis("way to grow"))


def _names(result: RegionsResult) -> tuple[str, ...]:
    pairs = zip(result.start_number, result.method, strict=True)
    return tuple(f"{SHORT_WORDS[method]} {start + 1}" for start, method in pairs)


def _cells(values: np.ndarray) -> tuple[float | None, ...]:
    return tuple(float(value) if np.isfinite(value) else None for value in values)


def _subject(result: RegionsResult) -> str:
    if result.target >= 0:
        name = f"“{result.labels[result.target]}”"
    else:
        name = "the class"
    return f"{result.network} on {result.shape}: {name} over {range_words(result.axes)}."
