"""The usual ways of preparing a picture: other sizes, interpolations, colour orders, JPEG."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image

from robgui.analyses.pipeline.result import GREY, REVERSED
from robgui.core.dataset.framing import Framing

#: Weights of red, green and blue in what the eye sees as brightness (ITU-R BT.601).
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Way:
    """One way of preparing pictures.

    Attributes:
        name: What it is called.
        framing: How the picture is brought to the model's size.
        finish: ``(n, c, h, w)`` in [0, 1] -> the same, what happens to it afterwards.
    """

    name: str
    framing: Framing
    finish: Callable[[np.ndarray], np.ndarray] = np.asarray


def ways_of(own: Framing, channels: int, resized: bool, qualities: tuple[int, ...]) -> list[Way]:
    """The model's own way, then every usual one that differs from it.

    Args:
        own: The framing of the model's settings.
        channels: How many channels the model takes.
        resized: Whether the pictures have another size than the model's.
        qualities: JPEG qualities to try.
    """
    found = [Way("as the model is set", own)]
    if resized:
        # A picture of the model's size is not resized, so all of these would be the same.
        found += [*_sizes(own), *_interpolations(own)]
    if channels == 3:
        found += [Way(REVERSED, own, _reversed), Way(GREY, own, _grey)]
    return [*found, *(Way(f"JPEG {quality}", own, _jpeg(quality)) for quality in qualities)]


def _sizes(own: Framing) -> list[Way]:
    change = dataclasses.replace
    candidates = [
        Way("squashed", change(own, resize="squash", share=1.0)),
        Way("middle of the shorter side", change(own, resize="crop", share=1.0)),
        # 224 of 256 pixels, the usual test crop of ImageNet models.
        Way("middle, 87.5 % of the shorter side", change(own, resize="crop", share=0.875)),
        Way("with grey bars", change(own, resize="letterbox", share=1.0)),
    ]
    return [way for way in candidates if way.framing != own]


def _interpolations(own: Framing) -> list[Way]:
    change = dataclasses.replace
    smooth = [
        Way("bilinear", change(own, interpolation="bilinear", antialias=True)),
        Way("bilinear, not antialiased", change(own, interpolation="bilinear", antialias=False)),
        Way("bicubic", change(own, interpolation="bicubic", antialias=True)),
        Way("bicubic, not antialiased", change(own, interpolation="bicubic", antialias=False)),
        Way("nearest pixel", change(own, interpolation="nearest", antialias=True)),
        Way("average of areas", change(own, interpolation="area", antialias=True)),
    ]
    return [way for way in smooth if way.framing != own]


def _reversed(x: np.ndarray) -> np.ndarray:
    # A copy: torch takes no array with negative strides.
    return np.ascontiguousarray(x[:, ::-1])


def _grey(x: np.ndarray) -> np.ndarray:
    grey = np.tensordot(_LUMA, x, axes=([0], [1]))[:, None]
    return np.repeat(grey, 3, axis=1)


def _jpeg(quality: int) -> Callable[[np.ndarray], np.ndarray]:
    def finish(x: np.ndarray) -> np.ndarray:
        return np.stack([_through_jpeg(one, quality) for one in x])

    return finish


def _through_jpeg(x: np.ndarray, quality: int) -> np.ndarray:
    # Rounded, not cut: 8-bit pictures come back exactly.
    pixels = np.rint(x * 255).astype(np.uint8).transpose(1, 2, 0)
    file = io.BytesIO()
    Image.fromarray(pixels[:, :, 0] if len(x) == 1 else pixels).save(file, "JPEG", quality=quality)
    again = np.asarray(Image.open(file), dtype=np.float32) / 255
    return again.reshape(*pixels.shape).transpose(2, 0, 1)
