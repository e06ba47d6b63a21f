"""Figures of semantic robustness: maps, regions, SRVR."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from robgui.analyses.semantic import METHOD_WORDS, network_map, pieces
from robgui.report.figures.style import class_style, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robgui.analyses.semantic import Axis, MapResult, RegionsResult, SrvrResult

#: Colour and line of each method, the same everywhere.
METHOD_STYLE: dict[str, dict[str, Any]] = {
    "naive": {"color": "#E69F00", "linestyle": "--"},
    "oir_b": {"color": "#0072B2", "linestyle": "-"},
    "oir_w": {"color": "#009E73", "linestyle": "-."},
}
#: So many maps stand in one figure.
MOST_MAPS = 6


def semantic_map_figure(result: MapResult) -> Figure:
    """The map as in the paper's Figures 1, 4 and 5: curves over one parameter, heat over two; networks side by side."""
    if len(result.axes) == 1:
        return _curves(result)
    maps = [(shorten(name, 30), network_map(result, m)) for m, name in enumerate(result.networks[: MOST_MAPS - 1])]
    if len(result.networks) > 1:
        maps.append(("mean of all networks", result.score))
    columns = 1 if len(maps) == 1 else 2
    rows = -(-len(maps) // columns)
    figure = Figure(figsize=(5.8, 0.9 + (3.0 if columns == 1 else 2.0) * rows), layout="constrained")
    cells = np.ravel(figure.subplots(rows, columns, squeeze=False))
    for axes, (name, score) in zip(cells, maps, strict=False):
        image = _heat(axes, result.x, result.y, score, result.axes)
        axes.set_title(name if len(maps) > 1 else f"{_subject(result)}, {name}")
    for axes in cells[len(maps) :]:
        axes.set_axis_off()
    _mark_traps(cells, result, len(maps))
    figure.colorbar(image, ax=list(cells), label="score", shrink=0.8)
    if len(maps) > 1:
        figure.suptitle(_subject(result), fontsize=10.5)
    return figure


def _curves(result: MapResult) -> Figure:
    figure = Figure(figsize=(5.8, 3.8), layout="constrained")
    axes = figure.subplots()
    for m, name in enumerate(result.networks):
        axes.plot(result.x, network_map(result, m)[0], label=shorten(name, 40), **class_style(m))
    if len(result.networks) > 1:
        axes.plot(result.x, result.score[0], color=mpl.rcParams["text.color"], linestyle=":", label="mean of all networks")
    axes.axhline(result.trap_floor, color="0.6", linewidth=0.6)
    axes.axhline(result.trap_wall, color="0.6", linewidth=0.6)
    for at, score in zip(result.traps.at, result.traps.score, strict=True):
        axes.plot(at[0], score, "x", color="#D55E00", markersize=7)
    axes.set(xlim=(result.axes[0].low, result.axes[0].high), ylim=(-0.02, 1.02), xlabel=_label(result.axes[0]), ylabel="score")
    axes.set_title(_subject(result))
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    return figure


def _heat(axes: Axes, x: np.ndarray, y: np.ndarray, score: np.ndarray, both: tuple[Axis, ...]) -> Any:
    """Scores from 0 to 1 over two parameters, cells around their points."""
    image = axes.pcolormesh(x, y, score, shading="nearest", cmap="viridis", vmin=0, vmax=1, rasterized=True)
    axes.set(xlabel=_label(both[0]), ylabel=_label(both[1]))
    return image


def _mark_traps(cells: np.ndarray, result: MapResult, maps: int) -> None:
    for at, network in zip(result.traps.at, result.traps.network, strict=True):
        place = maps - 1 if network < 0 else int(network)
        if place < maps:
            cells[place].plot(*at, "x", color="#D55E00", markersize=7, markeredgewidth=1.6)


def semantic_regions_figure(result: RegionsResult) -> Figure:
    """The regions as in the paper's Figure 3, and the loss of each method below."""
    figure = Figure(layout="constrained")
    above, below = figure.subplots(2, 1, height_ratios=(2.4, 1))
    {1: _regions_on_curve, 2: _regions_on_map}.get(len(result.axes), _regions_as_bars)(above, result)
    above.set_title(f"{shorten(result.shape, 30)}, “{shorten(result.labels[result.target])}”, {result.mode}")
    for row, method in zip(result.loss, result.method, strict=True):
        below.plot(row, linewidth=1, **METHOD_STYLE[method])
    below.set(xlabel="step", ylabel="loss")
    for method in dict.fromkeys(result.method):
        below.plot([], [], label=METHOD_WORDS[method], **METHOD_STYLE[method])
    figure.legend(*below.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _regions_on_map(axes: Axes, result: RegionsResult) -> None:
    image = _heat(axes, result.map_x, result.map_y, result.map_score, result.axes)
    for low, high, method in zip(result.low, result.high, result.method, strict=True):
        spans = [pieces(axis, float(a), float(b)) for axis, a, b in zip(result.axes, low, high, strict=True)]
        for (x0, x1), (y0, y1) in product(*spans):
            axes.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, fill=False, linewidth=1.8, **_edge(method)))
    axes.plot(*result.start.T, "o", color="white", markeredgecolor="black", markersize=5)
    axes.set(xlim=(result.axes[0].low, result.axes[0].high), ylim=(result.axes[1].low, result.axes[1].high))
    axes.figure.colorbar(image, ax=axes, label="score")


