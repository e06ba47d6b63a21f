"""HDF5 files, those of MATLAB 7.3 among them: arrays read item by item.

Nothing outside the file is read: links to other files, arrays stored elsewhere and virtual arrays
are refused.
"""

from __future__ import annotations

import math
import threading
import weakref
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.formats.numpy_files import choose_keys, class_names_in
from robgui.core.dataset.formats.stacked import build
from robgui.core.dataset.limits import LARGEST_ARRAY, check_size, digest, first_line, reading, sized
from robgui.core.dataset.options import Options
from robgui.core.dataset.source import Shape
from robgui.core.errors import DataError, MissingExtraError, RobguiError
from robgui.core.regular import open_regular

#: Most arrays examined.
_MOST = 1000
#: Largest compressed chunk in bytes; the library unpacks it whole.
_LARGEST_CHUNK = min(2**30, LARGEST_ARRAY)


def open_hdf5(path: Path, options: Options) -> Dataset:
    """Opens an HDF5 file; inputs and labels are guessed from the names of its arrays."""
    return _open(path, options, matlab=False)


def open_matlab_73(path: Path, options: Options) -> Dataset:
    """Opens a MATLAB 7.3 file, whose axes are reversed."""
    return _open(path, options, matlab=True)


def _open(path: Path, options: Options, *, matlab: bool) -> Dataset:
    try:
        import h5py
    except ImportError as error:
        if matlab:
            what = "a MATLAB 7.3 file"
        else:
            what = "an HDF5 file"
        raise MissingExtraError(f"{path}: {what}", "hdf5") from error
    with ExitStack() as opened, reading(path):
        try:
            # Through our file: given a path, the library would open whatever lies there, a pipe
            # included.
            file = h5py.File(opened.enter_context(open_regular(path)), "r")
            opened.callback(file.close)
            arrays = _arrays(file, path)
            return _dataset(arrays, path, options, opened, matlab=matlab)
        except (RobguiError, MemoryError):
            raise
        except Exception as error:  # The library raises many kinds of errors on a damaged file.
            raise DataError(
                f"{path}: this HDF5 file cannot be read ({first_line(error)}); get a complete copy."
            ) from error


def _arrays(file: Any, path: Path) -> dict[str, Any]:
    """The arrays by name; by full path if two share a name."""
    import h5py

    found: dict[str, Any] = {}

    def visit(name: str, item: Any) -> bool | None:
        # "#refs#" and "#subsystem#" hold the innards of MATLAB's cells and objects.
        if isinstance(item, h5py.Dataset) and not name.startswith("#"):
            short = name.rpartition("/")[2]
            found[name if short in found else short] = item
        if len(found) >= _MOST:
            return True
        return None

    # Follows hard links only, so no external link is opened here.
    file.visititems(visit)
    if not found:
        raise DataError(f"{path}: this HDF5 file holds no arrays.")
    return found


def _dataset(
    arrays: dict[str, Any], path: Path, options: Options, opened: ExitStack, *, matlab: bool
) -> Dataset:
    plain = {name: item for name, item in arrays.items() if item.dtype.kind in "biuf"}
    shapes: dict[str, Shape] = {name: tuple(item.shape) for name, item in plain.items()}
    if matlab:
        from robgui.core.dataset.formats.matlab import from_one, items_last, known_pair

        inputs, labels = known_pair(
            {name: shape[::-1] for name, shape in shapes.items()}, options, path
        )
        if labels is None:
            count = None
        else:
            count = math.prod(shapes[labels])
        last = not items_last(shapes[inputs][::-1], count)  # The axes are reversed.
    else:
        inputs, labels = choose_keys(shapes, options, path)
        last = False
    for name in filter(None, (inputs, labels)):
        _refuse_outside(plain[name], name, path)
    numbers = None
    if labels is not None:
        check_size(plain[labels].dtype, shapes[labels], path)
        numbers = np.asarray(plain[labels][()])
        if matlab:
            numbers = from_one(numbers.reshape(-1))
    words = () if matlab else class_names_in(_texts(arrays), path)
    blocks = StoredRows(plain[inputs], path, turned=matlab, last=last)
    dataset = build(blocks, path.name, path, options, numbers, words=words)
    # From here on the file stays open for as long as its rows are used.
    weakref.finalize(blocks, opened.pop_all().close)
    return dataset


def _texts(arrays: dict[str, Any]) -> dict[str, np.ndarray]:
    """Short lists of words."""
    import h5py

    found = {}
    for name, item in arrays.items():
        text = h5py.check_string_dtype(item.dtype) is not None
        # Longer lists name inputs, not classes; text in another file is not followed.
        if text and item.ndim == 1 and item.shape[0] < 10_000 and not item.external:
            found[name] = np.array([_word(word) for word in item[()]], dtype="U")
    return found


def _word(word: object) -> str:
    return (word.decode("utf-8", "replace") if isinstance(word, bytes) else str(word))[:1000]


def _refuse_outside(item: Any, name: str, path: Path) -> None:
    if item.external or item.is_virtual:
        raise DataError(
            f"{path} is refused: its array {name!r} lies in other files; put the values into this"
            " one."
        )
    if item.chunks and math.prod(item.chunks) * item.dtype.itemsize > _LARGEST_CHUNK:
        raise DataError(
            f"{path}: the array {name!r} is stored in pieces of"
            f" {sized(math.prod(item.chunks) * item.dtype.itemsize)}; save it in smaller ones."
        )


class StoredRows:
    """Items of an array in an HDF5 file.

    Args:
        item: The array.
        path: The file.
        turned: Whether the axes of an item are reversed, as MATLAB writes them.
        last: Whether the last axis counts the items, not the first.
    """

    def __init__(self, item: Any, path: Path, *, turned: bool = False, last: bool = False) -> None:
        self._item = item
        self._path = path
        self._turned, self._last = turned, last
        self._lock = threading.Lock()
        shape = tuple(int(side) for side in item.shape)
        one = shape[:-1] if last else shape[1:]
        self.shape: Shape = (shape[-1 if last else 0], *(one[::-1] if turned else one))
        self.dtype: np.dtype = item.dtype
        check_size(self.dtype, self.shape[1:], path)

    def take(self, positions: np.ndarray) -> np.ndarray:
        """The items at ``positions``, from the file."""
        rows = np.empty((len(positions), *self.shape[1:]), dtype=self.dtype)
        with self._lock:
            for place, position in enumerate(positions):
                rows[place] = self._one(int(position))
        return rows

    def _one(self, position: int) -> np.ndarray:
        try:
            if self._last:
                value = self._item[..., position]
            else:
                value = self._item[position]
        except Exception as error:  # As above.
            raise DataError(
                f"{self._path}: item {position} cannot be read ({first_line(error)}); get a"
                " complete copy."
            ) from error
        return np.asarray(value.T if self._turned else value)

    def content(self) -> str:
        """Fingerprint of the file."""
        return f"{digest(self._path)}|{self._item.name}"
