"""The only place that opens a file whose name or content may come from somebody else.

Only plain files are opened: a pipe could block for ever, and a device never ends. The size is known
before anything is read, and a name found inside a file may lead only to what lies beside it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path, PurePath
from typing import TypeVar

P = TypeVar("P", bound=PurePath)

#: Opens a pipe without waiting for its writer; has no effect on a plain file.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


def open_regular(path: str | Path) -> BufferedReader:
    """Opens a plain file for reading; OSError if it is missing or anything else."""
    descriptor = os.open(path, _FLAGS)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no plain file but a pipe or a device", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: str | Path, largest: int) -> bytes:
    """All of a plain file.

    OSError, before reading anything, if it has more than ``largest`` bytes.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > largest:
            raise OSError(errno.EFBIG, f"it is larger than {largest / 1e6:,.3g} MB", str(path))
        return file.read(size)  # read(n) would allocate n bytes before any arrive.


def is_there(path: Path) -> bool:
    """Whether something lies there; a name that the system refuses counts as absent."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    """Whether a plain file lies there; a name that the system refuses counts as absent."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def common_folder(files: Sequence[P]) -> P | None:
    """The deepest folder that holds all these absolute paths; None if they lie on two drives."""
    for folder in files[0].parents:
        if all(file.is_relative_to(folder) for file in files):
            return folder
    return None


def stays_below(name: PurePath) -> bool:
    r"""Whether a name leads nowhere but into the folder it is joined to.

    On Windows ``\x`` and ``D:x`` lead out of it although they are not absolute.
    """
    return not name.anchor and ".." not in name.parts


def beside(folder: Path, name: str) -> Path:
    """The file that ``name`` means in ``folder``.

    OSError if it lies anywhere else, even through a link.
    """
    try:
        home = folder.resolve()
        found = (home / name).resolve()
    except (ValueError, RuntimeError) as error:
        # An impossible name, or a circle of links.
        raise OSError(errno.EINVAL, "it is no name of a file", name) from error
    if not name or Path(name).is_absolute() or not found.is_relative_to(home):
        raise OSError(errno.EACCES, "only a file beside it may be named", name)
    return found