def _regions_on_curve(axes: Axes, result: RegionsResult) -> None:
    axes.plot(result.map_x, result.map_score[0], color=mpl.rcParams["text.color"])
    (axis,) = result.axes
    for place, (low, high, method) in enumerate(zip(result.low[:, 0], result.high[:, 0], result.method, strict=True)):
        height = -0.06 * (1 + place)
        for a, b in pieces(axis, float(low), float(high)):
            axes.plot([a, b], [height, height], linewidth=3, solid_capstyle="butt", **METHOD_STYLE[method])
        axes.plot(result.start[place, 0], height, "o", color="white", markeredgecolor="black", markersize=4)
    axes.set(xlim=(axis.low, axis.high), xlabel=_label(axis), ylabel="score", yticks=(0, 0.5, 1))


def _regions_as_bars(axes: Axes, result: RegionsResult) -> None:
    """One row per parameter, its range from left to right; one bar per region."""
    count = len(result.method)
    for row, axis in enumerate(result.axes):
        width = axis.high - axis.low
        for place, method in enumerate(result.method):
            height = row + 0.35 - 0.7 * (place + 0.5) / count
            for a, b in pieces(axis, float(result.low[place, row]), float(result.high[place, row])):
                axes.plot([(a - axis.low) / width, (b - axis.low) / width], [height, height], linewidth=2, **METHOD_STYLE[method])
            axes.plot((result.start[place, row] - axis.low) / width, height, ".", color=mpl.rcParams["text.color"], markersize=3)
    names = [f"{axis.title}\n{axis.low:g} to {axis.high:g} {axis.unit}".rstrip() for axis in result.axes]
    axes.set_yticks(range(len(names)), names)
    axes.set(xlim=(0, 1), xlabel="share of the range")


def _edge(method: str) -> dict[str, Any]:
    style = METHOD_STYLE[method]
    return {"edgecolor": style["color"], "linestyle": style["linestyle"]}


def srvr_figure(result: SrvrResult) -> Figure:
    """The ratio of every network as in the paper's Table 1, by method, with what became of the regions."""
    figure = Figure(figsize=(5.8, 1.6 + 0.75 * len(result.networks)), layout="constrained")
    axes = figure.subplots()
    order = np.argsort(np.nan_to_num(result.srvr), kind="stable")
    thick = 0.8 / (len(result.methods) + 1)
    for place, network in enumerate(order):
        share = np.nan_to_num(result.srvr[network])
        axes.barh(place + 0.3, 100 * share, thick, color=mpl.rcParams["text.color"])
        for q, method in enumerate(result.methods):
            value = 100 * np.nan_to_num(result.by_method[network, q])
            axes.barh(place + 0.3 - (q + 1) * thick, value, thick, color=METHOD_STYLE[method]["color"])
        counts = f"{result.regions[network]} regions, {result.never_grew[network]} never grew, {result.unconverged[network]} still moving"
        axes.annotate(
            f"{100 * share:.1f} %  ({counts})", (100 * share, place + 0.3), (4, 0), textcoords="offset points", va="center", fontsize=9
        )
    axes.barh([0], [0], color=mpl.rcParams["text.color"], label="mean")
    for method in result.methods:
        axes.barh([0], [0], color=METHOD_STYLE[method]["color"], label=METHOD_WORDS[method])
    axes.set_yticks(range(len(order)), [shorten(result.networks[m], 24) for m in order])
    axes.set(xlim=(0, 100), ylim=(-0.6, len(order) - 0.4), xlabel="SRVR: mean share of the range that a region fills, %")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _label(axis: Axis) -> str:
    return f"{axis.title.lower()} ({axis.unit})" if axis.unit else axis.title.lower()


def _subject(result: MapResult) -> str:
    names = list(dict.fromkeys(result.labels[c] for c in result.target if c >= 0))
    shape = shorten(result.shapes[0], 30) if len(result.shapes) == 1 else f"mean of {len(result.shapes)} shapes"
    return f"“{shorten(names[0])}”, {shape}" if len(names) == 1 else shape


FIGURES: dict[str, Callable[[Any], Figure]] = {
    "semantic_map": semantic_map_figure,
    "semantic_regions": semantic_regions_figure,
    "srvr": srvr_figure,
}
