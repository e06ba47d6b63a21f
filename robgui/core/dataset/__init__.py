"""Datasets: image folders, images, IDX, NPZ, NPY, CSV tables, and trajectories in CSV or JSON."""

from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.matching import align, batches, inputs, match
from robgui.core.dataset.opening import SUFFIXES, open_dataset
from robgui.core.dataset.source import Skipped
from robgui.core.dataset.stacked import from_arrays

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
