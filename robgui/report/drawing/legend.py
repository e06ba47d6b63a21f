"""The legend of a view: below the data, never over them, in as many columns as fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from robgui.core.view import Axis, Ink, Mark, Spot
from robgui.report.drawing.look import LINES, MARKERS, SMALL, Look
from robgui.report.drawing.plate import Area, Plate
from robgui.report.lettering import elide, extent, line_height

T = TypeVar("T")
K = TypeVar("K")
#: More entries than this are counted instead of listed.
MOST_ENTRIES = 18
#: Inches of a sample with the gap beside it, and between two columns.
_SAMPLE, _GAP = 0.38, 0.24
#: Inches: how long and how high a sample is.
_LONG, _HIGH = 0.28, 0.085
#: What a file calls the words of a legend.
GROUP = "legend"
_ABOVE = 0.1
#: Lines at a level differ by their dashes as well, so two of one colour are told apart.
_LEVEL_DASHES = (LINES["dotted"], LINES["dash-dot"], LINES["dashed"])


@dataclass(frozen=True)
class LegendEntry:
    """One sample with its words."""

    words: str
    sample: Line2D | Patch


def height(entries: Sequence[LegendEntry], width: float) -> float:
    """How many inches the legend takes."""
    if not entries:
        return 0.0
    rows = math.ceil(len(_listed(entries)) / _columns(entries, width))
    return _ABOVE + rows * _line()


def paint(entries: Sequence[LegendEntry], area: Area) -> None:
    """Draws the legend into an area as high as ``height`` says, one column after the other."""
    if not entries:
        return
    listed, columns = _listed(entries), _columns(entries, area.width)
    rows, left = math.ceil(len(listed) / columns), area.left
    room = (area.width - _GAP * (columns - 1)) / columns - _SAMPLE
    for first in range(0, len(listed), rows):
        column = listed[first : first + rows]
        words = [elide(entry.words, SMALL, room) for entry in column]
        for row, (entry, said) in enumerate(zip(column, words, strict=True)):
            top = area.top + _ABOVE + row * _line()
            area.plate.put(said, left + _SAMPLE, top, SMALL, gid=GROUP)
            # The middle of small letters, a little above that of their line.
            _place(entry.sample, area.plate, left, top + 0.41 * line_height(SMALL))
        left += _SAMPLE + max(extent(said, SMALL) for said in words) + _GAP


def _place(sample: Line2D | Patch, plate: Plate, left: float, middle: float) -> None:
    """Draws a sample from ``left`` on, both in inches from the upper left corner."""
    width, height = plate.size
    x, y, long = left / width, 1 - middle / height, _LONG / width
    if isinstance(sample, Line2D):
        sample.set_data([x, x + long / 2, x + long], [y, y, y])
        # One symbol, on the middle one of three points.
        sample.set_markevery([1])
        shown: Artist = sample
    else:
        high = _HIGH / height
        shown = Rectangle((x, y - high / 2), long, high)
        # A sample is a Patch without a shape: the
        # rectangle takes over its colours and hatching.
        shown.update_from(sample)
    shown.set_transform(plate.transFigure)
    plate.add_artist(shown)


def _line() -> float:
    return line_height(SMALL) * 1.08


def unsaid(entries: list[LegendEntry], axis: Axis) -> list[LegendEntry]:
    """No legend where its only entry is what the axis says already."""
    if [entry.words for entry in entries] == [axis.name]:
        return []
    return entries


def line(ink: Ink, look: Look, **style: Any) -> Line2D:
    """The sample of a line."""
    usual = {"color": look.colour(ink), "linestyle": LINES[ink.dash], "linewidth": 1.7}
    return Line2D([], [], **(usual | style))


def patch(colour: str, **style: Any) -> Patch:
    """The sample of an area."""
    return Patch(**({"facecolor": colour, "edgecolor": "none"} | style))


def levels(marks: Sequence[Mark], look: Look) -> list[LegendEntry]:
    """One entry for each line at a level."""
    samples = [line(mark.ink, look, **level_style(place)) for place, mark in enumerate(marks)]
    return [
        LegendEntry(mark.name, one) for mark, one in zip(marks, samples, strict=True) if mark.name
    ]


def level_style(place: int) -> dict[str, Any]:
    """How the line at one of several levels is drawn."""
    return {"linestyle": _LEVEL_DASHES[place % len(_LEVEL_DASHES)], "linewidth": 1.3}


def spots(found: Sequence[Spot], look: Look) -> list[LegendEntry]:
    """One entry for each kind of sign; signs that look the same share one."""

    def kind(spot: Spot) -> tuple[str, str]:
        return look.colour(spot.ink), spot.symbol or "circle"

    entries = []
    for (colour, symbol), group in grouped(found, kind).items():
        words = together([spot.name for spot in group])
        style: dict[str, Any] = {"marker": MARKERS[symbol], "color": colour, "linestyle": "none"}
        style |= {"markersize": 6.5, "markeredgewidth": 1.6}
        if symbol == "diamond":
            style["markerfacecolor"] = colour
        else:
            style["markerfacecolor"] = "none"
        if words:
            entries.append(LegendEntry(words, Line2D([], [], **style)))
    return entries


def grouped(things: Sequence[T], kind: Callable[[T], K]) -> dict[K, list[T]]:
    """Things by their kind, in the order in which the kinds appear."""
    groups: dict[K, list[T]] = {}
    for thing in things:
        groups.setdefault(kind(thing), []).append(thing)
    return groups


def together(names: Sequence[str]) -> str:
    """What things of one look are called: what they share, or the first and how many more."""
    known = [name for name in names if name]
    if not known:
        return ""
    if len(set(known)) == 1:
        if len(names) == 1:
            return known[0]
        return f"{known[0]} ({len(names)})"
    shared = _shared_words(known)
    # Shorter than a word, such as "a", it would say nothing of the others.
    if len(shared) >= 4:
        return f"{shared} ({len(names)})"
    return f"{known[0]} and {len(names) - 1} more"


def _shared_words(names: Sequence[str]) -> str:
    """The words with which all names begin, up to the first number."""
    shared: list[str] = []
    for words in zip(*(name.split() for name in names), strict=False):
        if len(set(words)) > 1 or words[0][:1].isdigit():
            break
        shared.append(words[0])
    return " ".join(shared).strip(" ,:(·-")


def _listed(entries: Sequence[LegendEntry]) -> list[LegendEntry]:
    if len(entries) <= MOST_ENTRIES:
        return list(entries)
    rest = len(entries) - MOST_ENTRIES + 1
    more = LegendEntry(f"… and {rest:,} more", Line2D([], [], linestyle="none"))
    return [*entries[: MOST_ENTRIES - 1], more]


def _columns(entries: Sequence[LegendEntry], width: float) -> int:
    """As many columns as the longest entry allows."""
    longest = max(extent(entry.words, SMALL) for entry in _listed(entries))
    fitting = int((width + _GAP) / (_SAMPLE + longest + _GAP))
    # More than five columns are read as rows.
    return max(1, min(len(_listed(entries)), fitting, 5))
