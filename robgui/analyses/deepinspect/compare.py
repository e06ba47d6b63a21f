"""Compares two results on the same classes: which pairs has one model learned to tell apart?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robgui.analyses.deepinspect.counting.truth import rank_correlation
from robgui.analyses.deepinspect.matrices import standardised
from robgui.analyses.deepinspect.result import DeepInspectResult
from robgui.core.errors import DataError


@dataclass(frozen=True, slots=True)
class Difference:
    """Two models side by side.

    Distances in different networks have different scales, so each is measured in standard
    deviations from its own mean.

    Attributes:
        classes: Class names, in the order of the first result.
        first: ``(m, m)`` standardised distances of the first.
        second: ``(m, m)`` those of the second, in the first's order of classes.
        change: ``(m, m)`` second - first: above 0 where the second tells the two classes apart
            better.
        spearman: Rank correlation of the two; nan when it is not known.
    """

    classes: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    change: np.ndarray
    spearman: float


def difference(first: DeepInspectResult, second: DeepInspectResult) -> Difference:
    """Compares two results by the names of their classes.

    Raises:
        DataError: The two do not have the same classes.
    """
    # A name that occurs twice is refused too: index()
    # below would take the first of the two for both.
    if sorted(first.classes) != sorted(second.classes) or len(set(first.classes)) != len(
        first.classes
    ):
        raise DataError(
            f"{first.model} and {second.model} do not have the same classes, so their matrices"
            " cannot be compared."
        )
    # Two networks may number the same classes differently.
    order = [second.classes.index(name) for name in first.classes]
    ours, theirs = standardised(first.napvd), standardised(second.napvd[np.ix_(order, order)])
    return Difference(first.classes, ours, theirs, theirs - ours, _spearman(ours, theirs))


def _spearman(first: np.ndarray, second: np.ndarray) -> float:
    upper = np.triu_indices(len(first), 1)
    both = np.isfinite(first[upper]) & np.isfinite(second[upper])
    # Ranks, since scales of distances differ from network to network.
    return rank_correlation(first[upper][both], second[upper][both])[0]
