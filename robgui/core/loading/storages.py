"""Checks the tensors that a torch pickle describes against the parts of its archive.

Torch's C++ reader believes the number of values in the pickle and takes whatever follows a shorter
part in memory for the rest. So both are read here first. Python's own unpickler follows the pickle
with stand-ins for everything it names: nothing is imported and nothing is called. A file that the
two readers could understand differently is refused.
"""

from __future__ import annotations

import io
import pickle
import warnings
from typing import Any

from robgui.core.loading.archive import Archive

#: How plain tensors are assembled.
_REBUILDING = ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_parameter")
_MODULES = ("torch", "torch.storage")
#: Bytes of one value by the name of its storage.
_SIZES = {
    "ByteStorage": 1,
    "CharStorage": 1,
    "BoolStorage": 1,
    "ShortStorage": 2,
    "HalfStorage": 2,
    "BFloat16Storage": 2,
    "IntStorage": 4,
    "FloatStorage": 4,
    "LongStorage": 8,
    "DoubleStorage": 8,
    "ComplexFloatStorage": 8,
    "ComplexDoubleStorage": 16,
    "UntypedStorage": 1,
}


class WrongStorageError(ValueError):
    """A tensor that does not match the size of its part of the archive."""


def check_storages(archive: Archive, name: str, folder: str) -> None:
    """Refuses an archive whose pickle ``name`` states other sizes than ``folder``'s parts have.

    WrongStorageError says which.
    """
    reader = _Reader(io.BytesIO(archive.read(name)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader.load()
    except WrongStorageError:
        raise
    except Exception as error:  # Whatever a damaged pickle leads to.
        raise WrongStorageError(f"its part {name!r} cannot be followed") from error
    # Torch's reader ignores case in names: it could read another part than the one measured here.
    if len({part.casefold() for part in archive.names}) < len(archive.names):
        raise WrongStorageError("two of its parts differ only in case")
    for key, size in reader.found.items():
        part = f"{folder}/{key}"
        if part in archive.names:
            there = archive.size(part)
        else:
            there = 0
        if there != size:
            raise WrongStorageError(
                f"its part {part!r} has {there:,} bytes, but a tensor claims {size:,}"
            )


class _Stand:
    """Stands in for anything a pickle names: it can be called, built and filled."""

    def __init__(self, *_: object) -> None:
        pass

    def __call__(self, *_: object) -> _Stand:
        return _Stand()

    def __setstate__(self, _: object) -> None:
        pass

    def __setitem__(self, *_: object) -> None:
        pass


class _Global(type):
    """The type of the stand-ins for a pickle's globals, each of which is a class."""

    module: str
    name: str


class _Reader(pickle.Unpickler):
    """Collects the declared size of every storage."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.found: dict[str, int] = {}

    def find_class(self, module: str, name: str) -> Any:
        """A stand-in: nothing is imported."""
        if name.startswith("_rebuild") and name not in _REBUILDING:
            raise WrongStorageError(
                "a tensor in it is sparse, quantised or of another unusual kind"
            )
        # A class of its own for each name: the pickle may instantiate it or call it.
        return _Global("Global", (_Stand,), {"module": module, "name": name})

    def persistent_load(self, told: Any) -> Any:
        """Records what is said about a storage.

        A word, its type, name, device and number of values.
        """
        match told:
            case ("storage", _Global() as kind, str(key), str(), int(count)) if (
                # Booleans are ints to ``match``, hence the second check; 2^48 values are more than
                # any disk holds.
                kind.module in _MODULES and type(count) is int and 0 <= count < 2**48
            ):
                size = count * self._bytes(kind.name)
            case _:
                raise WrongStorageError("a tensor in it is described in an unusual way")
        # Views share a storage, but must agree about it.
        if self.found.setdefault(key, size) != size:
            raise WrongStorageError(f"two tensors tell different sizes of the part {key[:40]!r}")
        return _Stand()

    def _bytes(self, name: str) -> int:
        if name not in _SIZES:
            raise WrongStorageError(f"a tensor in it is of an unusual type ({name[:40]})")
        return _SIZES[name]
