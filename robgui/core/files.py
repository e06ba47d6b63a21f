"""Files written whole or not at all, under temporary names that cannot be guessed."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_whole(path: Path, content: bytes, *, private: bool = False) -> None:
    """Writes ``content`` to ``path`` whole or not at all: a full disk never costs the old content.

    Args:
        path: The file; a pipe or device is written to directly.
        content: All of it.
        private: Only the user may read and write the file.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    # In the same folder: only within one file system is renaming a single step.
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        create(part, content, private=private)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def create(path: Path, content: bytes = b"", *, private: bool = False) -> None:
    """Creates a new file; FileExistsError if anything is there, even a link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # Mode 0o666 leaves it to the user's umask, as ``open`` does.
    with os.fdopen(os.open(path, flags, 0o600 if private else 0o666), "wb") as file:
        file.write(content)


def private_folder(path: Path) -> Path:
    """Makes a folder, and its parents, that only the user may enter.

    An existing one stays as it is.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    return path
