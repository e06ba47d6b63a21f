"""Ink: what a mark stands for, and its one colour in every picture, light and dark.

A renderer never chooses a colour: a view says what a line means, and both renderers ask here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from robgui.core.verdict import Status

Role = Literal[
    "class",
    "rival",
    "other",
    "original",
    "changed",
    "holds",
    "risk",
    "fails",
    "unknown",
    "series",
    "text",
    "quiet",
]
Dash = Literal["solid", "dashed", "dotted", "dash-dot"]


@dataclass(frozen=True, slots=True)
class Ink:
    """What a mark stands for.

    Attributes:
        role: ``class`` is the class at the input and ``rival`` its strongest rival; ``original``
            and ``changed`` are an input before and after; ``holds``, ``risk``, ``fails``,
            ``unknown`` are a status; ``series`` is one of several things of equal rank; ``text`` is
            the colour of letters, ``quiet`` that of a grid.
        number: Which of several series.
        name: A class name: a class called after a colour has that colour.
        hue: Which colour of CLASSES a class has, see class_inks; -1 for that of the role.
    """

    role: Role = "series"
    number: int = 0
    name: str = ""
    hue: int = -1

    def colour(self, dark: bool = False) -> str:
        """The colour as ``#rrggbb``."""
        # Never a status: a class called “green” that fails must not look as if it held.
        if self.role in ("class", "rival", "other", "series") and (
            named := called_after(self.name, dark)
        ):
            return named
        if self.role in ("class", "rival", "series") and self.hue >= 0:
            return CLASSES[self.hue % len(CLASSES)][dark]
        if self.role == "series":
            return SERIES[self.number % len(SERIES)][dark]
        return _ROLES[self.role][dark]

    @property
    def dash(self) -> Dash:
        """How a line of it is dashed: colour never stands alone."""
        if self.role == "rival":
            return "dashed"
        if self.role == "series":
            return _DASHES[self.number // 2 % len(_DASHES)]
        return "solid"


#: Light and dark colours of the series: Okabe and Ito's palette, whose colours are told apart with
#: any colour vision, darkened on the light ground and lifted on the dark one until each has a
#: contrast of 3 with it.
SERIES: tuple[tuple[str, str], ...] = (
    ("#0072B2", "#56A9E8"),
    ("#D55E00", "#FF8A4C"),
    ("#009E73", "#2FC79B"),
    ("#C0689A", "#E09BC3"),
    ("#B27A00", "#F2B632"),
    ("#2E93D1", "#86CBF2"),
    ("#5E4B00", "#D6BE5A"),
    ("#5B5B5B", "#B8BDC6"),
)
#: Those of classes: no grey, which stands for all other classes, and enough for a list of ten.
CLASSES: tuple[tuple[str, str], ...] = (
    *SERIES[:7],
    ("#7B3FA0", "#C39BE0"),
    ("#00717A", "#3FC1CC"),
    ("#617A00", "#B5D33D"),
)
_DASHES: tuple[Dash, ...] = ("solid", "dashed", "dash-dot", "dotted")
_ROLES: dict[str, tuple[str, str]] = {
    "class": SERIES[0],
    "rival": SERIES[1],
    "other": ("#8A8F98", "#70757F"),
    "original": SERIES[0],
    "changed": SERIES[1],
    "holds": ("#00785A", "#2FC79B"),
    "risk": ("#8F5F00", "#F2B632"),
    "fails": ("#C0392B", "#FF7A6B"),
    "unknown": ("#6B7078", "#A2A8B3"),
    "text": ("#1F2328", "#E4E6EA"),
    "quiet": ("#8A8F98", "#70757F"),
}
#: Colours that classes are named after, chosen to be distinct on both backgrounds.
_CALLED: dict[str, tuple[str, str]] = {
    "red": ("#C62828", "#FF6B6B"),
    "green": ("#1E8E3E", "#4CCB72"),
    "blue": ("#1A5FB4", "#6CA8F5"),
    "yellow": ("#B58900", "#F0CC3C"),
    "orange": ("#D9730D", "#FF9F4A"),
    "amber": ("#C77700", "#FFB238"),
    "purple": ("#7B3FA0", "#C39BE0"),
    "violet": ("#7B3FA0", "#C39BE0"),
    "pink": ("#C2488A", "#F29BC4"),
    "brown": ("#7A4B2A", "#C08A63"),
    "grey": ("#6B7078", "#A2A8B3"),
    "gray": ("#6B7078", "#A2A8B3"),
    # "Nothing is there" is seen beside red and green lights: unlike both, and unlike grey, which
    # stands for all other classes.
    "none": SERIES[3],
    "background": SERIES[3],
}


#: Green only for what holds; the unknown has no colour of its own.
_OF_STATUS = {
    Status.FAILS: Ink("fails"),
    Status.AT_RISK: Ink("risk"),
    Status.UNKNOWN: Ink("unknown"),
    Status.HOLDS: Ink("holds"),
}


def status_ink(status: Status) -> Ink:
    """What a status is drawn with; its sign and its words stand beside it."""
    return _OF_STATUS[status]


def called_after(name: str, dark: bool = False) -> str:
    """The colour that a class is named after; empty for any other name."""
    pair = _CALLED.get(name.strip().lower())
    if pair:
        return pair[dark]
    return ""


def called_colours(dark: bool = False) -> tuple[str, ...]:
    """Every colour that a class may be named after."""
    return tuple(pair[dark] for pair in _CALLED.values())
