"""What a sweep looks like: confidence and uncertainty against the radius, and the changes found."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robgui.analyses.zonnscan.params import ZonnscanParams
from robgui.analyses.zonnscan.resolution import resolution
from robgui.analyses.zonnscan.result import ZonnscanResult
from robgui.analyses.zonnscan.words.sweep import changes, held
from robgui.analyses.zonnscan.zone import RADIUS_WORDS
from robgui.core.text.words import number, percent
from robgui.core.view import (
    Axis,
    Column,
    Curves,
    Images,
    Ink,
    Line,
    Mark,
    Picture,
    Table,
    View,
    class_inks,
)
from robgui.core.view.ink import Role

#: A class gets a grey line when its mean confidence reaches this at some radius.
WORTH_A_LINE = 0.05
#: More lines cannot be told apart.
MOST_LINES = 8


def views(result: ZonnscanResult, params: ZonnscanParams) -> Sequence[View]:
    """The sweep, how much the samples disagree, the changes of class found, and the numbers."""
    return (
        sweep(result, params),
        _disagreement(result, params),
        _found(result),
        _table(result, params),
    )


def rival(result: ZonnscanResult) -> int:
    """The class that the nearest change leads to, or the next most likely; -1 with one class."""
    for change in changes(result):
        if change.klass not in (-1, result.predicted):
            return change.klass
    means = np.nan_to_num(result.mean_confidence).max(0)
    # Below every confidence, so the input's own class is never its rival.
    means[result.predicted] = -1
    if len(means) > 1:
        return int(means.argmax())
    return -1


def sweep(result: ZonnscanResult, params: ZonnscanParams) -> Curves:
    """The picture of the method (Figure 2 of the paper)."""
    own = Mark(float(result.index[0]), "uncertainty at the input", Ink("quiet"))
    told_apart = result.radii[0] == 0 and own.at >= WORTH_A_LINE  # Else it is the axis.
    greys = _others(result)
    return Curves(
        title="Confidence and uncertainty around the input",
        x=radius_axis(result, params),
        y=Axis("confidence, share or uncertainty", low=0, high=1, remark="0 to 1"),
        at=result.radii,
        lines=(*_class_lines(result), _uncertainty(result), _changed(result), *greys),
        marks=tuple(_marks(result, params)),
        levels=(own,) if told_apart else (),
        note=("Thin lines without a name: other classes. " if greys else "")
        + "Bands: 95 % intervals; where there is no line, samples cannot tell the value from 0.",
    )


def radius_axis(result: ZonnscanResult, params: ZonnscanParams) -> Axis:
    """The horizontal axis, from 0 to the largest radius asked for."""
    name, of_what = RADIUS_WORDS[params.zone]
    largest = float(result.radii[-1])
    return Axis(name, low=0, high=largest if largest > 0 else 1, remark=of_what)


def _named(result: ZonnscanResult) -> list[int]:
    """The classes mentioned in words besides the input's: the rival, and the other change's."""
    spoken = [rival(result), *(change.klass for change in changes(result))]
    return [c for c in dict.fromkeys(spoken) if c not in (-1, result.predicted)]


def _class_lines(result: ZonnscanResult) -> list[Line]:
    own, named = result.predicted, _named(result)
    shown = [result.labels[c] for c in (own, *named)]
    others: tuple[Role, ...] = ("other",)
    roles: tuple[Role, ...] = ("class", "rival", *others * len(named))
    inks = class_inks(shown, result.labels, roles[: len(shown)])
    lines = [Line(f"{shown[0]} (predicted)", _confidence(result, own), inks[0], strong=True)]
    for place, c in enumerate(named):
        values = _confidence(result, c)
        lines.append(Line(shown[place + 1], values, inks[place + 1], strong=place == 0))
    return lines


def _others(result: ZonnscanResult) -> list[Line]:
    """Grey lines of the other classes that matter anywhere."""
    peaks = np.nan_to_num(result.mean_confidence).max(0)
    # These have lines of their own.
    peaks[[result.predicted, *_named(result)]] = 0
    order = np.argsort(-peaks, kind="stable")[:MOST_LINES]
    return [
        Line(
            result.labels[c],
            _confidence(result, c),
            Ink("other", name=result.labels[c]),
            quiet=True,
        )
        for c in order.tolist()
        if peaks[c] >= WORTH_A_LINE
    ]


def _confidence(result: ZonnscanResult, c: int) -> np.ndarray:
    return result.mean_confidence[:, c]


def told(result: ZonnscanResult, values: np.ndarray) -> np.ndarray:
    """Means of the samples ``(R,)``; nan where they are too few to tell it from 0."""
    return np.where((result.radii == 0) | (values >= _least(result)), values, np.nan)


def highest(result: ZonnscanResult) -> np.ndarray:
    """Upper ends ``(R,)`` of the uncertainty's intervals, never below what the samples resolve."""
    return np.asarray(
        np.where(result.radii == 0, result.ci_high, np.maximum(result.ci_high, _least(result)))
    )


