"""Features of an image: SIFT keypoints (Section 2), or a regular grid (Appendix I)."""

from __future__ import annotations

import cv2
import numpy as np

#: Smaller images are enlarged for SIFT, which finds next to nothing in them: 28 x 28 digits give 7
#: keypoints, and none for one in twenty; enlarged they give 16.
SMALLEST_SIDE = 112
#: The strongest of them; more would only slow down what follows.
MOST = 256
#: Cells along the shorter side of the grid that stands in for keypoints.
GRID = 7


def find_keypoints(image: np.ndarray) -> tuple[np.ndarray, str]:
    """Keypoints ``(K, 4)`` of a uint8 image ``(c, h, w)``, strongest first, and their source.

    The columns are x, y, size and response.

    The size is a diameter in pixels of the image; coordinates are those of pixel centres.
    """
    grey = _enlarged(grey_of(image))
    for words, settings in (
        ("SIFT", {}),
        ("SIFT without edge threshold", {"edgeThreshold": 1e6, "contrastThreshold": 0.0}),
    ):
        found = cv2.SIFT_create(**settings).detect(grey, None)  # type: ignore[attr-defined]
        if found:
            return _in_pixels(found, image, grey.shape[0] / image.shape[1]), words
    return grid(image.shape[1], image.shape[2]), "grid"


def grid(height: int, width: int) -> np.ndarray:
    """A regular grid of equally strong keypoints that covers the image."""
    # Square cells: a wide image has more columns, not wider features.
    cell = max(1.0, min(height, width) / GRID)
    rows, columns = max(1, round(height / cell)), max(1, round(width / cell))
    y, x = np.meshgrid(
        (np.arange(rows) + 0.5) * height / rows - 0.5,
        (np.arange(columns) + 0.5) * width / columns - 0.5,
        indexing="ij",
    )
    return np.stack([x.ravel(), y.ravel(), np.full(x.size, cell), np.ones(x.size)], 1)


def grey_of(image: np.ndarray) -> np.ndarray:
    """The uint8 image ``(c, h, w)`` as grey values ``(h, w)``."""
    if image.shape[0] == 3:
        return np.asarray(
            cv2.cvtColor(np.ascontiguousarray(image.transpose(1, 2, 0)), cv2.COLOR_RGB2GRAY)
        )
    return np.ascontiguousarray(image.mean(0).round().astype(np.uint8))


def _enlarged(grey: np.ndarray) -> np.ndarray:
    factor = SMALLEST_SIDE / min(grey.shape)
    if factor <= 1:
        return grey
    size = (round(grey.shape[1] * factor), round(grey.shape[0] * factor))
    return np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_LINEAR))


def _in_pixels(found: object, image: np.ndarray, factor: float) -> np.ndarray:
    """OpenCV's keypoints scaled back.

    One for each place and size, since SIFT repeats a place for every orientation.
    """
    rows = [(*point.pt, point.size, point.response) for point in found]  # type: ignore[attr-defined]
    points = np.array(rows, dtype=np.float64)
    # Pixel centres: 0.5 of the enlarged image is not 0.5 of the original.
    points[:, :2] = (points[:, :2] + 0.5) / factor - 0.5
    points[:, 2] /= factor
    # Responses become weights; all 0, they would have no sum to divide by.
    points[:, 3] = np.maximum(points[:, 3], 1e-9)
    points[:, 0] = points[:, 0].clip(0, image.shape[2] - 1)
    points[:, 1] = points[:, 1].clip(0, image.shape[1] - 1)
    # SIFT repeats a point for every orientation it finds there; its weight must count once.
    points = np.unique(points, axis=0)
    return points[np.argsort(-points[:, 3], kind="stable")][:MOST]
