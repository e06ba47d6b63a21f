"""Image files to arrays, and arrays to the size and channels a model wants."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
from PIL import Image, UnidentifiedImageError

from robgui.core.dataset.framing import SQUASH, Framing, area
from robgui.core.errors import DataError
from robgui.core.regular import open_regular

#: Suffixes treated as images, and the decoders that may open them.
SUFFIXES = frozenset(
    {
        ".png",
        ".jpg",
        ".jpeg",
        ".jpe",
        ".bmp",
        ".dib",
        ".tif",
        ".tiff",
        ".webp",
        ".gif",
        ".ppm",
        ".pgm",
        ".pbm",
    }
)
# Named, or Pillow would try all of its decoders, EPS with Ghostscript among them.
_FORMATS = ("PNG", "JPEG", "BMP", "DIB", "TIFF", "WEBP", "GIF", "PPM")
#: Most pixels: 64 megapixels take 192 MB; Pillow itself warns of bombs from 89 megapixels on.
LARGEST_PIXELS = 64_000_000
#: Longest side of a JPEG. Every row of a picture costs memory of its own, however narrow it is.
LARGEST_SIDE = 65_535
_TOO_LARGE = (
    f"the image has more than {LARGEST_PIXELS // 10**6} million pixels; make it smaller or leave it"
    " out."
)
#: Rec. 601 luma, the weights Pillow uses for "L".
_LUMA = np.array((0.299, 0.587, 0.114), dtype=np.float32)
# EXIF tag 274: 1 is upright, 2 to 8 are the flips and quarter turns that undo the camera's.
_ORIENTATION = 0x0112
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def read_image(path: Path | str, at_least: int = 0) -> np.ndarray:
    """One image file as ``(h, w, c)``; see ``decode_image``."""
    with decoding(path), open_regular(path) as file:
        return decode_image(file, at_least)


def decode_image(file: IO[bytes], at_least: int = 0) -> np.ndarray:
    """One encoded image as ``(h, w, c)`` with one or three channels; call inside ``decoding``.

    uint8, or float32 in [0, 1] for deeper files. Transparency becomes white, the EXIF orientation
    is applied, and an animation gives its first frame.

    Args:
        file: The encoded image.
        at_least: Read a smaller version, at least this large, if the format has one (JPEG).
    """
    with _opened(file) as image:
        _check_pixels(image)
        if at_least:
            # JPEG decodes at 1/2, 1/4 or 1/8 straight from its coefficients; other formats ignore
            # it.
            image.draft(None, (at_least, at_least))
        turn = _TURNS.get(_orientation(image))
        image.load()
        return _pixels(image if turn is None else image.transpose(turn))


def image_shape(path: Path | str) -> tuple[int, int, int]:
    """Channels, height and width of one image file, from its header."""
    with decoding(path), open_regular(path) as file:
        return decode_shape(file)


def decode_shape(file: IO[bytes]) -> tuple[int, int, int]:
    """Channels, height and width of one encoded image, from its header.

    Call inside ``decoding``.
    """
    with _opened(file) as image:
        _check_pixels(image)
        # Orientations 5 to 8 turn by a quarter, so the sides change places.
        if _orientation(image) < 5:
            width, height = image.size
        else:
            width, height = image.size[::-1]
        grey = image.mode in ("1", "L", "LA", "La", "I", "F") or image.mode.startswith("I;")
        return (1 if grey else 3, height, width)


def _opened(file: IO[bytes]) -> Image.Image:
    if not file.read(1):
        raise ValueError("it is empty")
    file.seek(0)
    return Image.open(file, formats=_FORMATS)


@contextmanager
def decoding(where: object) -> Iterator[None]:
    """Turns whatever a decoder raises into one sentence that names ``where``."""
    try:
        yield
    except DataError as error:
        raise error.at(where) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise DataError(f"{where}: {_TOO_LARGE}") from error
    except Exception as error:  # Decoders raise anything at all on a broken file.
        lines = str(error).strip().splitlines()
        reason = (lines[0] if lines else type(error).__name__)[:200]
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror
        elif isinstance(error, UnidentifiedImageError):
            reason = "it is no image, or not of the kind its name says"
        raise DataError(
            f"{where}: the image cannot be read ({reason}); replace the file or leave it out."
        ) from error


def _check_pixels(image: Image.Image) -> None:
    if image.width * image.height > LARGEST_PIXELS:
        raise DataError(_TOO_LARGE)
    if max(image.size) > LARGEST_SIDE:
        raise DataError(
            f"the image is {max(image.size):,} pixels long, more than {LARGEST_SIDE:,}; make it"
            " smaller or leave it out."
        )


def _orientation(image: Image.Image) -> int:
    try:
        value = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # noqa: BLE001  a broken EXIF block says nothing about the pixels, so the picture stands as it is
        return 1
    if isinstance(value, int):
        return value
    return 1


def _pixels(image: Image.Image) -> np.ndarray:
    if image.mode.startswith("I") or image.mode == "F":
        values = np.asarray(image)
        # Integers deeper than bytes are 16-bit.
        low, high = value_range(values) if image.mode == "F" else (0.0, 65535.0)
        return to_unit(values, low, high)[:, :, None]
    grey = image.mode in ("1", "L", "LA", "La")
    # Not by mode: a palette may hold transparency too.
    if image.has_transparency_data:
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image.convert("RGBA"))
    pixels = np.asarray(image.convert("L" if grey else "RGB"))
    if grey:
        return pixels[:, :, None]
    return pixels


def value_range(values: np.ndarray) -> tuple[float, float]:
    """The values of black and white: 0 and 1, 255 or 65535.

    Raises:
        DataError: The values fit none of these; the sentence lacks the place, which the caller
            knows.
    """
    if values.size == 0 or values.dtype == np.bool_:
        return 0.0, 1.0
    lowest, highest = float(values.min()), float(values.max())
    if not np.isfinite([lowest, highest]).all():
        raise DataError("some values are not finite numbers; correct the file.")
    whole = values.dtype.kind in "iu"
    # A little beyond either end is rounding of whoever wrote the file.
    for top, close in ((1, 1e-3), (255, 0.5), (65535, 0.5)):
        if (
            lowest >= -close
            and highest <= top + close
            # Sixteen bits are stored as whole numbers; fractions that large are something else.
            and (whole or top != 65535)
            # Fractions up to 8 are no bytes: more likely standardised values.
            and (top == 1 or whole or highest > 8)
        ):
            return 0.0, float(top)
    raise DataError(
        f"the values run from {lowest:.4g} to {highest:.4g}, neither 0 to 1 nor 0 to 255; give low"
        " and high, what black and white are.",
        option=f"low={lowest:.4g} high={highest:.4g}",
    )


def to_unit(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Pixels as float32 in [0, 1].

    Bytes from 0 to 255 stay bytes, which mean the same and are smaller.

    Raises:
        DataError: A value lies outside; the sentence lacks the place, which the caller knows.
    """
    if values.dtype == np.uint8 and (low, high) == (0.0, 255.0):
        return values
    unit = ((values.astype(np.float32) - np.float32(low)) / np.float32(high - low)).astype(
        np.float32
    )
    # Written so that a NaN fails it: every comparison with NaN is false.
    if unit.size and not (unit.min() >= -2e-3 and unit.max() <= 1.002):
        raise DataError(
            f"its values are not all between {low:.4g} and {high:.4g}; give low and high, what"
            " black and white are."
        )
    return np.clip(unit, 0, 1)


