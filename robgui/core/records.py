"""Records: small JSON files with what this user has said, each named by a SHA-256.

Each record has its own file, so two windows writing at once cannot lose each other's records.
"""

from __future__ import annotations

import json
import logging
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import platformdirs

from robgui.core.errors import RobguiError
from robgui.core.files import private_folder, write_whole
from robgui.core.regular import open_regular

#: Largest record in bytes.
_LARGEST = 4_000_000
_KEY = re.compile(r"[0-9a-f]{64}")


class Records:
    """This user's records called ``name``; other users may neither read nor write them."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def folder(self) -> Path:
        """Their folder; looked up each time, because the environment may move it."""
        return platformdirs.user_data_path("robgui", appauthor=False) / self._name

    def read(self, key: str) -> dict[str, Any] | None:
        """The record of ``key``, or None.

        A record that is damaged, or that others may write, counts as none.
        """
        path = self._path(key)
        try:
            with open_regular(path) as file:
                if not _is_ours(os.fstat(file.fileno())):
                    logging.getLogger("robgui").warning(
                        "%s may be written by others, so it is not believed.", path
                    )
                    return None
                content = file.read(_LARGEST + 1)
            record = json.loads(content)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            logging.getLogger("robgui").warning(
                "%s cannot be read, so it is not believed: %s", path, error
            )
            return None
        if isinstance(record, dict):
            return record
        return None

    def write(self, key: str, record: Mapping[str, Any]) -> None:
        """Keeps ``record``, replacing an older one."""
        path = self._path(key)
        content = json.dumps(record, allow_nan=False, ensure_ascii=False, indent=1).encode()
        try:
            private_folder(private_folder(path.parent.parent) / self._name)
            write_whole(path, content, private=True)
        except OSError as error:
            raise RobguiError(
                f"{path} cannot be written ({error.strerror}); free some space or check who owns"
                " its folder."
            ) from error

    def delete(self, key: str) -> None:
        """Forgets the record of ``key``, if there is one."""
        path = self._path(key)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise RobguiError(
                f"{path} cannot be removed ({error.strerror}); remove it by hand."
            ) from error

    def known(self) -> Iterator[str]:
        """The keys of all records."""
        if self.folder.is_dir():
            yield from sorted(
                path.stem for path in self.folder.glob("*.json") if _KEY.fullmatch(path.stem)
            )

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ValueError(f"{key!r} is no SHA-256")
        return self.folder / f"{key}.json"


def _is_ours(found: os.stat_result) -> bool:
    """Whether a plain file belongs to this user and only they may write it.

    Windows itself keeps other users out.
    """
    if not stat.S_ISREG(found.st_mode):
        return False
    return not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)
