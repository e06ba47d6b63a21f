"""What views are made of: lines, marks, spots, pictures, columns; each validates itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from robgui.core.text.words import duration, number, percent, probability
from robgui.core.verdict import Status
from robgui.core.view.ink import Ink

Symbol = Literal["", "circle", "square", "cross", "triangle", "diamond"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of Curves.

    Attributes:
        name: What it is, for the legend.
        y: ``(n,)``; nan breaks the line.
        ink: What it stands for.
        x: ``(n,)`` where it has points of its own; None takes those of the view.
        low: ``(n,)`` lower end of its band; None without one.
        high: Upper end.
        symbol: Drawn at every point.
        line: False draws the symbols alone.
        steps: Drawn as steps, as a distribution function is.
        strong: Drawn thicker than the others.
        quiet: One of many in the background: thin, without an entry in the legend.
        model: Of lines of several models, the place of this one's in the request; else None.
    """

    name: str
    y: np.ndarray
    ink: Ink = field(default_factory=Ink)
    x: np.ndarray | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    symbol: Symbol = ""
    line: bool = True
    steps: bool = False
    strong: bool = False
    quiet: bool = False
    model: int | None = None

    def __post_init__(self) -> None:
        if self.y.ndim != 1:
            raise ValueError(f"the line {self.name!r} has {self.y.ndim} dimensions, not one")
        for name, other in (("x", self.x), ("low", self.low), ("high", self.high)):
            if other is not None and other.shape != self.y.shape:
                raise ValueError(f"{name} of the line {self.name!r} has another shape than its y")
        if (self.low is None) != (self.high is None):
            raise ValueError(f"the band of the line {self.name!r} has one end only")


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line at one place, or a horizontal one among ``levels``."""

    at: float
    name: str
    ink: Ink = field(default_factory=lambda: Ink("text"))


@dataclass(frozen=True, slots=True)
class Spot:
    """A sign at one place of a matrix or picture.

    Attributes:
        x: Place along the horizontal axis; in a picture, pixels from the left.
        y: Place along the vertical axis; in a picture, pixels from the top.
        name: What is there.
        ink: What it stands for.
        symbol: How it is drawn.
        size: Diameter in units of the axes; 0 is a sign of fixed size.
    """

    x: float
    y: float
    name: str = ""
    ink: Ink = field(default_factory=lambda: Ink("fails"))
    symbol: Symbol = "cross"
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle over two axes: x, y of its lower corner, its width and height."""

    x: float
    y: float
    width: float
    height: float
    name: str = ""
    ink: Ink = field(default_factory=Ink)

    def __post_init__(self) -> None:
        sides = (self.x, self.y, self.width, self.height)
        if not all(math.isfinite(side) for side in sides) or self.width < 0 or self.height < 0:
            raise ValueError(f"the box {self.name!r} has no finite place and size")


@dataclass(frozen=True, slots=True)
class Series:
    """One row of bars: a value for every name of the view.

    Attributes:
        name: What it is, for the legend.
        values: ``(n,)``; nan leaves the bar out.
        ink: What it stands for.
        low: ``(n,)`` lower ends of error bars; None without.
        high: Upper ends.
        each: What every single bar stands for; empty where all are ``ink``.
    """

    name: str
    values: np.ndarray
    ink: Ink = field(default_factory=Ink)
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    each: tuple[Ink, ...] = ()

    def __post_init__(self) -> None:
        if self.values.ndim != 1:
            raise ValueError(f"the bars {self.name!r} have {self.values.ndim} dimensions, not one")
        if self.each and len(self.each) != self.values.size:
            raise ValueError(f"the bars {self.name!r} have {len(self.each)} inks of their own")
        for other in (self.low, self.high):
            if other is not None and other.shape != self.values.shape:
                raise ValueError(
                    f"the error bars of {self.name!r} have another shape than its bars"
                )


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture with what is said of it.

    Attributes:
        pixels: ``(h, w, 3)`` uint8.
        caption: What it is.
        chip: A few words on it, for example the class the model sees.
        right: Whether the chip is right; None if unknown.
        ink: What the chip stands for.
        spots: Signs on it.
        detail: Shown on hover.
    """

    pixels: np.ndarray
    caption: str = ""
    chip: str = ""
    right: bool | None = None
    ink: Ink = field(default_factory=lambda: Ink("text"))
    spots: tuple[Spot, ...] = ()
    detail: str = ""

    def __post_init__(self) -> None:
        if (
            self.pixels.dtype != np.uint8
            or self.pixels.ndim != 3
            or self.pixels.shape[2] != 3
            or not self.pixels.size
        ):
            raise ValueError(f"the picture {self.caption!r} is not (h, w, 3) uint8")


Cell = str | float | int | bool | None
ColumnKind = Literal["text", "number", "share", "probability", "count", "seconds", "status"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a Table; ``kind`` says how its cells read, None is an empty cell."""

    name: str
    cells: tuple[Cell, ...]
    kind: ColumnKind = "text"
    unit: str = ""

    @property
    def title(self) -> str:
        """Name and unit as they stand above the column."""
        if self.unit:
            return f"{self.name} ({self.unit})"
        return self.name

    def words(self, cell: Cell) -> str:
        """One of its cells as a person reads it; the unit stands above the column."""
        if cell is None:
            return ""
        # Before the numbers, since True is one.
        if isinstance(cell, bool):
            if cell:
                return "yes"
            return "no"
        if isinstance(cell, str):
            if self.kind == "status":
                return _status_words(cell)
            return cell
        if self.kind == "count" and math.isfinite(cell):
            return f"{round(cell):,}"
        return _WORDS.get(self.kind, number)(float(cell))


_WORDS = {
    "share": percent,
    "probability": lambda value: probability(value, 2),
    "seconds": duration,
}


def _status_words(cell: str) -> str:
    status = Status(cell)
    return f"{status.sign} {status.words}"
