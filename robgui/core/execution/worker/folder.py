"""The temporary folder of a worker: the only one it can write to, removed when it has ended."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

_PREFIX = "robgui-worker-"


def private_folder() -> Path:
    """A fresh folder that only this user may enter."""
    remove_orphans()
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))


def remove(folder: Path) -> None:
    """Removes a folder and what its worker has left in it; links are not followed."""
    with contextlib.suppress(RecursionError):  # folders in folders without end
        shutil.rmtree(folder, ignore_errors=True)


@cache
def remove_orphans() -> None:
    """Removes the folders of programs that were ended before they could."""
    if os.name != "posix":  # asking for a process by its number would end it
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
    except OSError:  # it belongs to someone else
        return True
    return True
