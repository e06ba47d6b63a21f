"""What a semantic map over one parameter looks like: the score of every network as a line."""

from __future__ import annotations

import numpy as np

from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.result import MapResult
from robgui.analyses.semantic.views import SCORE, view_axis
from robgui.analyses.semantic.words import range_words
from robgui.core.view import Curves, Ink, Line, Mark

SCORES = "Score of the class"


def score_curves(result: MapResult, params: MapParams, shape: int = -1) -> Curves:
    """The score over one parameter, a line for every network; below 0 is the mean of all shapes."""
    if shape < 0:
        scores = result.scores[:, :, 0].mean(1)
    else:
        scores = result.scores[:, shape, 0]
    several = len(result.networks) > 1
    lines = [
        Line(
            name if several else SCORE.name,
            np.asarray(row, dtype=float),
            Ink("series", m),
            strong=m == 0,
            model=m if several else None,
        )
        for m, (name, row) in enumerate(zip(result.networks, scores, strict=True))
    ]
    if several:
        mean = np.asarray(scores.mean(0), dtype=float)
        lines.append(Line("mean of all networks", mean, Ink("text")))
    # A mean over shapes has no winning class that could be another one.
    if len(result.shapes) == 1 or shape >= 0:
        lines += _lost_points(result, max(0, shape), scores)
    return Curves(
        title=SCORES,
        x=view_axis(result.axes[0]),
        y=SCORE,
        at=result.x,
        lines=(*lines, *_trap_points(result, shape)),
        levels=(
            Mark(params.trap_floor, "a trap is below"),
            Mark(params.trap_wall, "and inside above"),
        ),
        note=map_subject(result, -1 if several else 0, shape),
    )


def map_subject(result: MapResult, network: int, shape: int) -> str:
    """Which class of which network on which shape over which ranges."""
    names = list(dict.fromkeys(result.labels[c] for c in result.target if c >= 0))
    if len(names) == 1:
        klass = f"“{names[0]}”"
    else:
        klass = "the class of each shape"
    if network >= 0:
        owner = result.networks[network]
    else:
        owner = f"{len(result.networks)} networks"
    where = f"{len(result.shapes)} shapes"
    if shape >= 0 or len(result.shapes) == 1:
        where = result.shapes[shape]
    return f"{owner} on {where}: {klass} over {range_words(result.axes)}."


def _lost_points(result: MapResult, shape: int, scores: np.ndarray) -> list[Line]:
    """Crosses where the first network does not see the class."""
    lost = result.computed[0, shape, 0] & (result.tops[0, shape, 0] != result.target[shape])
    at = np.where(lost, scores[0], np.nan).astype(float)
    return [
        Line(
            f"{result.networks[0]} sees another class",
            at,
            Ink("changed"),
            symbol="cross",
            line=False,
            model=0 if len(result.networks) > 1 else None,
        )
    ]


def _trap_points(result: MapResult, shape: int) -> list[Line]:
    # Below 0 are the traps of the mean over all shapes.
    own = result.traps.shape < 0
    if len(result.shapes) == 1 or shape >= 0:
        own = result.traps.shape == max(0, shape)
    if not own.any():
        return []
    at, score = result.traps.at[own][:, 0], result.traps.score[own]
    return [
        Line(
            "trap",
            np.asarray(score, float),
            Ink("fails"),
            x=np.asarray(at, float),
            symbol="diamond",
            line=False,
        )
    ]
