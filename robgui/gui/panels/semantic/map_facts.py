"""What a map says in lists and words: which maps there are, its cells, its traps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.core.text.words import number
from robgui.gui.panels.semantic.map_view import MEAN, scores_of
from robgui.gui.panels.semantic.preview import image_place
from robgui.gui.state.sending import Offer

if TYPE_CHECKING:
    from robgui.analyses.semantic import MapResult


def point_of(result: MapResult, row: int, column: int) -> tuple[float, ...]:
    """The place of a cell, one value per axis."""
    return (float(result.x[column]), float(result.y[row]))[: len(result.axes)]


def choices_of(result: MapResult) -> dict[tuple[int, int], str]:
    """The maps that can be shown, by network and shape; curves show every network at once."""
    networks, shapes = result.networks, result.shapes
    if len(result.axes) < 2:
        each = {(MEAN, k): shape for k, shape in enumerate(shapes)} if len(shapes) > 1 else {(0, 0): shapes[0]}
        return {(MEAN, MEAN): "Mean over the shapes", **each} if len(shapes) > 1 else each
    choices = {(m, k): _words(network, shape, result) for m, network in enumerate(networks) for k, shape in enumerate(shapes)}
    if len(shapes) > 1:
        choices |= {(m, MEAN): f"{network}, mean over the shapes (NSM)" for m, network in enumerate(networks)}
    if len(choices) > 1:
        choices[(MEAN, MEAN)] = "Mean over all networks and shapes (DSM)"
    return choices


def _words(network: str, shape: str, result: MapResult) -> str:
    return shape if len(result.networks) == 1 else network if len(result.shapes) == 1 else f"{network}, {shape}"


def cell_words(result: MapResult, which: tuple[int, int], place: tuple[int, int, int]) -> str:
    """Where a cell is, its score, and what the network sees there; ``place`` is its row, its column and the nearest curve."""
    from robgui.analyses.semantic.words import place_words

    row, column, nearest = place
    network, shape = which
    network = nearest if nearest >= 0 else network
    score = float(scores_of(result, network, shape)[row, column])
    first = max(0, network), max(0, shape)
    seen = int(result.tops[first][row, column])
    words = f"{place_words(result.axes, np.array(point_of(result, row, column))).capitalize()}: score {number(score)}"
    words += f", {result.networks[first[0]]} sees “{result.labels[seen]}”" if seen >= 0 and shape >= 0 and network >= 0 else ""
    return words + ("." if result.computed[first][row, column] else "; a coarser cell stands for it so far.")


def cell_columns(result: MapResult) -> dict[str, np.ndarray]:
    """One row per cell: where it is, and the score and class of every network and shape."""
    columns: dict[str, np.ndarray] = {result.axes[0].name: np.tile(result.x, len(result.y))}
    if len(result.axes) > 1:
        columns[result.axes[1].name] = np.repeat(result.y, len(result.x))
    for m, network in enumerate(result.networks):
        for k, shape in enumerate(result.shapes):
            columns[f"score {network} {shape}"] = result.scores[m, k].ravel()
            columns[f"class {network} {shape}"] = result.tops[m, k].ravel()
    return columns


def trap_columns(result: MapResult) -> dict[str, Any]:
    """One row per trap, the worst first."""
    from robgui.analyses.semantic.words import place_words

    traps = result.traps
    columns: dict[str, Any] = {
        "At": [place_words(result.axes, at) for at in traps.at],
        "Score": traps.score,
        "Around": traps.wall,
        "Seen as": [result.labels[c] if c >= 0 else "" for c in traps.top1],
    }
    if len(result.networks) > 1:
        columns["Network"] = [result.networks[m] if m >= 0 else "mean" for m in traps.network]
    if len(result.shapes) > 1:
        columns["Shape"] = [result.shapes[k] if k >= 0 else "mean" for k in traps.shape]
    return columns


def trap_offers(result: MapResult) -> list[Offer]:
    """The pictures of the worst traps, to send to another analysis."""
    from robgui.analyses.semantic.words import place_words

    count = len(result.traps.images)
    if not count:
        return []
    shapes = [max(0, int(shape)) for shape in result.traps.shape[:count]]
    names = tuple(
        f"trap of {result.shapes[k]}, {place_words(result.axes, at)}" for k, at in zip(shapes, result.traps.at[:count], strict=True)
    )
    title = "The worst trap" if count == 1 else f"The worst {count} traps"
    return [Offer(title, names, result.traps.images, places=tuple(image_place(result.specs, k) for k in shapes))]
