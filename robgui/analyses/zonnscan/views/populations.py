"""What a comparison of two sets of inputs looks like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.zonnscan.params import PopulationsParams
from robgui.analyses.zonnscan.resolution import resolution
from robgui.analyses.zonnscan.result import PopulationsResult
from robgui.analyses.zonnscan.views.sets import INKS, histogram
from robgui.analyses.zonnscan.words.populations import FALSE_ALARMS
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

#: Rows of the table: with more inputs, those with the highest uncertainty.
MOST_ROWS = 1000


def views(result: PopulationsResult, params: PopulationsParams) -> Sequence[View]:
    """The two distributions, the uncertainty as an alarm, the worst inputs, and the numbers."""
    return (
        distributions(result, params.radius, "Uncertainty of the two sets"),
        detector(result),
        _cumulative(result, params.radius),
        _worst(result),
        _table(result),
    )


def distributions(result: PopulationsResult, radius: float, title: str) -> View:
    """The histograms of Figures 3 and 4 of the paper."""
    sets = (result.index[~result.second], result.index[result.second])
    return histogram(title, sets, result.names, radius, "inputs")


def detector(result: PopulationsResult) -> Curves:
    """What share of the second set an alarm catches for a share of false alarms."""
    guess = Line("guessing", np.array([0.0, 1.0]), Ink("quiet"), x=np.array([0.0, 1.0]))
    caught = Line(
        "alarm by uncertainty",
        result.detected,
        Ink("text"),
        strong=True,
        steps=True,
    )
    return Curves(
        title="The uncertainty as an alarm",
        x=Axis(f"false alarms among {result.names[0]}", kind="share", low=0, high=1),
        y=Axis(f"caught of {result.names[1]}", kind="share", low=0, high=1),
        at=result.false_alarms,
        lines=(caught, guess),
        marks=(Mark(FALSE_ALARMS, f"{percent(FALSE_ALARMS)} false alarms", Ink("quiet")),),
        note=(
            f"{percent(result.auc)} of pairs, one of each set, are in the right order; guessing"
            " gives 50 %."
        ),
    )


def _cumulative(result: PopulationsResult, radius: float) -> Curves:
    """The distribution functions of the two sets."""
    lines = []
    for which, name, ink in zip((~result.second, result.second), result.names, INKS, strict=True):
        values = result.index[which]
        values = np.sort(values[np.isfinite(values)])
        # From 0 to 1, so both steps reach both ends of the axis.
        x = np.concatenate([[0.0], values, [1.0]])
        share = np.concatenate([[0.0], np.arange(1, len(values) + 1) / max(1, len(values)), [1.0]])
        lines.append(Line(name, share, ink, x=x, steps=True))
    return Curves(
        title="Share of inputs up to each uncertainty",
        x=Axis(
            f"uncertainty within radius {number(radius)}", low=0, high=1, remark="0 sure, 1 unsure"
        ),
        y=Axis("share of inputs with at most this", kind="share", low=0, high=1),
        at=np.zeros(0),
        lines=tuple(lines),
        note=f"Largest distance between the two: {number(result.ks_statistic)}.",
    )


def _worst(result: PopulationsResult) -> Images:
    """The inputs of the first set around which the class changes, or the model is unsure."""
    pictures = []
    for place in result.notable:
        label = result.labels[int(result.predicted[place])]
        (ink,) = class_inks((label,), result.labels, ("class",))
        pictures.append(Picture(result.thumbnails[place], result.keys[place], label, None, ink))
    return Images(
        f"The most unsure inputs ({result.names[0]})",
        tuple(pictures),
        note="Samples around each change class, or the model is unsure there; the worst first.",
    )


def _told(result: PopulationsResult, place: int) -> float | None:
    """The uncertainty of one input; None if its samples cannot tell it from 0."""
    value = float(result.index[place])
    if value >= resolution(int(result.samples[place])):
        return value
    return None


def _most(result: PopulationsResult, place: int) -> float:
    """The upper end of its interval, never below what the samples resolve."""
    high = float(result.index[place] + result.half_width[place])
    return min(1.0, max(high, resolution(int(result.samples[place]))))


def _table(result: PopulationsResult) -> Table:
    order = np.argsort(-np.nan_to_num(result.index), kind="stable")[:MOST_ROWS].tolist()
    left = len(result.index) - len(order)
    if left:
        more = f" {left:,} more inputs with a lower uncertainty are left out."
    else:
        more = ""
    names = [result.names[int(result.second[i])] for i in order]
    return Table(
        "Every input",
        (
            Column("input", tuple(result.keys[i] for i in order)),
            Column("set", tuple(names)),
            Column("class", tuple(result.labels[int(result.predicted[i])] for i in order)),
            Column("uncertainty", tuple(_told(result, i) for i in order), "number"),
            Column("at most", tuple(_most(result, i) for i in order), "number"),
            Column("change class", tuple(map(float, result.crossing[order])), "share"),
            Column("samples", tuple(map(int, result.samples[order])), "count"),
        ),
        note=(
            "No uncertainty stands where the samples cannot tell it from 0; at most holds"
            f" there.{more}"
        ),
    )
