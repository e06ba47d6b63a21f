"""Data held in the worker: files that only large foreign libraries can read.

Parquet, HDF5, MATLAB files and videos are parsed by libraries in C and C++, which the window does
not run in its own process. A confined worker opens the file, and the window holds a Dataset that
asks it for inputs and pictures. Both have the same fingerprint.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.framing import SQUASH, Framing
from robgui.core.dataset.source import Shape, Skips, Source
from robgui.core.errors import DataError, RobguiError
from robgui.core.execution.asking.held_data import HeldData
from robgui.core.execution.request import Reference, reference
from robgui.core.model.settings import Kind

if TYPE_CHECKING:
    from robgui.core.execution.loaded_cache import LoadedCache

Ask = Callable[..., Any]


# --- where the data are ---------------------------------------------------------------------------


def hold(shelf: LoadedCache, path: str, options: dict[str, Any]) -> HeldData:
    """Opens data and keeps them open here."""
    from robgui.core.dataset import open_dataset

    dataset = open_dataset(path, **options)
    shelf.add_dataset(dataset)
    low, high = dataset.bounds()
    return HeldData(
        reference(dataset),
        len(dataset),
        dataset.kind,
        dataset.shape,
        dataset.labels,
        dataset.label_matrix,
        dataset.names,
        dataset.features,
        dataset.notes,
        dataset.parts,
        dataset.source.content(),
        [(each.path, each.reason) for each in dataset.skipped],
        low,
        high,
    )


def held_items(
    shelf: LoadedCache,
    data: dict[str, Any],
    positions: list[int],
    shape: list[int],
    framing: dict[str, Any],
) -> np.ndarray:
    """Inputs of held data, opened again if need be."""
    dataset = shelf.data(Reference.model_validate(data)).framed(Framing(**framing))
    return dataset.array(positions, tuple(shape))


def held_picture(shelf: LoadedCache, data: dict[str, Any], position: int, size: int) -> np.ndarray:
    """The picture of one input."""
    return shelf.data(Reference.model_validate(data)).thumbnail(position, size)


def held_keys(shelf: LoadedCache, data: dict[str, Any], first: int, last: int) -> list[str]:
    """Names of the inputs ``first`` to ``last``, exclusive."""
    dataset = shelf.data(Reference.model_validate(data))
    return [dataset.key(position) for position in range(first, last)]


def held_lengths(shelf: LoadedCache, data: dict[str, Any], positions: list[int]) -> np.ndarray:
    """Number of points of each sequence."""
    return shelf.data(Reference.model_validate(data)).lengths(positions)


# --- where they are shown -------------------------------------------------------------------------


class HeldSource(Source):
    """The items of data that a worker holds.

    Args:
        held: What is known of them.
        ask: Asks the process that holds them, as Models does.
    """

    #: Names fetched at once.
    _NAMES = 1000

    def __init__(self, held: HeldData, ask: Ask) -> None:
        skips = Skips()
        for path, reason in held.skipped:
            skips.add(path, reason)
        super().__init__(skips)
        self.kind: Kind = held.kind  # type: ignore[assignment]
        self.shape = held.shape
        self._held, self._ask = held, ask
        self._data = held.reference.model_dump(mode="json")
        self._framing = SQUASH
        self._columns: list[int] | None = None
        self._keys: dict[int, list[str]] = {}

    def __len__(self) -> int:
        return self._held.inputs

    def key(self, position: int) -> str:
        # A gallery asks for one name after another; each would be a message to the worker.
        block = position // self._NAMES
        if block not in self._keys:
            first = block * self._NAMES
            last = min(len(self), first + self._NAMES)
            self._keys[block] = self._answer("held_keys", first=first, last=last)
        return self._keys[block][position % self._NAMES]

    def read(self, position: int, shape: Shape) -> np.ndarray:
        return np.asarray(self.array(np.array([position]), shape)[0])

    def array(self, positions: np.ndarray, shape: Shape) -> np.ndarray:
        """All at once: one question per batch."""
        whole = shape
        if self._columns is not None:
            # The worker knows nothing of the choice of columns: it sends all, and they are picked
            # here.
            whole = (*shape[:-1], len(self._held.features))
        items = self._answer(
            "held_items",
            positions=[int(position) for position in positions],
            shape=list(whole),
            framing=asdict(self._framing),
        )
        return np.asarray(items if self._columns is None else items[..., self._columns])

    def thumbnail(self, position: int, size: int) -> np.ndarray:
        return np.asarray(self._answer("held_picture", position=position, size=size))

    def content(self) -> str:
        return self._held.content

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        low, high = self._held.low, self._held.high
        if self._columns is None:
            return (low, high)
        return (low[self._columns], high[self._columns])

    def lengths(self, positions: np.ndarray) -> np.ndarray:
        found = self._answer("held_lengths", positions=[int(position) for position in positions])
        return np.asarray(found)

    def framed(self, framing: Framing) -> HeldSource:
        """The same items under another framing."""
        if framing == self._framing:
            return self
        # A shallow copy shares the names that have been fetched so far.
        other = copy.copy(self)
        other._framing = framing
        return other

    def pick(self, columns: Sequence[int]) -> HeldSource:
        """The same items with these columns."""
        other = copy.copy(self)
        other._columns = list(columns)
        if self.shape is not None:
            other.shape = (*self.shape[:-1], len(columns))
        return other

    def _answer(self, what: str, **values: Any) -> Any:
        try:
            return self._ask(what, topic="data", data=self._data, **values)
        except DataError:
            raise
        except RobguiError as error:  # The process was lost, or is closing.
            raise DataError(str(error)) from error


def open_held(path: Path, options: dict[str, Any], ask: Ask) -> Dataset:
    """Opens data in the worker; what is known of them is returned here."""
    where = str(path.absolute())
    held: HeldData = ask("hold", topic="data", path=where, options=options)
    dataset = Dataset(
        HeldSource(held, ask),
        name=held.reference.name,
        path=path,
        labels=held.labels,
        label_matrix=held.matrix,
        names=held.names,
        features=held.features,
        notes=held.notes,
        options=dict(held.reference.options),
        parts=held.parts,
    )
    # The same content, labels and names must give the same fingerprint on both sides.
    if dataset.fingerprint != held.reference.fingerprint:
        raise DataError(f"{path} has changed while it was opened; open it again.")
    return dataset
