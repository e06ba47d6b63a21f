"""A small file takes no more memory than its size suggests."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robgui.core.codec import decode, encode
from robgui.core.dataset import open_dataset
from robgui.core.dataset.images import LARGEST_SIDE
from robgui.core.errors import DataError, WorkspaceError
from robgui.core.npz import unzip
from tests.security.attacks import child

GIB = 2**30


@dataclass(frozen=True)
class Result:
    values: np.ndarray
    mask: np.ndarray


def bomb(size: int) -> bytes:
    """An array of zeros, as small as deflate makes it."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("a0.npy", "w", force_zip64=True) as file,
    ):
        np.lib.format.write_array_header_2_0(
            file, {"descr": "|u1", "fortran_order": False, "shape": (size,)}
        )
        for _ in range(size >> 20):
            file.write(bytes(2**20))
    return buffer.getvalue()


def test_stored_arrays_that_are_a_bomb_are_refused_before_they_are_unpacked(tmp_path):
    """A megabyte that would become a gigabyte, in a process that stays below that."""
    (tmp_path / "blob").write_bytes(bomb(GIB))
    assert (tmp_path / "blob").stat().st_size < 1_500_000
    code = """
import sys
from pathlib import Path
from robgui.core.codec import unzip
from robgui.core.errors import WorkspaceError
try:
    unzip(Path(sys.argv[1]).read_bytes())
except WorkspaceError as error:
    status = Path("/proc/self/status").read_text()  # getrusage counts what the parent held, too
    print(error, int(status.partition("VmHWM:")[2].split()[0]) < 800_000)
"""
    assert child(code, tmp_path / "blob").endswith("delete the run. True\n")


def test_an_honest_result_of_zeros_is_unpacked():
    mask = np.zeros((4000, 10_000), dtype=bool)
    document, blob = encode(Result(np.asfortranarray(np.arange(12.0).reshape(3, 4)), mask))
    again = decode(Result, document, blob)
    assert len(blob) * 100 < mask.nbytes and again.mask.shape == mask.shape and not again.mask.any()
    assert (again.values == np.arange(12.0).reshape(3, 4)).all() and again.values.flags.writeable


@pytest.mark.parametrize("shape", [(10**12,), (5,), (2,), (-3,)])
def test_an_array_of_another_length_than_its_shape_is_refused(shape):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, archive.open("a0.npy", "w") as file:
        np.lib.format.write_array_header_2_0(
            file, {"descr": "<f8", "fortran_order": False, "shape": shape}
        )
        file.write(bytes(24))
    with pytest.raises(WorkspaceError, match="damaged"):
        unzip(buffer.getvalue())


def test_a_document_nested_without_end_is_one_sentence():
    document: dict = {"$type": "Result", "fields": {}}
    inner: list = []
    document["fields"]["values"] = inner
    for _ in range(100_000):
        inner.append([])
        inner = inner[0]
    with pytest.raises(WorkspaceError, match="parts within parts"):
        decode(Result, document, encode({})[1])


def tall_picture(path: Path, rows: int) -> Path:
    Image.fromarray(np.zeros((rows, 1), np.uint8)).save(path, compress_level=9)
    return path


def test_a_picture_of_one_column_takes_no_gigabytes(tmp_path):
    """The review's picture: 245 KB of PNG, one pixel wide and 63 million high, took 1.9 GB."""
    tall_picture(tmp_path / "tall.png", 10_000_000)
    with pytest.raises(DataError, match="pixels long"):
        open_dataset(tmp_path / "tall.png").array(np.array([0]), (1, 28, 28))


def test_a_long_picture_is_read(tmp_path):
    dataset = open_dataset(tall_picture(tmp_path / "long.png", LARGEST_SIDE))
    assert dataset.thumbnail(0, 16).shape[0] == 16
