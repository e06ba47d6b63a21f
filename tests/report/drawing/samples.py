"""Views of every kind to draw: usual ones, empty ones, odd ones."""

from __future__ import annotations

import numpy as np

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

NAN = np.nan
ODD = r"a$\frac{1}$_{x}^ 猫 <b> & a very long name that no legend and no axis has room for"
GARMENTS = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)


def curves() -> Curves:
    x = np.linspace(0, 1, 25)
    share = 1 / (1 + np.exp(12 * (x - 0.4)))
    others = tuple(
        Line(name, 0.05 * np.sin(8 * x + i) ** 2, Ink("other"), quiet=True)
        for i, name in enumerate(GARMENTS[2:8])
    )
    return Curves(
        "How sure the model stays as the input changes",
        Axis("Largest change of a value", low=0, high=1),
        Axis("Mean confidence", kind="share", low=0, high=1),
        x,
        (
            Line("Shirt (seen at the input)", share, Ink("class"), strong=True),
            Line("Coat (strongest rival)", 0.9 - 0.85 * share, Ink("rival")),
            Line(
                "uncertainty (95 % band)",
                0.6 * x,
                Ink("text"),
                low=0.6 * x - 0.05,
                high=0.6 * x + 0.05,
                symbol="circle",
            ),
            *others,
        ),
        marks=(
            Mark(0.336, "first change of class found", Ink("fails")),
            Mark(0.36, "attack succeeds at 0.36", Ink("fails")),
        ),
        levels=(Mark(0.5, "half"), Mark(0.8, "the threshold you set", Ink("holds"))),
        note="256 samples at each of 25 radii.",
    )


def log_curves() -> Curves:
    at = np.arange(1, 41)
    p = 10.0 ** -(at / 6)
    return Curves(
        "How rare a failure is",
        Axis("Round", kind="count"),
        Axis("Probability of a failure", kind="probability", log=True),
        at.astype(float),
        (Line("estimate", p, Ink("series"), low=p / 3, high=p * 3, steps=True),),
        levels=(Mark(1e-5, "what you allow"),),
    )


def matrix() -> Matrix:
    values = np.abs(np.random.default_rng(0).normal(0, 0.08, (10, 10)))
    values[6, 4] = 0.41
    np.fill_diagonal(values, NAN)
    return Matrix(
        "Which classes are taken for each other",
        Axis("Seen as"),
        Axis("True class"),
        values,
        Axis("Share confused", kind="share"),
        (0.0, 0.5),
        worst="high",
        rows=GARMENTS,
        columns=GARMENTS,
        spots=(Spot(4.5, 6.5, "worst pair", symbol="square"),),
    )


def thousand() -> Matrix:
    values = np.random.default_rng(0).random((1000, 1000)) * 0.1
    values[700:703, 200] = 1.0
    names = tuple(f"class number {i}" for i in range(1000))
    return Matrix(
        "A thousand classes",
        Axis("Seen as"),
        Axis("True class"),
        values,
        Axis("Share confused", kind="share"),
        (0, 1),
        worst="high",
        rows=names,
        columns=names,
    )


def heat_map() -> Matrix:
    x, y = np.meshgrid(np.linspace(-180, 180, 60), np.linspace(0.5, 2, 40))
    return Matrix(
        "Where the model is right",
        Axis("Rotation", "°"),
        Axis("Scale", "×"),
        np.cos(np.radians(x)) * 0.5 + 0.5 - 0.1 * y,
        Axis("Score of the true class", kind="share"),
        (0, 1),
        place=(-183, 0.48, 366, 1.54),
        worst="low",
        spots=(
            Spot(100, 1.2, "trap 1 at 100°"),
            Spot(-120, 0.8, "trap 2 at -120°"),
            Spot(0, 1, "start", Ink("original"), "circle"),
        ),
    )


def class_map() -> Matrix:
    x, y = np.meshgrid(np.linspace(-1, 1, 60), np.linspace(-1, 1, 40))
    winner = np.where(x + y > 0.4, 0, np.where(x - y > 0.1, 1, 2))
    winner[:4] = -1
    return Matrix(
        "Which class wins",
        Axis("Rotation", "°"),
        Axis("Brightness"),
        np.clip(np.abs(x + y - 0.4) + 0.1, 0, 1),
        Axis("Confidence", kind="share"),
        (0, 1),
        place=(-90, 0, 180, 1),
        classes=winner,
        class_names=("red", "green", "none of the traffic lights"),
    )


def differences() -> Matrix:
    return Matrix(
        "Difference",
        Axis("Rotation", "°"),
        Axis("Scale"),
        np.random.default_rng(0).normal(0, 0.2, (12, 16)),
        Axis("difference in score", kind="share"),
        (-0.6, 0.6),
        worst="middle",
    )


