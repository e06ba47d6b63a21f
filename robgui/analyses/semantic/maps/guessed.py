"""Which cells of a map were not computed and show what a coarser one around them has."""

from __future__ import annotations

import numpy as np

from robgui.analyses.semantic.result import MapResult


def guessed_cells(result: MapResult, network: int, shape: int) -> np.ndarray | None:
    """Cells filled from a coarser one in at least one of the averaged maps; None without any."""
    missing = ~maps_of(result.computed, network, shape)
    scores = maps_of(result.scores, network, shape)
    # Not finite: the class is not known yet, so the cell shows nothing.
    guessed: np.ndarray = (missing & np.isfinite(scores)).any(axis=(0, 1))
    if guessed.any():
        return guessed
    return None


def maps_of(values: np.ndarray, network: int, shape: int) -> np.ndarray:
    """``(networks, shapes, rows, columns)``; below 0 stands for all networks or shapes."""
    return values[_chosen(network), _chosen(shape)]


def _chosen(place: int) -> slice:
    if place < 0:
        return slice(None)
    return slice(place, place + 1)
