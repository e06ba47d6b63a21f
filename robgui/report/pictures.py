"""Pictures small enough to stand inside a file: figures of few colours, thumbnails."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from robgui.report.figures import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: A figure this wide (pixels) is sharp on a phone and on a large screen. As PNG of so many colours it takes 10 to 80 kB;
#: as SVG every figure of the demo takes two to five times as much.
_WIDE = 1060
_COLOURS = 128
#: A thumbnail larger than this as PNG is a photograph, and smaller as JPEG.
_PHOTOGRAPH = 6_000


def figure_address(figure: Figure) -> str:
    """The figure as a ``data:`` address."""
    buffer = io.BytesIO()
    _few_colours(figure, _WIDE).save(buffer, "png", optimize=True)
    return _address("png", buffer.getvalue())


def figure_pixels(figure: Figure, width: int) -> np.ndarray:
    """The figure as uint8 ``(h, w, 3)`` of few colours, about ``width`` pixels wide."""
    return np.asarray(_few_colours(figure, width).convert("RGB"))


def thumbnail_address(picture: np.ndarray, side: int) -> str:
    """A uint8 ``(h, w, 3)`` picture, no larger than ``side`` high and twice as wide, as a ``data:`` address."""
    image = Image.fromarray(picture)
    image.thumbnail((2 * side, side))
    buffer = io.BytesIO()
    image.save(buffer, "png", optimize=True)
    if buffer.tell() <= _PHOTOGRAPH:
        return _address("png", buffer.getvalue())
    buffer = io.BytesIO()
    image.save(buffer, "jpeg", quality=85)
    return _address("jpeg", buffer.getvalue())


def _few_colours(figure: Figure, width: int) -> Image.Image:
    with Image.open(io.BytesIO(save(figure, "png", dpi=round(width / figure.get_size_inches()[0])))) as image:
        return image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)


def _address(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
