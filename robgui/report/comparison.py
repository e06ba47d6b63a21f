"""What of a result can be laid beside another one, and subtracted from it: curves, matrices or a few numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from robgui.analyses.deepinspect import DeepInspectResult
    from robgui.analyses.feature_game import FeatureGameBatchResult, FeatureGameResult
    from robgui.analyses.semantic import Axis, MapResult, RegionsResult, SrvrResult
    from robgui.analyses.zonnscan import PopulationsResult, ZonnscanResult


@dataclass(frozen=True)
class Curves:
    """Lines over one axis.

    Attributes:
        x_name: Name and unit of the horizontal axis.
        y_name: Name and unit of the vertical axis.
        x: ``(n,)``.
        lines: Name -> ``(n,)``.
    """

    x_name: str
    y_name: str
    x: np.ndarray
    lines: dict[str, np.ndarray]


@dataclass(frozen=True)
class Matrix:
    """Values over two axes.

    Attributes:
        x_name: Name and unit of the horizontal axis.
        y_name: Name and unit of the vertical axis.
        scale: What the values are.
        values: ``(rows, columns)``, row 0 at the bottom.
        rect: x, y, width, height in the units of the axes.
        levels: The values of the first and the last colour.
        names: What rows and columns are called, where they are classes.
    """

    x_name: str
    y_name: str
    scale: str
    values: np.ndarray
    rect: tuple[float, float, float, float]
    levels: tuple[float, float]
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bars:
    """A few numbers with names.

    Attributes:
        y_name: What the numbers are, with their unit.
        values: Name -> number.
    """

    y_name: str
    values: dict[str, float]


Comparable = Curves | Matrix | Bars

#: What the severity of a feature game counts, by norm.
_SEVERITY = {"l0": "changed pixels", "l1": "sum of changes (L1)", "l2": "distance (L2)", "linf": "largest change (L∞)"}


def comparable(analysis: str, result: Any) -> Comparable | None:
    """What of a result can be compared; None when there is nothing."""
    function = COMPARED.get(analysis)
    return None if function is None else function(result)


def difference(first: Comparable, second: Comparable) -> Comparable | str:
    """``second`` less ``first``; a sentence when they do not stand over the same axes."""
    if isinstance(first, Curves) and isinstance(second, Curves):
        if first.x.shape != second.x.shape or not np.allclose(first.x, second.x) or list(first.lines) != list(second.lines):
            return f"The two runs do not have the same {first.x_name}; run both with the same settings to see the difference."
        return replace(second, y_name=f"difference in {first.y_name}", lines={k: second.lines[k] - v for k, v in first.lines.items()})
    if isinstance(first, Matrix) and isinstance(second, Matrix):
        if first.values.shape != second.values.shape or first.rect != second.rect or first.names != second.names:
            return "The two runs do not have the same axes; run both with the same settings to see the difference."
        values = second.values - first.values
        most = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
        return replace(second, scale=f"difference in {first.scale}", values=values, levels=(-most, most))
    if isinstance(first, Bars) and isinstance(second, Bars):
        both = [name for name in first.values if name in second.values]
        return Bars(f"difference in {first.y_name}", {name: second.values[name] - first.values[name] for name in both})
    return "The two runs are of different kinds and cannot be subtracted."


def _zonnscan(result: ZonnscanResult) -> Curves:
    lines = {"zoNNscan index": result.index, "share in other classes": result.crossing}
    return Curves("radius (share of the range)", "value (0 to 1)", result.radii, lines)


def _populations(result: PopulationsResult) -> Bars:
    sets = zip(result.names, (~result.second, result.second), strict=True)
    means = {name: float(np.nanmean(result.index[which])) for name, which in sets}
    return Bars("mean index", means)


def _semantic_map(result: MapResult) -> Matrix | Curves:
    """The mean over networks and shapes on two axes; one line for each network on one."""
    if len(result.axes) < 2:
        lines = {name: result.scores[m, :, 0].mean(0) for m, name in enumerate(result.networks)}
        return Curves(_axis_name(result.axes[0]), "score (0 to 1)", result.x, lines)
    dx, dy = (float(values[1] - values[0]) if len(values) > 1 else 1.0 for values in (result.x, result.y))
    rect = (float(result.x[0]) - dx / 2, float(result.y[0]) - dy / 2, dx * len(result.x), dy * len(result.y))
    return Matrix(_axis_name(result.axes[0]), _axis_name(result.axes[1]), "score (0 to 1)", result.score, rect, (0.0, 1.0))


def _axis_name(axis: Axis) -> str:
    return f"{axis.title} ({axis.unit})" if axis.unit else axis.title


def _semantic_regions(result: RegionsResult) -> Bars:
    """The mean size that each method's regions reach."""
    from robgui.analyses.semantic import METHOD_WORDS

    methods = np.array(result.method)
    sizes = {method: 100 * float(result.volume[methods == method].mean()) for method in dict.fromkeys(result.method)}
    return Bars("mean share of the range (%)", {METHOD_WORDS[method]: size for method, size in sizes.items()})


def _srvr(result: SrvrResult) -> Bars:
    shares = zip(result.networks, 100 * result.srvr, strict=True)
    return Bars("SRVR (% of the range)", {name: float(share) for name, share in shares if np.isfinite(share)})


def _deepinspect(result: DeepInspectResult) -> Matrix:
    from robgui.analyses.deepinspect.compare import standardised

    count = len(result.classes)
    values = standardised(result.napvd)
    most = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    scale = "distance (σ from mean)"
    return Matrix("class number", "class number", scale, values, (0, 0, count, count), (-most, most), result.classes)


def _feature_game(result: FeatureGameResult) -> Bars:
    """The severity that each search ends with, in its own norm."""
    norm = result.norm
    several = len({outcome.target for outcome in result.outcomes}) > 1
    names = [f"{o.player}, {result.labels[o.target]}" if several and o.target >= 0 else o.player for o in result.outcomes]
    values = [float(outcome.severity.by(norm)) for outcome in result.outcomes]
    return Bars(_SEVERITY[norm], {name: value for name, value in zip(names, values, strict=True) if np.isfinite(value)})


def _feature_game_batch(result: FeatureGameBatchResult) -> Bars:
    values = {"mean": result.mean, "median": result.median}
    return Bars(_SEVERITY[result.norm], {name: value for name, value in values.items() if np.isfinite(value)})


COMPARED: dict[str, Callable[[Any], Comparable]] = {
    "zonnscan": _zonnscan,
    "zonnscan_populations": _populations,
    "semantic_map": _semantic_map,
    "semantic_regions": _semantic_regions,
    "srvr": _srvr,
    "feature_game": _feature_game,
    "feature_game_batch": _feature_game_batch,
    "deepinspect": _deepinspect,
}
