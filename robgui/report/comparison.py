"""What of a result can be laid beside another one, and subtracted from it: curves, matrices or a few numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from robgui.analyses.deepinspect import CoverageResult, DeepInspectResult, ThresholdsResult
    from robgui.analyses.feature_game import FeatureGameBatchResult, FeatureGameResult
    from robgui.analyses.last_particle import LastParticleResult, LastParticleTableResult
    from robgui.analyses.semantic import Axis, MapResult, RegionsResult, SrvrResult
    from robgui.analyses.zonnscan import CornerCasesResult, PopulationsResult, WatermarkResult, ZonnscanResult


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


def aligned(first: Comparable, second: Comparable) -> tuple[Comparable, Comparable]:
    """Both as they can be compared by eye: matrices with the same colours, bars in the same order with nan where there is none."""
    if isinstance(first, Matrix) and isinstance(second, Matrix):
        levels = (min(first.levels[0], second.levels[0]), max(first.levels[1], second.levels[1]))
        return replace(first, levels=levels), replace(second, levels=levels)
    if isinstance(first, Bars) and isinstance(second, Bars):
        names = dict.fromkeys([*first.values, *second.values], np.nan)
        return Bars(first.y_name, names | first.values), Bars(second.y_name, names | second.values)
    return first, second


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
        if not both:
            return "The two runs have no number in common, so there is nothing to subtract."
        return Bars(f"difference in {first.y_name}", {name: second.values[name] - first.values[name] for name in both})
    return "The two runs are of different kinds and cannot be subtracted."


def _zonnscan(result: ZonnscanResult) -> Curves:
    lines = {"zoNNscan index": result.index, "share in other classes": result.crossing}
    return Curves("radius (share of the range)", "value (0 to 1)", result.radii, lines)


def _populations(result: PopulationsResult) -> Bars:
    sets = zip(result.names, (~result.second, result.second), strict=True)
    means = {name: float(result.index[which & np.isfinite(result.index)].mean()) for name, which in sets if _any(result.index[which])}
    return Bars("mean index", means)


def _corner_cases(result: CornerCasesResult) -> Bars:
    """On how many inputs all models, and each two of them, disagree."""
    looked = max(1, result.looked)
    shares = {"any models": 100 * len(result.numbers) / looked}
    if len(result.models) > 2:
        names = result.models
        pairs = [(a, b) for a in range(len(names)) for b in range(a + 1, len(names))]
        shares |= {f"{names[a]} and {names[b]}": 100 * float(result.pairs[a, b]) / looked for a, b in pairs}
    return Bars("inputs they disagree on (%)", shares)


def _watermark(result: WatermarkResult) -> Bars:
    names = ("model", "marked copy") if result.mode == "make" else ("first model", "second model")
    return Bars("mean index", {name: float(mean) for name, mean in zip(names, result.means, strict=True) if np.isfinite(mean)})


def _any(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).any())


def _semantic_map(result: MapResult) -> Matrix | Curves:
    """The mean over networks and shapes on two axes; one line for each network on one."""
    if len(result.axes) < 2:
        lines = {name: result.scores[m, :, 0].mean(0) for m, name in enumerate(_networks(result.networks))}
        return Curves(_axis_name(result.axes[0]), "score (0 to 1)", result.x, lines)
    dx, dy = (float(values[1] - values[0]) if len(values) > 1 else 1.0 for values in (result.x, result.y))
    rect = (float(result.x[0]) - dx / 2, float(result.y[0]) - dy / 2, dx * len(result.x), dy * len(result.y))
    return Matrix(_axis_name(result.axes[0]), _axis_name(result.axes[1]), "score (0 to 1)", result.score, rect, (0.0, 1.0))


def _networks(names: tuple[str, ...]) -> tuple[str, ...]:
    """What the networks of a run are called; a single one has no name, so that another network can be laid beside it."""
    return names if len(names) > 1 else ("network",)


def _axis_name(axis: Axis) -> str:
    return f"{axis.title} ({axis.unit})" if axis.unit else axis.title


def _semantic_regions(result: RegionsResult) -> Bars:
    """The mean size that each method's regions reach."""
    from robgui.analyses.semantic import METHOD_WORDS

    methods = np.array(result.method)
    sizes = {method: 100 * float(result.volume[methods == method].mean()) for method in dict.fromkeys(result.method)}
    return Bars("mean share of the range (%)", {METHOD_WORDS[method]: size for method, size in sizes.items()})


def _srvr(result: SrvrResult) -> Bars:
    shares = zip(_networks(result.networks), 100 * result.srvr, strict=True)
    return Bars("SRVR (% of the range)", {name: float(share) for name, share in shares if np.isfinite(share)})


def _deepinspect(result: DeepInspectResult) -> Matrix:
    from robgui.analyses.deepinspect.compare import standardised

    count = len(result.classes)
    values = standardised(result.napvd)
    most = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    scale = "distance (σ from mean)"
    return Matrix("class number", "class number", scale, values, (0, 0, count, count), (-most, most), result.classes)


def _thresholds(result: ThresholdsResult) -> Curves:
    lines = {
        "neurons active": result.active,
        "same confused pairs as at the reference": result.confusion.agreement,
        "same biased pairs as at the reference": result.bias.agreement,
    }
    return Curves(
        "activation threshold", "share (0 to 1)", result.thresholds, {name: np.asarray(line, float) for name, line in lines.items()}
    )


def _coverage(result: CoverageResult) -> Bars:
    """The mean over the classes of each criterion."""
    criteria = {
        "neuron": result.neuron,
        "sections": result.multisection,
        "boundary": result.boundary,
        "strong": result.strong,
        "top neurons": result.top,
    }
    return Bars("mean coverage of a class (%)", {name: 100 * float(np.nanmean(of)) for name, of in criteria.items() if _any(of)})


def _last_particle(result: LastParticleResult) -> Bars:
    """The failure probability as powers of ten: the longer the bar, the safer."""
    ends = {"95 % low": result.p_low, "estimate": result.p_estimate, "95 % high": result.p_high, "critical": result.critical}
    powers = {name: float(np.log10(p)) for name, p in ends.items() if np.isfinite(p) and p > 0}
    return Bars("failure probability (power of ten)", powers)


def _last_particle_table(result: LastParticleTableResult) -> Curves:
    lines = {"validated": result.validated.mean(1)}
    if result.monte_carlo_samples:
        lines["no failure in plain samples"] = (result.monte_carlo_failures == 0).mean(1)
    if not result.certified_reason:
        lines["certified by proof"] = result.certified.mean(1)
    return Curves("size of the noise (power of ten)", "share of the inputs (0 to 1)", np.log10(result.radii), lines)


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
    "zonnscan_corner_cases": _corner_cases,
    "zonnscan_watermark": _watermark,
    "semantic_map": _semantic_map,
    "semantic_regions": _semantic_regions,
    "srvr": _srvr,
    "feature_game": _feature_game,
    "feature_game_batch": _feature_game_batch,
    "deepinspect": _deepinspect,
    "deepinspect_thresholds": _thresholds,
    "deepinspect_coverage": _coverage,
    "last_particle": _last_particle,
    "last_particle_table": _last_particle_table,
}
