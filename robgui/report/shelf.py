"""Shelf: drawings on disk, for the next process that writes a report of the same runs."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import matplotlib as mpl
import platformdirs

from robgui.core.files import private_folder, write_whole
from robgui.core.regular import read_regular
from robgui.version import __version__

#: Bytes that the shelf holds, and of one drawing; what was not asked for longest goes first.
MOST, LARGEST = 256_000_000, 4_000_000
_PNG = b"\x89PNG\r\n\x1a\n"


class Shelf:
    """Drawings by their key; those of another program or version do not count.

    Args:
        most: Bytes that it holds.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._stamp = _stamp()

    @property
    def folder(self) -> Path:
        """Where they lie; asked anew each time, because the environment may move it."""
        return platformdirs.user_cache_path("robgui", appauthor=False) / "drawings"

    def get(self, key: bytes) -> bytes | None:
        """The drawing; None if there is none that can be read."""
        path = self.path_of(key)
        try:
            found = read_regular(path, LARGEST)
            # tidy goes by the time of the last look.
            path.touch()
        except (OSError, ValueError):
            return None
        if found.startswith(_PNG):
            return found
        return None

    def put(self, key: bytes, drawing: bytes) -> None:
        """Keeps a drawing; a disk that is full or read-only keeps none."""
        with suppress(OSError):
            private_folder(private_folder(self.folder.parent) / self.folder.name)
            write_whole(self.path_of(key), drawing, private=True)

    def tidy(self) -> None:
        """Removes the oldest until the rest fits."""
        with suppress(OSError):
            known = sorted(
                ((one.stat().st_mtime, one.stat().st_size, one) for one in self.folder.iterdir()),
                reverse=True,
            )
            held = 0
            for _, size, path in known:
                held += size
                if held > self._most:
                    path.unlink(missing_ok=True)

    def path_of(self, key: bytes) -> Path:
        """Where the drawing of a key lies."""
        return self.folder / f"{hashlib.sha256(self._stamp + key).hexdigest()}.png"


def _stamp() -> bytes:
    """Changes with everything that draws: the program, its drawing code, matplotlib."""
    code = sorted(Path(__file__).parent.glob("**/*.py"))
    files = [(one.name, one.stat().st_mtime_ns, one.stat().st_size) for one in code]
    return hashlib.sha256(repr((__version__, mpl.__version__, files)).encode()).digest()
