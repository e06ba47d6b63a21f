"""How images are arranged in folders, on disk or inside an archive.

Flat, one folder per class, or such folders once for training and once for testing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from robgui.core.dataset import images
from robgui.core.dataset.labels import natural
from robgui.core.dataset.limits import Member
from robgui.core.dataset.options import PARTS, Options, part_named
from robgui.core.errors import DataError

#: Images in formats that are not read: worth a note, unlike a text file among the images.
_FOREIGN = frozenset(
    {".heic", ".heif", ".avif", ".svg", ".psd", ".jp2", ".tga", ".exr", ".dng", ".ico", ".hdr"}
)
#: Folders that operating systems add.
_HIDDEN = (".", "__MACOSX")
#: How many levels of folders that contain a single folder are followed.
_WRAPPERS = 3
_LABEL_FILES = ("labels.csv", "labels.json")
#: The labels of the test images of GTSRB and its family.
_TRUTH = re.compile(r"gt[-_].*\.csv", re.IGNORECASE)
#: The part opened by default: what the model was not trained on.
_LIKELIEST = ("test", "val", "train")


@dataclass(frozen=True, slots=True)
class Entries:
    """The content of one folder: names in natural order."""

    folders: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    @property
    def images(self) -> list[str]:
        """The files that are images."""
        return [name for name in self.files if is_image(name)]


class Listing(Protocol):
    """Folders and files by name, wherever they lie; a prefix is empty or ends with a slash."""

    def scan(self, prefix: str) -> Entries:
        """What lies in one folder; no file is touched."""

    def text(self, name: str) -> Path | Member:
        """A text file by its whole name, to be opened with open_text."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Which images are opened, and what their folders say about them.

    Attributes:
        files: Whole names of the images.
        labels: The number of each image's class folder; None without class folders.
        classes: Names of the class folders.
        prefix: The folder that was chosen.
        part: Which part it is (train, val, test); empty when there are none.
        parts: The parts there are.
        beside: Images that lie beside the class folders.
        foreign: Images in formats that are not read.
    """

    files: list[str]
    labels: np.ndarray | None = None
    classes: tuple[str, ...] = ()
    prefix: str = ""
    part: str = ""
    parts: tuple[str, ...] = ()
    beside: Sequence[str] = ()
    foreign: Sequence[str] = ()

    @property
    def note(self) -> str:
        """Which part is open, where there are several."""
        if len(self.parts) < 2:
            return ""
        others = " and ".join(part for part in self.parts if part != self.part)
        return f"The part {self.part} is open; {others} can be chosen."


def entries(names: list[tuple[str, bool]]) -> Entries:
    """The names in one folder, each with whether it is a folder, sorted into kinds."""
    found = Entries()
    for name, is_folder in names:
        if name.startswith(_HIDDEN):
            continue
        if is_folder:
            found.folders.append(name)
        elif suffix(name) in _FOREIGN:
            found.foreign.append(name)
        else:
            found.files.append(name)
    for each in (found.folders, found.files, found.foreign):
        each.sort(key=natural)
    return found


def is_image(name: str) -> bool:
    """Whether a name is that of an image."""
    return suffix(name) in images.SUFFIXES


def suffix(name: str) -> str:
    """The suffix of a file name.

    A Path for each of 100,000 names would take a quarter of a second.
    """
    if (dot := name.rfind(".")) > 0:
        return name[dot:].casefold()
    return ""


def arrange(listing: Listing, options: Options, where: object) -> Arrangement:
    """Finds the images in a folder or archive and how they are arranged.

    Raises:
        DataError: There are none, or the part that the options ask for is not there.
    """
    prefix = _unwrapped(listing)
    parts = _parts(listing, prefix)
    if not parts:
        return _inside(listing, prefix, options, where)
    part = _chosen(listing, prefix, parts, options, where)
    found = _inside(listing, f"{prefix}{parts[part]}/", options, where)
    classes, labels = found.classes, found.labels
    if labels is not None:
        # Numbers come from all parts: a class that test lacks must not shift the others.
        others = {
            name
            for folder in parts.values()
            if len(inside := listing.scan(_inner(listing, f"{prefix}{folder}/")).folders) > 1
            for name in inside
        }
        classes = tuple(sorted({*classes, *others}, key=natural))
        labels = np.array([classes.index(name) for name in found.classes])[labels]
    return Arrangement(
        found.files,
        labels,
        classes,
        found.prefix,
        part,
        tuple(part for part in PARTS if part in parts),
        found.beside,
        found.foreign,
    )


def label_path(
    listing: Listing, prefix: str, options: Options, above: Callable[[str], Path | None] | None
) -> Path | Member | None:
    """The file with the labels of the images in one folder: inside it, or beside it.

    Args:
        listing: Where to look.
        prefix: The folder.
        options: May name the file.
        above: Finds a file beside the whole tree, for the folder of the tree itself.
    """
    if options.labels:
        return Path(options.labels)
    folder, own = prefix.rstrip("/"), listing.scan(prefix).files
    likely = [name for name in _LABEL_FILES if name in own]
    likely += [name for name in own if _TRUTH.fullmatch(name)]
    if found := next(filter(_is_plain, (listing.text(prefix + name) for name in likely)), None):
        return found
    if not folder:
        if above is not None:
            return next(filter(None, map(above, _LABEL_FILES)), None)
        return None
    parent, _, name = folder.rpartition("/")
    parent = f"{parent}/" if parent else ""
    wanted = (*_LABEL_FILES, f"{name.casefold()}.csv")
    beside = [name for name in listing.scan(parent).files if name.casefold() in wanted]
    return next(filter(_is_plain, (listing.text(parent + name) for name in beside)), None)


def _is_plain(path: Path | Member) -> bool:
    """Whether a file can be opened without waiting: no pipe, no device."""
    return isinstance(path, Member) or path.is_file()


def _unwrapped(listing: Listing) -> str:
    """The folder below those that contain nothing but one folder of folders."""
    prefix = ""
    for _ in range(_WRAPPERS):
        here = listing.scan(prefix)
        if len(here.folders) != 1 or here.images or _parts(listing, prefix):
            break
        inner = listing.scan(f"{prefix}{here.folders[0]}/")
        if inner.images or not inner.folders:
            break
        prefix = f"{prefix}{here.folders[0]}/"
    return prefix


def _parts(listing: Listing, prefix: str) -> dict[str, str]:
    """The folders for training, validation and test.

    Empty if a folder beside them holds images: then "train" is a class.
    """
    here = listing.scan(prefix)
    named = {part: name for name in here.folders if (part := part_named(name))}
    if not named or here.images:
        return {}
    others = [name for name in here.folders if name not in named.values()]
    if any(listing.scan(f"{prefix}{name}/").images for name in others):
        return {}
    return {part: name for part, name in named.items() if _bears(listing, f"{prefix}{name}/")}


def _bears(listing: Listing, prefix: str) -> bool:
    """Whether a folder holds images, directly or up to two levels below."""
    here = listing.scan(prefix)
    return bool(here.images) or any(
        inner.images or inner.folders
        # Three are enough to tell: there may be thousands of classes.
        for inner in (listing.scan(f"{prefix}{name}/") for name in here.folders[:3])
    )


def _chosen(
    listing: Listing, prefix: str, parts: dict[str, str], options: Options, where: object
) -> str:
    if options.split is not None:
        if options.split not in parts:
            raise DataError(
                f"{where}: there is no part {options.split}; there are: {', '.join(parts)}.",
                option=f"split={next(iter(parts))}",
            )
        return options.split

    def labelled(part: str) -> bool:
        folder = f"{prefix}{parts[part]}/"
        return (
            bool(listing.scan(folder).folders)
            or label_path(listing, folder, options, None) is not None
        )

    # A part with labels first: public test sets often come without.
    there = [part for part in _LIKELIEST if part in parts]
    return next(filter(labelled, there), there[0])


def _inner(listing: Listing, prefix: str) -> str:
    """The parent of the class folders, for example ``Final_Training/Images/``."""
    here = listing.scan(prefix)
    if len(here.folders) == 1 and not here.images:
        inner = listing.scan(f"{prefix}{here.folders[0]}/")
        if inner.folders and not inner.images:
            return f"{prefix}{here.folders[0]}/"
    return prefix


def _inside(listing: Listing, prefix: str, options: Options, where: object) -> Arrangement:
    """The images of one folder, or of its class folders."""
    prefix = _inner(listing, prefix)
    here = listing.scan(prefix)
    own = here.images
    classes = {name: listing.scan(f"{prefix}{name}/").images for name in here.folders}
    classes = {name: inside for name, inside in classes.items() if inside}
    one_folder = len(classes) == 1 and any(
        label_path(listing, folder, options, None) is not None
        for folder in (prefix, f"{prefix}{next(iter(classes))}/")
    )
    # Fewer pictures beside the folders than in them are strays; more mean that these are no
    # classes.
    if classes and len(own) <= sum(map(len, classes.values())) and not one_folder:
        files = [f"{prefix}{name}/{file}" for name, inside in classes.items() for file in inside]
        labels = np.repeat(np.arange(len(classes)), [len(inside) for inside in classes.values()])
        return Arrangement(files, labels, tuple(classes), prefix, beside=own, foreign=here.foreign)
    if one_folder and len(own) <= len(next(iter(classes.values()))):
        name = next(iter(classes))
        files = [f"{prefix}{name}/{file}" for file in classes[name]]
        return Arrangement(files, prefix=f"{prefix}{name}/", foreign=here.foreign)
    if not own:
        raise DataError(
            f"{where}: there are no images here or one level below; choose the folder that holds"
            " them or the class folders."
        )
    return Arrangement([prefix + name for name in own], prefix=prefix, foreign=here.foreign)
