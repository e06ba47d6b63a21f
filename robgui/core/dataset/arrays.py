"""Items stored in arrays: images, table rows and sequences, in memory or in a plain file."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from robgui.core.dataset import drawing, images
from robgui.core.dataset.framing import SQUASH, Framing
from robgui.core.dataset.limits import digest, reading
from robgui.core.dataset.source import Shape, Skips, Source
from robgui.core.errors import DataError
from robgui.core.regular import open_regular

Layout = Literal["hw", "hwc", "chw", "flat"]


class Blocks(Protocol):
    """Rows of one big array, wherever it lies."""

    @property
    def shape(self) -> Shape:
        """Shape of the whole array."""

    @property
    def dtype(self) -> np.dtype:
        """Type of its values."""

    def take(self, positions: np.ndarray) -> np.ndarray:
        """The rows at ``positions``, stacked."""

    def content(self) -> str:
        """Changes when the values change."""


class Memory:
    """Rows of an array in memory."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.shape: Shape = values.shape
        self.dtype = values.dtype

    def take(self, positions: np.ndarray) -> np.ndarray:
        """The rows at ``positions``, copied."""
        return np.asarray(self.values[positions])

    def content(self) -> str:
        """Hash of the values."""
        return array_content(self.values)


@dataclass(frozen=True)
class FileRows:
    """Rows of an uncompressed file, read on demand.

    Not memory-mapped: a file cut short then raises an error instead of crashing the process.
    """

    path: Path
    offset: int
    dtype: np.dtype
    shape: Shape

    def take(self, positions: np.ndarray) -> np.ndarray:
        """The rows at ``positions``, from the disk."""
        rows = np.empty((len(positions), *self.shape[1:]), dtype=self.dtype)
        # The bytes of the result itself: each row is read in place, without a buffer in between.
        flat = rows.reshape(len(positions), -1).view(np.uint8)
        with reading(self.path), open_regular(self.path) as file:
            for place, position in enumerate(positions):
                file.seek(self.offset + int(position) * flat.shape[1])
                if file.readinto(memoryview(flat[place])) != flat.shape[1]:
                    raise DataError(
                        f"{self.path}: the file ends before item {int(position)}; get a complete"
                        " copy."
                    )
        return rows

    def content(self) -> str:
        """Fingerprint of the file."""
        return digest(self.path)


def array_content(values: np.ndarray) -> str:
    """Hash of shape, type and values."""
    total = hashlib.blake2b(repr((values.shape, values.dtype.str)).encode(), digest_size=16)
    # In parts: ``tobytes`` copies, and the whole array may fill most of the memory.
    for start in range(0, len(values), 4096):
        total.update(values[start : start + 4096].tobytes())
    return total.hexdigest()


