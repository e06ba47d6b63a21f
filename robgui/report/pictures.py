"""Pictures small enough to stand inside a file: drawings of few colours, thumbnails."""

from __future__ import annotations

import base64
import gc
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from robgui.core.view import Film, Images, Table, View
from robgui.report import report_content
from robgui.report.drawing import draw_view, pixels
from robgui.report.drawing.figure import styled
from robgui.report.drawing.look import Look
from robgui.report.kept import KEPT

if TYPE_CHECKING:
    from robgui.core.workspace import Workspace
    from robgui.report.report_content import Chapter

#: A drawing this wide (pixels), half as wide again as a page shows it, is sharp on a phone, on a
#: large screen and on paper. As PNG of few colours it takes 10 to 70 kB; as SVG the drawings of the
#: demo take two to five times as much.
WIDE = 1008
_COLOURS, _MOST_COLOURS = 128, 256
#: More takes twice as long and saves a tenth.
_COMPRESSION = 4
#: A thumbnail larger than this as PNG is a photograph, and smaller as JPEG.
_PHOTOGRAPH = 6_000


class Figures:
    """The drawings of runs as small PNG files, each drawn once for HTML and PDF together.

    A result is read, drawn and forgotten before the next one: together they may be large.

    Args:
        workspace: Whose runs.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._drawn: dict[tuple[str, bool, int], tuple[list[bytes | Table], str]] = {}

    def problem(self, chapter: Chapter) -> str:
        """Why a run cannot be drawn, in a sentence; empty when it can."""
        return self._of(chapter, False, 1)[1]

    def shown(self, chapter: Chapter, *, dark: bool = False) -> list[str | Table]:
        """What a run looks like: pictures as ``data:`` addresses, tables as they are."""
        found = self._of(chapter, dark)[0]
        return [one if isinstance(one, Table) else _address("png", one) for one in found]

    def files(self, chapter: Chapter, most: int = 0) -> Iterator[bytes]:
        """What a run looks like, each as a PNG file; tables are drawn on demand.

        Args:
            chapter: The run.
            most: How many at most; 0 for all.
        """
        for one in self._of(chapter, False, most)[0]:
            yield png_of(one, large=False) if isinstance(one, Table) else one

    def _of(self, chapter: Chapter, dark: bool, most: int = 0) -> tuple[list[bytes | Table], str]:
        key = (chapter.run.id, dark, most)
        if key not in self._drawn:
            views, problem = report_content.views(self._workspace, chapter)
            with styled(Look(dark)):
                chosen = enumerate(views[: most or None])
                shown = [_shown(view, dark, place == 0) for place, view in chosen]
            self._drawn[key] = (shown, problem)
        return self._drawn[key]


def _shown(view: View, dark: bool, large: bool) -> bytes | Table:
    """A table as it is, which HTML writes in letters; anything else drawn."""
    if isinstance(view, Table):
        return view
    return png_of(view, dark=dark, large=large)


def drawing_address(view: View) -> str:
    """One view as a ``data:`` address."""
    return _address("png", png_of(view))


def thumbnail_address(picture: np.ndarray, side: int) -> str:
    """A uint8 ``(h, w, 3)`` picture, at most ``side`` high, as a ``data:`` address."""
    image = Image.fromarray(picture)
    image.thumbnail((2 * side, side))
    buffer = io.BytesIO()
    image.save(buffer, "png", optimize=True)
    if buffer.tell() <= _PHOTOGRAPH:
        return _address("png", buffer.getvalue())
    buffer = io.BytesIO()
    image.save(buffer, "jpeg", quality=85)
    return _address("jpeg", buffer.getvalue())


def png_of(view: View, *, dark: bool = False, large: bool = True) -> bytes:
    """The drawing of a view as the bytes of a PNG file of few colours; drawn once in a process."""
    key = KEPT.key(view, dark=dark, large=large)
    found = KEPT.get(key)
    if found is None:
        found = draw_png(view, dark=dark, large=large)
        KEPT.put(key, found)
    return found


def draw_png(view: View, *, dark: bool, large: bool) -> bytes:
    """The drawing of a view as the bytes of a PNG file, drawn now."""
    with _uncollected():
        drawn = pixels(draw_view(view, dark=dark, large=large), WIDE)
    image = Image.fromarray(drawn).convert("RGB")
    buffer = io.BytesIO()
    _few_colours(image, photographs=isinstance(view, Images | Film)).save(
        buffer, "png", compress_level=_COMPRESSION
    )
    return buffer.getvalue()


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collects no garbage in the middle of a drawing, whose many small parts all live to its end:
    that would take a tenth of its time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _few_colours(image: Image.Image, *, photographs: bool) -> Image.Image:
    """The same with a palette that is found fast: the best one takes fifteen times as long, and
    differs by one level of 255 on average. The ground stays what it is, as the page around has it
    too.
    """
    if photographs:
        colours = _MOST_COLOURS
    else:
        colours = _COLOURS
    reduced = image.quantize(colours, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    palette, corner = reduced.getpalette() or [], (0, 0)
    place, ground = reduced.getpixel(corner), image.getpixel(corner)
    assert isinstance(place, int) and isinstance(ground, tuple)
    palette[3 * place : 3 * place + 3] = list(ground)
    reduced.putpalette(palette)
    return reduced


def _address(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
