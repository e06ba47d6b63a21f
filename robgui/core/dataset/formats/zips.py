"""The members of a zip file, each unpacked on demand and never beyond its declared size."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path

from robgui.core.dataset.limits import reading
from robgui.core.errors import DataError
from robgui.core.identify.zip_directory import BrokenZipError, Directory, read_directory
from robgui.core.regular import open_regular

# Local header (APPNOTE 4.3.7): signature, 22 bytes that the directory repeats, lengths of name and
# extra field.
_LOCAL = struct.Struct("<4s22x2H")


class ZipMembers:
    """The files in a zip file, by number.

    Args:
        path: The file.
        directory: What it holds.
    """

    def __init__(self, path: Path, directory: Directory) -> None:
        self.path = path
        self.names = directory.names
        self.complete = True
        self._directory = directory

    def size(self, number: int) -> int:
        """Bytes of a member after unpacking, as declared."""
        return int(self._directory.sizes[number])

    def read(self, number: int) -> bytes:
        """The content of a member; its checksum is verified."""
        known, method = self._directory, self._directory.methods[number]
        if method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            if method < 0:
                how = "encrypted"
            else:
                how = "compressed in an unusual way"
            raise DataError(f"it is {how}; pack the images again as a usual zip file.")
        content = self._packed(number)
        if method == zipfile.ZIP_DEFLATED:
            try:
                # −15: raw deflate, as zip stores it. One byte more than declared is enough to see a
                # bomb.
                content = zlib.decompressobj(-15).decompress(content, self.size(number) + 1)
            except zlib.error as error:
                raise DataError("it is damaged; get a complete copy of the archive.") from error
        if len(content) != self.size(number) or zlib.crc32(content) != known.checks[number]:
            raise DataError("it is damaged; get a complete copy of the archive.")
        return content

    def _packed(self, number: int) -> bytes:
        with reading(self.path), open_regular(self.path) as file:
            file.seek(self._directory.offsets[number])
            head = file.read(_LOCAL.size)
            if len(head) < _LOCAL.size or head[:4] != b"PK\x03\x04":
                raise DataError("it is not where the archive says; get a complete copy.")
            _, name, extra = _LOCAL.unpack(head)
            # The extra field may be longer here than in the directory, so its length is read again.
            file.seek(name + extra, 1)
            return file.read(self._directory.packed[number])


def read_zip(path: Path) -> ZipMembers:
    """Finds the members of a zip file.

    Raises:
        DataError: It is damaged, or its members overlap as those of a bomb do.
    """
    try:
        with reading(path):
            directory = read_directory(path)
            length = path.stat().st_size
    except BrokenZipError as error:
        raise DataError(
            f"{path}: this is no zip file that can be read ({error}); get a complete copy."
        ) from error
    # Fifield's bomb lets thousands of entries share one stream; then the packed sizes add up to
    # more than the file.
    if sum(directory.packed) > length:
        raise DataError(f"{path} is refused: its parts overlap, as those of a zip bomb do.")
    return ZipMembers(path, directory)
