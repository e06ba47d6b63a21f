"""A sheet of paper: text, tables and pictures set from top to bottom on an A4 page, with matplotlib alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.lines import Line2D

if TYPE_CHECKING:
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.ft2font import FT2Font

#: A4 in inches.
WIDTH, HEIGHT = 8.27, 11.69
MARGIN = 0.9
#: Between the margins.
TEXT_WIDTH = WIDTH - 2 * MARGIN
_BOTTOM = HEIGHT - 0.8
#: Distance of two lines, in sizes of the letters.
_LEADING = 1.35
_POINTS = 72
#: Below each row of a table (inches); a value takes so many lines at most.
_ROW_GAP = 0.02
_MOST_LINES = 6
#: Where a line may be broken: not at a no-break space, and not between a number and its per cent.
_BREAKS = re.compile(r"[ \t\r\n]+(?!%)")
INK, QUIET, RULE = "#1c1e21", "#5c6370", "#d9dce1"
_FAMILY = "DejaVu Sans"


class Sheet:
    """One page; ``y`` is how far down it is filled, in inches.

    Everything that matplotlib would take from its global table of styles is said here, because other threads draw at
    the same time.
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
        most: int | None = None,
    ) -> None:
        """Sets a paragraph ``x`` inches from the left margin; ``most`` lines of it."""
        lines = wrap(text, size, TEXT_WIDTH - x if width is None else width, bold=bold)
        if most is not None and len(lines) > most:
            lines = [*lines[: most - 1], lines[most - 1].rstrip(" .,") + " …"]
        for line in lines:
            self._put(line, MARGIN + x, self.y, size, colour, bold)
            self.y += size * _LEADING / _POINTS

    def rule(self) -> None:
        """Draws a thin line across the page."""
        y = 1 - self.y / HEIGHT
        ends = [MARGIN / WIDTH, 1 - MARGIN / WIDTH]
        self.figure.add_artist(Line2D(ends, [y, y], color=RULE, linewidth=0.7, transform=self.figure.transFigure))
        self.y += 0.08

    def picture(self, pixels: np.ndarray, x: float, width: float, height: float) -> tuple[float, float]:
        """Sets uint8 ``(h, w, 3)`` pixels as large as they fit, without moving down; returns width and height in inches."""
        scale = min(width / pixels.shape[1], height / pixels.shape[0])
        wide, high = pixels.shape[1] * scale, pixels.shape[0] * scale
        place = ((MARGIN + x) / WIDTH, 1 - (self.y + high) / HEIGHT, wide / WIDTH, high / HEIGHT)
        axes = self.figure.add_axes(place)
        axes.set_axis_off()
        axes.imshow(_enlarged(pixels), interpolation="none", aspect="auto")
        return wide, high

    def table(self, rows: Mapping[str, str], size: float = 7, *, x: float = 0.0, width: float | None = None) -> None:
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
        self._put(shorten(footer, 8, TEXT_WIDTH - 0.5), MARGIN, y, 8, QUIET, False)
        self._put(number, WIDTH - MARGIN - extent(number, 8), y, 8, QUIET, False)
        pages.savefig(self.figure, facecolor="white", edgecolor="none")

    def _put(self, line: str, x: float, y: float, size: float, colour: str, bold: bool) -> None:
        weight = "bold" if bold else "normal"
        font = FontProperties(family=_FAMILY, size=size, weight=weight)
        place = (x / WIDTH, 1 - y / HEIGHT)
        self.figure.text(*place, line, fontproperties=font, color=colour, va="top", ha="left", parse_math=False)


def table_height(rows: Mapping[str, str], width: float, size: float = 7) -> float:
    """How many inches ``Sheet.table`` takes for these rows."""
    names, values = _columns(width)
    lines = [max(len(wrap(name, size, names - 0.1)), min(_MOST_LINES, len(wrap(value, size, values)))) for name, value in rows.items()]
    return sum(lines) * size * _LEADING / _POINTS + len(lines) * _ROW_GAP


def _columns(width: float) -> tuple[float, float]:
    """Widths of the names and of the values in a table."""
    return 0.3 * width, 0.7 * width


def wrap(text: str, size: float, width: float, *, bold: bool = False) -> list[str]:
    """Text in lines no wider than ``width`` inches; a word that is too long is cut."""
    if not text.strip():
        return []
    lines: list[str] = []
    for word in _BREAKS.split(clean(text).strip()):
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and extent(joined, size, bold=bold) <= width:
            lines[-1] = joined
            continue
        while extent(word, size, bold=bold) > width:
            fitting = next(n for n in range(len(word) - 1, 0, -1) if n == 1 or extent(word[:n], size, bold=bold) <= width)
            lines.append(word[:fitting])
            word = word[fitting:]
        lines.append(word)
    return lines


def shorten(text: str, size: float, width: float) -> str:
    """Text cut to one line of ``width`` inches."""
    lines = wrap(text, size, width)
    return "" if not lines else lines[0] if len(lines) == 1 else lines[0][:-2] + "…"


def clean(text: str) -> str:
    """Text without what the font cannot show."""
    font = _font(False)
    return "".join(letter if letter.isspace() or font.get_char_index(ord(letter)) else "?" for letter in text)


def extent(text: str, size: float, *, bold: bool = False) -> float:
    """How wide a line is, in inches."""
    font = _font(bold)
    return sum(_advance(font, letter) for letter in text) * size / _POINTS


@cache
def _font(bold: bool) -> FT2Font:
    return get_font(findfont(FontProperties(family=_FAMILY, weight="bold" if bold else "normal")))


@cache
def _advance(font: FT2Font, letter: str) -> float:
    """How far a letter moves the pen, in sizes of the letters."""
    from matplotlib.ft2font import LoadFlags

    return float(font.load_char(ord(letter), flags=LoadFlags.NO_SCALE).horiAdvance / font.units_per_EM)


def _enlarged(pixels: np.ndarray) -> np.ndarray:
    """A small picture with its pixels as squares, so that no viewer blurs them."""
    times = max(1, 320 // max(pixels.shape[:2]))
    return pixels.repeat(times, axis=0).repeat(times, axis=1)
