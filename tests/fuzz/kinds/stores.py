"""Archives of images, CIFAR, tables, HDF5, MATLAB and videos: opened and read as other data.

Parquet, Arrow and HDF5 are left out where their library is not installed.
"""

from __future__ import annotations

import gzip
import importlib.util
import io
import random
import tarfile
import zipfile
from pathlib import Path

import numpy as np

from tests.core.dataset.formats.samples import LABELS, NAMES, PIXELS, member, png
from tests.fuzz.kinds.data import import_readers, open_and_read, spoil_images
from tests.fuzz.kinds.kind import Kind, place
from tests.fuzz.spoiling.archives import archive
from tests.fuzz.spoiling.pickles import pickle_bytes
from tests.fuzz.spoiling.plain import noise


def make_packed(folder: Path) -> None:
    """Zip files, tar files of every dialect, shards of webdataset."""
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(place(folder, f"zip {method}", ".zip"), "w", method) as packed:
            for number in range(6):
                packed.writestr(member(number), png(number))
            packed.writestr("names.csv", "cat,Felis\ndog,Canis\nowl,Strix\n")
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w", format=form) as packed:
            for number in range(6):
                _add(packed, f"{'long_' * 15}/{member(number)}", png(number))
        place(folder, f"tar {form}", ".tar").write_bytes(content.getvalue())
        place(folder, f"gz {form}", ".tar.gz").write_bytes(gzip.compress(content.getvalue()))
    with tarfile.open(place(folder, "samples", ".tar"), "w") as packed:
        for number in range(6):
            _add(packed, f"{number:06}.png", png(number))
            _add(packed, f"{number:06}.json", b'{"label": "a%d"}' % LABELS[number])


def _add(packed: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    packed.addfile(info, io.BytesIO(content))


def spoil_packed(content: bytes, dice: random.Random, seed: str) -> bytes:
    """Zip by its parts and records, tar by the numbers and names in its headers."""
    if content[:2] == b"PK":
        return archive(content, dice, lambda _: lambda part, dice: spoil_images(part, dice, seed))
    if content[:2] == b"\x1f\x8b":
        if dice.random() < 0.2:
            return noise(content, dice)
        return gzip.compress(spoil_packed(gzip.decompress(content), dice, seed))
    data = bytearray(content)
    for _ in range(dice.choice((1, 1, 2, 4))):
        block = 512 * dice.randrange(max(1, len(data) // 512))
        start, size = dice.choice(((0, 100), (124, 12), (148, 8), (156, 1), (257, 8), (345, 155)))
        field = dice.choice((b"../x", b"77777777777\0", b"\x80" + b"\xff" * 11, b"x", b"L", b"g"))
        data[block + start : block + start + size] = field[:size].ljust(size, b"\0")
        if dice.random() < 0.8 and block + 512 <= len(data):
            header = data[block : block + 512]
            total = sum(header[:148]) + 256 + sum(header[156:])
            data[block + 148 : block + 156] = b"%06o\0 " % total
    return bytes(data) if dice.random() < 0.9 else noise(bytes(data), dice)


def make_cifar(folder: Path) -> None:
    """Python batches of every protocol, and binary rows."""
    import pickle

    rows = np.random.default_rng(0).integers(0, 256, (8, 3072), dtype=np.uint8)
    labels = np.arange(8) % 10
    batch = {b"batch_label": b"x", b"labels": labels.tolist(), b"data": rows}
    for protocol in (2, 3, 4, 5):
        place(folder, f"python {protocol}", "").write_bytes(pickle.dumps(batch, protocol))
    binary = np.concatenate([labels[:, None].astype(np.uint8), rows], axis=1)
    place(folder, "binary", ".bin").write_bytes(binary.tobytes())


def spoil_cifar(content: bytes, dice: random.Random, seed: str) -> bytes:
    """The operations of a pickle, or any bytes."""
    return pickle_bytes(content, dice) if content[:1] == b"\x80" else noise(content, dice)


def make_matlab(folder: Path) -> None:
    """Arrays with the items first and last, packed and plain."""
    import scipy.io

    for packed in (False, True):
        values = {"X": np.moveaxis(PIXELS, 0, -1), "y": LABELS[:, None] + 1}
        target = place(folder, f"last {packed}", ".mat")
        scipy.io.savemat(target, values, do_compression=packed)
        scipy.io.savemat(
            place(folder, f"first {packed}", ".mat"), {"x": PIXELS}, do_compression=packed
        )


def make_video(folder: Path) -> None:
    """Motion JPEG and MPEG-4."""
    import cv2

    for suffix, code in ((".avi", "MJPG"), (".mp4", "mp4v")):
        target = place(folder, suffix[1:], suffix)
        writer = cv2.VideoWriter(str(target), cv2.VideoWriter.fourcc(*code), 10, (32, 24))
        for number in range(12):
            writer.write(np.full((24, 32, 3), number * 20, np.uint8))
        writer.release()


def make_tables(folder: Path) -> None:
    """Encoded images and arrays in Parquet, Arrow and Feather."""
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    encoded = pa.table({"image": [png(number) for number in range(6)], "label": LABELS})
    lists = pa.list_(pa.list_(pa.list_(pa.uint8())))
    arrays = pa.table({"x": pa.array(PIXELS.tolist(), lists), "class": LABELS})
    for name, table in (("encoded", encoded), ("arrays", arrays)):
        pa.parquet.write_table(table, place(folder, f"{name} p", ".parquet"), row_group_size=2)
        pa.feather.write_feather(table, place(folder, f"{name} f", ".feather"), chunksize=2)
        target = str(place(folder, f"{name} a", ".arrow"))
        with pa.OSFile(target, "wb") as file, pa.ipc.new_stream(file, table.schema) as out:
            out.write_table(table, max_chunksize=2)


def make_hdf5(folder: Path) -> None:
    """Plain and packed arrays, class names beside them."""
    import h5py

    for packed in (None, "gzip"):
        with h5py.File(place(folder, f"arrays {packed}", ".h5"), "w") as file:
            file.create_dataset("images", data=PIXELS, compression=packed)
            file["labels"], file["names"] = LABELS, list(NAMES)


def spoil_anywhere(content: bytes, dice: random.Random, seed: str) -> bytes:
    """Bytes, more often near the start and the end, where such files describe themselves."""
    chance = dice.random()
    if chance < 0.35:
        return noise(content[:400], dice) + content[400:]
    if chance < 0.7:
        return content[:-400] + noise(content[-400:], dice)
    return noise(content, dice)


def kinds() -> list[Kind]:
    """Every kind of store whose library is here."""

    def kind(name: str, share: int, make, spoil, package: str = "") -> list[Kind]:
        if package and importlib.util.find_spec(package) is None:
            return []
        return [Kind(name, share, make, spoil, open_and_read, import_readers)]

    return [
        *kind("packed", 60, make_packed, spoil_packed),
        *kind("cifar", 30, make_cifar, spoil_cifar),
        *kind("matlab", 20, make_matlab, spoil_anywhere),
        *kind("video", 20, make_video, spoil_anywhere),
        *kind("tables", 40, make_tables, spoil_anywhere, "pyarrow"),
        *kind("hdf5", 30, make_hdf5, spoil_anywhere, "h5py"),
    ]
