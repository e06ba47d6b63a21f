"""Views: what a result looks like, as data.

Two renderers draw them: one with matplotlib, one in the window.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from robgui.core.view.axis import Axis
from robgui.core.view.parts import Box, Column, Line, Mark, Picture, Series, Spot


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """A view that may be about one of the models of a request.

    Attributes:
        model: The place of that model in the request; None for a view of all of them.
    """

    model: int | None = None


@dataclass(frozen=True, slots=True)
class Curves(Owned):
    """Lines over one axis.

    Attributes:
        title: What the picture shows.
        x: The horizontal axis.
        y: The vertical axis.
        at: ``(n,)`` where the points of the lines stand, unless a line has its own.
        lines: The lines, those that matter most first.
        marks: Vertical lines.
        levels: Horizontal lines.
        note: One sentence below the picture.
    """

    title: str
    x: Axis
    y: Axis
    at: np.ndarray
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()
    levels: tuple[Mark, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        for line in self.lines:
            if line.x is None and line.y.shape != self.at.shape:
                raise ValueError(
                    f"the line {line.name!r} has {line.y.size} points over {self.at.size} places"
                )


#: Why a cell of a matrix is empty, unless its view says otherwise.
NOT_COMPUTED = "not computed"


@dataclass(frozen=True, slots=True)
class Matrix(Owned):
    """Values over two axes; row 0 is the lowest, as on any vertical axis.

    The most intense colour is the worst: ``worst`` says which end that is; ``middle`` is a
    difference around zero. With ``classes`` the hue says which class wins and the value how surely.

    Attributes:
        title: What the picture shows.
        x: The horizontal axis.
        y: The vertical axis.
        values: ``(rows, columns)``; nan where nothing is known.
        scale: What the values are.
        levels: The values of the first and the last colour.
        place: x, y, width and height of the whole in units of the axes; None numbers rows and
            columns from 0.
        worst: Which end of the scale is the worst; ``neither`` for a value without a good end.
        rows: What the rows are called; empty if the vertical axis has numbers.
        columns: The same for the columns.
        classes: ``(rows, columns)`` number of the winning class, -1 for none; None for plain
            values.
        class_names: What the classes are called.
        class_list: All classes of the model, which decide about their colours.
        guessed: ``(rows, columns)`` bool, cells that were not computed and show the value of a
            coarser one around them; None for none.
        spots: Signs over it.
        note: One sentence below the picture.
        unknown: Why there is nothing if a value is nan.
    """

    title: str
    x: Axis
    y: Axis
    values: np.ndarray
    scale: Axis
    levels: tuple[float, float]
    place: tuple[float, float, float, float] | None = None
    worst: Literal["low", "high", "middle", "neither"] = "neither"
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    classes: np.ndarray | None = None
    class_names: tuple[str, ...] = ()
    class_list: tuple[str, ...] = ()
    spots: tuple[Spot, ...] = ()
    note: str = ""
    unknown: str = NOT_COMPUTED
    guessed: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.values.ndim != 2:
            raise ValueError(
                f"the matrix {self.title!r} has {self.values.ndim} dimensions, not two"
            )
        for names, size in (
            (self.rows, self.values.shape[0]),
            (self.columns, self.values.shape[1]),
        ):
            if names and len(names) != size:
                raise ValueError(
                    f"the matrix {self.title!r} has {size} lines and {len(names)} names"
                )
        if self.classes is not None and self.classes.shape != self.values.shape:
            raise ValueError(
                f"the classes of the matrix {self.title!r} have another shape than its values"
            )

    @property
    def rect(self) -> tuple[float, float, float, float]:
        """Where it lies: x, y, width, height."""
        return self.place or (0.0, 0.0, float(self.values.shape[1]), float(self.values.shape[0]))


@dataclass(frozen=True, slots=True)
class Boxes(Owned):
    """Rectangles over two axes, with a matrix behind them if there is one.

    Attributes:
        title: What the picture shows.
        x: The horizontal axis.
        y: The vertical axis.
        boxes: The rectangles.
        behind: What they lie on; None for an empty ground.
        spots: Signs over it, such as where the boxes began.
        lanes: What the rows of the vertical axis are called, where it stands for nothing (boxes of
            one dimension).
        note: One sentence below the picture.
    """

    title: str
    x: Axis
    y: Axis
    boxes: tuple[Box, ...]
    behind: Matrix | None = None
    spots: tuple[Spot, ...] = ()
    lanes: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bars(Owned):
    """Bars with names, side by side or stacked.

    Or a histogram, whose bars have edges instead of names.

    Attributes:
        title: What the picture shows.
        value: The axis of the values.
        names: What the bars stand for, in order.
        series: The rows of bars.
        stacked: On top of each other instead of side by side.
        edges: ``(n + 1,)`` of a histogram; None for bars with names.
        x: The axis of the edges, or what the names are.
        levels: Lines at some values.
        marks: Lines across a histogram at some places of its edges' axis.
        note: One sentence below the picture.
    """

    title: str
    value: Axis
    names: tuple[str, ...]
    series: tuple[Series, ...]
    stacked: bool = False
    edges: np.ndarray | None = None
    x: Axis = field(default_factory=lambda: Axis(""))
    levels: tuple[Mark, ...] = ()
    marks: tuple[Mark, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        if self.edges is None:
            size = len(self.names)
        else:
            size = len(self.edges) - 1
        for row in self.series:
            if row.values.size != size:
                raise ValueError(
                    f"the bars {row.name!r} have {row.values.size} values for {size} places"
                )


@dataclass(frozen=True, slots=True)
class Images(Owned):
    """Pictures in order; with ``pairs`` each two are one input before and after.

    Attributes:
        title: What the pictures show.
        pictures: The pictures.
        pairs: Whether pictures 0 and 1, 2 and 3, … belong together.
        columns: How many stand in a row; 0 leaves that to the room there is.
        note: One sentence below.
    """

    title: str
    pictures: tuple[Picture, ...]
    pairs: bool = False
    columns: int = 0
    note: str = ""

    def __post_init__(self) -> None:
        if self.pairs and len(self.pictures) % 2:
            raise ValueError(f"the pairs {self.title!r} have a picture without its partner")


@dataclass(frozen=True, slots=True)
class Table(Owned):
    """Columns with a type and a unit each; the first column names the rows."""

    title: str
    columns: tuple[Column, ...]
    note: str = ""

    def __post_init__(self) -> None:
        if len({len(column.cells) for column in self.columns}) > 1:
            raise ValueError(f"the columns of the table {self.title!r} differ in length")

    @property
    def height(self) -> int:
        """How many rows there are."""
        if self.columns:
            return len(self.columns[0].cells)
        return 0


@dataclass(frozen=True, slots=True)
class Tree(Owned):
    """A tree of moves.

    Attributes:
        title: What the tree is.
        parent: ``(n,)`` number of each node's parent, which comes before it; -1 for the root.
        names: What the nodes are called.
        weight: ``(n,)`` how much went through each node: its size.
        value: ``(n,)`` what it is worth: its colour.
        scale: What the value is.
        size: What the weight is.
        path: The nodes of the best line, from the root.
        note: One sentence below the picture.
    """

    title: str
    parent: np.ndarray
    names: tuple[str, ...]
    weight: np.ndarray
    value: np.ndarray
    scale: Axis
    size: Axis
    path: tuple[int, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        count = len(self.parent)
        if not len(self.names) == len(self.weight) == len(self.value) == count:
            raise ValueError(
                f"the nodes of the tree {self.title!r} have parents, names and values of different"
                " number"
            )
        # Parents first: one pass from front to back reaches every node, and there is no ring.
        if (self.parent >= np.arange(count)).any() or (self.parent < -1).any():
            raise ValueError(f"a node of the tree {self.title!r} comes before its parent")


Still = Curves | Matrix | Boxes | Bars | Images | Table | Tree


@dataclass(frozen=True, slots=True)
class Film(Owned):
    """One view after the other, all of one kind and size.

    Attributes:
        title: What moves.
        frames: The views.
        steps: The name of each, for example ``iteration 12 of 40``.
        note: One sentence below the picture.
    """

    title: str
    frames: tuple[Still, ...]
    steps: tuple[str, ...]
    note: str = ""

    def __post_init__(self) -> None:
        if not self.frames or len(self.frames) != len(self.steps):
            raise ValueError(
                f"the film {self.title!r} has {len(self.frames)} frames and {len(self.steps)} steps"
            )
        if len({type(frame) for frame in self.frames}) > 1:
            raise ValueError(f"the film {self.title!r} mixes kinds of pictures")


View = Curves | Matrix | Boxes | Bars | Images | Table | Tree | Film


@dataclass(frozen=True, slots=True)
class Views:
    """The views of one result together, as the codec stores and sends them."""

    views: tuple[View, ...]
