"""Snapshot: a private copy of a model and its code; what was hashed is what runs."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from robgui.core.errors import ModelError
from robgui.core.identify import PICKLE_ENDINGS
from robgui.core.loading.archive import Archive
from robgui.core.loading.pickles import PickledCalls, listing
from robgui.core.model.settings import side_bytes
from robgui.core.regular import is_file, open_regular
from robgui.core.trust.beside import code_bytes, imports_of, modules_beside, working_folder
from robgui.core.trust.code import Code, SourceFile, digest_of

_CHUNK = 2**20
#: Most bytes of a pickle inside an archive; real ones name their classes in far fewer.
_LARGEST_PICKLE = 64 * 2**20


class Snapshot:
    """Copies of the model, its architecture file and the modules beside them, in a new folder.

    Attributes:
        model: The copy of the model file.
        architecture: The call that builds the network from the copy; empty without one.
        side: What the side file says.
        code: What would run, with its digest.
    """

    def __init__(self, path: Path, architecture: str) -> None:
        # Windows does not delete a file that is still open.
        self._folder = tempfile.TemporaryDirectory(prefix="robgui-", ignore_cleanup_errors=True)
        _FOLDERS.add(self._folder.name)
        try:
            self._take(path, architecture)
        except OSError as error:
            self.discard()
            raise ModelError(
                f"{path} is not loaded: no private copy of it can be made ({error.strerror}); free"
                " some space."
            ) from error
        except BaseException:
            self.discard()
            raise

    @property
    def folder(self) -> Path:
        """The folder of the copies; only this user may enter it."""
        return Path(self._folder.name)

    def discard(self) -> None:
        """Removes the copies."""
        self._folder.cleanup()

    def keep_code(self) -> None:
        """Removes the copy of the model.

        Its code stays until the program ends, for imports it makes later.
        """
        self.model.unlink(missing_ok=True)
        _KEPT.append(self._folder)

    @contextmanager
    def importable(self) -> Iterator[None]:
        """Makes the copied modules importable, not whatever lies beside the model now."""
        # The finder and sys.modules belong to the whole process: one load at a time.
        with _IMPORTING:
            _BESIDE.modules = {**_BESIDE.modules, **self._modules}
            # Two models may each bring a net.py; what the first imported must not answer for the
            # second.
            for name, module in list(sys.modules.items()):
                if name.partition(".")[0] in self._modules and _is_copy(module):
                    del sys.modules[name]
            yield

    def with_side(self, side: bytes) -> str:
        """The digest of the same model and code with this side file."""
        return digest_of(self._hashed, side, self._call, self._sources)

    def _take(self, path: Path, architecture: str) -> None:
        self.model = self.folder / "model" / path.name
        self.model.parent.mkdir()
        self._hashed = _copy(path, self.model)
        self.side = side_bytes(path)
        where, call = split(architecture)
        if where.endswith(".py"):
            file = _find(where, path.parent)
        else:
            file = None
        folders = _unique([*([file.parent] if file else []), path.parent, *working_folder()])
        pickled = _pickled(self.model)
        self._copy_code(file, [*pickled.names, *([where] if file is None else [])], folders)
        named = where if file is None else file.name
        if architecture:
            self._call = f"{named}:{call}"
        else:
            self._call = ""
        if file is None:
            self.architecture = architecture
        else:
            self.architecture = f"{self.folder / 'code' / file.name}:{call}"
        sources = (
            (name, content.decode("utf-8", "replace")) for name, content in self._sources.items()
        )
        self.code = Code(
            digest=self.with_side(self.side),
            model=path,
            architecture=architecture,
            sources=tuple(SourceFile(_origin(name, folders), text) for name, text in sources),
            imports=pickled.names,
            listed=pickled.whole,
        )

    def _copy_code(self, file: Path | None, dotted: Sequence[str], folders: Sequence[Path]) -> None:
        """Copies the architecture file and the neighbouring modules that it or a pickle imports."""
        if file is None:
            built = {}
        else:
            built = {file.name: code_bytes(file)}
        wanted = [name.partition(".")[0] for name in dotted] + [
            name for content in built.values() for name in imports_of(content)
        ]
        modules = modules_beside(wanted, folders)
        self._modules = {
            name.partition("/")[0].removesuffix(".py"): self.folder / "code" for name in modules
        }
        self._sources = {**modules, **built}
        for name, content in self._sources.items():
            target = self.folder / "code" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def split(architecture: str) -> tuple[str, str]:
    """Splits ``file.py:factory(3)`` into ``file.py`` and ``factory(3)``.

    A colon inside the brackets does not split.
    """
    head, bracket, arguments = architecture.partition("(")
    where, _, factory = head.rpartition(":")
    return where, f"{factory}{bracket}{arguments}"


def _copy(source: Path, target: Path) -> str:
    """Copies a file; returns the SHA-256 of what was written."""
    digest = hashlib.sha256()
    with open_regular(source) as old, target.open("wb") as new:
        # Hashed while copied: between two reads the file could be exchanged.
        while chunk := old.read(_CHUNK):
            digest.update(chunk)
            new.write(chunk)
    return digest.hexdigest()


def _find(name: str, folder: Path) -> Path | None:
    return next((path for path in (folder / name, Path(name)) if is_file(path)), None)


def _pickled(path: Path) -> PickledCalls:
    """What the pickles in a file import and call; nothing for a file without pickles."""
    with open_regular(path) as file:
        head = file.read(2)
        file.seek(0)
        # 0x80 begins a pickle of protocol 2 or later.
        if head[:1] == b"\x80" or path.suffix.lower() in PICKLE_ENDINGS:
            # torch's old format is five pickles in a row: magic number, protocol, system, object,
            # keys.
            return listing(file, pickles=5)
    if head != b"PK":
        return PickledCalls((), whole=True)
    names: set[str] = set()
    whole = True
    with Archive(path) as archive:
        for name in archive.names:
            if not name.endswith(".pkl"):
                continue
            if archive.size(name) > _LARGEST_PICKLE:
                whole = False
                continue
            found = listing(io.BytesIO(archive.read(name)))
            names |= set(found.names)
            whole = whole and found.whole
    return PickledCalls(tuple(sorted(names)), whole)


def _unique(folders: Sequence[Path]) -> list[Path]:
    return list({folder.resolve(): folder for folder in reversed(folders)}.values())[::-1]


def _origin(name: str, folders: Sequence[Path]) -> Path:
    return next((folder / name for folder in folders if is_file(folder / name)), Path(name))


class _Beside(MetaPathFinder):
    """Finds modules in the newest snapshots; Python asks it first."""

    def __init__(self) -> None:
        self.modules: Mapping[str, Path] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a top-level module.

        Modules inside a package are found by the package.
        """
        # Python asks with a path for submodules, which the package finds by itself.
        if path is None:
            folder = self.modules.get(fullname)
        else:
            folder = None
        if folder is None:
            return None
        package = folder / fullname / "__init__.py"
        if package.is_file():
            return importlib.util.spec_from_file_location(
                fullname, package, submodule_search_locations=[str(package.parent)]
            )
        return importlib.util.spec_from_file_location(fullname, folder / f"{fullname}.py")


def _is_copy(module: Any) -> bool:
    origin = str(getattr(getattr(module, "__spec__", None), "origin", None) or "")
    return any(origin.startswith(folder) for folder in _FOLDERS)


_BESIDE = _Beside()
_IMPORTING = threading.RLock()
#: The folders of all snapshots, including deleted ones.
_FOLDERS: set[str] = set()
#: Folders of code that runs, removed when the program ends.
_KEPT: list[tempfile.TemporaryDirectory[str]] = []
# First in the list, or a net.py of the working folder would win over the copy.
sys.meta_path.insert(0, _BESIDE)
