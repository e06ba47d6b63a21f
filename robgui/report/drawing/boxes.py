"""Boxes: rectangles over two axes, on a matrix if there is one."""

from __future__ import annotations

from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from robgui.core.view import Box, Boxes
from robgui.report.drawing import heat, legend, matrix, ticks
from robgui.report.drawing.curves import plot_height, say_nothing
from robgui.report.drawing.legend import LegendEntry
from robgui.report.drawing.look import LINES, Look, mixed
from robgui.report.drawing.plate import Area

#: Inches of a lane, and of the axis below.
_LANE, _BELOW = 0.3, 0.6


def height(view: Boxes, width: float, large: bool) -> float:
    """How many inches the picture takes."""
    if view.lanes:
        # Six inches are more than half a page: more lanes become narrower.
        return min(6.0, max(1.2, _LANE * len(view.lanes) + _BELOW))
    return plot_height(width, large)


def entries(view: Boxes, look: Look) -> list[LegendEntry]:
    """The legend: boxes by colour, what lies behind them, signs."""

    def kind(box: Box) -> str:
        return look.colour(box.ink)

    found = []
    for colour, boxes in legend.grouped(view.boxes, kind).items():
        if words := legend.together([box.name for box in boxes]):
            pale = mixed(colour, look.ground, 0.2)
            found.append(LegendEntry(words, legend.patch(pale, edgecolor=colour, linewidth=1.6)))
    if view.behind is None:
        behind = []
    else:
        behind = heat.entries(view.behind, look)
    return [*found, *behind, *legend.spots(view.spots, look)]


def paint(view: Boxes, area: Area) -> None:
    """Draws what lies behind, the boxes and the signs."""
    inner, bar = area, None
    if view.behind is not None and view.behind.classes is None:
        shade = heat.colours(view.behind, area.look)
        bar = heat.bar(area, shade, view.behind.scale, view.behind.worst)
        inner = bar.left
    axes = inner.axes()
    _limits(axes, view)
    if view.behind is not None:
        heat.paint(axes, view.behind, area.look)
        matrix.mark_spots(axes, view.behind.spots, area.look)
    for box in view.boxes:
        _draw(axes, box, area.look, on_colours=view.behind is not None)
    matrix.mark_spots(axes, view.spots, area.look)
    _dress(axes, view, inner)
    if not view.boxes and view.behind is None:
        say_nothing(axes, area.look)
    place = inner.fit(axes)
    if bar is not None:
        bar.beside(place)


def _dress(axes: Axes, view: Boxes, area: Area) -> None:
    """Names or numbers along both sides."""
    if view.behind is not None and not view.lanes:
        matrix.dress(axes, replace(view.behind, x=view.x, y=view.y), area)
        return
    ticks.dress(axes, view.x, view.y, area)
    if view.lanes:
        middles = [at + 0.5 for at in range(len(view.lanes))]
        ticks.name_ticks(axes, "y", middles, view.lanes, area.height, 0.35 * area.width)


def _limits(axes: Axes, view: Boxes) -> None:
    """As far as the view, what lies behind or the boxes go."""
    xs = [side for box in view.boxes for side in (box.x, box.x + box.width)]
    ys = [side for box in view.boxes for side in (box.y, box.y + box.height)]
    xs += [spot.x for spot in view.spots]
    ys += [spot.y for spot in view.spots]
    if view.behind is not None:
        x, y, width, depth = view.behind.rect
        xs, ys = [x, x + width], [y, y + depth]
    if view.lanes:
        ys = [0.0, float(len(view.lanes))]
    if view.behind is not None:
        exact = 0.0
    else:
        # A box on the frame would lose the line around it;
        # a matrix behind them fills the frame exactly.
        exact = 0.05
    axes.set_xlim(ticks.limits(view.x, [xs], pad=exact))
    axes.set_ylim(ticks.limits(view.y, [ys], pad=0.0 if view.lanes else exact))


def _draw(axes: Axes, box: Box, look: Look, *, on_colours: bool) -> None:
    colour = look.colour(box.ink)
    if on_colours:
        # On a heat map a coloured frame would be lost without a rim of the ground's colour.
        rim = [withStroke(linewidth=3.6, foreground=look.ground)]
    else:
        rim = None
    place = (box.x, box.y)
    if not on_colours:
        pale = Rectangle(place, box.width, box.height, facecolor=colour, alpha=0.25, linewidth=0)
        axes.add_patch(pale)
    style = {"edgecolor": colour, "linewidth": 1.8, "linestyle": LINES[box.ink.dash]}
    axes.add_patch(Rectangle(place, box.width, box.height, fill=False, path_effects=rim, **style))
