"""A worker's temporary folder: the only one it can write to, removed when it ends."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

#: Followed by the number of the program that made it, by which orphans are recognised.
_PREFIX = "robgui-worker-"


def worker_folder() -> Path:
    """A fresh folder that only this user may enter."""
    remove_orphans()
    # mkdtemp gives mode 0700 and a name that cannot be guessed.
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))


def remove(folder: Path) -> None:
    """Removes a folder with everything its worker left in it; links are not followed."""
    with contextlib.suppress(RecursionError):  # Endlessly nested folders.
        shutil.rmtree(folder, ignore_errors=True)


@cache
def remove_orphans() -> None:
    """Removes the folders of programs that were killed before they could."""
    if os.name != "posix":  # On Windows, os.kill with signal 0 would end the process.
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        number = re.match(rf"{_PREFIX}(\d+)-", folder.name)
        with contextlib.suppress(OSError):
            if number and not _runs(int(number[1])) and folder.stat().st_uid == os.getuid():
                remove(folder)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # It belongs to another user.
        return True
    return True
