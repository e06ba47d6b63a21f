"""Derived inputs: made by one analysis for another to examine, each with its trail.

An adversarial example, a failing particle or a rendered trap becomes an input like any other. It is
kept in the workspace, and its trail says where it comes from: from which input of which data, by
which run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robgui.core.dataset import Dataset
from robgui.core.dataset.formats.stacked import from_arrays
from robgui.core.dataset.source import Shape, Source
from robgui.core.errors import DataError
from robgui.core.model.settings import Kind


@dataclass(frozen=True, slots=True)
class Ancestor:
    """One link of a trail.

    Attributes:
        title: Its name for people: ``fashion.npz, image 6`` or ``Feature game on fashion_cnn``.
        run: The run that made the next link; empty for an input.
        dataset: Fingerprint of the data of an input; empty for a run.
        index: Which input of them.
    """

    title: str
    run: str = ""
    dataset: str = ""
    index: int = -1


@dataclass(frozen=True, slots=True)
class Derived:
    """An input made by an analysis.

    Attributes:
        name: What to call it.
        values: ``shape``, float32 in the units of the data: images in [0, 1], tables in their own.
        kind: What it is.
        family: Its root; inputs of one family share a gallery.
        trail: From the root to the last run.
        names: Class names of the data it comes from.
        features: Column names of the data it comes from.
        label: True class, -1 for unknown.
        id: Its number in the workspace; 0 before it is there.
    """

    name: str
    values: np.ndarray
    kind: Kind
    family: str
    trail: tuple[Ancestor, ...] = ()
    names: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    label: int = -1
    id: int = 0

    @property
    def relatives(self) -> tuple[object, ...]:
        """Equal for inputs that can share a gallery."""
        return (self.family, self.kind, self.values.shape, self.names, self.features)

    def words(self) -> str:
        """The trail on one line, the newest first."""
        return " ← ".join([self.name, *(ancestor.title for ancestor in reversed(self.trail))])


class DerivedDataset(Dataset):
    """Derived inputs of one family, as a dataset like any other.

    Attributes:
        items: The inputs with their trails, one per index.
    """

    def __init__(self, items: Sequence[Derived]) -> None:
        if not items:
            raise DataError("There is no derived input; send one from a panel first.")
        first = items[0]
        if any(item.relatives != first.relatives for item in items):
            raise DataError(
                "Derived inputs of different data cannot stand in one dataset; choose those of one"
                " family."
            )
        self.items = tuple(items)
        plain = from_arrays(np.stack([item.values for item in items]), kind=first.kind)
        labels = np.array([item.label for item in items], dtype=np.int64)
        super().__init__(
            # A source knows its items by position; these have names of their own.
            Named(plain, [item.name for item in items]),
            name=f"derived from {first.family}",
            labels=labels if (labels >= 0).any() else None,
            names=first.names,
            features=first.features,
            options={"derived": [item.id for item in items]},
        )

    def only(self, indices: Iterable[int]) -> DerivedDataset:
        """These inputs alone: a run on them keeps its identity when the family grows."""
        return DerivedDataset([self.items[index] for index in indices])

    def with_more(self, items: Iterable[Derived]) -> DerivedDataset:
        """The family with its newest members."""
        return DerivedDataset([*self.items, *items])


def families(items: Iterable[Derived]) -> list[DerivedDataset]:
    """One dataset per family, in order of creation."""
    groups: dict[object, list[Derived]] = {}
    for item in items:
        groups.setdefault(item.relatives, []).append(item)
    return [DerivedDataset(group) for group in groups.values()]


def numbered(items: Sequence[Derived], ids: Sequence[int]) -> list[Derived]:
    """The inputs with the numbers the workspace gave them."""
    return [replace(item, id=number) for item, number in zip(items, ids, strict=True)]


class Named(Source):
    """The items of another dataset under other names."""

    def __init__(self, dataset: Dataset, names: Sequence[str]) -> None:
        super().__init__()
        self._dataset = dataset
        self._names = tuple(names)
        self.kind = dataset.kind
        self.shape = dataset.shape

    def __len__(self) -> int:
        return len(self._names)

    def key(self, position: int) -> str:
        return self._names[position]

    def read(self, position: int, shape: Shape) -> np.ndarray:
        return np.asarray(self._dataset.array([position], shape)[0])

    def thumbnail(self, position: int, size: int) -> np.ndarray:
        return self._dataset.thumbnail(position, size)

    def content(self) -> str:
        return self._dataset.fingerprint

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return self._dataset.bounds()

    def lengths(self, positions: np.ndarray) -> np.ndarray:
        return self._dataset.lengths(positions)
