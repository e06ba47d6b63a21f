"""What a watermark check looks like."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robgui.analyses.zonnscan.params import WatermarkParams
from robgui.analyses.zonnscan.resolution import resolution
from robgui.analyses.zonnscan.result import WatermarkResult
from robgui.analyses.zonnscan.views.sets import histogram
from robgui.analyses.zonnscan.words.figures import rounded_up
from robgui.core.text.words import number
from robgui.core.view import (
    Axis,
    Column,
    Curves,
    Images,
    Ink,
    Line,
    Picture,
    Table,
    View,
    class_inks,
)
from robgui.core.view.parts import Symbol

#: Points of one kind: name, ink, which of them, symbol.
_Group = tuple[str, Ink, np.ndarray, Symbol]
#: Pictures on show; the table has all.
MOST_PICTURES = 60


def views(result: WatermarkResult, params: WatermarkParams) -> Sequence[View]:
    """The two distributions, how far each key input moved, the key inputs, and the numbers."""
    values = (result.index[0].ravel(), result.index[1].ravel())
    title = "Uncertainty around the key inputs"
    return (
        histogram(title, values, _names(params), params.radius, "values"),
        _moves(result, params),
        _key(result, params),
        _table(result, params),
    )


def _names(params: WatermarkParams) -> tuple[str, str]:
    if params.mode == "make":
        return ("model", "marked copy")
    return ("first model", "second model")


def means(result: WatermarkResult) -> np.ndarray:
    """Mean uncertainty ``(2, n)`` over the runs done; nan before the first."""
    runs = result.runs_done
    if not runs.any():
        return np.full((2, result.index.shape[2]), math.nan)
    return np.asarray(result.index[:, runs].mean(1))


def _moves(result: WatermarkResult, params: WatermarkParams) -> Curves:
    first, second = means(result)
    names = _names(params)
    fooling: _Group = "inputs that fool the model", Ink("fails"), result.adversarial, "cross"
    others: _Group = (
        "key inputs that keep their class",
        Ink("series", 0),
        ~result.adversarial,
        "circle",
    )
    if params.mode == "compare":
        others = ("inputs", *others[1:])
    # The diagonal, drawn under the points.
    lines = [Line("no change", np.array([0.0, 1.0]), Ink("quiet"), x=np.array([0.0, 1.0]))]
    for name, ink, which, symbol in (fooling, others):
        if which.any():
            lines.append(Line(name, second[which], ink, x=first[which], symbol=symbol, line=False))
    return Curves(
        title="How far each key input moved",
        x=Axis(f"mean uncertainty, {names[0]}", low=0, high=1, remark="0 sure, 1 unsure"),
        y=Axis(f"mean uncertainty, {names[1]}", low=0, high=1, remark="0 sure, 1 unsure"),
        at=np.zeros(0),
        lines=tuple(lines),
        note="On the diagonal the two models are equally unsure.",
    )


def _key(result: WatermarkResult, params: WatermarkParams) -> Images:
    """A caption is the input's name in the dataset, so a click finds it in the gallery."""
    pictures = []
    for place, pixels in enumerate(result.thumbnails[:MOST_PICTURES]):
        before, after = (int(c) for c in result.answers[:, place])
        if after >= 0:
            known = result.labels[after]
            right = after == int(result.classes[place])
        else:
            known = "…"
            right = None
        (ink,) = class_inks((result.labels[before],), result.labels, ("class",))
        chip = f"{result.labels[before]} → {known}"
        pictures.append(Picture(pixels, result.keys[place], chip, right, ink))
    first, second = _names(params)
    note = f"Answers of {first} → {second}; ✓ and ✗ are for {second}."
    return Images("Key inputs" if params.mode == "make" else "Inputs", tuple(pictures), note=note)


def _table(result: WatermarkResult, params: WatermarkParams) -> Table:
    columns = [
        Column("input", result.keys),
        Column("class", tuple(result.labels[c] for c in result.classes)),
        Column("fools the model", tuple(map(bool, result.adversarial))),
    ]
    # The mean over the runs rests on the samples of all of them.
    least = resolution(params.samples * int(result.runs_done.sum()))
    for m, (name, mean) in enumerate(zip(_names(params), means(result), strict=True)):
        told = [result.labels[c] if c >= 0 else None for c in result.answers[m]]
        unsure = tuple(float(v) if v >= least else None for v in mean)
        columns += [Column(f"{name} says", tuple(told))]
        columns += [Column(f"uncertainty, {name}", unsure, "number")]
    note = (
        f"No uncertainty stands where it is below {number(rounded_up(least))}, which the samples"
        " cannot tell from 0."
    )
    return Table("Every key input", tuple(columns), note=note)
