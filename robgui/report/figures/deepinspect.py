"""Figures of DeepInspect: confusion and bias, thresholds, coverage."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from robgui.analyses.deepinspect.pairs import clustered
from robgui.core.text.words import number
from robgui.report.figures.style import CLASS_COLOURS, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robgui.analyses.deepinspect import CoverageResult, DeepInspectResult, Quality, Sensitivity, ThresholdsResult

#: So many classes get their name at the axes.
NAMED_CLASSES = 24
#: So many reported pairs stand in the ranking.
SHOWN_PAIRS = 12
#: So many points of a scatter are drawn; a picture with more shows no more.
_POINTS = 20_000
_REPORTED, _OTHER, _THIRD = CLASS_COLOURS[1], CLASS_COLOURS[0], CLASS_COLOURS[2]


def deepinspect_figure(result: DeepInspectResult) -> Figure:
    """Both matrices; below them the distances with the limit, and what the labels say or else the reported pairs."""
    figure = Figure(figsize=(9.4, 8.2), layout="constrained")
    (confusion, bias), (left, right) = figure.subplots(2, 2, height_ratios=(1.25, 1))
    order = clustered(result.napvd)
    _draw_matrix(confusion, result.napvd, order, result.classes, "distance of classes (small: confused)", "viridis")
    _draw_matrix(bias, result.avg_bias, order, result.classes, "average bias", "cividis")
    if result.confusion is not None and result.confusion.pairs:
        _draw_scatter(left, result)
        _draw_curves(right, result.confusion)
    else:
        _draw_histogram(left, result)
        _draw_ranking(right, result)
    return figure


def _draw_matrix(axes: Axes, matrix: np.ndarray, order: np.ndarray, classes: tuple[str, ...], title: str, colours: str) -> None:
    shown = matrix[np.ix_(order, order)].astype(np.float64)
    np.fill_diagonal(shown, np.nan)
    axes.set_title(title)
    if np.isfinite(shown).any():
        image = axes.imshow(shown, cmap=colours, interpolation="nearest" if len(classes) <= 200 else "antialiased")
        axes.figure.colorbar(image, ax=axes, shrink=0.8)
    else:
        axes.text(0.5, 0.5, "nothing to compare", transform=axes.transAxes, ha="center", va="center")
    if len(classes) <= NAMED_CLASSES:
        names = [shorten(classes[int(c)], 14) for c in order]
        axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=9)
        axes.set_yticks(range(len(names)), names, fontsize=9)
    else:
        axes.set_xlabel(f"{len(classes):,} classes, near ones side by side")
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))


def _draw_histogram(axes: Axes, result: DeepInspectResult) -> None:
    values = _upper(result.napvd)
    values = values[np.isfinite(values)]
    if len(values):
        axes.hist(values, bins=min(60, max(5, len(values) // 4)), color=_OTHER, edgecolor="none")
    _mark_limit(axes, result)
    axes.set_xlabel("distance of two classes")
    axes.set_ylabel("pairs")
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))


def _draw_ranking(axes: Axes, result: DeepInspectResult) -> None:
    pairs = (result.confusion_pairs if len(result.confusion_pairs) else result.confusion_top)[:SHOWN_PAIRS]
    names = [f"{shorten(result.classes[a], 14)} – {shorten(result.classes[b], 14)}" for a, b in pairs.tolist()]
    axes.barh(range(len(pairs)), [float(result.napvd[a, b]) for a, b in pairs.tolist()], color=_REPORTED)
    axes.set_yticks(range(len(pairs)), names, fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel("distance")
    axes.set_title("most confused pairs" if len(result.confusion_pairs) else "nearest pairs")


def _draw_scatter(axes: Axes, result: DeepInspectResult) -> None:
    distance, conf = _upper(result.napvd), _upper(result.conf)
    known = np.flatnonzero(np.isfinite(distance) & np.isfinite(conf))
    known = known[:: max(1, -(-len(known) // _POINTS))]
    below = distance[known] < result.confusion_limit
    for which, marker, colour, label in ((~below, "o", _OTHER, "other pairs"), (below, "s", _REPORTED, "reported")):
        axes.plot(distance[known][which], conf[known][which], marker, color=colour, markersize=4, alpha=0.7, label=label, linestyle="none")
    _mark_limit(axes, result)
    axes.set_xlabel("distance of two classes")
    axes.set_ylabel("true confusion")
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.set_title(f"Spearman {number(result.spearman_confusion)}")
    axes.legend(loc="upper right", fontsize=9)


def _mark_limit(axes: Axes, result: DeepInspectResult) -> None:
    if np.isfinite(result.confusion_limit):
        axes.axvline(result.confusion_limit, color=_REPORTED, linestyle="--", linewidth=1)


def _draw_curves(axes: Axes, quality: Quality) -> None:
    ink = mpl.rcParams["text.color"]
    axes.plot(quality.cost, quality.found_optimal, color=ink, linestyle="-.", linewidth=1, label=f"optimal {number(quality.aucec_optimal)}")
    axes.plot(quality.cost, quality.found, color=_REPORTED, label=f"DeepInspect {number(quality.aucec)}")
    if np.isfinite(quality.aucec_mode):
        axes.plot(quality.cost, quality.found_mode, color=_THIRD, linestyle="--", label=f"weights (MODE) {number(quality.aucec_mode)}")
    axes.plot([0, 1], [0, 1], color=ink, linestyle=":", linewidth=0.8, label="random 0.5")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("pairs inspected")
    axes.set_ylabel("true confusions found")
    axes.legend(loc="lower right", fontsize=9, title="area under the curve", title_fontsize=9)


def deepinspect_thresholds_figure(result: ThresholdsResult) -> Figure:
    """Precision, recall and area of both rankings against the threshold; without labels the agreement alone."""
    figure = Figure(figsize=(6.4, 6.4), layout="constrained")
    axes = figure.subplots(2, 1, sharex=True)
    for axis, values, title in zip(axes, (result.confusion, result.bias), ("confused pairs", "biased pairs"), strict=True):
        _draw_sensitivity(axis, result, values, title)
    axes[1].set_xlabel("activation threshold")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    return figure


def _draw_sensitivity(axes: Axes, result: ThresholdsResult, values: Sensitivity, title: str) -> None:
    lines = [(values.agreement, "s", "-", f"same pairs as at {result.thresholds[result.reference]:g}")]
    if result.labelled:
        lines += [
            (values.precision, "o", "--", "precision"),
            (values.recall, "^", "--", "recall"),
            (values.top_precision, "v", ":", f"precision of the top {result.top_percent:g} %"),
            (values.aucec, "D", "-.", "area under the cost curve"),
        ]
    for place, (heights, marker, line, label) in enumerate(lines):
        axes.plot(result.thresholds, heights, marker=marker, linestyle=line, color=CLASS_COLOURS[place], markersize=5, label=label)
    axes.set_ylim(-0.03, 1.03)
    axes.set_title(f"{title}: {', '.join(map(str, values.reported))} reported", fontsize=9.5)


def deepinspect_coverage_figure(result: CoverageResult) -> Figure:
    """Neuron coverage of the inputs of ten classes, and how the classes spread over each criterion (Figures 3 and 4)."""
    figure = Figure(figsize=(7.2, 6.4), layout="constrained")
    above, below = figure.subplots(2, 1)
    shown = np.argsort(-result.counts, kind="stable")[:10]
    shown = np.sort(shown[result.counts[shown] > 0])
    groups = [result.coverage[result.predicted == c] for c in shown]
    groups = [group[np.isfinite(group)] for group in groups]
    if groups:
        above.boxplot(groups, showfliers=False)
        above.set_xticks(range(1, len(shown) + 1), [shorten(result.classes[c], 12) for c in shown], rotation=30, ha="right")
    above.yaxis.set_major_formatter(PercentFormatter(1))
    above.set_ylabel("neuron coverage of an input")
    above.set_title(f"Kruskal p = {number(result.kruskal_p)}")
    criteria = {
        "neuron": result.neuron,
        f"{result.sections}-multisection": result.multisection,
        "boundary": result.boundary,
        "strong": result.strong,
        f"top-{result.top_k}": result.top,
    }
    values = [value[np.isfinite(value)] for value in criteria.values()]
    for place, heights in enumerate(values):
        spread = np.linspace(-0.15, 0.15, len(heights)) if len(heights) > 1 else np.zeros(len(heights))
        below.plot(place + spread, heights, "o", color=CLASS_COLOURS[0], markersize=4, alpha=0.7)
    below.set_xticks(range(len(criteria)), list(criteria))
    below.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    below.set_ylabel("coverage of a class")
    below.set_title("one point per class")
    return figure


def _upper(matrix: np.ndarray) -> np.ndarray:
    first, second = np.triu_indices(len(matrix), 1)
    return np.asarray(matrix[first, second], dtype=np.float64)


FIGURES: dict[str, Callable[[Any], Figure]] = {
    "deepinspect": deepinspect_figure,
    "deepinspect_thresholds": deepinspect_thresholds_figure,
    "deepinspect_coverage": deepinspect_coverage_figure,
}
