"""Pictures of inputs as findings show them."""

from __future__ import annotations

import numpy as np


def enlarged(x: np.ndarray, kind: str, smallest: int = 112) -> np.ndarray:
    """An input as a picture with at least ``smallest`` pixels on its longer side."""
    from robgui.core.dataset.picture import picture_of

    picture = picture_of(x, kind)
    # Whole multiples, so pixels stay square.
    factor = max(1, -(-smallest // max(picture.shape[:2])))
    return np.ascontiguousarray(picture.repeat(factor, 0).repeat(factor, 1))


def side_by_side(pictures: list[np.ndarray], gap: int = 8) -> np.ndarray:
    """Pictures of one height in a row with a white gap."""
    white = np.full((pictures[0].shape[0], gap, 3), 255, dtype=np.uint8)
    parts = [part for picture in pictures for part in (white, picture)][1:]
    return np.concatenate(parts, axis=1)
