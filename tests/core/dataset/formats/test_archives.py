"""Zip and tar files of images and shards of webdataset: the same pixels and labels as the folder
they were packed from, and nothing of what a hostile one wants.
"""

from __future__ import annotations

import gzip
import io
import json
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from robgui.core.dataset import Dataset, open_dataset
from robgui.core.errors import DataError
from robgui.core.identify import DataFormat, identify
from tests.core.dataset.formats.samples import LABELS, NAMES, UNIT, member, png, write_tree


def same(dataset: Dataset, names: tuple[str, ...] = NAMES) -> None:
    np.testing.assert_array_equal(dataset.array(), UNIT)
    assert dataset.labels is not None and dataset.labels.tolist() == LABELS.tolist()
    assert dataset.names == names and not dataset.skipped


def make_zip(path: Path, compression: int, prefix: str = "") -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("__MACOSX/cat/._img_0.png", b"junk")
        for number in range(6):
            archive.writestr(prefix + member(number), png(number))
    return path


def make_tar(path: Path, mode: str = "w", prefix: str = "", **options: object) -> Path:
    with tarfile.open(path, mode, **options) as archive:
        for number in range(6):
            info = tarfile.TarInfo(prefix + member(number))
            info.size = len(png(number))
            archive.addfile(info, io.BytesIO(png(number)))
    return path


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("prefix", ["", "pets/", "a/b/"])
def test_a_zip_file_is_the_folder_it_was_packed_from(tmp_path, compression, prefix):
    path = make_zip(tmp_path / "pets.zip", compression, prefix)
    assert identify(path).data is DataFormat.ZIP
    same(open_dataset(path))


@pytest.mark.parametrize(
    "form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT], ids=str
)
@pytest.mark.parametrize("prefix", ["", "pets/", f"{'long_' * 15}/{'er_' * 20}/"])
def test_a_tar_file_is_the_folder_it_was_packed_from(tmp_path, form, prefix):
    path = make_tar(tmp_path / "pets.tar", prefix=prefix, format=form)
    assert identify(path).data is DataFormat.TAR
    same(open_dataset(path))


def test_a_compressed_tar_file_is_the_same(tmp_path):
    path = make_tar(tmp_path / "pets.tar.gz", "w:gz")
    assert identify(path).data is DataFormat.TAR
    same(open_dataset(path))


def test_the_order_and_the_names_are_those_of_the_folder(tmp_path):
    folder = open_dataset(write_tree(tmp_path / "pets"))
    packed = open_dataset(make_zip(tmp_path / "pets.zip", zipfile.ZIP_DEFLATED))
    assert packed.keys() == folder.keys()


