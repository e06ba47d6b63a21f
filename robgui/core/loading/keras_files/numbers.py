"""Checks HDF5 weight files before Keras reads them.

They may hold plain arrays of a plausible size, and nothing that leads out of the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robgui.core.errors import ModelError

#: Most that compressed numbers may grow to; real weights hardly shrink.
_SMALL, _GROWTH = 64 * 2**20, 50
_MOST_PARTS, _DEEPEST = 200_000, 60


def check_numbers(path: Path, shown: Path) -> int:
    """Refuses what a weight file never holds; returns the bytes of its arrays.

    Args:
        path: The HDF5 file.
        shown: What errors call it.
    """
    import h5py

    with h5py.File(path, "r") as file:
        most = _SMALL + _GROWTH * path.stat().st_size
        budget = _Budget(most, shown)
        _walk(h5py, file, budget, 0)
    return most - budget.left


class _Budget:
    """Counts what is found against what is plausible."""

    def __init__(self, size: int, shown: Path) -> None:
        self.left, self._parts = size, _MOST_PARTS
        self.shown = shown

    def take(self, size: int) -> None:
        self.left -= size
        self._parts -= 1
        if self.left < 0 or self._parts < 0:
            raise ModelError(
                f"{self.shown} is refused: its weights would be far larger than the file."
            )


def _walk(h5py: Any, group: Any, budget: _Budget, depth: int) -> None:
    if depth > _DEEPEST:
        raise ModelError(f"{budget.shown} is refused: its weights are nested without end.")
    for name in group:
        link = group.get(name, getlink=True)
        # Soft and external links lead elsewhere, and a ring of them without end.
        if type(link) is not h5py.HardLink:
            raise ModelError(
                f"{budget.shown} is refused: its weights {name!r} stand in another place or file."
            )
        part = group[name]
        if isinstance(part, h5py.Group):
            budget.take(0)
            _walk(h5py, part, budget, depth + 1)
            continue
        outside = not isinstance(part, h5py.Dataset) or part.external or part.is_virtual
        if outside or part.dtype.kind not in "fiub":
            raise ModelError(
                f"{budget.shown} is refused: its part {name!r} is no plain array of numbers."
            )
        budget.take(part.nbytes)
