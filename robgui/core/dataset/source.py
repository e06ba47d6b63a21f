"""Source: where the items of a dataset come from; one small class per kind of storage."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robgui.core.errors import DataError
from robgui.core.model.settings import Kind

if TYPE_CHECKING:
    from robgui.core.dataset.framing import Framing

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or row that was skipped, and the reason."""

    path: str
    reason: str


class Skips:
    """What was left out, each path once; may be added to from any thread."""

    #: Longest list; the rest is only counted.
    LISTED = 1000
    #: Most that are counted beyond the list: each is kept, or it would count again at every read.
    COUNTED = 1_000_000

    def __init__(self) -> None:
        self._listed: dict[str, Skipped] = {}
        self._more: set[str] = set()
        self._uncounted = False
        self._lock = threading.Lock()

    def add(self, path: str, reason: str) -> None:
        """Lists ``path`` unless it is listed already."""
        with self._lock:
            if path in self._listed:
                return
            if len(self._listed) < self.LISTED:
                self._listed[path] = Skipped(path, reason)
            elif len(self._more) < self.COUNTED:
                self._more.add(path)
            else:
                self._uncounted = self._uncounted or path not in self._more

    def all(self) -> tuple[Skipped, ...]:
        """Everything listed so far, with a last entry that counts the rest."""
        with self._lock:
            least = self._least()
            rest = (Skipped("…", f"and {least}{len(self._more):,} more"),) if self._more else ()
            return (*self._listed.values(), *rest)

    def words(self, name: str) -> str:
        """How many things of ``name`` were left out, and the first with its reason.

        Empty if none.
        """
        with self._lock:
            first = next(iter(self._listed.values()), None)
            total = len(self._listed) + len(self._more)
            least = self._least()
        if first is None:
            return ""
        # The file's message repeats its whole path.
        reason = first.reason.rpartition(f"{first.path}: ")[2].rstrip(".")
        if total > 1:
            many = f"{least}{total:,} files or rows of {name}, the first: "
        else:
            many = f"{name}: "
        return f"{many}{first.path}: {reason}."

    def _least(self) -> str:
        if self._uncounted:
            return "more than "
        return ""


class Source(ABC):
    """Items by position, in stored form; every method may be called from any thread.

    Attributes:
        kind: What one item is.
        shape: Shape of one item as a model sees it (images: channels first), None when the items
            differ.
        skips: What could not be read so far.
    """

    kind: Kind
    shape: Shape | None

    def __init__(self, skips: Skips | None = None) -> None:
        self.skips = skips or Skips()

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def key(self, position: int) -> str:
        """The name of one item."""

    @abstractmethod
    def read(self, position: int, shape: Shape) -> np.ndarray:
        """One item as float32 of ``shape``; DataError if that is impossible."""

    @abstractmethod
    def thumbnail(self, position: int, size: int) -> np.ndarray:
        """A picture ``(h, w, 3)`` uint8 of one item, longest side at most ``size``.

        DataError if that is impossible.
        """

    @abstractmethod
    def content(self) -> str:
        """Text that changes with the items; cheap."""

    def array(self, positions: np.ndarray, shape: Shape) -> np.ndarray:
        """Several items as float32 ``(n, *shape)``."""
        items = np.empty((len(positions), *shape), dtype=np.float32)
        for place, position in enumerate(positions):
            items[place] = self.read(int(position), shape)
        return items

    def readable(self, positions: np.ndarray, shape: Shape) -> tuple[list[int], np.ndarray]:
        """Which of the positions can be read, and their items; the others are skipped."""
        kept, items = [], []
        for place, position in enumerate(positions):
            try:
                items.append(self.read(int(position), shape))
            except DataError as error:
                self.skips.add(self.key(int(position)), str(error))
            else:
                kept.append(place)
        return kept, np.stack(items) if items else np.empty((0, *shape), np.float32)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest value, one per column; images lie in [0, 1]."""
        return np.zeros(1, np.float32), np.ones(1, np.float32)

    def lengths(self, positions: np.ndarray) -> np.ndarray:
        """Number of points of each sequence."""
        raise DataError(f"items of kind {self.kind} have no length; only sequences have one.")

    def framed(self, framing: Framing) -> Source:
        """The same pictures, fitted to a model's size in this way; other kinds have no frame."""
        return self

    def pick(self, columns: Sequence[int]) -> Source:
        """The same items with these columns, in this order."""
        raise DataError(f"items of kind {self.kind} have no columns to choose from.")


def location(path: Path | None, name: str) -> str:
    """A dataset's name in error messages."""
    if path is not None:
        return str(path)
    return name
