"""A folder of 100,000 images: time to open it, to the first thumbnail, and thumbnails per second.

Run it with ``python3 packaging/dev.py bench`` or by itself. It prints figures and asserts none.
"""

from __future__ import annotations

import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

from robgui.core.dataset import Dataset, open_dataset

COUNT = 100_000
#: Some file systems allow no more than this many links to one file.
LINKS = 20_000


def main() -> None:
    """Prints every figure."""
    for title, classes in (("flat", 0), ("10 class folders", 10)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make(folder, classes)
            bench_folder(title, folder)


def make(folder: Path, classes: int) -> None:
    """Fills a folder with links to a few small images (``(32, 32)``, PNG and JPEG)."""
    rng = np.random.default_rng(0)
    masters = []
    for number in range(COUNT // LINKS):
        path = folder / f".master{number}.{'png' if number % 2 else 'jpg'}"
        Image.fromarray(rng.integers(0, 256, (32, 32, 3), np.uint8)).save(path)
        masters.append(path)
    for number in range(classes):
        (folder / f"class{number}").mkdir()
    for number in range(COUNT):
        master = masters[number % len(masters)]
        parent = folder / f"class{number % classes}" if classes else folder
        os.link(master, parent / f"image_{number}{master.suffix}")


def bench_folder(title: str, folder: Path) -> None:
    """Opens the folder and reads what a gallery reads."""
    began = time.perf_counter()
    dataset = open_dataset(folder)
    opened = time.perf_counter()
    dataset.thumbnail(len(dataset) // 2, 96)
    first = time.perf_counter()
    fingerprint = _seconds(lambda: dataset.fingerprint)
    print(
        f"{title}: {len(dataset):,} images opened in {opened - began:.2f} s, first thumbnail"
        f" {1000 * (first - opened):.1f} ms later"
    )
    print(
        f"{title}: fingerprint in {fingerprint:.2f} s, selection by name in"
        f" {_seconds(lambda: dataset.select('name~99')):.2f} s"
    )
    for threads in (1, 2, 4):
        print(
            f"{title}: {thumbnails_per_second(dataset, threads):,.0f} thumbnails a second on"
            f" {threads} threads"
        )
    count = 2_000
    seconds = _seconds(lambda: dataset.array(range(count), (3, 32, 32)))
    print(f"{title}: {count / seconds:,.0f} inputs a second")


def thumbnails_per_second(dataset: Dataset, threads: int, count: int = 4_000) -> float:
    """Reads thumbnails from all over the dataset on a pool of threads."""
    places = np.random.default_rng(0).integers(0, len(dataset), count).tolist()
    with ThreadPoolExecutor(threads) as pool:
        return count / _seconds(
            lambda: list(pool.map(lambda place: dataset.thumbnail(place, 96), places))
        )


def _seconds(action: object) -> float:
    assert callable(action)
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
