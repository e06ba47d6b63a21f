"""Building blocks for the pictures of maps, regions and the safe share."""

from __future__ import annotations

import numpy as np

from robgui.analyses.semantic.scene.scene import SceneAxis
from robgui.core.view import Axis, Ink, Matrix, Spot

#: Score of a class, from 0 to 1.
SCORE = Axis("score of the class", low=0.0, high=1.0, better="high")
#: One ink for each way to grow, the same in every picture.
METHOD_INKS = {
    "naive": Ink("series", 4),
    "oir_b": Ink("series", 0),
    "oir_w": Ink("series", 2),
    "box": Ink("holds"),
}


def view_axis(axis: SceneAxis) -> Axis:
    """A parameter of a scene as the axis of a picture."""
    return Axis(axis.title, axis.unit, axis.low, axis.high)


def rect_of(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float, float]:
    """x, y, width and height of the cells around these values."""
    dx, dy = (float(values[1] - values[0]) if len(values) > 1 else 1.0 for values in (x, y))
    # Values are the middles of their cells, so the picture begins half a cell before the first.
    return float(x[0]) - dx / 2, float(y[0]) - dy / 2, dx * len(x), dy * len(y)


def score_matrix(
    title: str,
    axes: tuple[SceneAxis, ...],
    grid: tuple[np.ndarray, np.ndarray],
    score: np.ndarray,
    spots: tuple[Spot, ...] = (),
    note: str = "",
    guessed: np.ndarray | None = None,
) -> Matrix:
    """Scores ``(H, W)`` over two parameters; low is the worst."""
    return Matrix(
        title=title,
        x=view_axis(axes[0]),
        y=view_axis(axes[1]),
        values=np.asarray(score, dtype=float),
        scale=SCORE,
        levels=(0.0, 1.0),
        place=rect_of(*grid),
        worst="low",
        spots=spots,
        note=note,
        guessed=guessed,
    )


def usual_spot(axes: tuple[SceneAxis, ...]) -> tuple[Spot, ...]:
    """A ring where nothing is varied; none where that is out of range."""
    x, y = axes[0], axes[1]
    if not (x.low <= x.default <= x.high and y.low <= y.default <= y.high):
        return ()
    return (Spot(x.default, y.default, "usual pose", Ink("text"), "circle"),)
