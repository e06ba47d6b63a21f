"""A sheet of paper: text, tables and pictures set from top to bottom on an A4 page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robgui.core.verdict import Status
from robgui.core.view import status_ink
from robgui.report.drawing.look import Look
from robgui.report.lettering import elide, extent, line_height, wrap
from robgui.report.paper import PaperPicture, packed

if TYPE_CHECKING:
    from robgui.report.paper import Document

#: A4 in inches.
WIDTH, HEIGHT = 8.27, 11.69
MARGIN = 0.9
#: Between the margins.
TEXT_WIDTH = WIDTH - 2 * MARGIN
#: Below stand the footer and the number of the page.
_BOTTOM = HEIGHT - 0.8
#: Inches below each row of a table, and lines that a value takes at most.
_ROW_GAP = 0.02
_MOST_LINES = 6
#: Points of a thin line.
_THIN = 0.7
_PAPER = Look()
INK, QUIET, RULE = _PAPER.text, _PAPER.faded, _PAPER.grid


@dataclass(frozen=True, slots=True)
class SheetLine:
    """A line of text, its upper left corner in inches."""

    text: str
    x: float
    y: float
    size: float
    colour: str
    bold: bool


@dataclass(frozen=True, slots=True)
class Placed:
    """A picture and where it lies, in inches from the upper left corner."""

    picture: PaperPicture
    x: float
    y: float
    width: float
    height: float


class PaperSheet:
    """One page.

    Attributes:
        y: How far down it is filled, in inches.
        lines: Its text.
        rules: How far down its thin lines lie.
        pictures: What stands between the text.
    """

    def __init__(self) -> None:
        self.y = MARGIN
        self.lines: list[SheetLine] = []
        self.rules: list[float] = []
        self.pictures: list[Placed] = []

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
        if width is None:
            room = TEXT_WIDTH - x
        else:
            room = width
        for line in wrap(text, size, room, bold=bold, most=most):
            self._put(line, MARGIN + x, self.y, size, colour, bold)
            self.y += line_height(size)

    def rule(self) -> None:
        """Draws a thin line across the page."""
        self.rules.append(self.y)
        self.y += 0.08

    def picture(
        self, picture: PaperPicture | np.ndarray, x: float, width: float, height: float
    ) -> tuple[float, float]:
        """Sets a picture, or uint8 ``(h, w, 3)`` pixels, as large as it fits, without moving down.

        Returns:
            Width and height in inches.
        """
        if isinstance(picture, np.ndarray):
            made = packed(_enlarged(picture))
        else:
            made = picture
        scale = min(width / made.width, height / made.height)
        wide, high = made.width * scale, made.height * scale
        self.pictures.append(Placed(made, MARGIN + x, self.y, wide, high))
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
            # Both columns begin at one height; the row ends below the longer.
            low, self.y = self.y, top
            self.text(value, size, x=x + names, width=values, most=_MOST_LINES)
            self.y = max(low, self.y) + _ROW_GAP

    def write(self, document: Document, footer: str) -> None:
        """Writes the page with its number."""
        y = HEIGHT - 0.55
        number = str(document.pages + 1)
        self._put(elide(footer, 8, TEXT_WIDTH - 0.5), MARGIN, y, 8, QUIET, False)
        self._put(number, WIDTH - MARGIN - extent(number, 8), y, 8, QUIET, False)
        for level in self.rules:
            document.rule(MARGIN, level, TEXT_WIDTH, RULE, _THIN)
        for one in self.pictures:
            document.picture(one.picture, one.x, one.y, one.width, one.height)
        for line in self.lines:
            document.text(line.text, line.x, line.y, line.size, line.colour, line.bold)
        document.end_page()

    def _put(self, line: str, x: float, y: float, size: float, colour: str, bold: bool) -> None:
        self.lines.append(SheetLine(line, x, y, size, colour, bold))


def status_colour(status: Status) -> str:
    """The colour of a status on paper."""
    return _PAPER.colour(status_ink(status))


def paragraph_height(text: str, size: float = 10, *, bold: bool = False) -> float:
    """How many inches a paragraph over the whole width takes."""
    return len(wrap(text, size, TEXT_WIDTH, bold=bold)) * line_height(size)


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
    """A small picture with its pixels as squares, so no viewer blurs them."""
    times = max(1, 320 // max(pixels.shape[:2]))
    return pixels.repeat(times, axis=0).repeat(times, axis=1)
