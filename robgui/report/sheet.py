"""A sheet of paper: text, tables and pictures set from top to bottom on an A4 page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D

from robgui.core.verdict import Status
from robgui.core.view import status_ink
from robgui.report.drawing.look import Look
from robgui.report.lettering import FAMILY, elide, extent, line_height, wrap

if TYPE_CHECKING:
    from matplotlib.backends.backend_pdf import PdfPages

#: A4 in inches.
WIDTH, HEIGHT = 8.27, 11.69
MARGIN = 0.9
#: Between the margins.
TEXT_WIDTH = WIDTH - 2 * MARGIN
_BOTTOM = HEIGHT - 0.8
#: Inches below each row of a table, and lines that a value takes at most.
_ROW_GAP = 0.02
_MOST_LINES = 6
_PAPER = Look()
INK, QUIET, RULE = _PAPER.text, _PAPER.faded, _PAPER.grid


class PaperSheet:
    """One page; ``y`` is how far down it is filled, in inches.

    Everything that matplotlib would take from its global table of styles is said here, because
    other threads draw at the same time.
    """

    def __init__(self) -> None:
        self.figure = Figure(figsize=(WIDTH, HEIGHT), facecolor="white")
        self.y = MARGIN

    @property
    def left(self) -> float:
        """How many inches are left."""
        return _BOTTOM - self.y

    def space(self, inches: float) -> None:
        """Leaves some room."""
        self.y += inches

    def text(
        self,
        text: str,
        size: float = 10,
        *,
        x: float = 0.0,
        width: float | None = None,
        colour: str = INK,
        bold: bool = False,
        most: int = 0,
    ) -> None:
        """Sets a paragraph ``x`` inches from the left margin; at most ``most`` lines of it."""
        room = TEXT_WIDTH - x if width is None else width
        for line in wrap(text, size, room, bold=bold, most=most):
            self._put(line, MARGIN + x, self.y, size, colour, bold)
            self.y += line_height(size)

    def rule(self) -> None:
        """Draws a thin line across the page."""
        y = 1 - self.y / HEIGHT
        ends = [MARGIN / WIDTH, 1 - MARGIN / WIDTH]
        whole = self.figure.transFigure
        self.figure.add_artist(Line2D(ends, [y, y], color=RULE, linewidth=0.7, transform=whole))
        self.y += 0.08

    def picture(
        self,
        pixels: np.ndarray,
        x: float,
        width: float,
        height: float,
    ) -> tuple[float, float]:
        """Sets uint8 ``(h, w, 3)`` pixels as large as they fit, without moving down.

        Returns:
            Width and height in inches.
        """
        scale = min(width / pixels.shape[1], height / pixels.shape[0])
        wide, high = pixels.shape[1] * scale, pixels.shape[0] * scale
        place = ((MARGIN + x) / WIDTH, 1 - (self.y + high) / HEIGHT, wide / WIDTH, high / HEIGHT)
        axes = self.figure.add_axes(place)
        axes.set_axis_off()
        axes.imshow(_enlarged(pixels), interpolation="none", aspect="auto")
        return wide, high

    def table(
        self,
        rows: Mapping[str, str],
        size: float = 7,
        *,
        x: float = 0.0,
        width: float | None = None,
    ) -> None:
        """Sets names and values in two columns."""
        names, values = _columns(TEXT_WIDTH if width is None else width)
        for name, value in rows.items():
            top = self.y
            self.text(name, size, x=x, width=names - 0.1, colour=QUIET)
            low, self.y = self.y, top
            self.text(value, size, x=x + names, width=values, most=_MOST_LINES)
            self.y = max(low, self.y) + _ROW_GAP

    def save(self, pages: PdfPages, footer: str) -> None:
        """Writes the page with its number."""
        y = HEIGHT - 0.55
        number = str(pages.get_pagecount() + 1)
        self._put(elide(footer, 8, TEXT_WIDTH - 0.5), MARGIN, y, 8, QUIET, False)
        self._put(number, WIDTH - MARGIN - extent(number, 8), y, 8, QUIET, False)
        pages.savefig(self.figure, facecolor="white", edgecolor="none")

    def _put(self, line: str, x: float, y: float, size: float, colour: str, bold: bool) -> None:
        weight = "bold" if bold else "normal"
        font = FontProperties(family=FAMILY, size=size, weight=weight)
        place = (x / WIDTH, 1 - y / HEIGHT)
        style: dict[str, Any] = {"va": "top", "ha": "left", "parse_math": False}
        self.figure.text(*place, line, fontproperties=font, color=colour, **style)


def status_colour(status: Status) -> str:
    """The colour of a status on paper."""
    return _PAPER.colour(status_ink(status))


def table_height(rows: Mapping[str, str], width: float, size: float = 7) -> float:
    """How many inches ``PaperSheet.table`` takes for these rows."""
    names, values = _columns(width)
    lines = 0
    for name, value in rows.items():
        right = len(wrap(value, size, values, most=_MOST_LINES))
        lines += max(len(wrap(name, size, names - 0.1)), right)
    return lines * line_height(size) + len(rows) * _ROW_GAP


def _columns(width: float) -> tuple[float, float]:
    """Widths of the names and of the values in a table."""
    return 0.3 * width, 0.7 * width


def _enlarged(pixels: np.ndarray) -> np.ndarray:
    """A small picture with its pixels as squares, so that no viewer blurs them."""
    times = max(1, 320 // max(pixels.shape[:2]))
    return pixels.repeat(times, axis=0).repeat(times, axis=1)
