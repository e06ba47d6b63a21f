"""One small View of each kind, for the tests of what draws them."""

from __future__ import annotations

import numpy as np

from robgui.core.verdict import Status
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
    Tree,
    View,
)

RADII = np.linspace(0, 1, 11)


def curves(scale: float = 1.0) -> Curves:
    own = scale * (1 - RADII)
    return Curves(
        "Confidence",
        Axis("radius"),
        Axis("mean confidence", low=0, high=1, kind="share"),
        RADII,
        (
            Line("Shirt", own, Ink("class"), low=own - 0.05, high=own + 0.05, strong=True),
            Line("Coat", 1 - own, Ink("rival"), symbol="triangle"),
            Line("Bag", 0.1 * RADII, Ink("other"), quiet=True),
        ),
        marks=(Mark(0.34, "class changes"),),
        levels=(Mark(0.5, "asked for"),),
        note="The band is the 95 % interval.",
    )


def matrix(worst: str = "low") -> Matrix:
    values = np.arange(6.0).reshape(2, 3) / 5
    return Matrix(
        "Distance",
        Axis("taken for"),
        Axis("class"),
        values,
        Axis("distance"),
        (0.0, 1.0),
        worst=worst,
        rows=("cat", "dog"),
        columns=("cat", "dog", "cow"),
        spots=(Spot(0.5, 0.5, "a failure"),),
    )


def classes() -> Matrix:
    return Matrix(
        "Who wins",
        Axis("rotation", "°"),
        Axis("scale"),
        np.array([[1.0, 0.5], [0.2, np.nan]]),
        Axis("how surely", kind="share"),
        (0.0, 1.0),
        place=(-180, 0.5, 360, 1.5),
        classes=np.array([[0, 1], [1, -1]]),
        class_names=("red", "green"),
    )


def boxes() -> Boxes:
    return Boxes(
        "Safe regions",
        Axis("rotation", "°", -180, 180),
        Axis("scale", low=0.5, high=2.0),
        (
            Box(-90, 0.75, 180, 1.0, "large", Ink("series", 0)),
            Box(-10, 1.0, 20, 0.2, "small", Ink("series", 1)),
        ),
        behind=classes(),
        spots=(Spot(0, 1.1, "start", Ink("text"), "circle"),),
    )


def bars(stacked: bool = False) -> Bars:
    return Bars(
        "Safe share",
        Axis("share of the range", kind="share"),
        ("cnn", "mlp"),
        (
            Series(
                "slow",
                np.array([0.4, 0.2]),
                Ink("series", 0),
                np.array([0.3, 0.1]),
                np.array([0.5, 0.3]),
            ),
            Series("fast", np.array([0.1, np.nan]), Ink("series", 1)),
        ),
        stacked=stacked,
        levels=(Mark(0.25, "asked for"),),
    )


def histogram() -> Bars:
    return Bars(
        "Uncertainty",
        Axis("inputs", kind="count"),
        (),
        (Series("clean", np.array([3.0, 1.0, 0.0, 2.0])),),
        edges=np.linspace(0, 1, 5),
        x=Axis("uncertainty"),
        marks=(Mark(0.4, "best threshold"),),
    )


def picture(shade: int, caption: str = "", right: bool | None = None) -> Picture:
    pixels = np.full((8, 8, 3), shade, np.uint8)
    return Picture(
        pixels, caption, "Shirt" if caption else "", right, spots=(Spot(2, 3, "changed"),)
    )


def images(pairs: bool = False) -> Images:
    shown = tuple(picture(60 * i, f"input {i}", (None, True, False, True)[i]) for i in range(4))
    return Images("Inputs", shown, pairs=pairs, note="Click one.")


def table(rows: int = 4) -> Table:
    return Table(
        "Pairs",
        (
            Column("Pair", tuple(f"pair {i}" for i in range(rows))),
            Column("Distance", tuple([0.5, None, 0.25, 12345.678][:rows]), "number"),
            Column("Confused", tuple([0.912, 0.07, 0.0, 1.0][:rows]), "share"),
            Column("Result", tuple([Status.FAILS, Status.HOLDS, None, "unknown"][:rows]), "status"),
        ),
    )


def tree() -> Tree:
    return Tree(
        "Moves",
        np.array([-1, 0, 0, 1]),
        ("start", "left", "right", "left again"),
        np.array([10.0, 7.0, 3.0, 4.0]),
        np.array([0.5, 0.9, 0.1, 1.0]),
        Axis("severity", low=0, high=1, better="low"),
        Axis("visits", kind="count"),
        path=(0, 1, 3),
    )


def film() -> Film:
    frames = tuple(curves(scale) for scale in (0.2, 0.6, 1.0))
    return Film("Growing", frames, ("step 1 of 3", "step 2 of 3", "step 3 of 3"))


#: One of each kind.
ALL: dict[str, View] = {
    "curves": curves(),
    "matrix": matrix(),
    "boxes": boxes(),
    "bars": bars(),
    "images": images(),
    "table": table(),
    "tree": tree(),
    "film": film(),
}
