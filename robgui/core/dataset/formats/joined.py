"""Several arrays or datasets joined one after the other."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robgui.core.dataset.arrays import Blocks
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.framing import Framing
from robgui.core.dataset.labels import natural
from robgui.core.dataset.options import Options
from robgui.core.dataset.source import Shape, Source
from robgui.core.errors import DataError


class JoinedRows:
    """The rows of several arrays of one type, one array after the other."""

    def __init__(self, blocks: Sequence[Blocks]) -> None:
        self._blocks = blocks
        self._starts = np.cumsum([0, *(block.shape[0] for block in blocks)])
        self.shape: Shape = (int(self._starts[-1]), *blocks[0].shape[1:])
        self.dtype = blocks[0].dtype

    def take(self, positions: np.ndarray) -> np.ndarray:
        """The rows at ``positions``, each from its array."""
        rows = np.empty((len(positions), *self.shape[1:]), dtype=self.dtype)
        # "right": a position at the start of an array belongs to that array.
        which = np.searchsorted(self._starts, positions, side="right") - 1
        for number in np.unique(which):
            here = which == number
            # One read per array, and the rows still in the order asked for.
            rows[here] = self._blocks[number].take(positions[here] - self._starts[number])
        return rows

    def content(self) -> str:
        """Of all arrays."""
        return "|".join(block.content() for block in self._blocks)


class JoinedImages(Source):
    """The images of several sources, one source after the other.

    Args:
        sources: The sources.
        names: What to call each.
    """

    kind = "image"

    def __init__(self, sources: Sequence[Source], names: Sequence[str]) -> None:
        super().__init__()
        self._sources = sources
        self._names = names
        self._starts = np.cumsum([0, *map(len, sources)])
        shapes = {source.shape for source in sources}
        if len(shapes) == 1:
            self.shape = shapes.pop()
        else:
            self.shape = None

    def __len__(self) -> int:
        return int(self._starts[-1])

    def key(self, position: int) -> str:
        number, place = self._find(position)
        return f"{self._names[number]}, {self._sources[number].key(place)}"

    def read(self, position: int, shape: Shape) -> np.ndarray:
        number, place = self._find(position)
        return self._sources[number].read(place, shape)

    def thumbnail(self, position: int, size: int) -> np.ndarray:
        number, place = self._find(position)
        return self._sources[number].thumbnail(place, size)

    def content(self) -> str:
        total = hashlib.blake2b(digest_size=16)
        for source in self._sources:
            total.update(source.content().encode())
        return total.hexdigest()

    def framed(self, framing: Framing) -> JoinedImages:
        """The same images under another framing."""
        other = JoinedImages([source.framed(framing) for source in self._sources], self._names)
        other.skips = self.skips
        return other

    def _find(self, position: int) -> tuple[int, int]:
        number = int(np.searchsorted(self._starts, position, side="right")) - 1
        return number, position - int(self._starts[number])


def joined(
    datasets: Sequence[Dataset], path: Path, options: Options, notes: Sequence[str] = ()
) -> Dataset:
    """Joins datasets of images, matching classes by name if they have names."""
    for dataset in datasets:
        if dataset.kind != "image":
            raise DataError(
                f"{path}: {dataset.name} holds no images; only images can be opened from several"
                " files at once, so open this file by itself."
            )
    if len(datasets) == 1:
        source, names = datasets[0].source, datasets[0].names
    else:
        every = dict.fromkeys(name for dataset in datasets for name in dataset.names)
        same = len({dataset.names for dataset in datasets}) == 1
        if same:
            names = datasets[0].names
        else:
            # A shard may lack a class; numbered over all shards, a label means the same in each.
            names = tuple(sorted(every, key=natural))
        datasets = [dataset.relabelled(names) if names else dataset for dataset in datasets]
        source = JoinedImages(
            [dataset.source for dataset in datasets], [dataset.name for dataset in datasets]
        )
    matrix = _joined_matrix(datasets, path)
    found = Dataset(
        source,
        name=path.name,
        path=path,
        labels=_joined_labels(datasets) if matrix is None else None,
        label_matrix=matrix,
        names=names,
        notes=[*notes, *dict.fromkeys(note for dataset in datasets for note in dataset.notes)],
        options=options.told(),
    )
    for dataset in datasets:
        for skipped in dataset.skipped:
            found.skip(f"{dataset.name}, {skipped.path}", skipped.reason)
    return found


def _joined_labels(datasets: Sequence[Dataset]) -> np.ndarray | None:
    """The labels of all datasets; None if there are none."""
    labels = [
        np.full(len(dataset), -1, np.int64) if dataset.labels is None else dataset.labels
        for dataset in datasets
    ]
    if all((each < 0).all() for each in labels):
        return None
    return np.concatenate(labels)


def _joined_matrix(datasets: Sequence[Dataset], path: Path) -> np.ndarray | None:
    """The matrix of labels of all datasets; None if no item may have several labels."""
    found = [dataset.label_matrix for dataset in datasets if dataset.label_matrix is not None]
    if not found:
        return None
    for dataset in datasets:
        matrix = dataset.label_matrix
        # A row without a label would say that no class is right, not that none is known.
        if matrix is None or matrix.shape[1] != found[0].shape[1]:
            raise DataError(
                f"{path}: {dataset.name} does not have the labels of the other files, which give"
                f" yes or no for each of {found[0].shape[1]} classes; open this file by itself."
            )
    return np.concatenate(found)
