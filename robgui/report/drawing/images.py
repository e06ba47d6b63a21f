"""Images: pictures with what is said of them, in rows; pairs as before and after."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle
from matplotlib.patheffects import withStroke

from robgui.core.verdict import Status
from robgui.core.view import Images, Picture, Spot, status_ink
from robgui.report.drawing.curves import NOTHING
from robgui.report.drawing.legend import LegendEntry
from robgui.report.drawing.look import MARKERS, SMALL, Look, mixed
from robgui.report.drawing.plate import Area
from robgui.report.lettering import extent, line_height, wrap

#: More pictures than this are counted instead: in a figure of their own, and below another view.
MOST_PICTURES, FEW_PICTURES = 48, 16
#: Inches between two pictures, between two pairs, and of the chip below a picture.
_GAP, _PAIR_GAP, _CHIP = 0.14, 0.34, 0.26
#: Inches of a picture: as wide as that many fit in a row, at most, and with columns given at least.
_SMALLEST, _LARGEST, _NARROWEST = 1.05, 2.3, 0.75
_CAPTION_LINES, _CHIP_LINES = 3, 2
#: A picture of no more pixels than this shows them as squares.
_SQUARES = 96


@dataclass(frozen=True)
class PictureGrid:
    """Where the pictures stand: how many in a row, how wide and high each is at most.

    Attributes:
        columns: Pictures in a row.
        width: Inches of a cell.
        height: Inches of a picture at most.
        inch: Inches of a pixel, where all pictures have the same; 0 where each has its own.
    """

    columns: int
    width: float
    height: float
    inch: float = 0.0


def height(view: Images, width: float, large: bool) -> float:
    """How many inches the pictures take with chips and captions."""
    if not view.pictures:
        return 0.4
    grid = _grid(view, width, large)
    return sum(_row_height(row, grid) for row in _rows(view, grid, large))


def note(view: Images, large: bool) -> str:
    """How many are shown where not all are."""
    shown, total = len(_shown(view, large)), len(view.pictures)
    if shown < total:
        return f"{shown} of {total:,} pictures are shown."
    return ""


def entries(view: Images, look: Look) -> list[LegendEntry]:
    """Pictures say themselves what they are."""
    return []


def paint(view: Images, area: Area, large: bool) -> None:
    """Draws the pictures row by row."""
    if not view.pictures:
        area.plate.put(NOTHING, area.left, area.top + 0.1, colour=area.look.faded)
        return
    grid = _grid(view, area.width, large)
    axes = area.axes()
    axes.set_axis_off()
    top = area.top
    for row in _rows(view, grid, large):
        left = area.left
        below = top + _highest(row, grid)
        for place, picture in enumerate(row):
            wide, high = _size(picture, grid)
            _picture(axes, picture, area, Area(area.plate, left, below - high, wide, high))
            _words(picture, Area(area.plate, left, below + 0.07, grid.width, grid.height))
            left += grid.width + _gap(view)
            if view.pairs and place % 2 == 0:
                middle = below - _highest(row, grid) / 2 - 0.1
                between = left - _gap(view) / 2
                area.plate.put("→", between, middle, 12, colour=area.look.faded, align="center")
        top += _row_height(row, grid)
    # Last: each imshow sets the limits to its own picture.
    axes.set(xlim=(0, area.width), ylim=(area.height, 0))


def _grid(view: Images, width: float, large: bool) -> PictureGrid:
    count = len(_shown(view, large))
    fitting = int((width + _GAP) / (_SMALLEST + _GAP))
    columns = max(1, min(view.columns or fitting, int(width / _NARROWEST), count))
    if view.pairs:
        columns = max(2, columns - columns % 2)
    gaps = _gap(view) * (columns - 1)
    # A pair that stands alone is what its figure is about.
    largest = _LARGEST * (1.3 if large and columns <= 2 else 1.0)
    side = max(0.35, min(largest, (width - gaps) / columns))
    sizes = [picture.pixels.shape for picture in _shown(view, large)]
    # A narrow, high picture must not push the rest off the page.
    height = side * min(1.4, max(high / wide for high, wide, _ in sizes))
    # Pictures of one height get one scale, so that their pixels are of one size too.
    alike = len({high for high, _, _ in sizes}) == 1
    if alike:
        inch = min(side / max(wide for _, wide, _ in sizes), height / sizes[0][0])
    else:
        inch = 0.0
    return PictureGrid(columns, side, height, inch)


def _gap(view: Images) -> float:
    """Between two pictures; in pairs there is room for an arrow."""
    if view.pairs:
        return _PAIR_GAP
    return _GAP


def _shown(view: Images, large: bool) -> tuple[Picture, ...]:
    """The pictures that are drawn."""
    return view.pictures[: MOST_PICTURES if large else FEW_PICTURES]


def _rows(view: Images, grid: PictureGrid, large: bool) -> list[tuple[Picture, ...]]:
    shown = _shown(view, large)
    return [shown[start : start + grid.columns] for start in range(0, len(shown), grid.columns)]


def _size(picture: Picture, grid: PictureGrid) -> tuple[float, float]:
    high, wide = picture.pixels.shape[:2]
    scale = grid.inch or min(grid.width / wide, grid.height / high)
    return wide * scale, high * scale


def _highest(row: tuple[Picture, ...], grid: PictureGrid) -> float:
    return max(_size(picture, grid)[1] for picture in row)


def _row_height(row: tuple[Picture, ...], grid: PictureGrid) -> float:
    chip = max(_chip_height(picture, grid.width) for picture in row)
    captions = [wrap(picture.caption, SMALL, grid.width, most=_CAPTION_LINES) for picture in row]
    lines = max(len(caption) for caption in captions)
    return _highest(row, grid) + 0.07 + chip + lines * line_height(SMALL) + 0.12


def _picture(axes: Axes, picture: Picture, area: Area, place: Area) -> None:
    """The pixels with a thin frame, and the signs on them; the axes count inches of the area."""
    left, top = place.left - area.left, place.top - area.top
    # The axes count inches from above, so the lower edge has the larger number.
    edges = (left, left + place.width, top + place.height, top)
    small = max(picture.pixels.shape[:2]) <= _SQUARES
    if small:
        finish = "nearest"
    else:
        finish = "antialiased"
    axes.imshow(picture.pixels, extent=edges, interpolation=finish, aspect="auto")
    frame = Rectangle((left, top), place.width, place.height, fill=False, linewidth=0.7)
    frame.set_edgecolor(area.look.grid)
    axes.add_patch(frame)
    inch = place.width / picture.pixels.shape[1]
    for spot in picture.spots:
        centre = (left + (spot.x + 0.5) * inch, top + (spot.y + 0.5) * inch)
        _sign(axes, spot, centre, spot.size * inch, area.look)


def _sign(axes: Axes, spot: Spot, centre: tuple[float, float], size: float, look: Look) -> None:
    """A sign with a rim, as large as the view says or of fixed size."""
    rim = [withStroke(linewidth=2.4, foreground=look.ground)]
    style: dict[str, Any] = {"color": look.colour(spot.ink), "path_effects": rim}
    if size > 0 and spot.symbol == "square":
        corner = (centre[0] - size / 2, centre[1] - size / 2)
        axes.add_patch(Rectangle(corner, size, size, fill=False, linewidth=1.1, **style))
    elif size > 0:
        axes.add_patch(Circle(centre, size / 2, fill=False, linewidth=1.1, **style))
    else:
        marker = MARKERS[spot.symbol or "circle"]
        style |= {"markersize": 4.5, "markerfacecolor": "none", "markeredgewidth": 1.2}
        axes.plot([centre[0]], [centre[1]], marker, **style)


def _words(picture: Picture, cell: Area) -> None:
    """The chip and the caption below a picture."""
    top = cell.top
    if picture.chip:
        _chip(picture, cell, top)
        top += _chip_height(picture, cell.width)
    for line in wrap(picture.caption, SMALL, cell.width, most=_CAPTION_LINES):
        cell.plate.put(line, cell.left, top, SMALL)
        top += line_height(SMALL)


def _chip(picture: Picture, cell: Area, top: float) -> None:
    """A few words with a sign and a colour: right, wrong, or neither."""
    look = cell.look
    status = _status(picture)
    colour = look.colour(picture.ink if status is None else status_ink(status))
    style = {"boxstyle": "round,pad=0.28", "edgecolor": colour, "linewidth": 0.8}
    style["facecolor"] = mixed(colour, look.ground, 0.14)
    words = "\n".join(_chip_lines(picture, cell.width))
    cell.plate.put(words, cell.left + 0.05, top + 0.025, SMALL, colour=colour, bbox=style)


def _status(picture: Picture) -> Status | None:
    if picture.right is None:
        return None
    if picture.right:
        return Status.HOLDS
    return Status.FAILS


def _chip_lines(picture: Picture, width: float) -> list[str]:
    """The words of a chip with their sign: the names of two classes may take a line each."""
    status = _status(picture)
    if status is None:
        words = picture.chip
    else:
        words = f"{status.sign} {picture.chip}"
    room, kept = width - 0.12, "\N{NO-BREAK SPACE}"
    names = re.split(r"(?<=[/→]) ", words)
    # A name that fits into a line is not broken;
    # wrap keeps what a no-break space joins.
    whole = [name.replace(" ", kept) if extent(name, SMALL) <= room else name for name in names]
    lines = wrap(" ".join(whole), SMALL, room, most=_CHIP_LINES)
    return [line.replace(kept, " ") for line in lines]


def _chip_height(picture: Picture, width: float) -> float:
    if not picture.chip:
        return 0.0
    return _CHIP + (len(_chip_lines(picture, width)) - 1) * line_height(SMALL)
