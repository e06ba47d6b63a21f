"""The legend of a view: below the data, never over them, in as many columns as fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from matplotlib.artist import Artist
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from robgui.core.view import Axis, Ink, Mark, Spot
from robgui.report.drawing.look import LINES, MARKERS, SMALL, Look
from robgui.report.drawing.plate import Area
from robgui.report.lettering import elide, extent, line_height

T = TypeVar("T")
K = TypeVar("K")
#: More entries than this are counted instead of listed.
MOST_ENTRIES = 18
#: Inches of a sample with the gap beside it, and between two columns.
_SAMPLE, _GAP = 0.42, 0.2
_ABOVE = 0.1
#: Lines at a level differ by their dashes as well, so that two of one colour are told apart.
_LEVEL_DASHES = (LINES["dotted"], LINES["dash-dot"], LINES["dashed"])


@dataclass(frozen=True)
class LegendEntry:
    """One sample with its words."""

    words: str
    sample: Artist


def height(entries: Sequence[LegendEntry], width: float) -> float:
    """How many inches the legend takes."""
    if not entries:
        return 0.0
    rows = math.ceil(len(_listed(entries)) / _columns(entries, width))
    return _ABOVE + rows * line_height(SMALL) * 1.08


def paint(entries: Sequence[LegendEntry], area: Area) -> None:
    """Draws the legend into an area as high as ``height`` says."""
    if not entries:
        return
    listed, columns = _listed(entries), _columns(entries, area.width)
    room = (area.width - _GAP * (columns - 1)) / columns - _SAMPLE
    plate_width, plate_height = area.plate.size
    legend = Legend(
        area.plate,
        [entry.sample for entry in listed],
        [elide(entry.words, SMALL, room) for entry in listed],
        loc="upper left",
        bbox_to_anchor=(area.left / plate_width, 1 - (area.top + _ABOVE) / plate_height),
        bbox_transform=area.plate.transFigure,
        ncols=columns,
        fontsize=SMALL,
        frameon=False,
        borderaxespad=0,
        borderpad=0,
        handlelength=2.4,
        handletextpad=0.7,
        labelspacing=0.3,
        columnspacing=_GAP * 72 / SMALL,
        labelcolor=area.look.text,
    )
    area.plate.legends.append(legend)


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
    return max(1, min(len(_listed(entries)), fitting, 5))