def boxes() -> Boxes:
    made = (
        Box(-60, 0.7, 90, 0.6, "region 1, grow, black-box", Ink("series", 0)),
        Box(40, 1.1, 60, 0.5, "region 2, grow, black-box", Ink("series", 0)),
        Box(-20, 0.9, 50, 0.3, "region 3, grow, with gradients", Ink("series", 2)),
    )
    start = (
        Spot(0, 1, "start", Ink("text"), "circle"),
        Spot(60, 1.3, "start", Ink("text"), "circle"),
    )
    ground = heat_map()
    return Boxes("Where the model stays right", ground.x, ground.y, made, ground, start)


def lanes() -> Boxes:
    made = tuple(
        Box(low, lane + 0.2, 40, 0.6, f"region {lane}", Ink("series", lane))
        for lane, low in enumerate((-60, -10, 30))
    )
    return Boxes(
        "Ranges",
        Axis("Rotation", "°", -90, 90),
        Axis(""),
        made,
        lanes=("rotation", "scale of the object", "light"),
    )


def bars() -> Bars:
    values = np.random.default_rng(0).random(10)
    return Bars(
        "Accuracy by class",
        Axis("Inputs seen right", kind="share", low=0, high=1, better="high"),
        GARMENTS,
        (
            Series("model A", values, Ink("series", 0), values - 0.05, values + 0.05),
            Series("model B", values[::-1], Ink("series", 1)),
        ),
        levels=(Mark(0.8, "wanted", Ink("holds")),),
    )


def stacked() -> Bars:
    return Bars(
        "What became of the inputs",
        Axis("Inputs", kind="count"),
        ("0.01", "0.05", "0.1"),
        (
            Series("failed", np.array([1.0, 8, 16]), Ink("fails")),
            Series("open", np.array([20.0, 12, 0]), Ink("unknown")),
            Series("validated", np.array([79.0, 80, 84]), Ink("holds")),
        ),
        stacked=True,
        x=Axis("Noise"),
    )


def histogram() -> Bars:
    edges = np.linspace(0, 1, 21)
    rng = np.random.default_rng(0)
    sets = [rng.beta(2, 5, 300), rng.beta(4, 3, 300)]
    rows = tuple(
        Series(name, np.histogram(values, edges)[0].astype(float), Ink(role))
        for name, values, role in zip(
            ("clean inputs", "attacked inputs"), sets, ("original", "changed"), strict=True
        )
    )
    marks = (
        Mark(0.28, "mean 0.28", Ink("original")),
        Mark(0.3, "median 0.3", Ink("original")),
        Mark(0.57, "mean 0.57", Ink("changed")),
    )
    x = Axis("Uncertainty", low=0, high=1)
    return Bars(
        "Uncertainty around both",
        Axis("Inputs", kind="count"),
        (),
        rows,
        edges=edges,
        x=x,
        marks=marks,
    )


def _pixels(seed: int, side: int = 28) -> np.ndarray:
    x, y = np.meshgrid(np.arange(side), np.arange(side))
    grey = (127 + 120 * np.sin((x + seed * 3) / 5) * np.cos(y / (4 + seed))).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=2)


def images() -> Images:
    pictures = tuple(
        Picture(
            _pixels(i),
            f"input {i}, true class {GARMENTS[i]}",
            f"{GARMENTS[-i]} {90 - i} %",
            (True, False, None)[i % 3],
            Ink("text"),
        )
        for i in range(10)
    )
    return Images("The inputs the models disagree on", pictures)


def pairs() -> Images:
    spots = tuple(
        Spot(x, y, "changed", Ink("changed"), "square") for x, y in ((3, 4), (14, 14), (27, 0))
    )
    before, after = _pixels(1), _pixels(1).copy()
    after[[4, 14, 0], [3, 14, 27]] = (255, 80, 0)
    made = (
        Picture(before, "original", "red 98 %", True, Ink("original")),
        Picture(after, "3 pixels changed", "green 71 %", False, Ink("changed"), spots),
        Picture(_pixels(4, 200), "original", "Coat", True),
        Picture(
            _pixels(5, 200),
            "changed",
            "Shirt",
            False,
            spots=(Spot(100, 100, size=60, ink=Ink("fails")),),
        ),
    )
    return Images("Before and after", made, pairs=True)


def table() -> Table:
    return Table(
        "Pairs of classes",
        (
            Column("Pair", ("Shirt and Coat", ODD, "Bag and Trouser")),
            Column("Distance", (0.12, 3.4567, NAN), "number", "σ"),
            Column("Truly confused", (0.41, 0.07, 0.0), "share"),
            Column("Chance of that", (1e-7, 0.02, None), "probability"),
            Column("Inputs", (1200, 34, 7), "count"),
            Column("Time", (0.2, 3700.0, 12.0), "seconds"),
            Column("Status", ("fails", "at risk", "holds"), "status"),
        ),
        note="The worst first.",
    )