def _uncertainty(result: ZonnscanResult) -> Line:
    high = np.where(np.isfinite(result.index), highest(result), np.nan)
    value = told(result, result.index)
    return Line("uncertainty", value, Ink("text"), low=result.ci_low, high=high)


def _changed(result: ZonnscanResult) -> Line:
    known = np.isfinite(result.crossing)
    return Line(
        "samples changing class",
        result.crossing,
        Ink("fails"),
        low=np.where(known, result.crossing_low, np.nan),
        high=np.where(known, result.crossing_high, np.nan),
        symbol="triangle",
    )


def _marks(result: ZonnscanResult, params: ZonnscanParams) -> list[Mark]:
    """The changes found, and the radius up to which the class should hold."""
    signs = {"a gradient attack": "attack", "a random sample": "sample"}
    marks = []
    for place, change in enumerate(changes(result)):
        if change.klass >= 0:
            label = f": {result.labels[change.klass]}"
        else:
            label = ""
        name = f"{signs[change.how]} at {number(change.radius)}{label}"
        marks.append(Mark(change.radius, name, Ink("fails" if place == 0 else "unknown")))
    limit = held(result, params)
    if limit <= result.radii[-1]:
        marks.append(Mark(limit, f"required: {number(limit)}", Ink("quiet")))
    return marks


def _disagreement(result: ZonnscanResult, params: ZonnscanParams) -> Curves:
    """A zone cut by a sharp boundary has a low uncertainty: its samples are sure but disagree."""
    lines = (
        Line("of single answers", told(result, result.index), Ink("text")),
        Line("of the mean answer", told(result, result.entropy_of_mean), Ink("series", 4)),
        Line("difference", told(result, result.mutual_information), Ink("series", 3)),
    )
    return Curves(
        title="How samples disagree",
        x=radius_axis(result, params),
        y=Axis("uncertainty", low=0, high=1, remark="0 sure, 1 unsure"),
        at=result.radii,
        lines=lines,
        note="The difference says how much samples disagree: where it is large and single answers "
        "are sure, a sharp boundary runs through the zone.",
    )


def _found(result: ZonnscanResult) -> Images:
    from robgui.core.dataset.picture import picture_of

    shown = [_original(result, picture_of(result.input, result.kind))]
    for change in changes(result):
        for x in change.input:
            if change.klass >= 0:
                label = result.labels[change.klass]
            else:
                label = "another class"
            caption = f"radius {number(change.radius)}, by {change.how}"
            own = result.labels[result.predicted]
            ink = class_inks((own, label), result.labels, ("class", "rival"))[1]
            shown.append(Picture(picture_of(x, result.kind), caption, label, None, ink))
    return Images("Nearest changes of class", tuple(shown))


def _original(result: ZonnscanResult, pixels: np.ndarray) -> Picture:
    label = result.labels[result.predicted]
    caption = result.input_name
    if result.radii[0] == 0:
        caption += f", {percent(float(result.mean_confidence[0, result.predicted]))} sure"
    if result.truth >= 0:
        right = result.truth == result.predicted
    else:
        right = None
    if right is False:
        caption += f", truly {result.labels[result.truth]}"
    (ink,) = class_inks((label,), result.labels, ("class",))
    return Picture(pixels, caption, label, right, ink)


def _table(result: ZonnscanResult, params: ZonnscanParams) -> Table:
    high = highest(result)
    other = rival(result)
    columns = [
        Column("radius", _cells(result.radii), "number"),
        Column("samples", tuple(int(n) for n in result.samples), "count"),
        Column("uncertainty", _cells(told(result, result.index)), "number"),
        Column("at least", _cells(result.ci_low), "number"),
        Column("at most", _cells(np.where(result.samples > 0, high, np.nan)), "number"),
        Column("change class", _cells(result.crossing), "share"),
        Column("change at least", _cells(_floored(result)), "share"),
        Column("change at most", _cells(result.crossing_high), "share"),
        Column("of the mean answer", _cells(told(result, result.entropy_of_mean)), "number"),
    ]
    for c in (result.predicted, other):
        if c >= 0:
            name = f"confidence in {result.labels[c]}"
            columns.append(Column(name, _cells(told(result, _confidence(result, c))), "share"))
    return Table(
        "The sweep in numbers",
        tuple(columns),
        note="No number stands where the samples cannot tell it from 0; at most holds there.",
    )


def _floored(result: ZonnscanResult) -> np.ndarray:
    """Lower ends ``(R,)`` of the share of changes; 0 where they are next to nothing."""
    # A tenth of one sample: the exact lower end for a single crossing is about
    # 0.025 / n, which no reader needs.
    next_to_nothing = result.crossing_low < 0.1 / np.maximum(result.samples, 1)
    return np.where(next_to_nothing, 0.0, result.crossing_low)


def _least(result: ZonnscanResult) -> np.ndarray:
    return np.array([resolution(n) for n in result.samples])


def _cells(values: np.ndarray) -> tuple[float | None, ...]:
    return tuple(float(v) if math.isfinite(v) else None for v in values)
