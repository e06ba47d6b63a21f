"""CIFAR-10 and CIFAR-100 as published: rows of bytes, or Python pickles.

``pickled`` reads the pickles without executing anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robgui.core.dataset.arrays import ArrayImages, Blocks, FileRows, Memory
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.formats.joined import JoinedRows
from robgui.core.dataset.formats.pickled import read_pickle
from robgui.core.dataset.limits import LARGEST_TABLE, open_text, reading, sized
from robgui.core.dataset.options import PARTS, Options, part_named
from robgui.core.dataset.source import Shape
from robgui.core.errors import DataError

# Red, green and blue plane, row by row: https://www.cs.toronto.edu/~kriz/cifar.html.
_PIXELS = 3 * 32 * 32
_BATCH = re.compile(r"(data_batch_\d+|test_batch|train|test)(\.bin)?")
_META = ("batches.meta", "meta", "batches.meta.txt", "fine_label_names.txt")


@dataclass(frozen=True)
class _BinaryImages:
    """The pixels of a binary file: each row without its one or two labels."""

    rows: FileRows
    labels: int

    @property
    def shape(self) -> Shape:
        return (self.rows.shape[0], 3, 32, 32)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.uint8)

    def take(self, positions: np.ndarray) -> np.ndarray:
        return self.rows.take(positions)[:, self.labels :].reshape(-1, 3, 32, 32)

    def content(self) -> str:
        return self.rows.content()


def cifar_files(names: list[str]) -> list[str]:
    """The names of CIFAR files, if the file of its class names lies beside them."""
    # "train" and "test" alone could be anything.
    if not any(name in names for name in _META):
        return []
    return [name for name in names if _BATCH.fullmatch(name)]


def open_cifar_folder(folder: Path, names: list[str], options: Options) -> Dataset:
    """Opens the test images, or the training images if ``split`` says so."""
    parts: dict[str, list[str]] = {}
    for name in cifar_files(names):
        word = part_named(name.removesuffix(".bin").removesuffix("_batch"))
        parts.setdefault(word or "train", []).append(name)
    wanted = options.split or ("test" if "test" in parts else "train")
    if wanted not in parts:
        raise DataError(
            f"{folder}: there is no part {wanted}; there are: {', '.join(parts)}.",
            option=f"split={next(iter(parts))}",
        )
    batches = [_batch(folder / name, options) for name in parts[wanted]]
    notes = [f"The part {wanted} is open; another can be chosen."]
    known = tuple(part for part in PARTS if part in parts)
    return _dataset(batches, folder, options, notes if len(known) > 1 else [], known)


def open_cifar(path: Path, options: Options) -> Dataset:
    """Opens one file of CIFAR-10 or CIFAR-100."""
    return _dataset([_batch(path, options)], path, options, [], ())


def _dataset(
    batches: list[tuple[Blocks, np.ndarray, bool]],
    path: Path,
    options: Options,
    notes: list[str],
    parts: tuple[str, ...],
) -> Dataset:
    if len(batches) == 1:
        blocks = batches[0][0]
    else:
        blocks = JoinedRows([batch[0] for batch in batches])
    labels = np.concatenate([batch[1] for batch in batches]).astype(np.int64)
    if path.is_dir():
        folder = path
    else:
        folder = path.parent
    return Dataset(
        ArrayImages(blocks, "chw", 0.0, 255.0, str(path)),
        name=path.name,
        path=path,
        labels=labels,
        names=options.names or _names(folder, batches[0][2], options.label == "coarse"),
        notes=notes,
        options=options.told(),
        parts=parts,
    )


def _batch(path: Path, options: Options) -> tuple[Blocks, np.ndarray, bool]:
    """Pixels, labels, and whether they are of CIFAR-100."""
    if path.suffix == ".bin":
        return _binary(path, options)
    return _python(path, options)


def _binary(path: Path, options: Options) -> tuple[Blocks, np.ndarray, bool]:
    with reading(path):
        length = path.stat().st_size
    # A record is one label (CIFAR-10) or two (CIFAR-100), then 3072 pixels; the length tells.
    labels = next((many for many in (1, 2) if length and length % (_PIXELS + many) == 0), 0)
    if not labels:
        raise DataError(
            f"{path}: {sized(length)} are no whole number of CIFAR images; get a complete copy."
        )
    count, width = length // (_PIXELS + labels), _PIXELS + labels
    rows = FileRows(path, 0, np.dtype(np.uint8), (count, width))
    # CIFAR-100 stores the coarse label first, then the fine one.
    if labels == 1 or options.label == "coarse":
        column = 0
    else:
        column = 1
    numbers = _column(path, count, width, column)
    return _BinaryImages(rows, labels), numbers, labels == 2


def _column(path: Path, count: int, width: int, column: int) -> np.ndarray:
    """One byte of every row, some rows at a time."""
    found = np.empty(count, np.uint8)
    # A thousand records at once: the labels lie a record apart, and a read for each is slow.
    for start in range(0, count, 1000):
        size = min(1000, count - start) * width
        part = FileRows(path, start * width, np.dtype(np.uint8), (1, size))
        found[start : start + 1000] = part.take(np.array([0]))[0, column::width]
    return found


def _python(path: Path, options: Options) -> tuple[Blocks, np.ndarray, bool]:
    found = read_pickle(path)
    pixels, labels = found.get("data"), _labels(found, options)
    if (
        not isinstance(pixels, np.ndarray)
        or pixels.dtype != np.uint8
        or pixels.ndim != 2
        or pixels.shape[1] != _PIXELS
        or labels is None
        or len(labels) != len(pixels)
    ):
        raise DataError(
            f"{path}: this pickle holds no images of CIFAR (data, and labels or fine_labels);"
            " choose one of its batches."
        )
    return Memory(pixels.reshape(-1, 3, 32, 32)), labels, "fine_labels" in found


def _labels(found: dict[str, Any], options: Options) -> np.ndarray | None:
    wanted = ("coarse_labels",) if options.label == "coarse" else ("labels", "fine_labels")
    values = next((found[key] for key in wanted if isinstance(found.get(key), list)), None)
    if values is None or not all(isinstance(value, int) and 0 <= value < 1000 for value in values):
        return None
    return np.array(values, dtype=np.int64)


def _names(folder: Path, hundred: bool, coarse: bool) -> tuple[str, ...]:
    """The class names from the file beside the batches; none without one."""
    kind = "coarse" if coarse else "fine"
    for name in ("batches.meta", "meta"):
        if (folder / name).is_file():
            if hundred:
                key = f"{kind}_label_names"
            else:
                key = "label_names"
            words = read_pickle(folder / name).get(key)
            if isinstance(words, list):
                return tuple(_word(word) for word in words)
    text = folder / (f"{kind}_label_names.txt" if hundred else "batches.meta.txt")
    if not text.is_file():
        return ()
    with open_text(text, LARGEST_TABLE) as stream:
        return tuple(line.strip() for line in stream.read().splitlines() if line.strip())


def _word(word: object) -> str:
    if isinstance(word, bytes):
        # The official pickles are from Python 2, whose strings come as bytes or as latin1 text.
        return word.decode("latin1")
    return str(word)