def fit(pixels: np.ndarray, shape: tuple[int, ...], framing: Framing = SQUASH) -> np.ndarray:
    """Pixels ``(h, w, c)`` as float32 ``(c, h, w)`` of ``shape``: resized, and grey <-> colour.

    Raises:
        DataError: The channels cannot be converted; the sentence lacks the place, which the caller
            knows.
    """
    if len(shape) != 3:
        raise DataError(f"an image has three sizes (channels, height, width), not {shape}.")
    channels, height, width = shape
    resized = unit_float(framing.apply(pixels, height, width))
    return np.ascontiguousarray(_with_channels(resized, channels).transpose(2, 0, 1))


def unit_float(pixels: np.ndarray) -> np.ndarray:
    """Bytes to float32 in [0, 1]; floats as they are."""
    if pixels.dtype == np.uint8:
        return pixels.astype(np.float32) / np.float32(255)
    return pixels.astype(np.float32, copy=False)


def _with_channels(pixels: np.ndarray, channels: int) -> np.ndarray:
    present = pixels.shape[2]
    if present == channels:
        return pixels
    if (present, channels) == (3, 1):
        return (pixels @ _LUMA)[:, :, None]
    if present == 1 and channels == 3:
        return np.repeat(pixels, 3, axis=2)
    raise DataError(
        f"it has {present} channels and cannot become an image of {channels}; only 1 and 3 can be"
        " exchanged."
    )


def thumbnail(pixels: np.ndarray, size: int) -> np.ndarray:
    """Pixels ``(h, w, c)`` as uint8 ``(h, w, 3)`` with the longest side at most ``size``.

    Never enlarged.
    """
    height, width = pixels.shape[:2]
    factor = min(1.0, size / max(height, width))
    small = area(pixels, max(1, round(height * factor)), max(1, round(width * factor)))
    if small.dtype != np.uint8:
        small = np.rint(small * 255).astype(np.uint8)
    return np.ascontiguousarray(
        small[:, :, :3] if small.shape[2] >= 3 else np.repeat(small[:, :, :1], 3, axis=2)
    )
