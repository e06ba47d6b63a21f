"""The data formats that the program reads, described for people."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownFormat:
    """One format.

    Attributes:
        name: What it is called.
        words: What is read from it.
        extra: The extra of robgui that it needs; empty for none.
        package: The package in that extra.
    """

    name: str
    words: str
    extra: str = ""
    package: str = ""

    @property
    def missing(self) -> bool:
        """Whether it needs a package that is not installed."""
        return bool(self.package) and importlib.util.find_spec(self.package) is None


FORMATS = (
    KnownFormat("images", "PNG, JPEG, BMP, TIFF, WebP, GIF, PPM, PGM, PBM; one or several"),
    KnownFormat(
        "folder", "class folders, or flat with labels.csv; also in train, val, test (--split)"
    ),
    KnownFormat("zip, tar, tar.gz", "images in folders as above; nothing is unpacked to the disk"),
    KnownFormat("webdataset", "tar shards, one or a folder of them: an image with .cls or .json"),
    KnownFormat("CIFAR-10, CIFAR-100", "binary and Python batches, a file or the folder"),
    KnownFormat("IDX", "MNIST and its family, also .gz"),
    KnownFormat("NPZ, NPY", "arrays of images, tables or sequences"),
    KnownFormat("Parquet, Arrow", "image columns as Hugging Face has them", "tables", "pyarrow"),
    KnownFormat("HDF5", "arrays of images, tables or sequences", "hdf5", "h5py"),
    KnownFormat("MATLAB", ".mat with X and y, items first or last"),
    KnownFormat("MATLAB 7.3", "the same, as MATLAB saves it with -v7.3", "hdf5", "h5py"),
    KnownFormat("video", "MP4, AVI, MKV, MOV, WebM, MPEG: each frame, or one in every N (every)"),
    KnownFormat("CSV, JSON", "tables, and trajectories grouped by an id"),
)
