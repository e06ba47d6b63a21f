"""A million inputs of every format: seconds and memory to open them, and to the first picture.

Run it by itself: ``python -m tests.bench.bench_million FOLDER [FORMAT …]``. The files are made in
FOLDER where they are missing (about 4 GB) and stay there. It prints figures and asserts none.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

COUNT, CLASSES = 1_000_000, 1_000
_LINKS = 20_000


def main(folder: Path, wanted: list[str]) -> None:
    """Makes what is missing, and opens each format in a process of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in FORMATS.items():
        if wanted and name not in wanted:
            continue
        if not (folder / name).exists():
            make(folder / name)
        subprocess.run([sys.executable, "-m", __spec__.name, "--open", folder / name], check=True)


def measure(path: Path) -> None:
    """Opens one file and prints what that took, beyond what the readers themselves take."""
    from robgui.core.dataset import open_dataset

    open_dataset(_warm(path.parent))
    before = _most_memory()
    began, worked = time.perf_counter(), time.process_time()
    dataset = open_dataset(path)
    opened, worked = time.perf_counter(), time.process_time() - worked
    dataset.thumbnail(len(dataset) // 2, 96)
    seen = time.perf_counter()
    memory = _most_memory() - before
    assert dataset.fingerprint
    print(
        f"{path.name:<14} {len(dataset):,} inputs, {len(np.unique(dataset.labels)):,} classes:"
        f" opened in {opened - began:.1f} s ({worked:.1f} s of computing) with {memory:,.0f} MB,"
        f" first picture {1e3 * (seen - opened):.0f} ms later, fingerprint"
        f" {time.perf_counter() - seen:.1f} s",
        flush=True,
    )


def _most_memory() -> float:
    """The most memory that this process has had, in megabytes."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", text)
    return int(found[1]) / 1e3 if found else 0.0


def _warm(folder: Path) -> Path:
    path = folder / "one.png"
    path.write_bytes(_png())
    return path


def _png() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4), (90, 120, 150)).save(buffer, "PNG")
    return buffer.getvalue()


def _name(number: int) -> str:
    return f"{number % CLASSES:04}/{number:07}.png"


def make_folder(path: Path) -> None:
    """Links to a few small images in 1,000 class folders."""
    path.mkdir()
    for number in range(CLASSES):
        (path / f"{number:04}").mkdir()
    master = path / ".master"
    for number in range(COUNT):
        if number % _LINKS == 0:
            master = path / f".master{number}.png"
            master.write_bytes(_png())
        os.link(master, path / _name(number))


def make_zip(path: Path) -> None:
    """Uncompressed members."""
    content = _png()
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(COUNT):
            archive.writestr(_name(number), content)


def make_tar(path: Path) -> None:
    """One member after the other."""
    content = _png()
    with path.open("wb") as file:
        for number in range(COUNT):
            info = tarfile.TarInfo(_name(number))
            info.size = len(content)
            file.write(info.tobuf(tarfile.USTAR_FORMAT) + content.ljust(512, b"\0"))
        file.write(bytes(1024))


def make_webdataset(path: Path) -> None:
    """An image and a class number each."""
    content = _png()
    with path.open("wb") as file:
        for number in range(COUNT):
            label = str(number % CLASSES).encode()
            for ending, part in (("png", content), ("cls", label)):
                info = tarfile.TarInfo(f"{number:07}.{ending}")
                info.size = len(part)
                file.write(info.tobuf(tarfile.USTAR_FORMAT) + part.ljust(512, b"\0"))
        file.write(bytes(1024))


def make_table(path: Path) -> None:
    """As Hugging Face stores it: encoded bytes and a class number."""
    import pyarrow as pa
    import pyarrow.parquet

    content = _png()
    step = 10_000
    schema = pa.schema({"image": pa.binary(), "label": pa.int64()})
    stream = path.suffix == ".arrow"
    file = pa.OSFile(str(path), "wb")
    writer = pa.ipc.new_stream(file, schema) if stream else pa.parquet.ParquetWriter(file, schema)
    with file, writer:
        for start in range(0, COUNT, step):
            labels = np.arange(start, start + step) % CLASSES
            batch = pa.record_batch([[content] * step, labels], schema=schema)
            writer.write_batch(batch)


def make_hdf5(path: Path) -> None:
    """Plain pixels, in pieces."""
    import h5py

    with h5py.File(path, "w") as file:
        images = file.create_dataset("images", (COUNT, 8, 8, 3), np.uint8, chunks=(1000, 8, 8, 3))
        step = 100_000
        piece = np.full((step, 8, 8, 3), 7, np.uint8)
        for start in range(0, COUNT, step):
            # h5py writes a single number value by value, which takes an hour
            images[start : start + step] = piece[: COUNT - start]
        file["labels"] = np.arange(COUNT) % CLASSES


def make_cifar(path: Path) -> None:
    """Rows of bytes."""
    rows = np.zeros((1000, 3073), np.uint8)
    rows[:, 0] = np.arange(1000) % 10
    with path.open("wb") as file:
        for _ in range(COUNT // 1000):
            file.write(rows.tobytes())


FORMATS: dict[str, Callable[[Path], None]] = {
    "folder": make_folder,
    "images.zip": make_zip,
    "images.tar": make_tar,
    "samples.tar": make_webdataset,
    "table.parquet": make_table,
    "table.arrow": make_table,
    "arrays.h5": make_hdf5,
    "rows.bin": make_cifar,
}

if __name__ == "__main__":
    if sys.argv[1] == "--open":
        measure(Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1]), sys.argv[2:])
