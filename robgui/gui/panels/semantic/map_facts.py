"""Which maps a result has, and where their cells are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robgui.analyses.semantic.result import image_place
from robgui.analyses.semantic.words import place_words
from robgui.core.finding import Finding
from robgui.core.text.words import percent

if TYPE_CHECKING:
    from robgui.analyses.semantic import MapResult
    from robgui.gui.panels.semantic.preview import PoseView

#: In the chooser: the mean over all shapes, or over all networks.
MEAN = -1
#: What the paper calls the means, for the tool tips.
PAPER_MEANS = {
    "network": "The paper's network semantic map (NSM)",
    "all": "The paper's data semantic map (DSM)",
}


def point_of(result: MapResult, row: int, column: int) -> tuple[float, ...]:
    """The place of a cell, one value per axis."""
    return (float(result.x[column]), float(result.y[row]))[: len(result.axes)]


def at_of(result: MapResult, look: PoseView) -> np.ndarray:
    """Where a look was taken, one value per axis of the map."""
    return np.array([look.where.values[axis.name] for axis in result.axes])


def spot_finding(result: MapResult, look: PoseView, which: tuple[int, int]) -> Finding:
    """A spot of a map that the user has starred: there the answer is another one."""
    network, shape = which
    at = at_of(result, look)
    where = place_words(result.axes, at)
    name, seen = result.labels[int(result.target[shape])], look.names[0]
    title = f"{result.shapes[shape]}: “{name}” is seen as “{seen}” at {where}"
    detail: dict[str, object] = {"class": name, "seen_as": seen, "at": at.tolist()}
    detail |= {"network": result.networks[network], "confidence": percent(look.shares[0])}
    if (place := image_place(result.specs, shape)) >= 0:
        detail["place"] = place
    return Finding("spot", title, float(look.shares[0]), detail, look.picture, look.image)


def choices_of(result: MapResult) -> dict[tuple[int, int], str]:
    """The maps that can be shown, by network and shape; curves show every network at once."""
    networks, shapes = result.networks, result.shapes
    if len(result.axes) < 2:
        each = {(MEAN, k): shape for k, shape in enumerate(shapes)}
        if len(shapes) > 1:
            return {(MEAN, MEAN): "Mean over the shapes", **each}
        return each
    pairs = [(m, k) for m in range(len(networks)) for k in range(len(shapes))]
    choices = {(m, k): _words(result, m, k) for m, k in pairs}
    if len(shapes) > 1:
        choices |= {(m, MEAN): f"{name}, mean over the shapes" for m, name in enumerate(networks)}
    if len(choices) > 1:
        choices[(MEAN, MEAN)] = "Mean over all networks and shapes"
    return choices


def paper_name(which: tuple[int, int]) -> str:
    """What the paper calls a map of the chooser; empty for a single one."""
    network, shape = which
    if shape != MEAN:
        return ""
    return PAPER_MEANS["all" if network == MEAN else "network"]


def _words(result: MapResult, network: int, shape: int) -> str:
    names = []
    if len(result.networks) > 1 or len(result.shapes) == 1:
        names.append(result.networks[network])
    if len(result.shapes) > 1:
        names.append(result.shapes[shape])
    return ", ".join(names)
