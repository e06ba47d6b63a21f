"""Matrix: values over two axes, with names, a colour bar, numbers where they fit, and signs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse, Rectangle
from matplotlib.patheffects import withStroke

from robgui.core.view import Matrix, Spot
from robgui.core.view.cells import cell_number
from robgui.report.drawing import heat, ticks
from robgui.report.drawing.curves import plot_height, say_nothing
from robgui.report.drawing.legend import LegendEntry
from robgui.report.drawing.look import MARKERS, Look, on
from robgui.report.drawing.plate import Area
from robgui.report.lettering import extent

#: Numbers stand in cells at least this large (inches), in letters of this size.
_CELL_HIGH, _CELL_LETTERS = 0.2, 7.5
#: A name of a row or column takes at most this much room.
_NAME = 1.35


def height(view: Matrix, width: float, large: bool) -> float:
    """How many inches the picture takes: cells of named rows are about as high as they are wide."""
    if not view.rows:
        return plot_height(width, large)
    rows, columns = view.values.shape
    # A quarter of the width is for names and
    # colour bar; from 0.2 inches on a number fits.
    cell = max(0.2, min(0.75 * width / max(columns, 1), 0.42))
    most = 5.6 if large else 3.4
    return min(most, max(1.3, rows * cell + 0.9))


def entries(view: Matrix, look: Look) -> list[LegendEntry]:
    """The legend."""
    return heat.entries(view, look)


def paint(view: Matrix, area: Area) -> None:
    """Draws the matrix with its colour bar."""
    inner, bar = area, None
    if view.classes is None:
        bar = heat.bar(area, heat.colours(view, area.look), view.scale, view.worst)
        inner = bar.left
    axes = inner.axes()
    heat.paint(axes, view, area.look)
    x, y, width, depth = view.rect
    axes.set(xlim=(x, x + (width or 1)), ylim=(y, y + (depth or 1)))
    dress(axes, view, inner)
    mark_spots(axes, tuple(spot for spot in view.spots if not _is_cell(view, spot)), area.look)
    _frame_cells(axes, view, area.look)
    if not view.values.size:
        say_nothing(axes, area.look)
    place = inner.fit(axes)
    if _is_flat(view):
        place = _in_scale(view, place)
        axes.set_position(place.bounds())
    if bar is not None:
        bar.beside(place)
    _numbers(axes, view, place)


def _is_flat(view: Matrix) -> bool:
    """Whether both axes count the same, such as pixels: then a step is as long in both."""
    units = [axis.unit.split()[:1] for axis in (view.x, view.y)]
    return bool(units[0]) and units[0] == units[1] and not (view.x.log or view.y.log)


def _in_scale(view: Matrix, place: Area) -> Area:
    """The largest part of a place in which both axes have the same scale."""
    _, _, width, depth = view.rect
    scale = min(place.width / (width or 1), place.height / (depth or 1))
    return replace(place, width=scale * (width or 1), height=scale * (depth or 1))


def dress(axes: Axes, view: Matrix, area: Area) -> None:
    """Names or numbers along both sides."""
    ticks.dress(axes, view.x, view.y, area)
    x, y, width, depth = view.rect
    rows, columns = view.values.shape
    if view.columns:
        places = [x + width * (at + 0.5) / columns for at in range(columns)]
        most = min(_NAME, 0.4 * area.height)
        ticks.name_ticks(axes, "x", places, view.columns, 0.75 * area.width, most)
    if view.rows:
        places = [y + depth * (at + 0.5) / rows for at in range(rows)]
        most = min(_NAME, 0.35 * area.width)
        ticks.name_ticks(axes, "y", places, view.rows, 0.75 * area.height, most)


def mark_spots(axes: Axes, spots: tuple[Spot, ...], look: Look) -> None:
    """Signs with a rim in the colour of the ground, so they are seen on every colour."""
    rim = [withStroke(linewidth=3.4, foreground=look.ground)]
    for spot in spots:
        colour = look.colour(spot.ink)
        if spot.size > 0:
            ring = Ellipse((spot.x, spot.y), spot.size, spot.size, fill=False, linewidth=1.5)
            ring.set(edgecolor=colour, path_effects=rim)
            axes.add_patch(ring)
            continue
        style: dict[str, Any] = {"markersize": 6.5, "markeredgewidth": 1.6, "path_effects": rim}
        if spot.symbol == "diamond":
            style["markerfacecolor"] = colour
        else:
            style["markerfacecolor"] = "none"
        marker = MARKERS[spot.symbol or "circle"]
        # Unclipped: a sign on the edge is drawn whole.
        axes.plot([spot.x], [spot.y], marker, color=colour, clip_on=False, zorder=5, **style)


def _is_cell(view: Matrix, spot: Spot) -> bool:
    """Whether a sign means a whole cell: a square among named rows and columns."""
    return spot.symbol == "square" and not spot.size and bool(view.rows and view.columns)


def _frame_cells(axes: Axes, view: Matrix, look: Look) -> None:
    """A frame around each cell that is marked, so its number stays readable."""
    x, y, width, depth = view.rect
    wide, high = width / max(1, view.values.shape[1]), depth / max(1, view.values.shape[0])
    rim = [withStroke(linewidth=4.2, foreground=look.ground)]
    for spot in view.spots:
        if _is_cell(view, spot):
            corner = (x + (spot.x - x) // wide * wide, y + (spot.y - y) // high * high)
            frame = Rectangle(corner, wide, high, fill=False, linewidth=2.2, zorder=4)
            frame.set(edgecolor=look.colour(spot.ink), path_effects=rim)
            axes.add_patch(frame)


def _numbers(axes: Axes, view: Matrix, place: Area) -> None:
    """The values in their cells, where every one of them fits."""
    rows, columns = view.values.shape
    if view.classes is not None or not view.rows or not columns or place.height / rows < _CELL_HIGH:
        return
    words = [[cell_number(view, float(value)) for value in row] for row in view.values]
    widest = max(extent(word, _CELL_LETTERS) for row in words for word in row)
    # A tenth of the cell stays free, so that two numbers do not read as one.
    if widest > 0.9 * place.width / columns:
        return
    shade = heat.colours(view, place.look)
    x, y, width, depth = view.rect
    for at, row in np.ndenumerate(np.array(words, object)):
        centre = (x + width * (at[1] + 0.5) / columns, y + depth * (at[0] + 0.5) / rows)
        colour = on(shade.to_rgba(view.values[at])[:3])
        axes.text(*centre, str(row), fontsize=_CELL_LETTERS, ha="center", va="center", color=colour)
