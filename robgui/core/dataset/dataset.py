"""Dataset: an ordered set of inputs, read on demand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robgui.core.dataset import classes, drawing
from robgui.core.dataset.choosing import Indices, numbers, possible_shape
from robgui.core.dataset.query import select
from robgui.core.dataset.source import Shape, Skipped, Source, location
from robgui.core.errors import DataError
from robgui.core.model.settings import Kind
from robgui.core.text import words

if TYPE_CHECKING:
    from robgui.core.dataset.framing import Framing


class Dataset:
    """Inputs with their labels: a view on a source, which makes a subset free.

    A bad item never stops a run: ``array`` is strict and names it, ``readable`` and ``batches``
    leave it out and list it in ``skipped``. Every method may be called from any thread.

    Attributes:
        name: What to call it.
        path: The file or folder it came from, if any.
        kind: What one item is.
        names: Class names, empty when unknown.
        features: Column names of a table or sequence.
        labels: Class numbers ``(n,)`` int64, -1 for unknown; None when there are none.
        label_matrix: ``(n, classes)`` bool if an item may have several labels; ``labels`` is then
            None.
        notes: Sentences about what was guessed or left out at opening.
        parts: The parts (train, val, test) that the option split chooses from; empty without.
        options: What open_dataset was told, as JSON; ``open_dataset(path, **options)`` opens the
            same again.
    """

    def __init__(
        self,
        source: Source,
        *,
        name: str,
        path: Path | None = None,
        labels: np.ndarray | None = None,
        names: Sequence[str] = (),
        features: Sequence[str] = (),
        notes: Sequence[str] = (),
        options: Mapping[str, object] | None = None,
        index: np.ndarray | None = None,
        label_matrix: np.ndarray | None = None,
        parts: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.path = path
        self.kind: Kind = source.kind
        self.labels = labels
        self.label_matrix = label_matrix
        self.names = tuple(names)
        self.features = tuple(features)
        self.notes = tuple(notes)
        self.parts = tuple(parts)
        self.options = dict(options or {})
        self._source = source
        if index is None:
            self._index = np.arange(len(source))
        else:
            self._index = index
        for known in (labels, label_matrix):
            if known is not None and len(known) != len(self._index):
                given, wanted = (
                    words.count(len(known), "label"),
                    words.count(len(self._index), "item"),
                )
                raise DataError(
                    f"{location(path, name)}: there are {given} for {wanted}; the two must be"
                    " equal."
                )

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, {len(self):,} items of kind {self.kind}, shape {self.shape})"
        )

    @property
    def _where(self) -> str:
        """Its name in error messages."""
        return location(self.path, self.name)

    @property
    def source(self) -> Source:
        """The source of all items."""
        return self._source

    @property
    def shape(self) -> Shape | None:
        """Shape of one item (images: channels, height, width), None if the items differ.

        For image files it is the shape of a few of them; the others are resized to it if no shape
        is given.
        """
        return self._source.shape

    @property
    def skipped(self) -> Sequence[Skipped]:
        """What could not be read so far; a bad image in a folder is found when it is read."""
        return self._source.skips.all()

    def left_out(self) -> str:
        """How many items could not be read so far, and the first with its reason.

        Empty if all could.
        """
        return self._source.skips.words(self.name)

    def skip(self, path: str, reason: str) -> None:
        """Lists something as left out."""
        self._source.skips.add(path, reason)

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with the items, their labels and their choice."""
        total = hashlib.sha256(self._source.content().encode())
        total.update(repr((self.kind, self.names, self.features)).encode())
        if self.labels is not None:
            # Fixed byte order and width: the same data has one fingerprint on every machine.
            total.update(self.labels.astype("<i8").tobytes())
        if self.label_matrix is not None:
            total.update(np.packbits(self.label_matrix, axis=1).tobytes())
        # Not for all items in their order: a subset of everything is the same data.
        if len(self) != len(self._source) or (self._index != np.arange(len(self))).any():
            total.update(self._index.astype("<i8").tobytes())
        return total.hexdigest()[:16]

    def array(self, indices: Indices | None = None, shape: Shape | None = None) -> np.ndarray:
        """Items as float32 ``(n, *shape)``.

        Images lie in [0, 1] and are resized and converted between grey and colour; table values and
        sequences keep their own units, and a sequence is cut, or padded with its last point.

        Raises:
            DataError: An item cannot be read or cannot have this shape; the sentence names it.
        """
        positions = self._positions(indices)
        return self._source.array(
            positions, possible_shape(shape, self.shape, len(positions), self._where)
        )

    def readable(
        self, indices: Indices | None = None, shape: Shape | None = None
    ) -> tuple[list[int], np.ndarray]:
        """The indices that can be read and their items ``(n, *shape)``.

        The others are listed in ``skipped``.
        """
        if indices is None:
            chosen = np.arange(len(self))
        else:
            chosen = numbers(indices, len(self), self._where)
        positions = self._positions(chosen)
        target = possible_shape(shape, self.shape, len(positions), self._where)
        try:
            # All at once first: most data are sound, and one by one is far slower.
            return [int(i) for i in chosen], self._source.array(positions, target)
        except DataError:
            kept, items = self._source.readable(positions, target)
            return [int(chosen[place]) for place in kept], items

    def batches(
        self, size: int, shape: Shape | None = None
    ) -> Iterator[tuple[list[int], np.ndarray]]:
        """Iterates over all readable items.

        The indices and the items ``(n, *shape)``, ``n <= size``.
        """
        for start in range(0, len(self), max(1, size)):
            indices, items = self.readable(
                range(start, min(len(self), start + max(1, size))), shape
            )
            if indices:
                yield indices, items

    def lengths(self, indices: Indices | None = None) -> np.ndarray:
        """Number of points of each sequence ``(n,)``, before cutting or padding."""
        return self._source.lengths(self._positions(indices))

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest value of each column over the whole source, even for a subset.

        The choice of rows must not change what a model sees.
        """
        return self._source.bounds()

    def thumbnail(self, index: int, size: int) -> np.ndarray:
        """A picture ``(h, w, 3)`` uint8, longest side at most ``size``.

        An unreadable item gives a grey cross.
        """
        position = int(self._positions([index])[0])
        try:
            return self._source.thumbnail(position, max(1, size))
        except DataError as error:
            self._source.skips.add(self._source.key(position), str(error))
            return drawing.cross(size)

    def key(self, index: int) -> str:
        """The name of one item: its file name, or "row 17"."""
        return self._source.key(int(self._positions([index])[0]))

    def keys(self) -> list[str]:
        """The names of several items; faster than one by one."""
        return [self._source.key(position) for position in self._index.tolist()]

    def subset(self, indices: Indices) -> Dataset:
        """The same dataset with only these items, in this order; nothing is read.

        Args:
            indices: Numbers from 0, or one True or False for each item, as in
                ``data.subset(data.labels == 3)``.
        """
        chosen = numbers(indices, len(self), self._where)
        positions = self._positions(chosen)
        if self.labels is None:
            labels = None
        else:
            labels = self.labels[chosen]
        if self.label_matrix is None:
            matrix = None
        else:
            matrix = self.label_matrix[chosen]
        return self._view(labels=labels, label_matrix=matrix, index=positions)

    def select(self, text: str) -> list[int]:
        """Indices that match a query, for example ``label=shirt and index<100``.

        See robgui.core.dataset.query.
        """
        return select(self, text)

    def relabelled(self, names: Sequence[str]) -> Dataset:
        """The same items with labels renumbered to the order of ``names``.

        A label whose name is not among them becomes -1. A dataset without names adopts ``names``.
        """
        if (
            (self.labels is None and self.label_matrix is None)
            or not self.names
            or tuple(names) == self.names
        ):
            return self._view(names=names)
        if self.labels is None:
            assert self.label_matrix is not None
            matrix = classes.reordered(self.label_matrix, self.names, names)
            return self._view(label_matrix=matrix, names=names)
        labels = classes.renumbered(self.labels, self.names, names)
        return self._view(labels=labels, names=names)

    def renamed(self, names: Mapping[str, str]) -> Dataset:
        """The same items with classes renamed by a mapping from their current names.

        Classes with the same new name become one; an empty name leaves its items unlabelled.
        """
        labels, kept = classes.merged(self.labels, self.names, names)
        return self._view(labels=labels, names=kept)

    def placed(self, places: Sequence[int], names: Sequence[str]) -> Dataset:
        """The same items in other classes.

        Args:
            places: The new number of each class, -1 for none.
            names: The names of the new classes.
        """
        if self.label_matrix is not None:
            matrix = classes.moved_columns(self.label_matrix, places, len(names))
            return self._view(label_matrix=matrix, names=names)
        if self.labels is None:
            return self._view(names=names)
        return self._view(labels=classes.moved_labels(self.labels, places), names=names)

    def unlabelled(self, names: Sequence[str]) -> Dataset:
        """The same items without labels, the classes called ``names``."""
        bare = self._view(names=names)
        bare.labels = bare.label_matrix = None
        return bare

    def with_columns(self, features: Sequence[str]) -> Dataset:
        """The same rows with only these columns, in this order."""
        missing = [feature for feature in features if feature not in self.features]
        if missing:
            raise DataError(
                f"{self._where}: there is no column {missing[0]!r}; the columns"
                f" are: {', '.join(self.features[:50])}."
            )
        return self._view(
            source=self._source.pick([self.features.index(feature) for feature in features]),
            features=features,
        )

    def framed(self, framing: Framing) -> Dataset:
        """The same items, with pictures fitted to a model's size as ``framing`` says."""
        source = self._source.framed(framing)
        if source is self._source:
            return self
        return self._view(source=source)

    def _view(
        self,
        *,
        source: Source | None = None,
        labels: np.ndarray | None = None,
        label_matrix: np.ndarray | None = None,
        names: Sequence[str] | None = None,
        features: Sequence[str] | None = None,
        index: np.ndarray | None = None,
    ) -> Dataset:
        return Dataset(
            source or self._source,
            name=self.name,
            path=self.path,
            labels=self.labels if labels is None else labels,
            label_matrix=self.label_matrix if label_matrix is None else label_matrix,
            names=self.names if names is None else names,
            features=self.features if features is None else features,
            notes=self.notes,
            options=self.options,
            index=self._index if index is None else index,
            parts=self.parts,
        )

    def _positions(self, indices: Indices | None) -> np.ndarray:
        if indices is None:
            return self._index
        chosen = numbers(indices, len(self), self._where)
        wrong = (chosen < 0) | (chosen >= len(self))
        if wrong.any():
            raise DataError(
                f"{self._where}: there is no item {chosen[wrong][0]}; "
                f"the dataset has {words.count(len(self), 'item')}, counted from 0."
            )
        return np.asarray(self._index[chosen])
