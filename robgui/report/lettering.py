"""Letters: how wide a line is, where it breaks, how it is cut, as the font says."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from matplotlib.font_manager import FontProperties, findfont, get_font

if TYPE_CHECKING:
    from matplotlib.ft2font import FT2Font

FAMILY = "DejaVu Sans"
#: Points in an inch.
POINTS = 72
#: Distance of two lines, in sizes of the letters.
LEADING = 1.35
#: Where a line may break: not at a no-break space, and not between a number and its per cent.
_BREAKS = re.compile(r"[ \t\r\n]+(?!%)")
_ELLIPSIS = "…"


def line_height(size: float) -> float:
    """How many inches a line of letters of ``size`` points takes."""
    return size * LEADING / POINTS


def extent(text: str, size: float, *, bold: bool = False) -> float:
    """How wide a line is, in inches."""
    font = _font(bold)
    return sum(_advance(font, letter) for letter in text) * size / POINTS


def wrap(text: str, size: float, width: float, *, bold: bool = False, most: int = 0) -> list[str]:
    """Text in lines no wider than ``width`` inches; a word that is too long is cut.

    Args:
        text: What to set.
        size: Of the letters, in points.
        width: Inches.
        bold: Whether the letters are bold.
        most: How many lines at most, the last one ending in "…"; 0 takes all.
    """
    lines: list[str] = []
    for word in _BREAKS.split(clean(text).strip()):
        if lines:
            joined = f"{lines[-1]} {word}"
        else:
            joined = word
        if lines and extent(joined, size, bold=bold) <= width:
            lines[-1] = joined
            continue
        *cut, rest = _pieces(word, size, width, bold)
        lines += [*cut, rest]
    lines = [line for line in lines if line]
    if most and len(lines) > most:
        return [*lines[: most - 1], _ended(lines[most - 1], size, width, bold)]
    return lines


def unbroken(text: str) -> list[str]:
    """The parts of a text between which a line may break."""
    return [part for part in _BREAKS.split(clean(text).strip()) if part]


def elide(text: str, size: float, width: float, *, bold: bool = False) -> str:
    """Text in one line of ``width`` inches; what is too long is cut in the middle."""
    whole = " ".join(clean(text).split())
    if extent(whole, size, bold=bold) <= width:
        return whole
    for kept in range(len(whole) - 1, 1, -1):
        # Both ends stay: names of files differ at their
        # beginning, ids and numbers at their end.
        tail = kept // 2
        cut = whole[: kept - tail].rstrip() + _ELLIPSIS + whole[len(whole) - tail :].lstrip()
        if extent(cut, size, bold=bold) <= width:
            return cut
    return _ELLIPSIS


def clean(text: str) -> str:
    """Text without what the font cannot show."""
    font = _font(False)
    return "".join(letter if letter.isspace() or _has(font, letter) else "?" for letter in text)


def _ended(line: str, size: float, width: float, bold: bool) -> str:
    """A line that says at its end that more would follow."""
    while line and extent(line + _ELLIPSIS, size, bold=bold) > width:
        line = line[:-1]
    return line.rstrip(" .,") + _ELLIPSIS


def _pieces(word: str, size: float, width: float, bold: bool) -> list[str]:
    """A word in pieces that fit, the last one being the rest."""
    pieces = []
    while len(word) > 1 and extent(word, size, bold=bold) > width:
        shorter = range(len(word) - 1, 1, -1)
        fitting = next((n for n in shorter if extent(word[:n], size, bold=bold) <= width), 1)
        pieces.append(word[:fitting])
        word = word[fitting:]
    return [*pieces, word]


@cache
def font_file(*, bold: bool) -> str:
    """Where the letters are."""
    return str(findfont(FontProperties(family=FAMILY, weight="bold" if bold else "normal")))


@cache
def glyph_of(letter: str, *, bold: bool) -> int:
    """The number of a letter's outline in its font."""
    return int(_font(bold).get_char_index(ord(letter)))


@cache
def _font(bold: bool) -> FT2Font:
    return get_font(font_file(bold=bold))


@cache
def _advance(font: FT2Font, letter: str) -> float:
    """How far a letter moves the pen, in sizes of the letters."""
    from matplotlib.ft2font import LoadFlags

    if _has(font, letter):
        known = letter
    else:
        known = "?"
    # In units of the font: the same for every size, never fitted to pixels.
    glyph = font.load_char(ord(known), flags=LoadFlags.NO_SCALE)
    return float(glyph.horiAdvance / font.units_per_EM)


@cache
def _has(font: FT2Font, letter: str) -> bool:
    return bool(font.get_char_index(ord(letter)))
