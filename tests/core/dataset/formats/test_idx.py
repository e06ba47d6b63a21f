"""IDX files as MNIST has them."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from robgui.core.dataset import open_dataset
from robgui.core.errors import DataError

IMAGES = np.arange(3 * 4 * 5, dtype=np.uint8).reshape(3, 4, 5)
LABELS = np.array([7, 2, 1], np.uint8)


def idx(values: np.ndarray, code: int = 8) -> bytes:
    return (
        bytes([0, 0, code, values.ndim])
        + struct.pack(f">{values.ndim}I", *values.shape)
        + values.tobytes()
    )


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("end", ["", ".gz"])
@pytest.mark.parametrize(
    "names",
    [
        ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
        ("t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte"),
    ],
)
def test_images_find_their_labels_and_labels_their_images(
    tmp_path: Path, names: tuple[str, str], end: str
):
    paths = [
        write(tmp_path / (name + end), idx(values))
        for name, values in zip(names, (IMAGES, LABELS), strict=True)
    ]
    for path in paths:
        dataset = open_dataset(path)
        assert dataset.shape == (1, 4, 5) and dataset.kind == "image"
        assert dataset.labels is not None and dataset.labels.tolist() == [7, 2, 1]
        np.testing.assert_allclose(dataset.array()[:, 0], IMAGES / 255, atol=1e-7)
        np.testing.assert_allclose(dataset.array([2, 0])[:, 0], IMAGES[[2, 0]] / 255, atol=1e-7)


def test_a_folder_opens_the_test_images_unless_told_otherwise(tmp_path: Path):
    for part, count in (("t10k", 2), ("train", 3)):
        write(tmp_path / f"{part}-images-idx3-ubyte.gz", idx(IMAGES[:count]))
        write(tmp_path / f"{part}-labels-idx1-ubyte.gz", idx(LABELS[:count]))
    assert len(open_dataset(tmp_path)) == 2 and len(open_dataset(tmp_path, split="t10k")) == 2
    train = open_dataset(tmp_path, split="train")
    assert (
        len(train) == 3
        and train.path == tmp_path
        and open_dataset(tmp_path, **train.options).fingerprint == train.fingerprint
    )


def test_images_without_labels_have_none(tmp_path: Path):
    assert open_dataset(write(tmp_path / "some-images-idx3-ubyte", idx(IMAGES))).labels is None


def test_big_endian_floats_are_read(tmp_path: Path):
    values = np.linspace(0, 1, 60).reshape(3, 4, 5).astype(">f4")
    np.testing.assert_allclose(
        open_dataset(write(tmp_path / "a.idx", idx(values, 0x0D))).array()[:, 0], values, atol=1e-6
    )


def test_labels_alone_say_what_is_missing(tmp_path: Path):
    with pytest.raises(DataError, match="labels file"):
        open_dataset(write(tmp_path / "t10k-labels-idx1-ubyte", idx(LABELS)))


def test_a_different_number_of_labels_is_refused(tmp_path: Path):
    write(tmp_path / "a-labels-idx1-ubyte", idx(LABELS[:2]))
    with pytest.raises(DataError, match="2 labels for 3"):
        open_dataset(write(tmp_path / "a-images-idx3-ubyte", idx(IMAGES)))


@pytest.mark.parametrize("end", ["", ".gz"])
def test_a_file_that_declares_more_than_it_holds_is_refused(tmp_path: Path, end: str):
    for shape in ((3, 4, 6), (2**31, 28, 28), (2**32 - 1,) * 3):
        data = bytes([0, 0, 8, 3]) + struct.pack(">3I", *shape) + IMAGES.tobytes()
        with pytest.raises(DataError):
            open_dataset(write(tmp_path / f"a-images-idx3-ubyte{end}", data))


def test_a_file_cut_while_it_is_open_gives_an_error_and_no_crash(tmp_path: Path):
    path = write(tmp_path / "a-images-idx3-ubyte", idx(IMAGES))
    dataset = open_dataset(path)
    path.write_bytes(idx(IMAGES)[:40])
    with pytest.raises(DataError, match="ends before item 2"):
        dataset.array([2])
    assert dataset.thumbnail(2, 16).shape == (16, 16, 3)


def test_a_gzip_bomb_is_refused_without_unpacking_it(tmp_path: Path):
    header = bytes([0, 0, 8, 3]) + struct.pack(">3I", 2**20, 2**10, 2**10)
    with gzip.open(tmp_path / "a-images-idx3-ubyte.gz", "wb", compresslevel=1) as file:
        file.write(header)
        file.write(bytes(2**22))
    with pytest.raises(DataError, match="more than the"):
        open_dataset(tmp_path / "a-images-idx3-ubyte.gz")
