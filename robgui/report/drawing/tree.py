"""Tree: moves from left to right; size is how much went through a node, colour what it is worth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.lines import Line2D

from robgui.core.view import Ink, Tree
from robgui.report.drawing import heat
from robgui.report.drawing.curves import say_nothing
from robgui.report.drawing.legend import LegendEntry
from robgui.report.drawing.look import SMALL, Look
from robgui.report.drawing.plate import Area
from robgui.report.lettering import POINTS, elide, extent

#: A tree of more nodes than this shows the heaviest ones and the best line.
MOST_NODES = 60
#: Inches of a leaf, and at most of the root's name.
_LEAF, _ROOT = 0.3, 0.9
#: Points across a node: even one that nothing went through is seen.
_SMALL_NODE, _LARGE_NODE = 4.0, 15.0


def height(view: Tree, width: float, large: bool) -> float:
    """How many inches the tree takes: a line for every leaf."""
    kept = shown(view)
    leaves = len(set(kept) - {int(view.parent[node]) for node in kept}) or 1
    # At most about as high as wide; more leaves stand closer.
    return min(6.4, max(1.4, _LEAF * leaves + 0.4))


def note(view: Tree) -> str:
    """How many nodes are shown where not all are."""
    count, kept = len(view.parent), len(shown(view))
    if kept == count:
        return ""
    return f"The {kept} nodes with the most {view.size.name} of {count:,} are shown."


def entries(view: Tree, look: Look) -> list[LegendEntry]:
    """The legend: the best line, and what the size means."""
    found = []
    if len(view.path) > 1:
        sample = Line2D([], [], color=look.colour(Ink("class")), linewidth=2.8)
        found.append(LegendEntry("best line", sample))
    if len(view.weight) and np.isfinite(view.weight).any():
        most = view.size.words(float(np.nanmax(view.weight)))
        words = f"size: {view.size.title}, at most {most}"
        sample = Line2D([], [], marker="o", markersize=8, color=look.faded, linestyle="none")
        found.append(LegendEntry(words, sample))
    return found


def shown(view: Tree) -> list[int]:
    """The nodes that are drawn: the best line and the heaviest, each with all its ancestors."""
    weight = np.nan_to_num(view.weight.astype(float), nan=-np.inf)
    kept: set[int] = set()
    for node in [*view.path, *np.argsort(-weight, kind="stable").tolist()]:
        line = _line(view, int(node))
        if len(kept | line) > max(MOST_NODES, len(view.path)):
            break
        kept |= line
    return sorted(kept)


def _line(view: Tree, node: int) -> set[int]:
    line = set()
    while node >= 0:
        line.add(node)
        node = int(view.parent[node])
    return line


def paint(view: Tree, area: Area) -> None:
    """Draws the nodes and the edges between them."""
    worst = {"low": "high", "high": "low"}.get(view.scale.better, "neither")
    shade = heat.shades(worst, _levels(view), area.look)
    inner = heat.bar(area, shade, view.scale, worst).left
    axes = inner.axes()
    axes.set_axis_off()
    kept = shown(view)
    if not kept:
        say_nothing(axes, area.look)
        return
    places = _places(view, kept)
    depth = max(x for x, _ in places.values()) + 1
    # More than half a row above and below, since names stand over their nodes.
    axes.set(xlim=(-0.1, depth), ylim=(max(y for _, y in places.values()) + 0.6, -0.6))
    first = min(_ROOT, extent(view.names[0], SMALL)) + _LARGE_NODE / POINTS
    inner = inner.less(top=0.02, left=first)
    axes.set_position(inner.bounds())
    _edges(axes, view, places, area.look)
    _nodes(axes, view, places, shade, area.look, inner.width / (depth + 0.1))


def _levels(view: Tree) -> tuple[float, float]:
    known = view.value[np.isfinite(view.value)]
    if view.scale.kind == "share" or not len(known):
        return 0.0, 1.0
    if math.isfinite(view.scale.low):
        low = view.scale.low
    else:
        low = float(known.min())
    if math.isfinite(view.scale.high):
        high = view.scale.high
    else:
        high = float(known.max())
    return low, high


def _places(view: Tree, kept: list[int]) -> dict[int, tuple[float, float]]:
    """Depth and height of every node: a parent stands in the middle of its children."""
    children: dict[int, list[int]] = {}
    for node in kept:
        children.setdefault(int(view.parent[node]), []).append(node)
    depth = {-1: -1}
    for node in kept:
        depth[node] = depth[int(view.parent[node])] + 1
    rows: dict[int, float] = {}
    leaf = 0
    for node in _leaves_first(children):
        under = [rows[child] for child in children.get(node, [])]
        if under:
            rows[node] = sum(under) / len(under)
        else:
            rows[node] = float(leaf)
        leaf += not under
    return {node: (float(depth[node]), rows[node]) for node in kept}


def _leaves_first(children: dict[int, list[int]]) -> list[int]:
    """Every node after all its children, siblings in order."""
    order: list[int] = []
    waiting = list(children.get(-1, []))
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += children.get(node, [])
    # A parent was taken before its children, so backwards these come first.
    return order[::-1]


def _edges(axes: Axes, view: Tree, places: dict[int, tuple[float, float]], look: Look) -> None:
    best = set(zip(view.path[:-1], view.path[1:], strict=True))
    for node, (x, y) in places.items():
        above = int(view.parent[node])
        if above < 0:
            continue
        x0, y0 = places[above]
        strong = (above, node) in best
        if strong:
            colour = look.colour(Ink("class"))
        else:
            colour = look.grid
        style: dict[str, Any] = {"linewidth": 1.0 + 1.8 * strong, "zorder": 1.5 + strong / 10}
        # A short slope, then level: the name of the node stands over the level part.
        axes.plot([x0, x0 + 0.12, x], [y0, y, y], color=colour, **style)


def _nodes(
    axes: Axes,
    view: Tree,
    places: dict[int, tuple[float, float]],
    shade: ScalarMappable,
    look: Look,
    step: float,
) -> None:
    """Circles with their names: beside a leaf, above a node that goes on."""
    most = max(float(np.nan_to_num(view.weight).max(initial=0.0)), 1e-12)
    goes_on = {int(view.parent[node]) for node in places}
    for node, (x, y) in places.items():
        # The root: areas, not diameters, stand in proportion.
        share = math.sqrt(max(0.0, float(np.nan_to_num(view.weight[node]))) / most)
        size = _SMALL_NODE + (_LARGE_NODE - _SMALL_NODE) * share
        known = math.isfinite(view.value[node])
        colour = shade.to_rgba(np.asarray(view.value[node])) if known else look.unknown
        if node in view.path:
            edge = look.colour(Ink("class"))
        else:
            edge = look.faded
        style: dict[str, Any] = {"markersize": size, "markeredgecolor": edge, "zorder": 3}
        axes.plot([x], [y], "o", color=colour, markeredgewidth=1.1, clip_on=False, **style)
        if node or node not in goes_on:
            # What the slope of the edge, the node and
            # a gap of four points leave of a step.
            room = 0.88 * step - (size + 4) / POINTS
        else:
            room = _ROOT
        words = elide(view.names[node], SMALL, room)
        style = {"textcoords": "offset points", "fontsize": SMALL, "color": look.text}
        axes.annotate(words, (x, y), zorder=4, **style, **_where(node, size, goes_on))


def _where(node: int, size: float, goes_on: set[int]) -> dict[str, Any]:
    """Where a name stands: beside a leaf, before the root, else over the edge to the node."""
    if node not in goes_on:
        return {"xytext": (size / 2 + 3, 0), "va": "center", "ha": "left"}
    if not node:
        return {"xytext": (-size / 2 - 3, 0), "va": "center", "ha": "right"}
    return {"xytext": (-size / 2 - 1, 2), "va": "bottom", "ha": "right"}
