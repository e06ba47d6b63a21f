"""Pictures small enough to stand inside a file: figures of few colours, thumbnails."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from robgui.core.errors import WorkspaceError
from robgui.report import facts
from robgui.report.figures import pixels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from robgui.core.workspace import Workspace
    from robgui.report.facts import Chapter

#: A figure this wide (pixels) is sharp on a phone, on a large screen and on paper. As PNG of so many colours it takes 10 to
#: 80 kB; as SVG every figure of the demo takes two to five times as much.
_WIDE = 1200
_COLOURS = 128
#: A thumbnail larger than this as PNG is a photograph, and smaller as JPEG.
_PHOTOGRAPH = 6_000


class Figures:
    """The figures of the runs of a workspace as small PNG files, each drawn once for HTML and PDF together."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._drawn: dict[tuple[str, bool], bytes] = {}
        self._problems: dict[str, str] = {}

    def address(self, chapter: Chapter, *, dark: bool = False) -> str:
        """The figure of a run as a ``data:`` address; empty when there is nothing to draw."""
        data = self._png(chapter, dark)
        return _address("png", data) if data else ""

    def pixels(self, chapter: Chapter) -> np.ndarray | None:
        """The figure of a run as uint8 ``(h, w, 3)``; None when there is nothing to draw."""
        data = self._png(chapter, False)
        if not data:
            return None
        with Image.open(io.BytesIO(data)) as image:
            return np.asarray(image.convert("RGB"))

    def problem(self, chapter: Chapter) -> str:
        """Why the figure of a run cannot be drawn; empty when it can, or when nobody has asked for it yet."""
        return self._problems.get(chapter.run.id, "")

    def _png(self, chapter: Chapter, dark: bool) -> bytes:
        key = (chapter.run.id, dark)
        if key not in self._drawn:
            try:
                figure = facts.figure(self._workspace, chapter, dark=dark)
                self._drawn[key] = b"" if figure is None else _few_colours(figure)
            except WorkspaceError as error:
                self._drawn[key], self._problems[chapter.run.id] = b"", str(error)
        return self._drawn[key]


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


def _few_colours(figure: Figure) -> bytes:
    """The figure as the bytes of a PNG file of few colours."""
    image = Image.fromarray(pixels(figure, _WIDE)).convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    image.save(buffer, "png", optimize=True)
    return buffer.getvalue()


def _address(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
