"""Traps: spots of low score inside a connected region of high score (Section 5 of the paper).

A trap is a connected set of cells below the wall, enclosed like a lake: it touches no open end of
the map, does not wrap around, covers at most a quarter of the map, and is somewhere below the
floor. The cells around such a set are themselves connected and at or above the wall.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

#: A larger lake is not inside a region of high score; rather the opposite.
LARGEST = 0.25


@dataclass(frozen=True, slots=True)
class Trap:
    """One trap: its lowest cell, the score there, the mean score around it, and its cells."""

    row: int
    column: int
    score: float
    wall: float
    cells: int


def find_traps(
    score: np.ndarray, floor: float, wall: float, turns: tuple[bool, bool] = (False, False)
) -> list[Trap]:
    """The traps of a map ``(H, W)``, worst first.

    ``turns`` says whether rows and columns wrap around.
    """
    # Until all cells are known, an open end may still turn out to be a wall.
    if not np.isfinite(score).all():
        return []
    # Below the wall, not the floor: its own slope belongs to a trap, else that would be its shore.
    lakes = _connected(score < wall, turns)
    traps = []
    for number in np.unique(lakes[lakes > 0]):
        lake = lakes == number
        if score[lake].min() < floor and lake.mean() <= LARGEST and not _open(lake, turns):
            # The cells around it, all at or above the wall: a lower one would belong to the lake.
            shore = _grown(lake, turns) & ~lake
            row, column = np.unravel_index(np.where(lake, score, np.inf).argmin(), score.shape)
            traps.append(
                Trap(
                    int(row),
                    int(column),
                    float(score[row, column]),
                    float(score[shore].mean()),
                    int(lake.sum()),
                )
            )
    return sorted(traps, key=lambda trap: trap.score - trap.wall)


def _connected(low: np.ndarray, turns: tuple[bool, bool]) -> np.ndarray:
    """Labels connected sets (diagonals count), joined across the seam of periodic axes."""
    # Diagonal neighbours count for lakes, so their walls are connected without diagonals.
    numbers, count = ndimage.label(low, structure=np.ones((3, 3)))
    # Label -> label of the set it was merged into; 0 is the land.
    same = np.arange(count + 1)
    for axis in (0, 1):
        if turns[axis] and low.shape[axis] > 1:
            _join(np.take(numbers, -1, axis), np.take(numbers, 0, axis), same)
    return np.asarray(same[numbers])


def _join(last: np.ndarray, first: np.ndarray, same: np.ndarray) -> None:
    """Gives sets that touch across a seam the same label."""
    for shift in (-1, 0, 1):
        moved = np.roll(first, shift)
        if shift and len(first) > 1:  # A diagonal step past the end of the seam touches nothing.
            moved[0 if shift > 0 else -1] = 0
        for one, other in zip(last, moved, strict=True):
            if one and other and same[one] != same[other]:
                same[same == same[other]] = same[one]


def _open(lake: np.ndarray, turns: tuple[bool, bool]) -> bool:
    """Whether it reaches an end of the map, or wraps all the way around."""
    for axis in (0, 1):
        if lake.shape[axis] == 1:
            continue
        if turns[axis]:
            # A lake in every row of a periodic axis goes all the way around: it is a river.
            if lake.any(1 - axis).all():
                return True
        elif np.take(lake, 0, axis).any() or np.take(lake, -1, axis).any():
            return True
    return False


def _grown(lake: np.ndarray, turns: tuple[bool, bool]) -> np.ndarray:
    """The lake and the cells beside it."""
    # Only straight neighbours: those are the wall.
    wider = lake.copy()
    for axis in (0, 1):
        for shift in (-1, 1):
            moved = np.roll(lake, shift, axis)
            if not turns[axis]:
                # roll has brought the far end around, where no neighbour is unless the axis wraps.
                edge = [slice(None), slice(None)]
                if shift > 0:
                    edge[axis] = slice(0, 1)
                else:
                    edge[axis] = slice(-1, None)
                moved[tuple(edge)] = False
            wider |= moved
    return wider
