"""Pictures small enough to stand inside a file: drawings of few colours, thumbnails."""

from __future__ import annotations

import base64
import gc
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
#: Of a plot, and of a drawing with photographs, whose shades show steps sooner.
_COLOURS, _MOST_COLOURS = 128, 256
#: More takes twice as long and saves a tenth.
_COMPRESSION = 4
#: A thumbnail larger than this as PNG is a photograph, and smaller as JPEG.
_PHOTOGRAPH = 6_000


@dataclass(frozen=True)
class DrawnRun:
    """What a report shows of a run.

    Attributes:
        shown: Pictures as PNG files, and tables.
        left: How many pictures were not asked for.
    """

    shown: tuple[bytes | Table, ...] = ()
    left: int = 0


class Figures:
    """The drawings of runs as small PNG files, each drawn once for HTML and PDF together.

    A result is read, drawn and forgotten before the next one: together they may be large.

    Args:
        workspace: Whose runs.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._drawn: dict[tuple[str, bool, int], DrawnRun] = {}
        self._problems: dict[str, str] = {}
        self._last: tuple[str, tuple[View, ...]] = ("", ())

    def problem(self, chapter: Chapter) -> str:
        """Why a run cannot be drawn, in a sentence; empty when it can."""
        if chapter.run.id not in self._problems:
            self._views(chapter)
        return self._problems[chapter.run.id]

    def shown(self, chapter: Chapter, *, dark: bool = False, most: int = 0) -> list[str | Table]:
        """What a run looks like: pictures as ``data:`` addresses, tables as they are.

        Args:
            chapter: The run.
            dark: Whether the pictures are for a dark page.
            most: How many pictures at most; 0 for all.
        """
        found = self.drawn(chapter, dark, most).shown
        return [one if isinstance(one, Table) else _address("png", one) for one in found]

    def files(self, chapter: Chapter, most: int = 0) -> Iterator[bytes]:
        """What a run looks like, each as a PNG file; tables are drawn on demand.

        Args:
            chapter: The run.
            most: How many at most, pictures before tables; 0 for all.
        """
        found = self.drawn(chapter, False, most).shown
        if most:
            # Pictures before tables, of which paper shows only the first rows.
            found = tuple(sorted(found, key=lambda one: isinstance(one, Table)))[:most]
        for one in found:
            yield png_of(one, large=False) if isinstance(one, Table) else one

    def left(self, chapter: Chapter, most: int) -> int:
        """How many pictures of a run are not among the first ``most``."""
        return self.drawn(chapter, False, most).left

    def drawn(self, chapter: Chapter, dark: bool, most: int) -> DrawnRun:
        """The tables of a run and its first pictures; all for ``most=0``."""
        key = (chapter.run.id, dark, most)
        if key not in self._drawn:
            views = self._views(chapter)
            pictures = [place for place, view in enumerate(views) if not isinstance(view, Table)]
            left = set(pictures[most:] if most else ())
            # Around all of them: changing the style takes a tenth of a drawing.
            with styled(Look(dark)):
                shown = [
                    _shown(view, dark, place == 0)
                    for place, view in enumerate(views)
                    if place not in left
                ]
            self._drawn[key] = DrawnRun(tuple(shown), len(left))
        return self._drawn[key]

    def _views(self, chapter: Chapter) -> tuple[View, ...]:
        """What a run looks like; of the run asked for last they are at hand."""
        name = chapter.run.id
        if self._last[0] != name:
            views, self._problems[name] = report_content.views(self._workspace, chapter)
            self._last = (name, views)
        return self._last[1]


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
    # A pair is two squares side by side.
    image.thumbnail((2 * side, side))
    buffer = io.BytesIO()
    image.save(buffer, "png")
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
    """Pauses garbage collection while drawing.

    A drawing's many small parts all live to its end, and collecting would take a tenth of its time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _few_colours(image: Image.Image, *, photographs: bool) -> Image.Image:
    """The same with a palette that is found fast.

    The best palette takes fifteen times as long and differs by one level of 255 on average. The
    ground stays what it is, as the page around has it too.
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