class ArrayImages(Source):
    """Images of one size in one array.

    Args:
        blocks: The array, first axis the items.
        layout: What the other axes are.
        low: The value of black.
        high: The value of white.
        where: What to call the array in an error.
    """

    kind = "image"

    def __init__(self, blocks: Blocks, layout: Layout, low: float, high: float, where: str) -> None:
        super().__init__()
        self._blocks = blocks
        self._layout = layout
        self._low, self._high = low, high
        self._where = where
        self._framing = SQUASH
        one = blocks.shape[1:]
        self.shape: Shape | None = {
            "hw": (1, *one),
            "chw": one,
            "hwc": (one[-1], *one[:-1]),
            "flat": flat_image(one[0]) or one,
        }[layout]

    def __len__(self) -> int:
        return self._blocks.shape[0]

    def key(self, position: int) -> str:
        return f"image {position}"

    def read(self, position: int, shape: Shape) -> np.ndarray:
        values = self._stored(position)
        with _named(f"{self._where}, {self.key(position)}"):
            return images.fit(self._pixels(values), shape, self._framing)

    def framed(self, framing: Framing) -> Source:
        """The same arrays under another framing."""
        if framing == self._framing:
            return self
        # Shallow: both share the blocks and the list of what was skipped.
        other = copy.copy(self)
        other._framing = framing
        return other

    def thumbnail(self, position: int, size: int) -> np.ndarray:
        values = self._stored(position)
        with _named(f"{self._where}, {self.key(position)}"):
            return images.thumbnail(self._pixels(values), size)

    def array(self, positions: np.ndarray, shape: Shape) -> np.ndarray:
        # Only whole pictures with their channels first can be stacked without touching each.
        if shape != self.shape or self._layout == "hwc":
            return super().array(positions, shape)
        values = self._blocks.take(positions).reshape(len(positions), *shape)
        with _named(self._where):
            return images.unit_float(images.to_unit(values, self._low, self._high))

    def content(self) -> str:
        return f"{self._blocks.content()}|{self._layout}|{self._low}|{self._high}"

    def _stored(self, position: int) -> np.ndarray:
        return np.asarray(self._blocks.take(np.array([position]))[0])

    def _pixels(self, values: np.ndarray) -> np.ndarray:
        if self._layout != "hwc":
            assert self.shape is not None
            values = values.reshape(self.shape).transpose(1, 2, 0)
        return images.to_unit(values, self._low, self._high)


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Adds the place to a DataError that lacks it."""
    try:
        yield
    except DataError as error:
        raise error.at(where) from error


def flat_image(values: int) -> Shape | None:
    """The shape of an image stored as one row: a square of at least 8 x 8, grey or colour."""
    for channels in (1, 3):
        side = round((values / channels) ** 0.5)
        # From 8 × 8 on (scikit-learn's digits); shorter rows are more likely a table.
        if side >= 8 and channels * side * side == values:
            return (channels, side, side)
    return None


class TableRows(Source):
    """Rows of numbers ``(n, d)`` with the number each row has in its file."""

    kind = "table"

    def __init__(self, values: np.ndarray, numbers: np.ndarray, skips: Skips | None = None) -> None:
        super().__init__(skips)
        self._values = np.ascontiguousarray(values, dtype=np.float32)
        self._numbers = numbers
        self.shape: Shape | None = self._values.shape[1:]

    def __len__(self) -> int:
        return len(self._values)

    def key(self, position: int) -> str:
        return f"row {int(self._numbers[position])}"

    def read(self, position: int, shape: Shape) -> np.ndarray:
        return np.asarray(self.array(np.array([position]), shape)[0])

    def array(self, positions: np.ndarray, shape: Shape) -> np.ndarray:
        if shape != self.shape:
            raise DataError(
                f"a row has {self._values.shape[1]} columns, not the shape {shape} of the input;"
                " choose the columns the model takes."
            )
        return np.asarray(self._values[positions])

    def thumbnail(self, position: int, size: int) -> np.ndarray:
        low, high = self.bounds()
        return drawing.bars(unit_values(self._values[position], low, high), size)

    def content(self) -> str:
        return array_content(self._values)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return self._bounds

    def pick(self, columns: Sequence[int]) -> TableRows:
        return TableRows(self._values[:, list(columns)], self._numbers, self.skips)

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return column_bounds(self._values)


class Tracks(Source):
    """Sequences of points ``(t, f)``, one after the other in one array.

    Args:
        points: All points ``(total, f)``.
        starts: Where each sequence starts, and at the end ``total``; ``(n + 1,)``.
        keys: What to call each sequence.
        features: Column names, for the thumbnails.
    """

    kind = "sequence"

    def __init__(
        self,
        points: np.ndarray,
        starts: np.ndarray,
        keys: Sequence[str],
        features: Sequence[str] = (),
        skips: Skips | None = None,
    ) -> None:
        super().__init__(skips)
        self._points = np.ascontiguousarray(points, dtype=np.float32)
        self._starts = np.asarray(starts, dtype=np.int64)
        self._keys = keys
        self._features = tuple(features)
        lengths = set(np.diff(self._starts).tolist())
        if len(lengths) == 1:
            self.shape: Shape | None = (lengths.pop(), self._points.shape[1])
        else:
            self.shape = None

    def __len__(self) -> int:
        return len(self._starts) - 1

    def key(self, position: int) -> str:
        return self._keys[position]

    def read(self, position: int, shape: Shape) -> np.ndarray:
        points = self._track(position)
        if len(shape) != 2 or shape[1] != points.shape[1]:
            raise DataError(
                f"a sequence has {points.shape[1]} columns, not the shape {shape} of the input;"
                " choose the columns the model takes."
            )
        # Too short a sequence goes on with its last point, too long a one is cut.
        places = np.minimum(np.arange(shape[0]), len(points) - 1)
        return points[places]

    def thumbnail(self, position: int, size: int) -> np.ndarray:
        points = self._track(position)
        if drawing.plane_columns(self._features) is None:
            low, high = self.bounds()
        else:
            # A path by its own bounds: by those of all tracks a short flight would be a dot.
            low, high = (points.min(0), points.max(0))
        return drawing.track(unit_values(points, low, high), self._features, size)

    def lengths(self, positions: np.ndarray) -> np.ndarray:
        return np.asarray(np.diff(self._starts)[positions])

    def content(self) -> str:
        return array_content(self._points) + array_content(self._starts)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return self._bounds

    def pick(self, columns: Sequence[int]) -> Tracks:
        features = [self._features[column] for column in columns] if self._features else ()
        return Tracks(
            self._points[:, list(columns)], self._starts, self._keys, features, self.skips
        )

    def _track(self, position: int) -> np.ndarray:
        return self._points[self._starts[position] : self._starts[position + 1]]

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return column_bounds(self._points)


def column_bounds(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest value of each column of ``(n, d)``."""
    if len(values) == 0:
        return np.zeros(values.shape[1], np.float32), np.ones(values.shape[1], np.float32)
    return values.min(0), values.max(0)


def unit_values(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Scales values to [0, 1] by their columns' bounds; 0.5 if a column is constant."""
    span = (high - low).astype(np.float64)
    # The inner choice keeps the division from warning, the outer one picks.
    return np.where(span > 0, (values - low) / np.where(span > 0, span, 1), 0.5)
