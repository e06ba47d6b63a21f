"""Dataset: an ordered set of inputs, read when they are needed."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robgui.core.dataset import drawing
from robgui.core.dataset.limits import LARGEST_ARRAY, sized
from robgui.core.dataset.query import select
from robgui.core.dataset.source import Shape, Skipped, Source, location
from robgui.core.errors import DataError
from robgui.core.model.settings import Kind
from robgui.core.text import words

if TYPE_CHECKING:
    from robgui.core.dataset.framing import Framing

Indices = Sequence[int] | np.ndarray


class Dataset:
    """Inputs with their labels; a view on a source, so that a subset costs nothing.

    A bad item never stops a whole run: ``array`` is strict and names it, ``readable`` and
    ``batches`` leave it out and list it in ``skipped``. Every method may be called from any thread.

    Attributes:
        name: What to call it.
        path: The file or folder it came from, if any.
        kind: What one item is.
        names: Class names, empty when unknown.
        features: Column names of a table or sequence.
        labels: Class numbers ``(n,)`` int64, -1 for unknown; None when there are none.
        label_matrix: ``(n, classes)`` bool where an item may have several labels; ``labels`` is
            None then.
        notes: Sentences about what was guessed or left out at opening.
        parts: The parts (train, val, test) among which the option split chooses; empty without.
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
    def source(self) -> Source:
        """Where the items come from, whole."""
        return self._source

    @property
    def shape(self) -> Shape | None:
        """Shape of one item (images: channels, height, width), None when the items differ.

        For image files it is what a few of them have; the others are resized to it when no shape is
        given.
        """
        return self._source.shape

    @property
    def skipped(self) -> Sequence[Skipped]:
        """What could not be read so far; a bad image in a folder is found when it is read."""
        return self._source.skips.all()

    def left_out(self) -> str:
        """What could not be read so far in a few words: how many, and the first with its reason.

        Empty when all could.
        """
        skipped = self.skipped
        if not skipped:
            return ""
        first = skipped[0]
        reason = first.reason.rpartition(f"{first.path}: ")[2].rstrip(
            "."
        )  # a file says its whole path once more
        if len(skipped) > 1:
            many = f"{len(skipped):,} files or rows of {self.name}, the first: "
        else:
            many = f"{self.name}: "
        return f"{many}{first.path}: {reason}."

    def skip(self, path: str, reason: str) -> None:
        """Lists something as left out."""
        self._source.skips.add(path, reason)

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with the items, the labels and the choice of
        items.
        """
        total = hashlib.sha256(self._source.content().encode())
        total.update(repr((self.kind, self.names, self.features)).encode())
        if self.labels is not None:
            total.update(self.labels.astype("<i8").tobytes())
        if self.label_matrix is not None:
            total.update(np.packbits(self.label_matrix, axis=1).tobytes())
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
        return self._source.array(positions, self._target(len(positions), shape))

    def readable(
        self, indices: Indices | None = None, shape: Shape | None = None
    ) -> tuple[list[int], np.ndarray]:
        """The indices that can be read and their items ``(n, *shape)``.

        The others are listed in ``skipped``.
        """
        if indices is None:
            chosen = np.arange(len(self))
        else:
            chosen = self._numbers(indices)
        positions = self._positions(chosen)
        target = self._target(len(positions), shape)
        try:
            return [int(i) for i in chosen], self._source.array(positions, target)
        except DataError:
            return self._one_by_one(chosen, positions, target)

    def batches(
        self, size: int, shape: Shape | None = None
    ) -> Iterator[tuple[list[int], np.ndarray]]:
        """Goes through all readable items: the indices and the items ``(n, *shape)``, ``n <=
        size``.
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
        """Lowest and highest value of each column over the whole source, also for a subset.

        The choice of rows must not change what a model sees.
        """
        return self._source.bounds()

    def thumbnail(self, index: int, size: int) -> np.ndarray:
        """A picture ``(h, w, 3)`` uint8, longest side at most ``size``.

        A grey cross for what cannot be read.
        """
        position = int(self._positions([index])[0])
        try:
            return self._source.thumbnail(position, max(1, size))
        except DataError as error:
            self._source.skips.add(self._source.key(position), str(error))
            return drawing.cross(size)

    def key(self, index: int) -> str:
        """What to call one item: the file name, or "row 17"."""
        return self._source.key(int(self._positions([index])[0]))

    def keys(self) -> list[str]:
        """What to call each item; faster than one by one."""
        return [self._source.key(position) for position in self._index.tolist()]

    def subset(self, indices: Indices) -> Dataset:
        """The same dataset with these items only, in this order; nothing is read.

        Args:
            indices: Numbers from 0, or one True or False for each item, as in
                ``data.subset(data.labels == 3)``.
        """
        chosen = self._numbers(indices)
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
        """Indices that fit a query such as ``label=shirt and index<100``.

        See robgui.core.dataset.query.
        """
        return select(self, text)

    def relabelled(self, names: Sequence[str]) -> Dataset:
        """The same items with their labels renumbered to the order of ``names``.

        A label whose name is not among them becomes -1. Without names of its own the dataset adopts
        ``names``.
        """
        if (
            (self.labels is None and self.label_matrix is None)
            or not self.names
            or tuple(names) == self.names
        ):
            return self._view(names=names)
        place = {plain(name): number for number, name in enumerate(names)}
        if self.labels is None:
            return self._view(label_matrix=self._columns_in(place, len(names)), names=names)
        numbers = np.array(
            [*(place.get(plain(name), -1) for name in self.names), -1], dtype=np.int64
        )
        known = np.where(
            (self.labels >= 0) & (self.labels < len(self.names)), self.labels, len(self.names)
        )
        return self._view(labels=numbers[known], names=names)

    def renamed(self, names: Mapping[str, str]) -> Dataset:
        """The same items with other class names, by the present ones.

        Classes that get one name become one class; an empty name leaves its items unlabelled.
        """
        new = [names.get(name, name) for name in self.names]
        if self.labels is None or (all(new) and len({*new}) == len(new)):
            return self._view(names=new)
        kept = list(dict.fromkeys(filter(None, new)))
        places = np.array([*(kept.index(name) if name else -1 for name in new), -1])
        known = np.where(self.labels < len(new), self.labels, -1)
        return self._view(labels=places[known], names=kept)

    def placed(self, places: Sequence[int], names: Sequence[str]) -> Dataset:
        """The same items in other classes.

        Args:
            places: The new number of each class, -1 for none.
            names: The names of the new classes.
        """
        if self.label_matrix is not None:
            moved = np.zeros((len(self), len(names)), dtype=bool)
            for column, place in enumerate(places[: self.label_matrix.shape[1]]):
                if place >= 0:
                    moved[:, place] |= self.label_matrix[:, column]
            return self._view(label_matrix=moved, names=names)
        if self.labels is None:
            return self._view(names=names)
        numbers = np.array([*places, -1], dtype=np.int64)
        known = np.where(self.labels < len(places), self.labels, -1)
        return self._view(labels=numbers[known], names=names)

    def unlabelled(self, names: Sequence[str]) -> Dataset:
        """The same items without labels, the classes called ``names``."""
        bare = self._view(names=names)
        bare.labels = bare.label_matrix = None
        return bare

    def _columns_in(self, place: Mapping[str, int], count: int) -> np.ndarray:
        """The label matrix with ``count`` columns, each moved to the place of its name."""
        assert self.label_matrix is not None
        moved = np.zeros((len(self), count), dtype=bool)
        for column, name in enumerate(self.names[: self.label_matrix.shape[1]]):
            if plain(name) in place:
                moved[:, place[plain(name)]] |= self.label_matrix[:, column]
        return moved

    def with_columns(self, features: Sequence[str]) -> Dataset:
        """The same rows with these columns only, in this order."""
        missing = [feature for feature in features if feature not in self.features]
        if missing:
            raise DataError(
                f"{location(self.path, self.name)}: there is no column {missing[0]!r}; the columns"
                f" are: {', '.join(self.features[:50])}."
            )
        return self._view(
            source=self._source.pick([self.features.index(feature) for feature in features]),
            features=features,
        )

    def framed(self, framing: Framing) -> Dataset:
        """The same items, pictures brought to the size of a model as ``framing`` says."""
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
        chosen = self._numbers(indices)
        wrong = (chosen < 0) | (chosen >= len(self))
        if wrong.any():
            raise DataError(
                f"{location(self.path, self.name)}: there is no item {chosen[wrong][0]}; "
                f"the dataset has {words.count(len(self), 'item')}, counted from 0."
            )
        return np.asarray(self._index[chosen])

    def _numbers(self, indices: Indices) -> np.ndarray:
        """Indices as whole numbers; a mask gives the places where it is True."""
        given: np.ndarray = np.asarray(indices)
        if given.dtype != np.bool_:
            return self._whole_numbers(given)
        if given.shape != (len(self),):
            raise DataError(
                f"{location(self.path, self.name)}: a choice by True and False needs one for each"
                f" of {words.count(len(self), 'item')}, not the shape {given.shape}."
            )
        return np.flatnonzero(given)

    def _whole_numbers(self, given: np.ndarray) -> np.ndarray:
        try:
            numbers: np.ndarray = given.astype(np.int64).reshape(-1)
        except OverflowError:  # larger than any count of items
            raise DataError(
                f"{location(self.path, self.name)}: there is no item with so large a number; the"
                f" dataset has {words.count(len(self), 'item')}, counted from 0."
            ) from None
        return numbers

    def _target(self, count: int, shape: Shape | None) -> Shape:
        if shape is None:
            target = self.shape
        else:
            target = tuple(int(side) for side in shape)
        if target is None:
            raise DataError(
                f"{location(self.path, self.name)}: the items differ in size; give the shape they"
                " shall have."
            )
        if any(side < 1 for side in target):
            raise DataError(
                f"{location(self.path, self.name)}: the shape {target} is impossible; every size"
                " must be at least 1."
            )
        if count * math.prod(target) * 4 > LARGEST_ARRAY:
            raise DataError(
                f"{location(self.path, self.name)}: {count:,} items of shape {target} need"
                f" {sized(4 * count * math.prod(target))} at once; choose fewer items or read them"
                " in batches."
            )
        return target

    def _one_by_one(
        self, chosen: np.ndarray, positions: np.ndarray, target: Shape
    ) -> tuple[list[int], np.ndarray]:
        kept, items = [], []
        for index, position in zip(chosen, positions, strict=True):
            try:
                items.append(self._source.read(int(position), target))
            except DataError as error:
                self._source.skips.add(self._source.key(int(position)), str(error))
            else:
                kept.append(int(index))
        return kept, np.stack(items) if items else np.empty((0, *target), np.float32)


def plain(name: str) -> str:
    """A class name as it is compared: without case, underscores and outer blanks."""
    return name.casefold().replace("_", " ").strip()
