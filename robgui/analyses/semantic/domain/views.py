"""What an operating domain looks like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robgui.analyses.semantic.domain.params import OperatingDomainParams
from robgui.analyses.semantic.domain.result import OperatingDomainResult, Pose
from robgui.analyses.semantic.scene.scene import SceneAxis as Parameter
from robgui.analyses.semantic.words import place_words, with_unit
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
#: With fewer poses, which parameter matters most is chance.
_ENOUGH = 200


def domain_views(result: OperatingDomainResult, params: OperatingDomainParams) -> Sequence[View]:
    """The domain with its failures, each parameter by itself, pictures, the climb, the table."""
    found: list[View] = [_dots(result)]
    found += [_along(result, place) for place in range(len(result.axes))]
    found.append(_pictures(result))
    if len(result.levels):
        found.append(_climb(result))
    return (*found, _table(result))


def _dots(result: OperatingDomainResult) -> Curves:
    """Poses over the two parameters that matter most, or over the margin if there is one.

    As many of each kind as occurred, so the eye counts right; if few are lost, all of them.
    """
    fails = result.margins > 0
    first = np.arange(len(fails)) < _DOTS
    few = int(fails.sum()) <= _FEW
    # All failures where they are few: a random part of them might show none.
    shown = first | fails if few else first
    flat = len(result.axes) == 1
    across, up = _telling(result)
    if flat:
        height = result.margins
    else:
        height = result.points[:, up]
    x, kept, lost = result.points[:, across], shown & ~fails, shown & fails
    lines = [
        _worst(result, across, up),
        _scattered("lost", x[lost], height[lost], Ink("fails"), "cross"),
        _scattered("kept", x[kept], height[kept], Ink("holds"), "circle"),
    ]
    return Curves(
        "Poses that keep and lose the class",
        _axis(result.axes[across]),
        Axis("margin of another class") if flat else _axis(result.axes[up]),
        result.points[shown, across],
        tuple(line for line in lines if len(line.y)),
        note=_dots_note(result, int(shown.sum()), few),
    )


def _scattered(name: str, x: np.ndarray, y: np.ndarray, ink: Ink, symbol: Symbol) -> Line:
    return Line(name, y, ink, x=x, symbol=symbol, line=False)


def _telling(result: OperatingDomainResult) -> tuple[int, int]:
    """Of more than two parameters, the two along which the share of lost poses varies most."""
    count_of = len(result.axes)
    if count_of <= 2 or len(result.margins) < _ENOUGH:
        return 0, min(1, count_of - 1)
    spread = [np.ptp(_lost_along(result, place).share) for place in range(count_of)]
    # In the order of the parameters: ranked by spread,
    # the axes would trade places while poses arrive.
    across, up = sorted(np.argsort(spread)[-2:].tolist())
    return across, up


def _worst(result: OperatingDomainResult, across: int, up: int) -> Line:
    worst = result.worst
    if across == up:
        y = worst.margin
    else:
        y = float(worst.at[up])
    if worst.margin > 0:
        ink = Ink("fails")
        name = "worst pose"
    else:
        ink = Ink("risk")
        name = "nearest to another class"
    return _scattered(name, worst.at[[across]], np.array([y]), ink, "diamond")


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
    axis, along = result.axes[place], _lost_along(result, place)
    # An interval needs one trial; empty bins are blanked below.
    low, high = clopper_pearson(along.lost, np.maximum(along.all_of, 1))
    known = along.all_of > 0
    series = Series(
        "lost",
        np.where(known, along.share, np.nan),
        Ink("fails"),
        low=np.where(known, low, np.nan),
        high=np.where(known, high, np.nan),
    )
    return Bars(
        f"Lost along {axis.title.lower()}",
        Axis("poses that lose the class", kind="share", low=0, high=1, better="low"),
        (),
        (series,),
        edges=along.edges,
        x=_axis(axis),
        note="Thin lines are 95 % intervals; the other parameters vary as in the domain.",
    )


@dataclass(frozen=True, slots=True)
class LostAlong:
    """Plain poses along one parameter, in bins.

    Attributes:
        edges: ``(bins + 1,)`` of the bins.
        all_of: ``(bins,)`` poses in each.
        lost: ``(bins,)`` those that lose the class.
    """

    edges: np.ndarray
    all_of: np.ndarray
    lost: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """``(bins,)`` of the poses that are lost; 0 in an empty bin."""
        return np.asarray(self.lost / np.maximum(self.all_of, 1))


def _lost_along(result: OperatingDomainResult, place: int) -> LostAlong:
    axis = result.axes[place]
    edges = np.linspace(axis.low, axis.high, _BARS + 1)
    # A value at the high end would fall into a bin of its own.
    bins = np.clip(np.digitize(result.points[:, place], edges) - 1, 0, _BARS - 1)
    all_of = np.bincount(bins, minlength=_BARS)
    return LostAlong(edges, all_of, np.bincount(bins[result.margins > 0], minlength=_BARS))


def _pictures(result: OperatingDomainResult) -> Images:
    pictures = [_picture(result, result.usual, "usual pose"), _picture(result, result.worst, "")]
    pictures += [_picture(result, pose, "") for pose in result.nearest]
    return Images(
        "Poses",
        tuple(pictures),
        note=f"The usual pose, the worst, then others that fail. {_order(result)}".rstrip(),
    )


def _order(result: OperatingDomainResult) -> str:
    """What the numbers below the pictures are, where they stand without names."""
    if len(result.axes) < 2:
        return ""
    return f"Numbers: {', '.join(axis.title.lower() for axis in result.axes)}."


def _picture(result: OperatingDomainResult, pose: Pose, name: str) -> Picture:
    from robgui.core.dataset.picture import picture_of

    where = place_words(result.axes, pose.at)
    if len(result.axes) > 1:
        values = zip(pose.at, result.axes, strict=True)
        short = ", ".join(with_unit(float(f"{value:.2g}"), axis.unit) for value, axis in values)
    else:
        short = where
    caption = name or short
    right = pose.seen_as == result.target
    pixels, label = picture_of(pose.image, "image"), result.labels[pose.seen_as]
    return Picture(pixels, caption, label, right, detail=where)


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
