"""NPY and NPZ files: finds inputs, labels and names among their arrays, and reads them in parts."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, BinaryIO

import numpy as np

from robgui.core.dataset.arrays import (
    Blocks,
    FileRows,
    Memory,
)
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.formats.stacked import T, build, check_numbers, kind_of
from robgui.core.dataset.limits import LARGEST_TABLE, check_size, read_array, reading
from robgui.core.dataset.options import Options
from robgui.core.dataset.source import Shape
from robgui.core.errors import DataError
from robgui.core.npy import read_header
from robgui.core.regular import open_regular

#: Common pairs of names for the inputs and their labels, the likeliest first.
_PAIRS = (
    ("images", "labels"),
    ("x", "y"),
    ("data", "labels"),
    ("inputs", "targets"),
    ("x_test", "y_test"),
    ("test_images", "test_labels"),
    ("x_val", "y_val"),
    ("val_images", "val_labels"),
    ("x_train", "y_train"),
    ("train_images", "train_labels"),
    ("features", "labels"),
    ("arr_0", "arr_1"),
)
_LABELS = ("labels", "label", "y", "targets", "target")
_NAMES = ("names", "class_names", "label_names", "classes")


def open_npy(path: Path, options: Options) -> Dataset:
    """Opens an array file; images stay on disk."""
    with reading(path), open_regular(path) as file:
        dtype, shape, fortran = _npy_header(file, path)
        offset, size = file.tell(), path.stat().st_size
        check_numbers(dtype, str(path))
        if size - offset < check_size(dtype, shape, path, largest=2**62) * dtype.itemsize:
            raise DataError(
                f"{path}: the file is shorter than the array of shape {shape} it declares; get a"
                " complete copy."
            )
        # Rows of a Fortran array are scattered over the file; tables and sequences are held in
        # memory anyway.
        if fortran or not shape or kind_of(shape, dtype, options) != "image":
            blocks: Blocks = Memory(
                _ordered(read_array(file, dtype, _stored(shape, fortran), path), fortran)
            )
        else:
            check_size(dtype, shape[1:], path)
            blocks = FileRows(path, offset, dtype, shape)
    if options.labels:
        labels = _read_npy(Path(options.labels))
    else:
        labels = None
    return build(blocks, path.name, path, options, labels)


def open_npz(path: Path, options: Options) -> Dataset:
    """Opens an archive of arrays.

    Inputs, labels and names are guessed from their keys.
    """
    with reading(path), open_regular(path) as file, _zip(file, path) as archive:
        keys = {
            info.filename.removesuffix(".npy"): info
            # The header of each is unpacked to learn its shape, which an archive of a million would
            # turn into a wait.
            for info in archive.infolist()[:1000]
            if info.filename.endswith(".npy")
        }
        shapes = {key: _member(archive, info, path, _npy_header)[1] for key, info in keys.items()}
        inputs, labels = choose_keys(shapes, options, path)

        def read(key: str | None) -> np.ndarray | None:
            if key is None:
                return None
            return _member(archive, keys[key], path, _npy)

        values = read(inputs)
        assert values is not None
        check_numbers(values.dtype, f"{path}, array {inputs!r}")
        key = _first(_NAMES, shapes)
        names = read(key)
        words = class_names_in({} if key is None or names is None else {key: names}, path)
        if labels is None:
            notes = _unused_labels(shapes, inputs)
        else:
            notes = []
        return build(
            Memory(values),
            path.name,
            path,
            options,
            read(labels),
            read(_first(("lengths",), shapes)),
            words,
            notes,
        )


def class_names_in(arrays: dict[str, np.ndarray], path: Path) -> tuple[str, ...]:
    """The class names among arrays of words; empty if no array is named for them."""
    key = _first(_NAMES, {name: values.shape for name, values in arrays.items()})
    names = None if key is None else arrays[key]
    if names is None or names.ndim != 1 or names.dtype.kind not in "US":
        return ()
    return tuple(_words(names, path))


def _unused_labels(shapes: dict[str, Shape], inputs: str) -> list[str]:
    """A note on an array that is named like labels but does not match the inputs' length."""
    key = _first(
        [partner for name, partner in _PAIRS if name == inputs.casefold()] + list(_LABELS), shapes
    )
    if key is None or key == inputs:
        return []
    return [
        (
            f"The array {key!r} has the shape {shapes[key]}, which does not fit"
            f" {shapes[inputs][0]:,} inputs, and is left out."
        )
    ]


