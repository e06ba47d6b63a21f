"""Image files: one, several, or a folder of them, flat or with one sub-folder per class."""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robgui.core.dataset import images
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.formats.idx import idx_files, open_idx_folder
from robgui.core.dataset.framing import SQUASH, Framing
from robgui.core.dataset.labels import LabelFile, label_numbers, natural, read_label_file
from robgui.core.dataset.options import Options
from robgui.core.dataset.source import Shape, Source
from robgui.core.errors import DataError
from robgui.core.regular import open_regular

_LABEL_FILES = ("labels.csv", "labels.json")
#: Images in formats that are not read: worth telling, unlike a text file among the images.
_FOREIGN = frozenset(
    {".heic", ".heif", ".avif", ".svg", ".psd", ".jp2", ".tga", ".exr", ".dng", ".ico", ".hdr"}
)
#: How many images are asked for their size at opening.
_PROBED = 8
#: Up to so many images the fingerprint of a folder covers the size of each.
_SIZED = 10_000
#: How many images, and how many bytes of each, the fingerprint reads.
_HASHED, _HASHED_BYTES = 32, 1_000_000


class ImageFiles(Source):
    """Image files below one folder, each opened when it is wanted."""

    kind = "image"

    def __init__(self, folder: Path, files: Sequence[str]) -> None:
        super().__init__()
        self._folder = str(folder)
        self._files = files
        self._framing = SQUASH
        self.shape = self._probe()

    def __len__(self) -> int:
        return len(self._files)

    def key(self, position: int) -> str:
        return self._files[position]

    def read(self, position: int, shape: Shape) -> np.ndarray:
        pixels = images.read_image(self._path(position))
        try:
            return images.fit(pixels, shape, self._framing)
        except DataError as error:
            raise error.at(self._path(position)) from error

    def framed(self, framing: Framing) -> ImageFiles:
        """The same files under another framing."""
        if framing == self._framing:
            return self
        other = copy.copy(self)
        other._framing = framing
        return other

    def thumbnail(self, position: int, size: int) -> np.ndarray:
        return images.thumbnail(images.read_image(self._path(position), at_least=size), size)

    def content(self) -> str:
        """Every name, the bytes of a few images spread over the folder and, in a folder of usual
        size, every size.

        No dates: a copied folder is the same dataset.
        """
        total = hashlib.blake2b(digest_size=16)
        total.update("\n".join(self._files).encode("utf-8", "surrogateescape"))
        if len(self._files) <= _SIZED:
            total.update(
                repr([self._size(position) for position in range(len(self._files))]).encode()
            )
        for position in self._spread(_HASHED):
            total.update(self._bytes(position))
        return total.hexdigest()

    def check(self, where: Path) -> None:
        """Refuses files of which none can be read: one bad image among others is left out, bad
        images alone are no dataset.
        """
        for position in range(len(self)):
            try:
                self._try(position)
            except DataError as error:
                self.skips.add(self.key(position), str(error))
                if len(self) == 1:
                    raise
            else:
                return
        if len(self):
            raise DataError(
                f"{where}: none of its {len(self):,} images can be read, the first is"
                f" {self.key(0)}; choose other images."
            )

    def _try(self, position: int) -> None:
        """Reads one image; of many only the header, so that a folder of broken ones does not
        take minutes.
        """
        if len(self) <= _PROBED:
            images.read_image(self._path(position), at_least=1)
        else:
            images.image_shape(self._path(position))

    def _size(self, position: int) -> int:
        try:
            return os.stat(self._path(position)).st_size  # noqa: PTH116  a Path for each of 10,000 names takes longer than the call
        except OSError:  # a file that is gone is a difference too
            return -1

    def _bytes(self, position: int) -> bytes:
        try:
            with open_regular(self._path(position)) as file:
                return file.read(_HASHED_BYTES)
        except OSError:
            return b"gone"

    def _spread(self, count: int) -> list[int]:
        """At most ``count`` positions spread evenly over the folder."""
        return [
            int(p)
            for p in np.unique(
                np.linspace(0, len(self._files) - 1, min(count, len(self._files))).astype(int)
            )
        ]

    def _path(self, position: int) -> str:
        return f"{self._folder}/{self._files[position]}"

    def _probe(self) -> Shape | None:
        """The shape that a few images over the whole folder share, if they do."""
        shapes = set()
        for position in self._spread(_PROBED):
            try:
                shapes.add(images.image_shape(self._path(position)))
            except DataError as error:
                self.skips.add(self.key(position), str(error))
        return shapes.pop() if len(shapes) == 1 else None