def wide_table() -> Table:
    return Table(
        "Many columns",
        tuple(
            Column(f"column number {i}", (1234567.0, 0.001234, 3.0), "number") for i in range(15)
        ),
    )


def tree() -> Tree:
    parent = np.array([-1, 0, 0, 0, 1, 1, 2, 4, 4, 7])
    return Tree(
        "The moves tried",
        parent,
        tuple("start" if i == 0 else f"feature {i}, pixel {i * 3}" for i in range(10)),
        np.array([100.0, 60, 30, 10, 40, 20, 30, 30, 10, 30]),
        np.array([0.5, 0.6, 0.3, NAN, 0.7, 0.4, 0.3, 0.9, 0.2, 0.95]),
        Axis("Reward", low=0, high=1, better="low"),
        Axis("visits", kind="count"),
        path=(0, 1, 4, 7, 9),
    )


def film() -> Film:
    whole = class_map()
    frames = []
    for step in range(6):
        values = whole.values * (step + 1) / 6
        frames.append(
            Matrix(
                "frame",
                whole.x,
                whole.y,
                values,
                whole.scale,
                (0, float(values.max())),
                whole.place,
                worst="low",
            )
        )
    return Film("The map warms up", tuple(frames), tuple(f"step {i + 1} of 6" for i in range(6)))


def usual() -> dict[str, View]:
    """Every kind as a method would give it."""
    makers = (
        curves,
        log_curves,
        matrix,
        thousand,
        heat_map,
        class_map,
        differences,
        boxes,
        lanes,
        bars,
        stacked,
        histogram,
    )
    more = (images, pairs, table, wide_table, tree, film)
    return {maker.__name__: maker() for maker in (*makers, *more)}


def empty() -> dict[str, View]:
    """Every kind before anything is computed."""
    x, y, none = Axis("Radius"), Axis("Share", kind="share"), np.empty(0)
    blank = Matrix(
        "m", x, y, np.full((3, 3), NAN), y, (0, 1), rows=("a", "b", "c"), columns=("a", "b", "c")
    )
    lost = np.full(3, NAN)
    void = Matrix("m", x, y, np.empty((0, 0)), y, (NAN, NAN))
    return {
        "curves": Curves("c", x, y, none, ()),
        "curves of nan": Curves(
            "c", x, Axis("p", log=True), np.arange(3.0), (Line("a", lost, low=lost, high=lost),)
        ),
        "one point": Curves("c", x, y, np.zeros(1), (Line("a", np.zeros(1)),)),
        "matrix of nan": blank,
        "matrix of nothing": void,
        "boxes": Boxes("b", x, y, ()),
        "boxes on nan": Boxes("b", x, y, (), blank),
        "bars": Bars("b", y, (), ()),
        "bars of nan": Bars(
            "b",
            y,
            ("a", "b"),
            (Series("s", np.full(2, NAN), low=np.full(2, NAN), high=np.full(2, NAN)),),
        ),
        "histogram": Bars("b", y, (), (Series("s", np.zeros(4)),), edges=np.linspace(0, 1, 5)),
        "images": Images("i", ()),
        "table": Table("t", ()),
        "table without rows": Table("t", (Column("a", ()),)),
        "tree": Tree("t", np.empty(0, int), (), none, none, y, x),
        "film": Film("f", (void,), ("step 0",)),
    }


def odd() -> dict[str, View]:
    """Names that are long, or that matplotlib would read as mathematics."""
    x, y = Axis(ODD, ODD), Axis(ODD, kind="share")
    values = np.random.default_rng(0).random((4, 3))
    grid = Matrix(
        ODD,
        x,
        y,
        values,
        y,
        (0, 1),
        rows=(ODD,) * 4,
        columns=(ODD,) * 3,
        worst="high",
        spots=(Spot(1, 1, ODD),),
        note=ODD,
    )
    lines = (Line(ODD, values[0]), Line(ODD, values[1], Ink("series", 1)))
    return {
        "curves": Curves(ODD, x, y, np.arange(3.0), lines, (Mark(1, ODD),), (Mark(0.5, ODD),), ODD),
        "matrix": grid,
        "boxes": Boxes(ODD, x, y, (Box(0, 0, 1, 1, ODD),), grid, lanes=(ODD, ODD)),
        "bars": Bars(
            ODD, y, (ODD, "b"), (Series(ODD, values[0][:2]), Series("s", values[1][:2])), x=x
        ),
        "images": Images(ODD, (Picture(_pixels(0), ODD, ODD, False),), note=ODD),
        "table": Table(ODD, (Column(ODD, (ODD,)), Column(ODD, (1.0,), "number", ODD))),
        "tree": Tree(ODD, np.array([-1, 0]), (ODD, ODD), np.ones(2), np.ones(2), y, x, (0, 1)),
    }
