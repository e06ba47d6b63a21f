"""The traps of all maps of a run, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.maps.traps import Trap, find_traps
from robgui.analyses.semantic.result import Traps

#: Most traps listed, the deepest first.
MOST_TRAPS = 20


@dataclass(frozen=True, slots=True)
class FoundTrap:
    """A trap with its network, shape and top class; -1 stands for the mean of all maps."""

    trap: Trap
    network: int
    shape: int
    top: int


def traps_in(
    scores: np.ndarray,
    tops: np.ndarray,
    computed: np.ndarray,
    params: MapParams,
    turns: tuple[bool, bool],
) -> list[FoundTrap]:
    """The traps of every map ``(M, K, H, W)`` and, if there are several, of their mean.

    A trap counts if its own cell was computed; in the mean, if all were.
    """

    def traps_of(score: np.ndarray) -> list[Trap]:
        return find_traps(score, params.trap_floor, params.trap_wall, turns)

    found = [
        FoundTrap(trap, network, shape, int(tops[network, shape, trap.row, trap.column]))
        for network, shape in product(*map(range, scores.shape[:2]))
        for trap in traps_of(scores[network, shape])
        if computed[network, shape, trap.row, trap.column]
    ]
    # DSM (Section 4.4): what all networks share is more likely in the data than in one of them.
    if scores.shape[0] * scores.shape[1] > 1 and computed.all():
        found += [FoundTrap(trap, -1, -1, -1) for trap in traps_of(scores.mean((0, 1)))]
    # Deepest first, by the fall from the wall.
    return sorted(found, key=lambda one: one.trap.score - one.trap.wall)[:MOST_TRAPS]


def record(found: Sequence[FoundTrap], at: np.ndarray, images: np.ndarray) -> Traps:
    """The traps as arrays, with their places ``(T, n)`` and the pictures of the first."""
    return Traps(
        at=at,
        score=np.array([one.trap.score for one in found]),
        wall=np.array([one.trap.wall for one in found]),
        cells=np.array([one.trap.cells for one in found], dtype=np.int64),
        top1=np.array([one.top for one in found], dtype=np.int64),
        network=np.array([one.network for one in found], dtype=np.int64),
        shape=np.array([one.shape for one in found], dtype=np.int64),
        images=images,
    )


def no_traps(n: int, shape: tuple[int, ...]) -> Traps:
    """An empty list of traps over ``n`` axes."""
    return record((), np.zeros((0, n)), np.zeros((0, *shape), dtype=np.float32))
