"""The order of particles: by score, then by u, of which the rest v = 1 - u is kept (``kernel``)."""

from __future__ import annotations

import numpy as np


def lowest_first(heights: np.ndarray, rests: np.ndarray) -> np.ndarray:
    """Places of the particles of each lane ordered by (score, u), u being 1 - rest."""
    # lexsort's last key is the primary one: by score, then by falling rest, which is rising u.
    return np.lexsort((-rests, heights), axis=1)


def above(
    heights: np.ndarray, rests: np.ndarray, level: np.ndarray, rest: np.ndarray
) -> np.ndarray:
    """Which points lie above the level, whose v is ``rest``."""
    return np.asarray((heights > level) | ((heights == level) & (rests < rest)))
