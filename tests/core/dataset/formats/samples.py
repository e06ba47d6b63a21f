"""Six small images in three classes, as arrays and as files of every format."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

NAMES = ("cat", "dog", "owl")
LABELS = np.array([0, 0, 1, 1, 2, 2])
PIXELS = np.random.default_rng(0).integers(0, 256, (6, 12, 9, 3), dtype=np.uint8)
#: As a model sees them.
UNIT = (PIXELS.transpose(0, 3, 1, 2) / np.float32(255)).astype(np.float32)


def png(number: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(PIXELS[number]).save(buffer, "PNG")
    return buffer.getvalue()


def member(number: int) -> str:
    return f"{NAMES[LABELS[number]]}/img_{number}.png"


def write_tree(folder: Path) -> Path:
    for number in range(len(PIXELS)):
        target = folder / member(number)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(png(number))
    return folder
