"""NPZ <-> arrays by name: compressed where it pays, unpacked within a limit."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Mapping

import numpy as np

from robgui.core.errors import WorkspaceError
from robgui.core.npy import read_header

Arrays = dict[str, np.ndarray]
_CHUNK = 2**20

#: Bytes sampled to decide whether an array is worth compressing. Measured with deflate level 1:
#: noise shrinks by a tenth at 30 MB/s, while smooth curves and masks shrink to a hundredth at 500
#: MB/s.
_SAMPLE_BYTES = 16 * 2**10
_WORTHWHILE = 0.5
#: A blob may unpack to this size, or to this multiple of its own length if that is more: masks and
#: curves shrink to a hundredth.
_ALWAYS, _GROWTH = 256 * 2**20, 100


def npz(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The bytes of an NPZ file.

    Arrays that compress well are compressed lightly, the others are stored.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            # A plain name takes the archive's compression; a ZipInfo is stored uncompressed.
            member = f"{name}.npy"
            # Zip64 from the start: the length is not known yet, and beyond 2 GB zipfile raises.
            with archive.open(
                member if _compresses(array) else zipfile.ZipInfo(member), "w", force_zip64=True
            ) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
    return buffer.getvalue()


def unzip(blob: bytes) -> Arrays:
    """The arrays of an NPZ; WorkspaceError if it is damaged or unpacks to an absurd size."""
    try:
        with zipfile.ZipFile(io.BytesIO(blob)) as archive:
            total = sum(info.file_size for info in archive.infolist())
            if total > _ALWAYS + _GROWTH * len(blob):
                raise WorkspaceError(
                    f"The stored arrays would unpack to {total / 1e6:,.0f} MB, a bomb and no"
                    " result; delete the run."
                )
            return {
                info.filename.removesuffix(".npy"): _read(archive, info)
                for info in archive.infolist()
            }
    except (
        zipfile.BadZipFile,
        zlib.error,
        ValueError,
        TypeError,
        EOFError,
        OSError,
        MemoryError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise WorkspaceError(
            f"The stored arrays are damaged ({error}); run the analysis again."
        ) from error


def _compresses(array: np.ndarray) -> bool:
    # At least one item, however large it is.
    items = _SAMPLE_BYTES // max(1, array.itemsize) + 1
    middle = max(0, (array.size - items) // 2)
    # By ``flat``, which copies these items only: to reshape
    # an array that is not contiguous copies all of it.
    data = np.asarray(array.flat[middle : middle + items]).tobytes()
    return len(zlib.compress(data, 1)) < _WORTHWHILE * len(data)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(info) as member:
        dtype, shape, fortran = read_header(member)
        if dtype.hasobject:
            raise ValueError("Python objects are never read")
        values = math.prod(shape)
        if min(shape, default=0) < 0 or values * max(1, dtype.itemsize) > info.file_size:
            raise ValueError("an array is shorter than its shape")
        flat = np.empty(values, dtype)
        if flat.nbytes:
            view = flat.view(np.uint8).data
        else:
            view = memoryview(b"")
        done = 0
        while done < len(view):
            part = member.read(min(_CHUNK, len(view) - done))
            if not part:
                raise ValueError("an array ends before its shape")
            view[done : done + len(part)] = part
            done += len(part)
        if member.read(1):  # Reading to the end also makes the archive check its checksum.
            raise ValueError("an array is longer than its shape")
        return flat.reshape(shape, order="F" if fortran else "C")
