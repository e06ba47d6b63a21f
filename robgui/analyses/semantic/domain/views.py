"""What an operating domain looks like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.semantic.domain.params import OperatingDomainParams
from robgui.analyses.semantic.domain.result import OperatingDomainResult, Pose
from robgui.analyses.semantic.scene.scene import SceneAxis as Parameter
from robgui.analyses.semantic.words import place_words
from robgui.core.intervals import clopper_pearson
from robgui.core.text.words import count
from robgui.core.view import (
    Axis,
    Bars,
    Column,
    Curves,
    Images,
    Ink,
    Line,
    Mark,
    Picture,
    Series,
    Table,
    View,
)
from robgui.core.view.parts import Symbol

#: Most dots that can be told apart, bars along one parameter, and failures that count as few.
_DOTS, _BARS, _FEW = 500, 8, 25


def domain_views(result: OperatingDomainResult, params: OperatingDomainParams) -> Sequence[View]:
    """The domain with its failures, each parameter by itself, pictures, the climb, the table."""
    found: list[View] = [_dots(result)]
    found += [_along(result, place) for place in range(len(result.axes))]
    found.append(_pictures(result))
    if len(result.levels):
        found.append(_climb(result))
    return (*found, _table(result))


def _dots(result: OperatingDomainResult) -> Curves:
    """Poses over the first two parameters, or over the margin if there is one.

    As many of each kind as occurred, so the eye counts right; if few are lost, all of them.
    """
    fails = result.margins > 0
    first = np.arange(len(fails)) < _DOTS
    few = int(fails.sum()) <= _FEW
    shown = first | fails if few else first
    flat = len(result.axes) == 1
    if flat:
        height = result.margins
    else:
        height = result.points[:, 1]
    x, kept, lost = result.points[:, 0], shown & ~fails, shown & fails
    lines = [
        _worst(result, flat),
        _scattered("lost", x[lost], height[lost], Ink("fails"), "cross"),
        _scattered("kept", x[kept], height[kept], Ink("holds"), "circle"),
    ]
    return Curves(
        "Poses that keep and lose the class",
        _axis(result.axes[0]),
        Axis("margin of another class") if flat else _axis(result.axes[1]),
        result.points[shown, 0],
        tuple(line for line in lines if len(line.y)),
        note=_dots_note(result, int(shown.sum()), few),
    )


def _scattered(name: str, x: np.ndarray, y: np.ndarray, ink: Ink, symbol: Symbol) -> Line:
    return Line(name, y, ink, x=x, symbol=symbol, line=False)


def _worst(result: OperatingDomainResult, flat: bool) -> Line:
    worst = result.worst
    if flat:
        y = worst.margin
    else:
        y = float(worst.at[1])
    if worst.margin > 0:
        ink = Ink("fails")
        name = "worst pose"
    else:
        ink = Ink("risk")
        name = "nearest to another class"
    return _scattered(name, worst.at[:1], np.array([y]), ink, "diamond")


def _dots_note(result: OperatingDomainResult, shown: int, few: bool) -> str:
    note = "Every dot is a pose as it came."
    others = len(result.axes) - 2
    if others > 0:
        verb = "varies" if others == 1 else "vary"
        note += f" {count(others, 'more parameter')} {verb} too."
    if shown < len(result.margins):
        if few and result.lost:
            all_lost = ", all that are lost among them"
        else:
            all_lost = ""
        note += f" {shown:,} of {len(result.margins):,} are drawn{all_lost}."
    return note


def _axis(axis: Parameter) -> Axis:
    return Axis(axis.title.lower(), axis.unit, low=axis.low, high=axis.high)


def _along(result: OperatingDomainResult, place: int) -> Bars:
    """The share of failing plain poses along one parameter, whatever the others."""
    axis = result.axes[place]
    edges = np.linspace(axis.low, axis.high, _BARS + 1)
    fails = result.margins > 0
    bins = np.clip(np.digitize(result.points[:, place], edges) - 1, 0, _BARS - 1)
    all_of = np.bincount(bins, minlength=_BARS)
    lost = np.bincount(bins[fails], minlength=_BARS)
    low, high = clopper_pearson(lost, np.maximum(all_of, 1))
    share = np.where(all_of > 0, lost / np.maximum(all_of, 1), np.nan)
    known = all_of > 0
    series = Series(
        "lost",
        share,
        Ink("fails"),
        low=np.where(known, low, np.nan),
        high=np.where(known, high, np.nan),
    )
    return Bars(
        f"Lost along {axis.title.lower()}",
        Axis("poses that lose the class", kind="share", low=0, high=1, better="low"),
        (),
        (series,),
        edges=edges,
        x=_axis(axis),
        note="Thin lines are 95 % intervals; the other parameters vary as in the domain.",
    )


def _pictures(result: OperatingDomainResult) -> Images:
    pictures = [_picture(result, result.usual, "usual pose"), _picture(result, result.worst, "")]
    pictures += [_picture(result, pose, "") for pose in result.nearest]
    return Images(
        "Poses",
        tuple(pictures),
        note="The usual pose, the worst one, then failing poses, those most like the usual first.",
    )


def _picture(result: OperatingDomainResult, pose: Pose, name: str) -> Picture:
    from robgui.core.dataset.picture import picture_of

    caption = name or place_words(result.axes, pose.at)
    right = pose.seen_as == result.target
    return Picture(picture_of(pose.image, "image"), caption, result.labels[pose.seen_as], right)


def _climb(result: OperatingDomainResult) -> Curves:
    rounds = np.arange(1, len(result.levels) + 1, dtype=float)
    return Curves(
        "The climb towards failure",
        Axis("round", low=1),
        Axis("margin of another class"),
        rounds,
        (Line("to be exceeded, first repetition", result.levels, Ink("series"), steps=True),),
        levels=(Mark(0.0, "class lost", Ink("fails")),),
        note="The more rounds it takes to reach 0, the rarer is a failure.",
    )


def _table(result: OperatingDomainResult) -> Table:
    axes = result.axes
    columns = [
        Column("Parameter", tuple(axis.title for axis in axes)),
        Column("Unit", tuple(axis.unit for axis in axes)),
        Column("From", tuple(axis.low for axis in axes), "number"),
        Column("To", tuple(axis.high for axis in axes), "number"),
        Column("How often", result.distributions),
        Column("Worst pose", tuple(map(float, result.worst.at)), "number"),
    ]
    if result.nearest:
        nearest = tuple(map(float, result.nearest[0].at))
        columns.append(Column("Failing, most like usual", nearest, "number"))
    return Table("The domain", tuple(columns))
