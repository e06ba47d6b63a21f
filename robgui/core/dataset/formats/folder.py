"""Image files: one, several, or a folder of them; ``tree`` lists the layouts of a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from io import BufferedReader
from pathlib import Path

import numpy as np

from robgui.core.dataset.class_files import candidates, is_likely, names_in
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.encoded import EncodedImages
from robgui.core.dataset.formats.cifar import cifar_files, open_cifar_folder
from robgui.core.dataset.formats.idx import idx_files, open_idx_folder
from robgui.core.dataset.formats.shards import open_shards, shard_files
from robgui.core.dataset.formats.tree import (
    Arrangement,
    Entries,
    Listing,
    arrange,
    entries,
    label_path,
)
from robgui.core.dataset.labels import LabelFile, label_numbers, read_label_file
from robgui.core.dataset.limits import Member
from robgui.core.dataset.options import Options
from robgui.core.errors import DataError
from robgui.core.regular import common_folder, open_regular


class ImageFiles(EncodedImages):
    """Image files below one folder, each opened on demand."""

    def __init__(self, folder: Path, files: Sequence[str]) -> None:
        self._folder = str(folder)
        super().__init__(files)

    def open(self, position: int) -> BufferedReader:
        return open_regular(self.where(position))

    def where(self, position: int) -> str:
        # Not f"{folder}/{key}": files chosen on two drives are kept with their whole paths.
        return os.path.join(self._folder, self._keys[position])  # noqa: PTH118  as above

    def size(self, position: int) -> int:
        try:
            return os.stat(self.where(position)).st_size  # noqa: PTH116  a Path for each of 10,000 names takes longer than the call
        except OSError:  # A missing file is a difference too.
            return -1


class FolderListing:
    """Folders and files on disk; each folder is listed once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # On the instance: on the method, the cache would keep every listing alive.
        self.scan = cache(self._scan)

    def _scan(self, prefix: str) -> Entries:
        try:
            with os.scandir(self._folder / prefix) as found:
                return entries([(entry.name, _is_folder(entry)) for entry in found])
        except OSError as error:
            raise DataError(
                f"{self._folder / prefix}: the folder cannot be read ({error.strerror}); check its"
                " permissions."
            ) from error

    def text(self, name: str) -> Path:
        """The file of that name."""
        return self._folder / name


def open_folder(folder: Path, options: Options) -> Dataset:
    """Opens a folder: IDX, CIFAR or shards by their names, or images; see ``tree``."""
    if options.files:
        source = ImageFiles(folder, options.files)
        return images_dataset(
            source, Arrangement(list(options.files)), FolderListing(folder), folder, options
        )
    listing = FolderListing(folder)
    files = listing.scan("").files
    if idx_files(files):
        return open_idx_folder(folder, files, options)
    if cifar_files(files):
        return open_cifar_folder(folder, files, options)
    if shards := shard_files(listing):
        return open_shards(folder, shards, options)
    found = arrange(listing, options, folder)
    return images_dataset(ImageFiles(folder, found.files), found, listing, folder, options)


def open_images(paths: Sequence[Path], options: Options) -> Dataset:
    """Opens one image or several."""
    if len(paths) == 1:
        folder, files = paths[0].parent, [paths[0].name]
        source = ImageFiles(folder, files)
        return images_dataset(
            source, Arrangement(files), FolderListing(folder), paths[0], options, folder.parent
        )
    whole = [path.absolute() for path in paths]
    shared = common_folder(whole)
    if shared is None:  # On two drives.
        folder, files = whole[0].parent, [str(path) for path in whole]
    else:
        folder, files = shared, [path.relative_to(shared).as_posix() for path in whole]
    return open_folder(folder, options.model_copy(update={"files": tuple(files)}))


