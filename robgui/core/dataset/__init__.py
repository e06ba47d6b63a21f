"""Datasets: image folders, images, IDX, NPZ, NPY, CSV tables, and trajectories in CSV or JSON.

Names are imported on first use: the ``options`` are known without the libraries that read the data.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robgui.core.dataset.dataset import Dataset
    from robgui.core.dataset.formats.stacked import from_arrays
    from robgui.core.dataset.matching import align, batches, inputs, match
    from robgui.core.dataset.opening import SUFFIXES, open_dataset
    from robgui.core.dataset.source import Skipped

__all__ = [
    "SUFFIXES",
    "Dataset",
    "Skipped",
    "align",
    "batches",
    "from_arrays",
    "inputs",
    "match",
    "open_dataset",
]

_HOMES = {
    "SUFFIXES": "opening",
    "Dataset": "dataset",
    "Skipped": "source",
    "align": "matching",
    "batches": "matching",
    "from_arrays": "formats.stacked",
    "inputs": "matching",
    "match": "matching",
    "open_dataset": "opening",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Kept in the module, so ``__getattr__`` is asked once per name.
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value