def open_folder(folder: Path, options: Options) -> Dataset:
    """Opens a folder: IDX files, class sub-folders, or flat images with an optional labels file."""
    if options.files:
        return _flat(folder, "", list(options.files), options)
    folders, files, foreign = scan(folder)
    if idx_files(files):
        return open_idx_folder(folder, files, options)
    own = [name for name in files if _is_image(name)]
    classes = {
        name: [file for file in scan(folder / name)[1] if _is_image(file)] for name in folders
    }
    classes = {name: inside for name, inside in classes.items() if inside}
    if len(own) > sum(map(len, classes.values())):
        dataset = _flat(folder, "", own, options)
    elif len(classes) == 1 and _label_path(folder, options) is not None:
        (name,) = classes
        dataset = _flat(folder, f"{name}/", classes[name], options)
    elif classes:
        dataset = _by_class(folder, classes, own, options)
    elif own:
        dataset = _flat(folder, "", own, options)
    else:
        raise DataError(
            f"{folder}: there are no images here or one level below; choose the folder that holds"
            " them or the class folders."
        )
    for name in foreign:
        dataset.skip(name, "robgui does not read this image format; convert it to PNG")
    return dataset


def open_images(paths: Sequence[Path], options: Options) -> Dataset:
    """Opens one image or several."""
    if len(paths) == 1:
        return _flat(paths[0].parent, "", [paths[0].name], options, path=paths[0])
    try:
        folder = Path(os.path.commonpath([path.absolute().parent for path in paths]))
        files = [path.absolute().relative_to(folder).as_posix() for path in paths]
    except ValueError:  # on different drives
        folder, files = paths[0].absolute().parent, [str(path.absolute()) for path in paths]
    return _flat(folder, "", files, options.model_copy(update={"files": tuple(files)}))


def scan(folder: Path) -> tuple[list[str], list[str], list[str]]:
    """Sub-folders, files and images in foreign formats of one folder, in natural order.

    No file is touched.
    """
    folders: list[str] = []
    files: list[str] = []
    foreign: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if _is_folder(entry):
                    folders.append(entry.name)
                else:
                    (foreign if _suffix(entry.name) in _FOREIGN else files).append(entry.name)
    except OSError as error:
        raise DataError(
            f"{folder}: the folder cannot be read ({error.strerror}); check its permissions."
        ) from error
    return sorted(folders, key=natural), sorted(files, key=natural), sorted(foreign, key=natural)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder; a link that leads in a circle is a file that cannot be read."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_image(name: str) -> bool:
    return _suffix(name) in images.SUFFIXES


def _suffix(name: str) -> str:
    """The suffix of a file name.

    A Path for each of 100,000 names would take a quarter of a second.
    """
    return name[dot:].casefold() if (dot := name.rfind(".")) > 0 else ""


def _by_class(
    folder: Path, classes: dict[str, list[str]], own: list[str], options: Options
) -> Dataset:
    files = [f"{name}/{file}" for name, inside in classes.items() for file in inside]
    labels = np.repeat(np.arange(len(classes)), [len(inside) for inside in classes.values()])
    source = ImageFiles(folder, files)
    source.check(folder)
    dataset = Dataset(
        source,
        name=folder.name,
        path=folder,
        labels=labels,
        names=tuple(classes),
        options=options.told(),
    )
    for name in own:
        dataset.skip(name, "it lies beside the class folders, not in one of them")
    return dataset.relabelled(options.names) if options.names else dataset


def _flat(
    folder: Path, prefix: str, files: list[str], options: Options, path: Path | None = None
) -> Dataset:
    source = ImageFiles(folder, [prefix + name for name in files])
    where = path or folder
    source.check(where)
    labels, names, notes = _labels(folder, source, options)
    return Dataset(
        source,
        name=where.name,
        path=where,
        labels=labels,
        names=names or options.names,
        notes=notes,
        options=options.told(),
    )


def _labels(
    folder: Path, source: ImageFiles, options: Options
) -> tuple[np.ndarray | None, tuple[str, ...], list[str]]:
    path = _label_path(folder, options) or _label_path(folder.parent, options)
    if path is None:
        return None, (), []
    table = read_label_file(path, options.label)
    words = [table.find(source.key(position)) for position in range(len(source))]
    missing = words.count("")
    if missing == len(words):
        return (
            None,
            (),
            (
                [f"{path.name} names none of these images."]
                if path.parent == folder or options.labels
                else []
            ),
        )
    labels, names = _numbers(words, table, options, path)
    return (
        labels,
        names,
        [f"{path.name} has no label for {missing:,} of {len(words):,} images."] if missing else [],
    )


def _numbers(
    words: list[str], table: LabelFile, options: Options, path: Path
) -> tuple[np.ndarray, tuple[str, ...]]:
    try:
        if table.names:
            return (
                np.array([int(word) if word else -1 for word in words], dtype=np.int64),
                options.names or table.names,
            )
        return label_numbers(words, options.names)
    except DataError as error:
        raise error.at(path) from error


def _label_path(folder: Path, options: Options) -> Path | None:
    if options.labels:
        return Path(options.labels)
    return next((folder / name for name in _LABEL_FILES if (folder / name).is_file()), None)
