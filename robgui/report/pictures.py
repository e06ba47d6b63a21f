"""Pictures small enough to stand inside a file: drawings of few colours, thumbnails."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from robgui.core.view import Film, Images, Table, View
from robgui.report import report_content
from robgui.report.drawing import draw_view, pixels
from robgui.report.drawing.figure import styled
from robgui.report.drawing.look import Look
from robgui.report.kept import KEPT
from robgui.report.painters import Job, Painters

if TYPE_CHECKING:
    from robgui.core.workspace import Workspace
    from robgui.report.report_content import Chapter

#: A drawing this wide (pixels) is sharp on a phone, on a large screen and on paper. As PNG of few
#: colours it takes 10 to 80 kB; as SVG the drawings of the demo take two to five times as much.
_WIDE = 1200
_COLOURS = 128
#: More takes three times as long and saves a tenth.
_COMPRESSION = 6
#: How many pictures a run has, about.
_USUAL = 4
#: A thumbnail larger than this as PNG is a photograph, and smaller as JPEG.
_PHOTOGRAPH = 6_000


class Figures:
    """The drawings of runs as small PNG files, each drawn once for HTML and PDF together.

    A result is read, drawn and forgotten before the next one: together they may be large.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._drawn: dict[tuple[str, bool], tuple[list[bytes | Table], str]] = {}
        self._tables: dict[tuple[str, int], bytes] = {}

    def problem(self, chapter: Chapter) -> str:
        """Why a run cannot be drawn, in a sentence; empty when it can."""
        return self._of(chapter, False)[1]

    def shown(self, chapter: Chapter, *, dark: bool = False) -> list[str | Table]:
        """What a run looks like: pictures as ``data:`` addresses, tables as they are."""
        found = self._of(chapter, dark)[0]
        return [one if isinstance(one, Table) else _address("png", one) for one in found]

    def pixels(self, chapter: Chapter) -> Iterator[np.ndarray]:
        """What a run looks like, each as uint8 ``(h, w, 3)``; tables are drawn on demand."""
        for place, one in enumerate(self._of(chapter, False)[0]):
            data = one
            if isinstance(data, Table):
                data = self._tables.get((chapter.run.id, place)) or png_of(data, large=False)
            with Image.open(io.BytesIO(data)) as image:
                yield np.asarray(image.convert("RGB"))

    def draw_ahead(
        self, chapters: Sequence[Chapter], *, dark: bool = False, tables: bool = False
    ) -> None:
        """Draws what these runs look like with all cores; a few runs are drawn when they are asked
        for.

        Args:
            chapters: The runs.
            dark: On a dark ground.
            tables: Draws tables too.
        """
        wanted = [one for one in chapters if (one.run.id, dark) not in self._drawn]
        processes = Painters.worth(_USUAL * len(wanted))
        if not processes:
            return
        asked: list[tuple[str, int]] = []
        with Painters(processes) as painters:
            for place, drawn in enumerate(painters.paint(self._jobs(wanted, dark, tables, asked))):
                run, number = asked[place]
                if isinstance(self._drawn[run, dark][0][number], Table):
                    self._tables[run, number] = drawn
                else:
                    self._drawn[run, dark][0][number] = drawn

    def _jobs(
        self, chapters: Sequence[Chapter], dark: bool, tables: bool, asked: list[tuple[str, int]]
    ) -> Iterator[Job]:
        """What is to be drawn; where each drawing belongs is added to ``asked``."""
        for one in chapters:
            views, problem = report_content.views(self._workspace, one)
            self._drawn[one.run.id, dark] = (
                [view if isinstance(view, Table) else b"" for view in views],
                problem,
            )
            for number, view in enumerate(views):
                if tables or not isinstance(view, Table):
                    asked.append((one.run.id, number))
                    large = number == 0 and not isinstance(view, Table)
                    yield Job(view, dark, large)

    def _of(self, chapter: Chapter, dark: bool) -> tuple[list[bytes | Table], str]:
        key = (chapter.run.id, dark)
        if key not in self._drawn:
            views, problem = report_content.views(self._workspace, chapter)
            drawn: list[bytes | Table] = []
            with styled(Look(dark)):
                for place, view in enumerate(views):
                    if isinstance(view, Table):
                        drawn.append(view)
                        continue
                    drawn.append(png_of(view, dark=dark, large=place == 0))
            self._drawn[key] = (drawn, problem)
        return self._drawn[key]


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
        found = _draw(view, dark=dark, large=large)
        KEPT.put(key, found)
    return found


def _draw(view: View, *, dark: bool, large: bool) -> bytes:
    image = Image.fromarray(pixels(draw_view(view, dark=dark, large=large), _WIDE)).convert("RGB")
    buffer = io.BytesIO()
    _few_colours(image, photographs=isinstance(view, Images | Film)).save(
        buffer, "png", compress_level=_COMPRESSION
    )
    return buffer.getvalue()


def _few_colours(image: Image.Image, *, photographs: bool) -> Image.Image:
    """The same with a palette: the best one for photographs, for lines and areas one that is found
    fifteen times as fast; the ground stays what it is, as the page around has it too.
    """
    if photographs:
        return image.quantize(_COLOURS, dither=Image.Dither.NONE)
    reduced = image.quantize(_COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    palette, corner = reduced.getpalette() or [], (0, 0)
    place, ground = reduced.getpixel(corner), image.getpixel(corner)
    assert isinstance(place, int) and isinstance(ground, tuple)
    palette[3 * place : 3 * place + 3] = list(ground)
    reduced.putpalette(palette)
    return reduced


def _address(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
