"""What an operating domain looks like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.semantic.domain.params import OperatingDomainParams
from robgui.analyses.semantic.domain.result import OperatingDomainResult, Pose
from robgui.analyses.semantic.scene.scene import Axis as Parameter
from robgui.analyses.semantic.words import place_words
from robgui.core.intervals import clopper_pearson
from robgui.core.view import (
    Axis,
    Bars,
    Boxes,
    Column,
    Curves,
    Images,
    Ink,
    Line,
    Mark,
    Picture,
    Series,
    Spot,
    Table,
    View,
)

#: Dots that can be told from each other, and bars along one parameter.
_DOTS, _BARS = 300, 8


def domain_views(result: OperatingDomainResult, params: OperatingDomainParams) -> Sequence[View]:
    """The domain with its failures, each parameter by itself, pictures, the climb, the table."""
    found: list[View] = [_dots(result)]
    found += [_along(result, place) for place in range(len(result.axes))]
    found.append(_pictures(result))
    if len(result.levels):
        found.append(_climb(result))
    return (*found, _table(result))


def _dots(result: OperatingDomainResult) -> Boxes:
    """Poses over the first two parameters, or over the margin where there is one."""
    fails = result.margins > 0
    shown = np.concatenate([np.flatnonzero(fails)[:_DOTS], np.flatnonzero(~fails)[:_DOTS]])
    flat = len(result.axes) == 1
    second = result.margins if flat else result.points[:, 1]
    spots = [
        Spot(
            float(result.points[place, 0]),
            float(second[place]),
            "lost" if fails[place] else "kept",
            Ink("fails") if fails[place] else Ink("holds"),
            "cross" if fails[place] else "circle",
        )
        for place in shown[::-1]  # failures on top
    ]
    spots.append(_worst_spot(result, flat))
    y = Axis("margin of another class") if flat else _axis(result.axes[1])
    others = len(result.axes) - 2
    note = "Every dot is a pose as it came."
    if others > 0:
        note += f" {others} more of the parameters vary too."
    if len(shown) < len(fails):
        note += f" {len(shown):,} of {len(fails):,} are drawn."
    title = "Poses that keep and lose the class"
    return Boxes(title, _axis(result.axes[0]), y, (), spots=tuple(spots), note=note)


def _worst_spot(result: OperatingDomainResult, flat: bool) -> Spot:
    worst = result.worst
    y = worst.margin if flat else float(worst.at[1])
    ink = Ink("fails") if worst.margin > 0 else Ink("risk")
    name = "worst pose" if worst.margin > 0 else "nearest to another class"
    return Spot(float(worst.at[0]), y, name, ink, "diamond")


def _axis(axis: Parameter) -> Axis:
    return Axis(axis.title.lower(), axis.unit, low=axis.low, high=axis.high)


def _along(result: OperatingDomainResult, place: int) -> Bars:
    """The share of failing plain poses along one parameter, whatever the others are."""
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
