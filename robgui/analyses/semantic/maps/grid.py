"""The grid of a map and the order of its cells: coarse to fine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.params import IMAGE
from robgui.analyses.semantic.scene.scene import SceneAxis
from robgui.core.errors import ParamsError

#: Grid step of the paper, in degrees.
#: Section 4.2: azimuth 0 to 360 and elevation -10 to 90 degrees with a grid of 3 × 3.
PAPER_STEP = 3.0
#: Steps of any other axis.
_STEPS = 32
#: Largest share of the work for the coarse map.
COARSE = 0.04
#: Most cells, a map of 500 × 500: a larger one takes too long and its cells are too small to see.
MOST_CELLS = 250_000
#: Step of the coarse grid that is computed first when borders are followed.
#: A class that covers less than four cells along an axis may lie between its points.
FOLLOWED_FROM = 4
#: Most cells of one model call; a stop is answered after it.
AT_ONCE = 64
#: Units per shape when maps are computed in parts.
_UNITS = 256


@dataclass(frozen=True, slots=True)
class MapRound:
    """Cells ``(k, 2)`` (row, column) of one round.

    Each stands for ``stride`` by ``stride`` cells until finer ones come.
    """

    stride: int
    cells: np.ndarray


def axis_values(axis: SceneAxis, params: MapParams) -> np.ndarray:
    """The cell values along an axis, in equal steps from its low end.

    On a periodic axis without the high end.
    """
    width = axis.high - axis.low
    if axis.unit == "°":
        usual = PAPER_STEP
    else:
        usual = width / _STEPS
    step = params.step.get(
        axis.name, usual if params.preset == "paper" else min(usual, width / _STEPS)
    )
    steps = width / step
    if steps > MOST_CELLS:
        raise ParamsError(
            f"step: {axis.name} = {step:g} makes more than {MOST_CELLS:,} cells of {width:g};"
            " choose a larger step."
        )
    # A step that divides the range up to rounding includes the last value.
    whole = math.floor(steps + 1e-9)
    if axis.periodic:
        # The high end is the low end again: 360 degrees in steps of 3 are 120 cells, not 121.
        count = max(1, math.ceil(steps - 1e-9))
    else:
        count = whole + 1
    return axis.low + step * np.arange(count)


def levels(height: int, width: int) -> list[MapRound]:
    """All cells of a map in rounds, the coarsest first, whose strides halve."""
    stride = 1
    # Doubles the stride until the coarse map is a small share of the work.
    while _cells(height, stride) * _cells(width, stride) > COARSE * height * width and stride < max(
        height, width
    ):
        stride *= 2
    # Each lattice contains the coarser one, so no cell is computed twice.
    rounds = [MapRound(stride, _lattice(height, width, stride))]
    while stride > 1:
        stride //= 2
        lattice = _lattice(height, width, stride)
        # Cells of the finer lattice that the coarser one did not have.
        rounds.append(MapRound(stride, lattice[(lattice % (2 * stride)).any(1)]))
    return rounds


def map_units(params: MapParams, inputs: int) -> int:
    """Number of units over all shapes, each an equal share of the model calls.

    Following borders is one unit: which cells come next depends on all others.
    """
    if params.cells == "borders":
        return 1
    # More units than workers: shares stay equal whatever their number.
    return _UNITS * sum(inputs if spec == IMAGE else 1 for spec in params.scenes)


def along_borders(tops: np.ndarray, computed: np.ndarray, stride: int) -> MapRound:
    """The cells beside a different class that are not computed yet.

    Called again and again with what was found, it follows a border wherever it leads.

    Args:
        tops: ``(H, W)`` class on top; a cell that is not computed shows the coarser one.
        computed: ``(H, W)`` bool.
        stride: Of the lattice of cells that are looked at.
    """
    seen, known = tops[::stride, ::stride], computed[::stride, ::stride]
    # Cells on both sides of a border are followed.
    across, down = seen[:, 1:] != seen[:, :-1], seen[1:] != seen[:-1]
    border = np.zeros(seen.shape, dtype=bool)
    border[:, 1:] |= across
    border[:, :-1] |= across
    border[1:] |= down
    border[:-1] |= down
    return MapRound(stride, stride * np.argwhere(border & ~known))


def check_size(shape: Sequence[int], maps: int) -> None:
    """Refuses a map too large to compute or read."""
    # Five million cells in all: three arrays of four bytes and one of one
    # are 65 MB, copied in each Step.
    if math.prod(shape) * maps > 20 * MOST_CELLS or math.prod(shape) > MOST_CELLS:
        raise ParamsError(
            f"step: {maps} maps of {shape[0]} × {shape[1]} cells are too many; choose a larger"
            " step."
        )


def _cells(length: int, stride: int) -> int:
    return -(-length // stride)


def _lattice(height: int, width: int, stride: int) -> np.ndarray:
    rows, columns = np.meshgrid(
        np.arange(0, height, stride), np.arange(0, width, stride), indexing="ij"
    )
    return np.stack([rows.ravel(), columns.ravel()], 1)
