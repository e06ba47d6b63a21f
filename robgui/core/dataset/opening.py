"""open_dataset: from a path to a Dataset, by the content of the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from robgui.core.dataset import images
from robgui.core.dataset.class_files import names_of
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.formats.cifar import cifar_files, open_cifar
from robgui.core.dataset.formats.columnar.columns import open_arrow, open_parquet
from robgui.core.dataset.formats.delimited.grid import open_csv
from robgui.core.dataset.formats.folder import FolderListing, open_folder, open_images
from robgui.core.dataset.formats.hdf5 import open_hdf5
from robgui.core.dataset.formats.idx import looks_like_idx, open_idx
from robgui.core.dataset.formats.matlab import open_mat
from robgui.core.dataset.formats.numpy_files import open_npy, open_npz
from robgui.core.dataset.formats.packed import open_tar, open_zip
from robgui.core.dataset.formats.records import open_json
from robgui.core.dataset.formats.shards import shard_files
from robgui.core.dataset.formats.video import open_video
from robgui.core.dataset.limits import reading
from robgui.core.dataset.objects import from_object
from robgui.core.dataset.options import Options, parse
from robgui.core.errors import DataError, RobguiError
from robgui.core.identify import DataFormat, Kind, identify

_FORMATS = (
    "images, a folder, zip or tar of them, CIFAR, IDX, NPZ, NPY, HDF5, MATLAB, Parquet, Arrow, CSV,"
    " JSON or a video"
)
_ENDINGS = {
    ".npz": DataFormat.ARRAYS,
    ".npy": DataFormat.ARRAY,
    ".json": DataFormat.JSON,
    ".csv": DataFormat.TABLE,
    ".tsv": DataFormat.TABLE,
    ".zip": DataFormat.ZIP,
    ".tar": DataFormat.TAR,
    ".tgz": DataFormat.TAR,
    ".parquet": DataFormat.PARQUET,
    ".arrow": DataFormat.ARROW,
    ".feather": DataFormat.ARROW,
    ".h5": DataFormat.HDF5,
    ".hdf5": DataFormat.HDF5,
    ".mat": DataFormat.MATLAB,
    ".mp4": DataFormat.VIDEO,
    ".avi": DataFormat.VIDEO,
    ".mkv": DataFormat.VIDEO,
    ".mov": DataFormat.VIDEO,
    ".webm": DataFormat.VIDEO,
    ".mpg": DataFormat.VIDEO,
    ".ts": DataFormat.VIDEO,
}
#: Suffixes of files that open_dataset takes (each also with .gz where that is text or IDX).
SUFFIXES = frozenset({*images.SUFFIXES, *_ENDINGS})


def open_dataset(path: str | Path | Sequence[str | Path] | Any, **options: object) -> Dataset:
    """Opens a dataset: a folder, a file, several image files, or data held by Python.

    Args:
        path: Where it is; or a DataLoader, or a torch or MAITE dataset.
        **options: The fields of robgui.core.dataset.options.Options, for what the files do not say.

    Raises:
        DataError: It cannot be read; one sentence that names the file and the reason.
    """
    chosen = parse(options)
    for name in ("labels", "names_file"):
        if given := getattr(chosen, name):
            # Absolute: options are stored, and used again from another folder.
            chosen = chosen.model_copy(update={name: str(_existing(given).absolute())})
    dataset = _named(_opened(path, chosen))
    if chosen.classes:
        return dataset.renamed(chosen.classes)
    return dataset


def _named(dataset: Dataset) -> Dataset:
    """The dataset with the class names from the file in its options."""
    file = str(dataset.options.get("names_file", ""))
    if not file or dataset.labels is None:
        return dataset
    if not dataset.names:
        highest = int(dataset.labels.max(initial=-1))
        dataset = dataset.relabelled([str(number) for number in range(highest + 1)])
    names = names_of(file, dataset.names)
    return dataset.renamed(dict(zip(dataset.names, names, strict=True)))


def is_foreign(path: Path) -> bool:
    """Whether opening a path involves a large foreign library or a pickle."""
    try:
        found = identify(path)
    except RobguiError:
        return False  # Opening it will say what is wrong.
    if found.data is not DataFormat.FOLDER:
        return found.data in _FOREIGN
    listing = FolderListing(path)
    try:
        shards = shard_files(listing)
        return bool(cifar_files(listing.scan("").files)) or (shards is not None and shards.foreign)
    except DataError:
        return False


def _opened(path: Any, options: Options) -> Dataset:
    if not isinstance(path, str | os.PathLike):
        if not isinstance(path, Sequence) or not all(
            isinstance(one, str | os.PathLike) for one in path
        ):
            return from_object(path, options)
        paths = [_existing(one) for one in path]
        if len(paths) != 1:
            return _several(paths, options)
        path = paths[0]
    where = _existing(path)
    if where.is_dir():
        return open_folder(where, options)
    return _open_file(where, options)


def _several(paths: list[Path], options: Options) -> Dataset:
    if not paths:
        raise DataError("no file was given; choose at least one image.")
    for path in paths:
        if path.suffix.casefold() not in images.SUFFIXES or path.is_dir():
            raise DataError(
                f"{path}: only images can be opened several at a time; open this one by itself."
            )
    return open_images(paths, options)


def _existing(path: str | Path) -> Path:
    where = Path(path).expanduser()
    try:
        found = where.exists()
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path!s:.300}: this is no path ({error}); give a file or a folder."
        ) from error
    if not found:
        raise DataError(f"{where}: there is no such file or folder; check the path.")
    return where


def _open_file(path: Path, options: Options) -> Dataset:
    with reading(path):
        return _READERS[_format(path)](path, options)


def _format(path: Path) -> DataFormat:
    """The format of a file, by its content or, if damaged, by its name."""
    try:
        found = identify(path)
    except RobguiError as error:
        raise DataError(str(error)) from error
    if found.data is not None:
        return found.data
    if found.kind is not Kind.UNKNOWN:
        raise DataError(f"{path} is {found.words}, not data; choose {_FORMATS}.")
    if looks_like_idx(path):
        return DataFormat.IDX
    suffix = Path(path.name.casefold().removesuffix(".gz")).suffix
    if suffix not in _BY_NAME:
        raise DataError(f"{path}: this is no dataset robgui knows; choose {_FORMATS}.")
    return _BY_NAME[suffix]


#: Parsed by large foreign libraries: the window has the confined worker open these.
_FOREIGN = frozenset(
    {
        DataFormat.CIFAR,
        DataFormat.PARQUET,
        DataFormat.ARROW,
        DataFormat.HDF5,
        DataFormat.MATLAB,
        DataFormat.VIDEO,
    }
)
_READERS: dict[DataFormat, Callable[[Path, Options], Dataset]] = {
    DataFormat.PICTURE: lambda path, options: open_images([path], options),
    DataFormat.ARRAY: open_npy,
    DataFormat.ARRAYS: open_npz,
    DataFormat.IDX: open_idx,
    DataFormat.JSON: open_json,
    DataFormat.TABLE: open_csv,
    DataFormat.FOLDER: open_folder,
    DataFormat.ZIP: open_zip,
    DataFormat.TAR: open_tar,
    DataFormat.CIFAR: open_cifar,
    DataFormat.PARQUET: open_parquet,
    DataFormat.ARROW: open_arrow,
    DataFormat.HDF5: open_hdf5,
    DataFormat.MATLAB: open_mat,
    DataFormat.VIDEO: open_video,
}
_BY_NAME = {**dict.fromkeys(images.SUFFIXES, DataFormat.PICTURE), **_ENDINGS}