def _words(values: np.ndarray, path: Path) -> list[str]:
    try:
        words = values.tolist()
    except (SystemError, ValueError) as error:  # Code points that Unicode does not have.
        raise DataError(f"{path}: its class names are no text; save them again.") from error
    return [
        word.decode("utf-8", "replace") if isinstance(word, bytes) else str(word) for word in words
    ]


def choose_keys(shapes: dict[str, Shape], options: Options, path: Path) -> tuple[str, str | None]:
    """Which array holds the inputs and which the labels."""
    if options.inputs:
        return _named_keys(shapes, options, path)
    # Stable: only the pairs of the part that is asked for move ahead.
    pairs = sorted(
        _PAIRS, key=lambda pair: options.split is not None and options.split not in pair[0]
    )
    for inputs, partner in pairs:
        key = _first((inputs,), shapes)
        if key is not None and len(shapes[key]) >= 2:
            found = [_first((name,), shapes) for name in (partner, *_LABELS)]
            return key, next(
                (
                    name
                    for name in found
                    if name and shapes[name][:1] == shapes[key][:1] and name != key
                ),
                None,
            )
    large = [key for key, shape in shapes.items() if len(shape) >= 2]
    # build() has a better message for it.
    if not large and (named := _first([name for name, _ in _PAIRS], shapes)):
        return named, None
    if not large:
        raise DataError(
            f"{path}: no array holds inputs (the keys are:"
            f" {', '.join(list(shapes)[:20]) or 'none'}); name it 'images' or 'x'."
        )
    # As floats: sides that a file merely claims may overflow an integer product.
    key = max(large, key=lambda name: np.prod(shapes[name], dtype=float))
    label = _first(_LABELS, shapes)
    return key, label if label != key else None


def _named_keys(shapes: dict[str, Shape], options: Options, path: Path) -> tuple[str, str | None]:
    """The array that the options name, and that of its labels."""
    key = _first((options.inputs.casefold(),), shapes)
    if key is None:
        raise DataError(
            f"{path}: there is no array {options.inputs!r}; there are:"
            f" {', '.join(list(shapes)[:20])}."
        )
    partners = [partner for name, partner in _PAIRS if name == key.casefold()]
    wanted = (options.label.casefold(),) if options.label else (*partners, *_LABELS)
    label = _first(wanted, shapes)
    return key, label if label != key else None


def _npy_header(file: IO[bytes], path: Path) -> tuple[np.dtype, Shape, bool]:
    try:
        return read_header(file)
    except OSError:
        raise
    except Exception as error:  # numpy's parser raises a dozen kinds of errors on a broken header.
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise DataError(
            f"{path}: this is not an array file robgui can read ({reason}); save it again with"
            " numpy."
        ) from error


def _npy(file: IO[bytes], path: Path) -> np.ndarray:
    dtype, shape, fortran = _npy_header(file, path)
    # No class name takes 64 KiB; a file that claims so wants the memory.
    if dtype.kind not in "biufUS" or dtype.itemsize > 2**16:
        check_numbers(dtype, str(path))
    if dtype.kind in "US":
        check_size(dtype, shape, path, LARGEST_TABLE)
    return _ordered(read_array(file, dtype, _stored(shape, fortran), path), fortran)


def _read_npy(path: Path) -> np.ndarray:
    with reading(path), open_regular(path) as file:
        return _npy(file, path)


def _stored(shape: Shape, fortran: bool) -> Shape:
    if fortran:
        # Fortran order is C order of the reversed axes: read like that, then transposed.
        return shape[::-1]
    return shape


def _ordered(values: np.ndarray, fortran: bool) -> np.ndarray:
    if fortran:
        return np.ascontiguousarray(values.T)
    return values


def _zip(file: BinaryIO, path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise DataError(
            f"{path}: this is not an NPZ archive ({error}); save it again with numpy.savez."
        ) from error


def _member(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    path: Path,
    read: Callable[[IO[bytes], Path], T],
) -> T:
    try:
        with archive.open(info) as file:
            return read(file, path)
    except (OSError, EOFError, DataError, MemoryError):
        raise
    except Exception as error:  # Each decompressor has its own errors.
        raise DataError(
            f"{path}: the array {info.filename!r} cannot be read ({error}); save the archive again"
            " with numpy.savez."
        ) from error


def _first(names: Sequence[str], shapes: dict[str, Shape]) -> str | None:
    # Reversed, so that the first of two keys that differ in case only wins.
    lower = {key.casefold(): key for key in reversed(shapes)}
    return next((lower[name] for name in names if name in lower), None)
