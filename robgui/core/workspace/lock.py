"""An exclusive lock on a side file, freed by the operating system however the program ends."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

#: Errors of file systems without locks; SQLite still keeps their files whole.
_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}

#: Never follows a link that somebody has prepared.
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class FileLock:
    """Held from ``take`` until ``free``, or until the process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def take(self) -> bool:
        """True if the lock is ours; False if another process or window holds it.

        OSError without permission.
        """
        while True:
            descriptor = os.open(self._path, _FLAGS, 0o666)
            if not _lock(descriptor):
                os.close(descriptor)
                return False
            if _is_still(descriptor, self._path):
                self._descriptor = descriptor
                return True
            os.close(descriptor)  # The last holder has just removed this file: lock the new one.

    def free(self) -> None:
        """Gives the lock back and removes the side file."""
        if self._descriptor is None:
            return
        if sys.platform != "win32":
            # Removed while still locked: afterwards another process might have locked this very
            # file.
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None
        # Windows refuses to remove an open file, so there it is closed first.
        if sys.platform == "win32":
            _remove_if_unused(self._path)


def _lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # Without locks the file is used anyway; SQLite's own locking remains.
        return error.errno in _UNSUPPORTED
    return True


def _is_still(descriptor: int, path: Path) -> bool:
    try:
        # The path may already name a new file that another process created and locked.
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _remove_if_unused(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        return  # Another window has taken the lock meanwhile and owns the file now.
