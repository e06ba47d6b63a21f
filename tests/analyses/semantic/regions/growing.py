"""Largest boxes grown in scenes whose border is known, for tests and a benchmark."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robgui.analyses.semantic.regions.domain import Domain
from robgui.analyses.semantic.regions.largest_box import LargestBox

MOST_LOST, RISK = 0.01, 0.05
Loses = Callable[[np.ndarray], np.ndarray]


def disc(points: np.ndarray) -> np.ndarray:
    """Outside of a disc of radius .3."""
    return np.asarray(((points - 0.5) ** 2).sum(1) > 0.3**2)


def corner(points: np.ndarray) -> np.ndarray:
    """Beyond a slanted line."""
    return np.asarray(points.sum(1) > 1.0)


def found(
    loses: Loses,
    start: tuple[float, ...],
    seed: int,
    wraps: bool = False,
    looked: np.ndarray | None = None,
) -> tuple[LargestBox, int]:
    """A box grown where ``loses`` says which poses lose the class, and the calls it took.

    ``looked`` are poses whose answers are known before the search.
    """
    n = len(start)
    domain = Domain.of(np.zeros(n), np.ones(n), [wraps] * n, shares=True, clip=True)
    box = LargestBox(
        np.array(start),
        domain,
        0,
        np.random.default_rng(seed),
        lost=[] if looked is None else [looked[loses(looked)]],
        most_lost=MOST_LOST,
        risk=RISK,
        epsilon=0.005,
    )
    life, calls = box.life(), 0
    try:
        asked = next(life)
        while True:
            calls += len(asked)
            lost = loses(domain.wrapped(asked))
            asked = life.send((1.0 - lost, lost.astype(np.int64)))
    except StopIteration:
        return box, calls
