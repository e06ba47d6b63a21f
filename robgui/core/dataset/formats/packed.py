"""Zip and tar files of images; nothing is unpacked to disk.

They hold class folders, parts and labels files as on disk, or webdataset samples.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np

from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.encoded import EncodedImages
from robgui.core.dataset.formats.tars import TarMembers, read_tar
from robgui.core.dataset.formats.tree import (
    Arrangement,
    Entries,
    arrange,
    entries,
    is_image,
    suffix,
)
from robgui.core.dataset.formats.zips import read_zip
from robgui.core.dataset.labels import LABEL_COLUMNS, label_numbers
from robgui.core.dataset.limits import Member, reading, sized
from robgui.core.dataset.options import Options
from robgui.core.errors import DataError

#: Largest encoded image or text file in an archive.
LARGEST_MEMBER = 256 * 2**20
#: Largest label beside a webdataset image.
_LARGEST_LABEL = 2**20
_LABELS = (".cls", ".json", ".label", ".class")


class Container(Protocol):
    """The files in an archive, by number."""

    @property
    def path(self) -> Path:
        """The archive."""

    @property
    def names(self) -> list[str]:
        """Of the files, as stored."""

    @property
    def complete(self) -> bool:
        """Whether the archive ends as it should."""

    def size(self, number: int) -> int:
        """Bytes of a file."""

    def read(self, number: int) -> bytes:
        """A file; DataError, without the place, if it cannot be read."""


class PackedImages(EncodedImages):
    """Images in an archive, each read on demand.

    Args:
        container: The archive.
        keys: What to call each image.
        numbers: The number of each in the archive.
    """

    def __init__(self, container: Container, keys: Sequence[str], numbers: np.ndarray) -> None:
        self._container = container
        self._numbers = numbers
        super().__init__(keys)

    def open(self, position: int) -> io.BytesIO:
        return io.BytesIO(bounded(self._container, int(self._numbers[position])))

    def where(self, position: int) -> str:
        return f"{self._container.path}, {self._keys[position]}"

    def size(self, position: int) -> int:
        return self._container.size(int(self._numbers[position]))


class PackedListing:
    """The folders of an archive."""

    def __init__(self, container: Container, numbers: dict[str, int]) -> None:
        self._container = container
        self.numbers = numbers
        self._folders: dict[str, dict[str, bool]] = {"": {}}
        for name in numbers:
            self._place(name, is_folder=False)
        self._sorted: dict[str, Entries] = {}

    def scan(self, prefix: str) -> Entries:
        """What lies in one folder of the archive."""
        if prefix not in self._sorted:
            self._sorted[prefix] = entries(list(self._folders.get(prefix, {}).items()))
        return self._sorted[prefix]

    def text(self, name: str) -> Member:
        """A file of the archive."""
        read = partial(bounded, self._container, self.numbers[name])
        return Member(self._container.path, name, read)

    def _place(self, name: str, *, is_folder: bool) -> None:
        parent, slash, last = name.rpartition("/")
        prefix = parent + slash
        if prefix not in self._folders:
            self._folders[prefix] = {}
            # Archives need not list their folders, so they follow from the names of the files.
            self._place(parent, is_folder=True)
        self._folders[prefix][last] = is_folder


def open_zip(path: Path, options: Options) -> Dataset:
    """Opens a zip file of images."""
    return _open(read_zip(path), options)


def open_tar(path: Path, options: Options) -> Dataset:
    """Opens a tar file of images, or a shard of webdataset."""
    container = read_tar(path)
    return open_samples(container, options) or _open(container, options)


def bounded(container: Container, number: int) -> bytes:
    """A file of an archive; DataError, without the place, if it is too large."""
    if container.size(number) > LARGEST_MEMBER:
        raise DataError(
            f"it has {sized(container.size(number))}, more than the {sized(LARGEST_MEMBER)} that"
            " are read at once; leave it out."
        )
    return container.read(number)


def _open(container: Container, options: Options) -> Dataset:
    # Here, since ``folder`` imports the shards, which import this module.
    from robgui.core.dataset.formats.folder import images_dataset

    numbers = plain_names(container)
    listing = PackedListing(container, numbers)
    chosen = list(options.files)
    if chosen:
        found = Arrangement(chosen)
    else:
        found = arrange(listing, options, container.path)
    missing = [name for name in found.files if name not in numbers]
    if missing:
        raise DataError(f"{container.path}: it holds no image {missing[0]!r}.")
    places = np.array([numbers[name] for name in found.files], dtype=np.int64)
    source = PackedImages(container, found.files, places)
    dataset = images_dataset(source, found, listing, container.path, options)
    return cut_off(dataset, container)


def plain_names(container: Container) -> dict[str, int]:
    """The number of each file by its name.

    Raises:
        DataError: A name leads out of the archive, or occurs twice.
    """
    numbers: dict[str, int] = {}
    for number, stored in enumerate(container.names):
        # Some Windows packers write backslashes; "tar c ." puts "./" in front.
        name = stored.replace("\\", "/").removeprefix("./")
        # A cheap look at each of perhaps a million names; only suspicious ones are taken apart.
        if ".." in name or name[:1] in ("/", "") or name[1:2] == ":":
            _refuse_outside(name, container.path)
        if name in numbers:
            raise DataError(
                f"{container.path} is refused: it holds {name[:200]!r} twice; pack it again."
            )
        numbers[name] = number
    return numbers


def _refuse_outside(name: str, path: Path) -> None:
    parts = name.split("/")
    if ".." in parts or not parts[0] or parts[0][1:2] == ":":
        raise DataError(
            f"{path} is refused: its part {name[:200]!r} has a name that leads out of the archive;"
            " get it from somebody you trust, or pack it again."
        )


def cut_off(dataset: Dataset, container: Container) -> Dataset:
    """Lists the archive itself as left out from the point where it is cut off."""
    if not container.complete:
        dataset.skip(container.path.name, "the archive is cut off; what comes after is missing")
    return dataset


def open_samples(container: TarMembers, options: Options) -> Dataset | None:
    """The samples of a webdataset shard: files that share a name up to its first dot.

    None if no image has a label of the same name beside it.
    """
    images: dict[str, tuple[str, int]] = {}
    labels: dict[str, tuple[str, int]] = {}
    for name, number in plain_names(container).items():
        folder, slash, last = name.rpartition("/")
        # At the first dot, as webdataset does: "0001.seg.png" belongs to the sample 0001.
        stem, _, ending = last.partition(".")
        if is_image(last):
            images.setdefault(f"{folder}{slash}{stem}", (name, number))
        elif f".{ending.casefold()}" in _LABELS or suffix(last) in _LABELS:
            labels.setdefault(f"{folder}{slash}{stem}", (name, number))
    if not images or not any(stem in labels for stem in images):
        return None
    words = _labels(container, [labels.get(stem) for stem in images], options)
    if any(words):
        numbers, names = label_numbers(words, options.names)
    else:
        numbers, names = (None, options.names)
    source = PackedImages(
        container,
        [name for name, _ in images.values()],
        np.array([number for _, number in images.values()], dtype=np.int64),
    )
    source.check(container.path)
    dataset = Dataset(
        source,
        name=container.path.name,
        path=container.path,
        labels=numbers,
        names=names,
        options=options.told(),
    )
    return cut_off(dataset, container)


def _labels(
    container: TarMembers, found: list[tuple[str, int] | None], options: Options
) -> list[str]:
    """The labels beside images, "" for none; the archive is opened once."""
    words = []
    with reading(container.path), container.stream() as file:
        for label in found:
            if label is None or container.size(label[1]) > _LARGEST_LABEL:
                words.append("")
                continue
            file.seek(container.offsets[label[1]])
            content = file.read(container.size(label[1]))
            words.append(_word(label[0], content.decode("utf-8", "replace").strip(), options))
    return words


def _word(name: str, text: str, options: Options) -> str:
    """A label: the text itself, or an entry of a JSON object; "" without."""
    if suffix(name) != ".json":
        return text
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):  # Then it says nothing about the class.
        return ""
    if not isinstance(document, dict):
        if isinstance(document, str | int):
            return str(document)
        return ""
    if options.label:
        wanted = [options.label]
    else:
        wanted = [*LABEL_COLUMNS, "cls", "class_name"]
    value = next((document[key] for key in wanted if key in document), "")
    if isinstance(value, str | int):
        return str(value)
    return ""
