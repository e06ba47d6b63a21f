"""Changes a dataset's classes: renumbers, renames, merges or moves labels.

Labels are class numbers ``(n,)``, -1 for none. If an item may have several, a bool matrix ``(n,
classes)`` replaces them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def comparable_name(name: str) -> str:
    """A class name in its compared form: without case, underscores and outer blanks."""
    return name.casefold().replace("_", " ").strip()


def renumbered(labels: np.ndarray, old: Sequence[str], new: Sequence[str]) -> np.ndarray:
    """Labels in the order of other names; -1 if a name is not among them."""
    place = {comparable_name(name): number for number, name in enumerate(new)}
    # The last entry is for labels that name no old class.
    numbers = np.array(
        [*(place.get(comparable_name(name), -1) for name in old), -1], dtype=np.int64
    )
    known = np.where((labels >= 0) & (labels < len(old)), labels, len(old))
    return np.asarray(numbers[known])


def reordered(matrix: np.ndarray, old: Sequence[str], new: Sequence[str]) -> np.ndarray:
    """The matrix with its columns in the order of other names."""
    place = {comparable_name(name): number for number, name in enumerate(new)}
    places = [place.get(comparable_name(name), -1) for name in old]
    return moved_columns(matrix, places, len(new))


def moved_columns(matrix: np.ndarray, places: Sequence[int], count: int) -> np.ndarray:
    """The matrix with ``count`` columns, each moved to its place; -1 leaves it out."""
    moved = np.zeros((len(matrix), count), dtype=bool)
    for column, place in enumerate(places[: matrix.shape[1]]):
        if place >= 0:
            # Or, since two columns may move to the same place.
            moved[:, place] |= matrix[:, column]
    return moved


def moved_labels(labels: np.ndarray, places: Sequence[int]) -> np.ndarray:
    """Labels in other classes, given the new number of each class, -1 for none."""
    numbers = np.array([*places, -1], dtype=np.int64)
    # -1 picks the entry appended last, so no label stays no label.
    return np.asarray(numbers[np.where(labels < len(places), labels, -1)])


def merged(
    labels: np.ndarray | None, names: Sequence[str], new: Mapping[str, str]
) -> tuple[np.ndarray | None, list[str]]:
    """Labels and names after renaming; None if the labels do not change.

    Classes with the same new name become one; an empty name leaves its items unlabelled.
    """
    chosen = [new.get(name, name) for name in names]
    if labels is None or (all(chosen) and len({*chosen}) == len(chosen)):
        return None, chosen
    kept = list(dict.fromkeys(filter(None, chosen)))
    return moved_labels(labels, [kept.index(name) if name else -1 for name in chosen]), kept
