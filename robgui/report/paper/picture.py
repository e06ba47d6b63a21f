"""Pictures as a PDF holds them: the packed rows of a PNG file are taken over as they are."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: Colour types of PNG by the number of values in a pixel; 3 is a palette.
_CHANNELS = {0: 1, 2: 3, 3: 1}
_PALETTE = 3


@dataclass(frozen=True, slots=True)
class PaperPicture:
    """A picture that needs no more work.

    Attributes:
        width: Pixels.
        height: Pixels.
        entries: What a PDF says of it beside its size.
        data: Its packed rows.
    """

    width: int
    height: int
    entries: str
    data: bytes


def packed(picture: bytes | np.ndarray) -> PaperPicture:
    """A PNG file without transparency, or uint8 ``(h, w, 3)`` pixels."""
    if isinstance(picture, np.ndarray):
        high, wide = picture.shape[:2]
        entries = "/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode"
        return PaperPicture(
            wide, high, entries, zlib.compress(np.ascontiguousarray(picture).tobytes())
        )
    chunks = _chunks(picture)
    head = chunks[b"IHDR"]
    wide, high = (int.from_bytes(head[at : at + 4], "big") for at in (0, 4))
    # IHDR: width and height with four bytes each, then bit depth and colour type.
    depth, kind = head[8], head[9]
    # PDF knows PNG's row filters as predictor 15, so the compressed rows are taken as they are.
    rows = f"/Predictor 15 /Colors {_CHANNELS[kind]} /BitsPerComponent {depth} /Columns {wide}"
    if _CHANNELS[kind] == 3:
        colours = "/DeviceRGB"
    else:
        colours = "/DeviceGray"
    if kind == _PALETTE:
        palette = chunks[b"PLTE"]
        colours = f"[/Indexed /DeviceRGB {len(palette) // 3 - 1} <{palette.hex()}>]"
    entries = (
        f"/ColorSpace {colours} /BitsPerComponent {depth}"
        f" /Filter /FlateDecode /DecodeParms << {rows} >>"
    )
    return PaperPicture(wide, high, entries, chunks[b"IDAT"])


def _chunks(png: bytes) -> dict[bytes, bytes]:
    """The parts of a PNG file by name; those of one name in a row."""
    found: dict[bytes, bytes] = {}
    at = len(_SIGNATURE)
    while at < len(png):
        length, name = int.from_bytes(png[at : at + 4], "big"), png[at + 4 : at + 8]
        # IDAT may come in several chunks, which are one stream.
        found[name] = found.get(name, b"") + png[at + 8 : at + 8 + length]
        # Length, name and checksum take 4 bytes each.
        at += length + 12
    return found
