"""Zip files read with care: bounded in number and size, every byte checked, nothing written."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from robgui.core.errors import ModelError
from robgui.core.regular import open_regular

#: Most that compressed members (TorchScript code, skops files on request) may grow by; real ones
#: stay below 50.
_SMALL = 64 * 2**20
_GROWTH = 50
_MOST_MEMBERS = 100_000
_CHUNK = 2**20
#: What zipfile and zlib raise on damaged or odd members.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
    NotImplementedError,
    ValueError,
)


class Archive:
    """The members of a zip file, held only by name until they are read.

    Refuses a file with a member that is encrypted, named twice or compressed in an unusual way,
    with overlapping members, or with members that together would grow beyond bounds (a zip bomb).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with ExitStack() as opened:  # Closes what is open if the file is refused.
            try:
                self._file = opened.enter_context(open_regular(path))
                self._zip = opened.enter_context(zipfile.ZipFile(self._file))
                self._members = {info.filename: info for info in self._zip.infolist()}
            except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
                raise ModelError(
                    f"{path} is damaged or cut off: it begins like an archive but cannot be read"
                    " as one."
                ) from error
            self._refuse_bombs()
            opened.pop_all()
        roots = {PurePosixPath(name).parts[0] for name in self._members if "/" in name}
        if len(roots) == 1 and all("/" in name for name in self._members):
            self.root = f"{roots.pop()}/"
        else:
            self.root = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members without the folder they all share."""
        return tuple(name.removeprefix(self.root) for name in self._members)

    def size(self, name: str) -> int:
        """Bytes of a member after unpacking."""
        return self._info(name).file_size

    def read(self, name: str) -> bytes:
        """The bytes of a member; their checksum is verified."""
        with self._told(name):
            return self._zip.read(self._info(name))

    def verify(self) -> None:
        """Reads every member once, to tell a damaged file from a wrong one."""
        for name in self.names:
            with self._told(name), self._zip.open(self._info(name)) as member:
                while member.read(_CHUNK):
                    pass

    def copy(self, names: Iterable[str]) -> io.BytesIO:
        """A plain copy of these members in memory.

        Another reader sees exactly what was checked here.
        """
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as target:
            for name in names:
                # Torch's reader wants all records below one folder; its name does not matter.
                target.writestr(f"archive/{name}", self.read(name))
        buffer.seek(0)
        return buffer

    def close(self) -> None:
        """Closes the file."""
        self._zip.close()
        self._file.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Says in one sentence that a member cannot be read, whatever zipfile and zlib raise."""
        try:
            yield
        except _DAMAGE as error:
            raise ModelError(
                f"{self.path} is damaged: its part {name!r} cannot be read."
            ) from error

    def _info(self, name: str) -> zipfile.ZipInfo:
        try:
            return self._members[self.root + name]
        except KeyError:
            raise ModelError(f"{self.path} is incomplete: its part {name!r} is missing.") from None

    def _refuse_bombs(self) -> None:
        infos = self._zip.infolist()
        length = os.fstat(self._file.fileno()).st_size
        # Stored members take their own size in the file; together they exceed it only if they
        # overlap.
        stored = sum(info.file_size for info in infos if info.compress_type == zipfile.ZIP_STORED)
        packed = sum(info.file_size for info in infos if info.compress_type != zipfile.ZIP_STORED)
        if len(infos) > _MOST_MEMBERS or stored > length or packed > _SMALL + _GROWTH * length:
            raise ModelError(
                f"{self.path} is refused: unpacked it would be far larger"
                f" ({(stored + packed) / 1e6:,.0f} MB) than a real model."
            )
        if len(self._members) != len(infos):
            raise ModelError(f"{self.path} is refused: it holds two parts of the same name.")
        for info in infos:
            if info.flag_bits & 1 or info.compress_type not in (
                zipfile.ZIP_STORED,
                zipfile.ZIP_DEFLATED,
            ):
                raise ModelError(
                    f"{self.path} is refused: its part {info.filename!r} is encrypted or compressed"
                    " in an unusual way."
                )
