"""Framing: how a picture of any size is fitted to the size a model takes.

Networks are trained on pictures fitted in one particular way, and answer worse on any other: most
ImageNet networks see the middle of a picture whose shorter side was scaled, not the whole picture
squeezed into a square.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from PIL import Image

from robgui.core.model.settings import Interpolation, Resize

#: The grey around a letterboxed picture, from YOLO's preprocessing (114 of 255).
LETTERBOX_GREY = 114 / 255
_PILLOW = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
_OPENCV = {
    # Not INTER_NEAREST, which rounds pixel centres differently from Pillow.
    "nearest": cv2.INTER_NEAREST_EXACT,
    "bilinear": cv2.INTER_LINEAR,
    "bicubic": cv2.INTER_CUBIC,
    "lanczos": cv2.INTER_LANCZOS4,
}


@dataclass(frozen=True, slots=True)
class Framing:
    """How pictures are fitted to a model's size; one that already has it is left alone.

    Attributes:
        resize: ``squash`` scales height and width on their own; ``crop`` scales both alike and
            keeps the middle; ``squash-crop`` squashes to more than the size and keeps the middle;
            ``letterbox`` scales both alike and fills up with grey.
        share: With ``crop``, the share of the shorter side that is kept, with ``squash-crop`` of
            both sides: 224 of 256 pixels is 0.875.
        interpolation: How pixels are computed; ``area`` averages to shrink and interpolates
            linearly to grow.
        antialias: Whether the other interpolations average over all pixels that fall together, as
            Pillow does, or look at the nearest few, as OpenCV does.
    """

    resize: Resize = "squash"
    share: float = 1.0
    interpolation: Interpolation = "area"
    antialias: bool = True

    def apply(self, pixels: np.ndarray, height: int, width: int) -> np.ndarray:
        """Pixels ``(h, w, c)``, bytes or float32, brought to ``(height, width, c)``."""
        # Never touched: resampling a picture to its own size would still change its values.
        if pixels.shape[:2] == (height, width):
            return pixels
        if self.resize == "squash":
            return self._scale(pixels, height, width)
        if self.resize in ("crop", "squash-crop"):
            return self._crop(pixels, height, width)
        return self._letterbox(pixels, height, width)

    def _crop(self, pixels: np.ndarray, height: int, width: int) -> np.ndarray:
        """Like torchvision's Resize and CenterCrop: what lies outside the middle is cut off."""
        size = self._before_crop(pixels, height, width)
        scaled = self._scale(pixels, *size)
        # round, as torchvision's CenterCrop does: the extra pixel goes where it puts it.
        top, left = round((size[0] - height) / 2), round((size[1] - width) / 2)
        return scaled[top : top + height, left : left + width]

    def _before_crop(self, pixels: np.ndarray, height: int, width: int) -> tuple[int, int]:
        """The size to scale to: both sides as wanted, or the shorter side exactly."""
        # floor, as timm computes the size before its crop.
        wanted_height, wanted_width = (math.floor(side / self.share) for side in (height, width))
        old_height, old_width = pixels.shape[:2]
        if self.resize == "squash-crop":
            return wanted_height, wanted_width
        # In integers: the shorter side is exact, the longer one is cut like torchvision's int().
        if wanted_height * old_width >= wanted_width * old_height:
            return wanted_height, max(width, wanted_height * old_width // old_height)
        return max(height, wanted_width * old_height // old_width), wanted_width

    def _letterbox(self, pixels: np.ndarray, height: int, width: int) -> np.ndarray:
        old_height, old_width = pixels.shape[:2]
        factor = min(height / old_height, width / old_width)
        inner = max(1, round(old_height * factor)), max(1, round(old_width * factor))
        if pixels.dtype != np.uint8:
            grey = LETTERBOX_GREY
        else:
            grey = round(255 * LETTERBOX_GREY)
        framed = np.full((height, width, pixels.shape[2]), grey, dtype=pixels.dtype)
        top, left = (height - inner[0]) // 2, (width - inner[1]) // 2
        framed[top : top + inner[0], left : left + inner[1]] = self._scale(pixels, *inner)
        return framed

    def _scale(self, pixels: np.ndarray, height: int, width: int) -> np.ndarray:
        if pixels.shape[:2] == (height, width):
            return pixels
        if self.interpolation == "area":
            return area(pixels, height, width)
        if self.antialias:
            return _with_pillow(pixels, height, width, _PILLOW[self.interpolation])
        scaled = cv2.resize(
            np.ascontiguousarray(pixels), (width, height), interpolation=_OPENCV[self.interpolation]
        ).reshape(height, width, -1)
        if scaled.dtype == np.uint8:
            return scaled
        return np.clip(scaled, 0, 1)


#: Scales height and width on their own: the default, unless a model's settings differ.
SQUASH = Framing()


def area(pixels: np.ndarray, height: int, width: int) -> np.ndarray:
    """Averages areas to shrink a picture, interpolates linearly to enlarge it."""
    old_height, old_width = pixels.shape[:2]
    for size, method in (
        # First shrink by area, then enlarge linearly: one of the two does nothing, per axis.
        ((min(width, old_width), min(height, old_height)), cv2.INTER_AREA),
        ((width, height), cv2.INTER_LINEAR),
    ):
        if pixels.shape[1::-1] != size:
            pixels = np.asarray(
                cv2.resize(np.ascontiguousarray(pixels), size, interpolation=method)
            ).reshape(size[1], size[0], -1)
    return pixels


def _with_pillow(
    pixels: np.ndarray, height: int, width: int, method: Image.Resampling
) -> np.ndarray:
    # Pillow resizes RGB bytes in one go; everything else goes plane by plane.
    if pixels.dtype == np.uint8 and pixels.shape[2] == 3:
        return np.asarray(Image.fromarray(pixels).resize((width, height), method))
    planes = [
        np.asarray(Image.fromarray(np.ascontiguousarray(plane)).resize((width, height), method))
        for plane in np.moveaxis(pixels, 2, 0)
    ]
    scaled = np.stack(planes, axis=2)
    # Bicubic and Lanczos overshoot.
    return scaled if scaled.dtype == np.uint8 else np.clip(scaled, 0, 1)
