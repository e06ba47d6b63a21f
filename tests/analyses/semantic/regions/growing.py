"""Largest boxes grown in scenes whose border is known, for tests and a benchmark."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robgui.analyses.semantic.regions.box.company import Company
from robgui.analyses.semantic.regions.box.largest_box import LargestBox
from robgui.analyses.semantic.regions.domain import Domain

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
    boxes, calls = found_together(loses, (start,), seed, wraps, looked)
    return boxes[0], calls


def found_together(
    loses: Loses,
    starts: tuple[tuple[float, ...], ...],
    seed: int,
    wraps: bool = False,
    looked: np.ndarray | None = None,
) -> tuple[list[LargestBox], int]:
    """Boxes from several starts that share what they find and the risk, and the calls of all."""
    n = len(starts[0])
    domain = Domain.of(np.zeros(n), np.ones(n), [wraps] * n, shares=True, clip=True)
    lost = [] if looked is None else [looked[loses(looked)]]
    company = Company(len(starts))
    boxes = [
        LargestBox(
            np.array(start),
            domain,
            0,
            np.random.default_rng([seed, place]),
            lost=lost,
            most_lost=MOST_LOST,
            risk=RISK,
            epsilon=0.005,
            company=company,
        )
        for place, start in enumerate(starts)
    ]
    lives = [box.life() for box in boxes]
    asked = {place: next(life) for place, life in enumerate(lives)}
    calls = 0
    while asked:
        for place, points in list(asked.items()):
            calls += len(points)
            gone = loses(domain.wrapped(points))
            try:
                asked[place] = lives[place].send((1.0 - gone, gone.astype(np.int64)))
            except StopIteration:
                del asked[place]
    return boxes, calls