def images_dataset(
    source: EncodedImages,
    found: Arrangement,
    listing: Listing,
    path: Path,
    options: Options,
    above: Path | None = None,
) -> Dataset:
    """The dataset of images in folders, with the labels that folders or a labels file give.

    Args:
        source: The images.
        found: How they lie.
        listing: Where labels and class names are looked for.
        path: The path that was opened.
        options: The user's options.
        above: The last place searched for labels; by default beside ``path``.
    """
    source.check(path)
    labels, names = found.labels, found.classes
    notes = [found.note] if found.note else []
    if labels is None:
        labels, names, more = _labels(source, found, listing, path, options, above)
        notes += more
    else:
        names = _class_names(listing, found, options)
        # Nothing inside the folder names the classes; perhaps something beside it does.
        if names == found.classes:
            options = _named_beside(found, options, above or path.parent)
    dataset = Dataset(
        source,
        name=path.name,
        path=path,
        labels=labels,
        names=names or options.names,
        notes=notes,
        options=options.told(),
        parts=found.parts,
    )
    for name in found.beside:
        dataset.skip(name, "it lies beside the class folders, not in one of them")
    for name in found.foreign:
        dataset.skip(name, "robgui does not read this image format; convert it to PNG")
    # Folders were numbered in their own order; the names that were given say another.
    by_class = found.labels is not None and options.names
    if by_class:
        return dataset.relabelled(options.names)
    return dataset


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder; a circular link counts as an unreadable file."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _class_names(listing: Listing, found: Arrangement, options: Options) -> tuple[str, ...]:
    """The names of the class folders: from a file near them, or the folder names."""
    if options.names or options.names_file:
        return found.classes
    for path in _texts_near(listing, found.prefix):
        if (names := _names_in(path, found.classes)) is not None:
            return names
    return found.classes


def _named_beside(found: Arrangement, options: Options, above: Path | None) -> Options:
    """The options completed with a class-name file found beside the data.

    Opening the data elsewhere needs to know it.
    """
    if above is None or options.names or options.names_file or found.labels is None:
        return options
    for name in candidates(FolderListing(above).scan("").files):
        path = above.absolute() / name
        if is_likely(name) and path.is_file() and _names_in(path, found.classes) is not None:
            return options.model_copy(update={"names_file": str(path)})
    return options


def _names_in(path: Path | Member, classes: tuple[str, ...]) -> tuple[str, ...] | None:
    try:
        return names_in(path, classes)
    except DataError:  # A text that is not a table of names says nothing about the classes.
        return None


def _texts_near(listing: Listing, prefix: str) -> Iterator[Path | Member]:
    """Files that may name the classes: in the folder, above it, and at the root."""
    inner = prefix.rstrip("/").rpartition("/")[0]
    for folder in dict.fromkeys((prefix, f"{inner}/" if inner else "", "")):
        for name in candidates(listing.scan(folder).files):
            yield listing.text(f"{folder}{name}")


def _labels(
    source: EncodedImages,
    found: Arrangement,
    listing: Listing,
    path: Path,
    options: Options,
    above: Path | None,
) -> tuple[np.ndarray | None, tuple[str, ...], list[str]]:
    table_path = label_path(listing, found.prefix, options, _beside(above or path.parent))
    if table_path is None:
        return None, (), []
    table = read_label_file(table_path, options.label)
    words = [table.find(key) for key in found.files]
    missing = words.count("")
    name = table_path.name
    if missing == len(words):
        # A file beside the folder may be about other images, and is no reason to complain.
        own = options.labels or (isinstance(table_path, Path) and table_path.parent == path)
        return None, (), [f"{name} names none of these images."] if own else []
    labels, names = _numbers(words, table, options, table_path)
    if missing:
        notes = [f"{name} has no label for {missing:,} of {len(words):,} images."]
    else:
        notes = []
    return labels, names, notes


def _beside(folder: Path) -> Callable[[str], Path | None]:
    return lambda name: folder / name if (folder / name).is_file() else None


def _numbers(
    words: list[str], table: LabelFile, options: Options, path: Path | Member
) -> tuple[np.ndarray, tuple[str, ...]]:
    try:
        if table.names:
            numbers = np.array([int(word) if word else -1 for word in words], dtype=np.int64)
            return numbers, options.names or table.names
        return label_numbers(words, options.names)
    except DataError as error:
        raise error.at(path) from error
