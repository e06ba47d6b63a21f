"""Table: columns as wide as their contents; numbers are whole, long words are cut in the middle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from robgui.core.verdict import Status
from robgui.core.view import Column, Table, status_ink
from robgui.report.drawing.curves import NOTHING
from robgui.report.drawing.legend import LegendEntry
from robgui.report.drawing.look import SMALL, Look
from robgui.report.drawing.plate import Area
from robgui.report.lettering import clean, elide, extent, line_height, unbroken, wrap

#: More rows than this are counted instead: in a figure of their own, and below another view.
MOST_ROWS, FEW_ROWS = 40, 14
_GAP = 0.22
#: A column of words is not cut below this width (inches).
_NARROWEST = 0.9
_HEAD_LINES = 3
_ROW = 1.12


@dataclass(frozen=True)
class Strip:
    """Columns that stand side by side, each with its width."""

    columns: tuple[Column, ...]
    widths: tuple[float, ...]
    rows: int

    @property
    def heads(self) -> list[list[str]]:
        """The lines of each column's title."""
        pairs = zip(self.columns, self.widths, strict=True)
        return [_head(column.title, width) for column, width in pairs]

    @property
    def height(self) -> float:
        """Its height in inches."""
        return self.head_height + 0.1 + self.rows * line_height(SMALL) * _ROW + 0.1

    @property
    def head_height(self) -> float:
        """How many inches the titles take."""
        return max((len(lines) for lines in self.heads), default=1) * line_height(SMALL)


def _head(title: str, width: float) -> list[str]:
    """The title of a column in a few lines; a word that is too long is cut in the middle."""
    words = [elide(word, SMALL, width, bold=True) for word in unbroken(title)]
    return wrap(" ".join(words), SMALL, width, bold=True, most=_HEAD_LINES)


def height(view: Table, width: float, large: bool) -> float:
    """How many inches the table takes."""
    if view.height:
        return sum(strip.height for strip in strips(view, width, large))
    return 0.4


def note(view: Table, large: bool) -> str:
    """How many rows are shown where not all are."""
    most = MOST_ROWS if large else FEW_ROWS
    if view.height > most:
        return f"{most} of {view.height:,} rows are shown."
    return ""


def entries(view: Table, look: Look) -> list[LegendEntry]:
    """A table needs no legend."""
    return []


def paint(view: Table, area: Area, large: bool) -> None:
    """Draws the strips below each other."""
    if not view.height:
        area.plate.put(NOTHING, area.left, area.top + 0.1, colour=area.look.faded)
        return
    top = area.top
    for strip in strips(view, area.width, large):
        _strip(strip, area, top)
        top += strip.height


def strips(view: Table, width: float, large: bool) -> list[Strip]:
    """The columns in as many strips as it takes; each begins with the names of the rows."""
    rows = min(view.height, MOST_ROWS if large else FEW_ROWS)
    columns = [replace(column, cells=column.cells[:rows]) for column in view.columns]
    if not columns:
        return []
    first, *others = columns
    made: list[list[Column]] = [[first]]
    for column in others:
        if len(made[-1]) > 1 and sum(_needs([*made[-1], column])) + _GAP * len(made[-1]) > width:
            # The names of the rows again, so that each strip can be read by itself.
            made.append([first])
        made[-1].append(column)
    return [Strip(tuple(some), _widths(some, width), rows) for some in made]


def _shown(column: Column) -> list[str]:
    return [clean(" ".join(column.words(cell).split())) for cell in column.cells]


def _is_text(column: Column) -> bool:
    return column.kind == "text"


def _wide(column: Column) -> float:
    """As wide as its widest cell, and as its title in a few lines."""
    words = max((extent(word, SMALL) for word in _shown(column)), default=0.0)
    longest = max((extent(word, SMALL, bold=True) for word in unbroken(column.title)), default=0.0)
    # A single long word of a title may be cut: beyond
    # 1.4 inches it would push columns of numbers away.
    width = max(words, min(longest, 1.4), 0.3)
    # Wider step by step: how many lines a title takes is known only by breaking it.
    while width < 2 and len(wrap(column.title, SMALL, width, bold=True)) > _HEAD_LINES:
        width += 0.1
    # Rounding in the widths of letters must not cut the last one.
    return width + 0.02


def _needs(columns: Sequence[Column]) -> list[float]:
    """The least width of each column: numbers are never cut."""
    most = {True: _NARROWEST, False: math.inf}
    return [min(_wide(column), most[_gives_way(column)]) for column in columns]


def _gives_way(column: Column) -> bool:
    """Whether its cells may be cut: words may, ``28 of 400 (4.9 % to 10 %)`` may not."""
    return _is_text(column) and not any(words[:1].isdigit() for words in _shown(column))


def _widths(columns: Sequence[Column], width: float) -> tuple[float, ...]:
    """What each column gets: its content; where that is too much, columns of words give way."""
    wanted, least = [_wide(column) for column in columns], _needs(columns)
    over = sum(wanted) + _GAP * (len(columns) - 1) - width
    give = [want - need for want, need in zip(wanted, least, strict=True)]
    if over <= 0:
        return tuple(wanted)
    # Each gives in proportion to what it has beyond its least.
    share = min(1.0, over / (sum(give) or 1.0))
    return tuple(want - share * more for want, more in zip(wanted, give, strict=True))


def _strip(strip: Strip, area: Area, top: float) -> None:
    left = area.left
    body = top + strip.head_height + 0.1
    total = sum(strip.widths) + _GAP * (len(strip.widths) - 1)
    area.plate.rule(left, body - 0.06, left + total, body - 0.06, color=area.look.faded)
    for column, width, head in zip(strip.columns, strip.widths, strip.heads, strict=True):
        if _is_text(column) or column.kind == "status":
            side = "left"
        else:
            side = "right"
        x = left if side == "left" else left + width
        for at, line in enumerate(head):
            down = strip.head_height - (len(head) - at) * line_height(SMALL)
            area.plate.put(line, x, top + down, SMALL, align=side, bold=True)
        _cells(column, width, area, (x, body), side)
        left += width + _GAP


def _cells(column: Column, width: float, area: Area, place: tuple[float, float], side: str) -> None:
    x, y = place
    for cell, words in zip(column.cells, _shown(column), strict=False):
        colour = area.look.text
        if column.kind == "status" and isinstance(cell, str):
            colour = area.look.colour(status_ink(Status(cell)))
        if _is_text(column):
            shown = elide(words, SMALL, width)
        else:
            shown = words
        area.plate.put(shown, x, y, SMALL, colour=colour, align=side)
        y += line_height(SMALL) * _ROW
