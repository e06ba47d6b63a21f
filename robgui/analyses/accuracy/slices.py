"""Parts of the data that are harder than the rest.

Slices are by brightness, contrast, sharpness, folder, or a column of a table.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import numpy as np

from robgui.analyses.accuracy.result import Slice

#: Fewest inputs in a slice.
FEWEST = 10
#: A slice is weak if chance gives as many errors this rarely, over all slices together.
SURE = 0.05
#: Most columns of a table, or folders, compared: more would be a search rather than a question.
MOST_COLUMNS, MOST_FOLDERS = 50, 50
_THIRDS = ("lowest third", "middle third", "highest third")


def measures(x: np.ndarray, kind: str) -> np.ndarray:
    """``(n, k)`` what is measured of inputs ``(n, *shape)`` in [0, 1]; see ``measure_names``."""
    if kind == "image":
        grey = x.mean(1)
        # Sharpness as the mean step between neighbouring pixels: blur makes it small.
        across, down = np.diff(grey, axis=2), np.diff(grey, axis=1)
        edges = np.abs(across).mean((1, 2)) + np.abs(down).mean((1, 2))
        return np.stack([grey.mean((1, 2)), grey.std((1, 2)), edges], 1)
    if kind == "table":
        return np.asarray(x[:, :MOST_COLUMNS])
    moved = np.abs(np.diff(x, axis=1)).mean((1, 2))
    return np.stack([x.mean((1, 2)), moved], 1)


def measure_names(kind: str, features: tuple[str, ...], width: int) -> tuple[str, ...]:
    """What the columns of ``measures`` are called."""
    if kind == "image":
        return ("brightness", "contrast", "sharpness")
    if kind == "table":
        named = features or tuple(f"column {number + 1}" for number in range(width))
        return named[:MOST_COLUMNS]
    return ("mean value", "movement")


def weak_slices(
    values: np.ndarray, names: tuple[str, ...], keys: list[str], right: np.ndarray, own: np.ndarray
) -> tuple[tuple[Slice, ...], int]:
    """The slices with clearly more errors than the rest, weakest first, and how many were compared.

    Args:
        values: ``(n, k)`` what was measured.
        names: What the columns are called.
        keys: What the inputs are called; folders in them are slices too.
        right: ``(n,)`` whether the model is right.
        own: ``(n,)`` true classes: a folder that is a class is no slice of its own.
    """
    parts = [*_thirds(values, names), *_folders(keys, own)]
    # A part with all inputs is no slice; a constant measure makes one.
    parts = [(name, rows) for name, rows in parts if FEWEST <= len(rows) < len(right)]
    made = [
        # Bonferroni: with n slices, chance has n tries.
        Slice(name, rows, int(right[rows].sum()), _chance(rows, right) * len(parts))
        for name, rows in parts
    ]
    weak = [one for one in made if one.chance < SURE]
    return tuple(sorted(weak, key=lambda one: one.right / len(one.members))), len(parts)


def _thirds(values: np.ndarray, names: tuple[str, ...]) -> list[tuple[str, np.ndarray]]:
    """Each measure cut where a third and two thirds of the inputs lie below."""
    found = []
    for column, name in enumerate(names):
        value = values[:, column]
        first, second = np.quantile(value, [1 / 3, 2 / 3])
        # Equal values stay together, so thirds of a column with few values may be uneven or empty.
        third = (value > first).astype(int) + (value > second)
        found += [
            (f"{name}: {words}", np.flatnonzero(third == at)) for at, words in enumerate(_THIRDS)
        ]
    return found


def _folders(keys: list[str], own: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Each folder in the names of the inputs, unless folders are classes."""
    # Names from Windows have backslashes, which elsewhere are part of a name.
    folders = [str(PurePosixPath(key.replace("\\", "/")).parent) for key in keys]
    names = sorted(set(folders))
    if not 1 < len(names) <= MOST_FOLDERS:
        return []
    numbers = np.array([names.index(folder) for folder in folders])
    rows = [np.flatnonzero(numbers == at) for at in range(len(names))]
    # Class folders: comparing them would only repeat the classes.
    if all(len(np.unique(own[inside])) == 1 for inside in rows):
        return []
    return [(f"folder {name}", inside) for name, inside in zip(names, rows, strict=True)]


def _chance(rows: np.ndarray, right: np.ndarray) -> float:
    """How often a random slice of this size has at least as many errors: Fisher's exact test."""
    from scipy.stats import hypergeom

    wrong = int((~right).sum())
    inside = int((~right[rows]).sum())
    # Fisher's exact test, one-sided: the chance of this many errors or more.
    return float(hypergeom.sf(inside - 1, len(right), wrong, len(rows)))