def test_an_archive_with_parts_opens_the_test_part_unless_told(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for part in ("train", "val"):
            for number in range(6):
                archive.writestr(f"{part}/{member(number)}", png(number))
    dataset = open_dataset(tmp_path / "a.zip")
    assert dataset.parts == ("train", "val") and dataset.key(0).startswith("val/")
    assert open_dataset(tmp_path / "a.zip", split="train").key(0).startswith("train/")


def test_flat_images_find_their_labels_in_the_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        rows = [f"img_{number}.png,{NAMES[LABELS[number]]}\n" for number in range(6)]
        archive.writestr("labels.csv", "file,label\n" + "".join(rows))
        for number in range(6):
            archive.writestr(f"img_{number}.png", png(number))
    same(open_dataset(tmp_path / "a.zip"))


@pytest.mark.parametrize("name", ["../cat/a.png", "/etc/a.png", "cat/../../a.png", "C:/a.png"])
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_names_that_lead_out_of_the_archive_are_refused(tmp_path, name, kind):
    path = tmp_path / f"a.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, png(0))
    else:
        with tarfile.open(path, "w") as archive:
            info = tarfile.TarInfo(name)
            info.size = len(png(0))
            archive.addfile(info, io.BytesIO(png(0)))
    with pytest.raises(DataError, match=r"is refused.*leads out"):
        open_dataset(path)


def test_links_and_devices_in_a_tar_file_are_no_inputs(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo(f"cat/{kind.decode()}.png")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        info = tarfile.TarInfo("cat/real.png")
        info.size = len(png(0))
        archive.addfile(info, io.BytesIO(png(0)))
    assert open_dataset(path).keys() == ["cat/real.png"]


def test_a_zip_whose_parts_share_their_bytes_is_refused(tmp_path):
    body = zlib.compress(bytes(100_000), 9)[2:-4]
    local = b"PK\x03\x04" + struct.pack("<5H3L2H", 20, 0, 8, 0, 0, 0, len(body), 100_000, 5, 0)
    entries = b"".join(
        b"PK\x01\x02"
        + struct.pack("<6H3L5H2L", 20, 20, 0, 8, 0, 0, 0, len(body), 100_000, 8, 0, 0, 0, 0, 0, 0)
        + f"{number:04}.png".encode()
        for number in range(1000)
    )
    head = local + b"0.png" + body
    end = b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, 1000, 1000, len(entries), len(head), 0)
    (tmp_path / "bomb.zip").write_bytes(head + entries + end)
    with pytest.raises(DataError, match="bomb"):
        open_dataset(tmp_path / "bomb.zip")


def test_a_member_that_grows_beyond_what_it_declares_is_cut_there(tmp_path):
    make_zip(tmp_path / "a.zip", zipfile.ZIP_DEFLATED)
    content = bytearray((tmp_path / "a.zip").read_bytes())
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("cat/a.png", png(0))
        archive.writestr("cat/b.png", bytes(50_000_000))
    content = bytearray((tmp_path / "b.zip").read_bytes())
    place = content.rindex(b"PK\x01\x02")
    content[place + 24 : place + 28] = struct.pack("<L", 100)
    (tmp_path / "b.zip").write_bytes(content)
    dataset = open_dataset(tmp_path / "b.zip")
    assert dataset.readable(shape=(3, 12, 9))[0] == [0]
    assert "damaged" in dataset.skipped[0].reason


def test_a_compressed_tar_that_grows_like_a_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("robgui.core.dataset.formats.tars.FREE", 10**6)
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("a.png")
        info.size = 50_000_000
        archive.addfile(info, io.BytesIO(bytes(50_000_000)))
    with pytest.raises(DataError, match="unpack it with gunzip"):
        open_dataset(path)


def test_a_tar_cut_off_keeps_what_is_whole_and_says_so(tmp_path):
    path = make_tar(tmp_path / "a.tar")
    path.write_bytes(path.read_bytes()[:4000])
    dataset = open_dataset(path)
    assert 0 < len(dataset) < 6
    np.testing.assert_array_equal(dataset.array(), UNIT[: len(dataset)])
    assert "cut off" in dataset.skipped[0].reason


def test_a_damaged_image_in_an_archive_is_left_out_and_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("cat/a.png", png(0))
        archive.writestr("cat/b.png", b"no picture")
    dataset = open_dataset(tmp_path / "a.zip")
    assert dataset.readable(shape=(3, 12, 9))[0] == [0] and dataset.skipped[0].path == "cat/b.png"


def shard(path: Path, numbers: list[int], how: str, packed: bool = False) -> Path:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for number in numbers:
            label = {
                "cls": ("cls", str(LABELS[number])),
                "words": ("cls", NAMES[LABELS[number]]),
                "json": ("json", json.dumps({"label": NAMES[LABELS[number]], "width": 9})),
            }[how]
            for ending, content in (("png", png(number)), (label[0], label[1].encode())):
                info = tarfile.TarInfo(f"sample{number:06}.{ending}")
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    path.write_bytes(gzip.compress(buffer.getvalue()) if packed else buffer.getvalue())
    return path


@pytest.mark.parametrize(("how", "names"), [("cls", ()), ("words", NAMES), ("json", NAMES)])
def test_a_webdataset_shard_has_the_labels_beside_its_images(tmp_path, how, names):
    same(open_dataset(shard(tmp_path / "a.tar", list(range(6)), how)), names)


def test_the_library_itself_reads_the_same_samples(tmp_path):
    webdataset = pytest.importorskip("webdataset")
    path = tmp_path / "a.tar"
    with webdataset.TarWriter(str(path)) as writer:
        for number in range(6):
            writer.write(
                {"__key__": f"{number:06}", "png": png(number), "cls": int(LABELS[number])}
            )
    same(open_dataset(path), ())


def test_a_folder_of_shards_is_one_dataset_by_part(tmp_path):
    shard(tmp_path / "pets-train-000000.tar", [0, 1, 2], "words")
    shard(tmp_path / "pets-train-000001.tar", [3, 4, 5], "words")
    shard(tmp_path / "pets-val-000000.tar", [0], "words")
    dataset = open_dataset(tmp_path, split="train")
    same(dataset)
    assert dataset.parts == ("train", "val")
    assert len(open_dataset(tmp_path)) == 1
    with pytest.raises(DataError, match="no part test; there are: train, val"):
        open_dataset(tmp_path, split="test")
