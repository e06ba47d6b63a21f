"""open_dataset: from a path to a Dataset, by the content of the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from robgui.core.dataset import images
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.formats.folder import open_folder, open_images
from robgui.core.dataset.formats.grid import open_csv
from robgui.core.dataset.formats.idx import looks_like_idx, open_idx
from robgui.core.dataset.formats.records import open_json
from robgui.core.dataset.formats.stacked import open_npy, open_npz
from robgui.core.dataset.limits import reading
from robgui.core.dataset.options import Options, parse
from robgui.core.errors import DataError, RobguiError
from robgui.core.identify import DataFormat, Kind, identify

_FORMATS = "a folder of images, an image, IDX, NPZ, NPY, CSV or JSON"
#: Suffixes of files that open_dataset takes (each also with .gz where that is text or IDX).
SUFFIXES = frozenset({*images.SUFFIXES, ".npz", ".npy", ".csv", ".tsv", ".json"})


def open_dataset(path: str | Path | Sequence[str | Path], **options: object) -> Dataset:
    """Opens a dataset: a folder, a file, or several image files.

    Args:
        path: Where it is.
        **options: The fields of robgui.core.dataset.options.Options, for what the files do not
            tell.

    Raises:
        DataError: It cannot be read; one sentence that names the file and the reason.
    """
    chosen = parse(options)
    if not isinstance(path, str | os.PathLike):
        paths = [_existing(one) for one in path]
        if len(paths) != 1:
            return _several(paths, chosen)
        path = paths[0]
    where = _existing(path)
    if chosen.labels:
        labels = _existing(chosen.labels)
        chosen = chosen.model_copy(update={"labels": str(labels.absolute())})
    return open_folder(where, chosen) if where.is_dir() else _open_file(where, chosen)


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
    """The format of a file: by its content, then, for what is damaged, by its name."""
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


_READERS: dict[DataFormat, Callable[[Path, Options], Dataset]] = {
    DataFormat.PICTURE: lambda path, options: open_images([path], options),
    DataFormat.ARRAY: open_npy,
    DataFormat.ARRAYS: open_npz,
    DataFormat.IDX: open_idx,
    DataFormat.JSON: open_json,
    DataFormat.TABLE: open_csv,
    DataFormat.FOLDER: open_folder,
}
_BY_NAME = {
    **dict.fromkeys(images.SUFFIXES, DataFormat.PICTURE),
    ".npz": DataFormat.ARRAYS,
    ".npy": DataFormat.ARRAY,
    ".json": DataFormat.JSON,
    ".csv": DataFormat.TABLE,
    ".tsv": DataFormat.TABLE,
}
