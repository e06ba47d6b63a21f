"""Any input as a small picture."""

from __future__ import annotations

import numpy as np

from robgui.core.dataset.drawing import bars, track

#: Side of the square in which tables and sequences are drawn.
SIDE = 96


def picture_of(x: np.ndarray, kind: str) -> np.ndarray:
    """An input in [0, 1] as uint8 ``(h, w, 3)``.

    Images as they are, tables as bars, sequences as lines.
    """
    if kind == "table":
        return bars(x, SIDE)
    if kind == "sequence":
        return track(x, (), SIDE)
    # + 0.5: the cast cuts, and a byte shall come back as the same byte.
    pixels = np.asarray(np.clip(x, 0, 1) * 255 + 0.5, dtype=np.uint8).transpose(1, 2, 0)
    if pixels.shape[2] == 3:
        return np.ascontiguousarray(pixels)
    return np.ascontiguousarray(np.repeat(pixels[:, :, :1], 3, axis=2))
