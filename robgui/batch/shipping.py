"""Ships files to machines without a shared folder.

The driver packs them once, and each machine unpacks them once.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from robgui.core.errors import DataError, ModelError, RobguiError
from robgui.core.execution.request import Reference
from robgui.core.model.settings import side_file
from robgui.core.regular import read_regular, stays_below
from robgui.core.text.words import amount
from robgui.core.trust.beside import code_bytes, imports_of, modules_beside

#: Largest parcel: more belongs on a shared folder, not in the memory of every machine.
MOST_BYTES = 2_000_000_000

#: Relative name -> content.
Parcel = Mapping[str, bytes]


def pack(reference: Reference) -> Parcel:
    """The files a model or dataset consists of.

    Itself, its side file, and the code of its architecture or its labels.
    """
    path = Path(reference.path)
    names = list(_files(reference, path))
    size = sum(file.stat().st_size for _, file in names)
    if size > MOST_BYTES:
        error = ModelError if reference.kind == "model" else DataError
        raise error(
            f"{path} has {amount(size)}, too much to be sent; put it on a folder that every machine"
            " of the cluster shares."
        )
    # A file may have grown since it was measured; its own reader bounds it again.
    return {name: read_regular(file, MOST_BYTES) for name, file in names}


def digest(parcel: Parcel) -> str:
    """Sixteen hexadecimal digits that change with any name or content."""
    total = hashlib.sha256()
    for name, content in sorted(parcel.items()):
        # With names and lengths: content alone could be cut differently into files.
        total.update(repr((name, len(content))).encode() + content)
    return total.hexdigest()[:16]


def unpack(
    reference: Reference, name: str, fetch: Callable[[], Parcel], root: Path | None = None
) -> Path:
    """Writes the parcel of digest ``name`` below a folder of this machine, once.

    Returns the path of the model or dataset. ``fetch`` is called only if the parcel is not there
    yet. Processes that unpack at the same time do not disturb each other: each writes its own
    folder, and the first to finish renames it into place.
    """
    root = root or _own_folder()
    place = root / name
    if not place.exists():
        # Filled beside its final place, then renamed: a folder of that name is always complete.
        fresh = Path(tempfile.mkdtemp(dir=root))
        for inner, content in fetch().items():
            target = fresh / inner
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        try:
            fresh.rename(place)
        except OSError:  # Another process was first.
            shutil.rmtree(fresh)
    return place / Path(reference.path).name


#: Options of data that name a file.
_NAMED = ("labels", "names_file")


def relocated(reference: Reference, path: Path) -> Reference:
    """The reference with all its paths pointing at the unpacked files."""
    options = dict(reference.options)
    for name in _NAMED if reference.kind == "dataset" else ():
        if isinstance(file := options.get(name), str) and file:
            options[name] = str(path.parent / _beside(Path(file)))
    return reference.model_copy(update={"path": str(path), "options": options})


def _files(reference: Reference, path: Path) -> Iterator[tuple[str, Path]]:
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file():
                yield f"{path.name}/{file.relative_to(path).as_posix()}", file
    else:
        yield path.name, path
        if side_file(path).is_file():
            yield side_file(path).name, side_file(path)
        for extra in sorted(path.parent.glob(f"{path.name}.data")) + sorted(
            path.parent.glob(f"{path.stem}.data")
        ):
            yield extra.name, extra
    code = re.match(r"([^:]+\.py):", str(reference.options.get("architecture", "")))
    # Only code that lies in the model's own folder: a path may not lead out of it.
    if code and stays_below(Path(code[1])) and (path.parent / code[1]).is_file():
        file = path.parent / code[1]
        yield code[1], file
        for name in modules_beside(imports_of(code_bytes(file)), [file.parent]):
            yield (
                f"{file.parent.relative_to(path.parent).as_posix()}/{name}".removeprefix("./"),
                file.parent / name,
            )
    for name in _NAMED if reference.kind == "dataset" else ():
        if isinstance(named := reference.options.get(name), str) and named:
            yield _beside(Path(named)), Path(named)


def _beside(labels: Path) -> str:
    return f"labels-of/{labels.name}"


def _own_folder() -> Path:
    """A folder for parcels that no other user can have prepared, because code may come from it."""
    if hasattr(os, "getuid"):
        user = os.getuid()
    else:
        user = None
    folder = (
        Path(tempfile.gettempdir())
        / f"robgui-{os.environ.get('USERNAME', 'user') if user is None else user}"
    )
    folder.mkdir(exist_ok=True, mode=0o700)
    found = folder.stat()
    # Somebody else could have put code there.
    if user is not None and (found.st_uid != user or found.st_mode & 0o022):
        raise RobguiError(
            f"{folder} may be written by others, so nothing is unpacked there; delete it."
        )
    return folder
