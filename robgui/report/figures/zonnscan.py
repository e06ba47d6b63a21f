"""Figures of zoNNscan: sweep, populations, corner cases, watermark."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from robgui.analyses.zonnscan.clouds import ZONE_WORDS
from robgui.report.figures.style import CLASS_COLOURS, class_style, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robgui.analyses.zonnscan import CornerCasesResult, PopulationsResult, WatermarkResult, ZonnscanResult

#: So many classes get a line of their own; the rest are grey.
SHOWN_CLASSES = 10
#: So many corner cases stand in a row.
SHOWN_INPUTS = 6


def zonnscan_figure(result: ZonnscanResult) -> Figure:
    """The sweep as in the paper's Figure 2, with the share of samples that change class below it."""
    figure = Figure(layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2.6, 1))
    _draw_confidences(above, result)
    _draw_index(above, result)
    _draw_crossing(below, result)
    for axes in (above, below):
        _mark_crossing_radius(axes, result)
        axes.set_xlim(float(result.radii[0]), max(float(result.radii[-1]), float(result.radii[0]) + 1e-6))
    below.set_xlabel(f"radius of the zone ({ZONE_WORDS[result.zone]})")
    figure.legend(*above.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    return figure


def _draw_confidences(axes: Axes, result: ZonnscanResult) -> None:
    """The classes with the highest mean confidence anywhere, the predicted one first."""
    peaks = np.nan_to_num(result.mean_confidence).max(0)
    peaks[result.predicted] = np.inf
    order = np.argsort(-peaks, kind="stable")
    for c in order[SHOWN_CLASSES:]:
        axes.plot(result.radii, result.mean_confidence[:, c], color="0.6", linewidth=0.6)
    for c in order[:SHOWN_CLASSES]:
        label = shorten(result.labels[c]) + (" (predicted)" if c == result.predicted else "")
        width = 2.4 if c == result.predicted else 1.5
        axes.plot(result.radii, result.mean_confidence[:, c], label=label, linewidth=width, **class_style(int(c)))


def _draw_index(axes: Axes, result: ZonnscanResult) -> None:
    ink = mpl.rcParams["text.color"]
    axes.fill_between(result.radii, result.ci_low, result.ci_high, color=ink, alpha=0.18, linewidth=0)
    axes.plot(result.radii, result.index, color=ink, linestyle=":", marker="o", markersize=2.5, linewidth=2.2, label="index (95 % band)")
    axes.axhline(float(result.index[0]), color=ink, linewidth=0.6, alpha=0.5)
    axes.set_ylim(-0.02, 1.02)
    axes.set_ylabel("index · mean confidence")
    axes.set_title(f"{shorten(result.input_name, 60)}, predicted {shorten(result.labels[result.predicted])}")


def _draw_crossing(axes: Axes, result: ZonnscanResult) -> None:
    colour = "#D55E00"
    axes.fill_between(result.radii, result.crossing_low, result.crossing_high, color=colour, alpha=0.25, linewidth=0)
    axes.plot(result.radii, result.crossing, color=colour, marker="s", markersize=3)
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_ylabel("change class")


def _mark_crossing_radius(axes: Axes, result: ZonnscanResult) -> None:
    if np.isfinite(result.crossing_radius):
        axes.axvline(result.crossing_radius, color="#D55E00", linewidth=1, linestyle=(0, (1, 1)))


def zonnscan_populations_figure(result: PopulationsResult) -> Figure:
    """The two distributions of the index as in the paper's Figures 3 and 4, and the index as a detector."""
    figure = Figure(layout="constrained")
    above, below = figure.subplots(2, 1, height_ratios=(1.3, 1))
    _draw_populations(above, result)
    _draw_detector(below, result)
    return figure


def zonnscan_corner_cases_figure(result: CornerCasesResult) -> Figure:
    """The worst corner cases with every model's answer, and the index around corner cases."""
    figure = Figure(layout="constrained")
    above, below = np.ravel(figure.subfigures(2, 1, height_ratios=(1, 1.2)))  # type: ignore[arg-type]  # the stubs know one subfigure only
    shown = min(SHOWN_INPUTS, len(result.thumbnails))
    for place, axes in enumerate(np.ravel(above.subplots(1, SHOWN_INPUTS))):
        axes.set_axis_off()
        if place < shown:
            axes.imshow(result.thumbnails[place])
            axes.set_title("\n".join(shorten(result.labels[c], 12) for c in result.classes[:, place]), fontsize=9, loc="center")
    names = shorten(", ".join(result.models), 70)
    above.suptitle(
        f"{len(result.numbers):,} of {result.looked:,} inputs are corner cases. Answers from top to bottom:\n{names}", fontsize=9.5
    )
    axes = below.subplots()
    if result.populations:
        _draw_populations(axes, result.populations[0])
    else:
        axes.set_axis_off()
    return figure


def zonnscan_watermark_figure(result: WatermarkResult) -> Figure:
    """The index around the key inputs under both models, and how far the mean of each input has moved."""
    figure = Figure(layout="constrained")
    above, below = figure.subplots(2, 1, height_ratios=(1.3, 1))
    names = (shorten(result.models[0], 40), "its watermarked copy" if result.mode == "make" else shorten(result.models[1], 40))
    _draw_distributions(above, (result.index[0].ravel(), result.index[1].ravel()), names, "values", result.radius, result.ks_p)
    runs = np.isfinite(result.index).all((0, 2))
    ink = mpl.rcParams["text.color"]
    if runs.any():
        first, second = result.index[:, runs].mean(1)
        others = "inputs" if result.mode == "compare" else "other key inputs"
        for which, marker, label in ((result.adversarial, "x", "adversarial key inputs"), (~result.adversarial, "o", others)):
            if which.any():
                below.plot(first[which], second[which], marker, color=ink, markersize=4, markerfacecolor="none", label=label)
        below.legend(loc="best", fontsize=9)
    below.plot([0, 1], [0, 1], color=ink, linewidth=0.6, linestyle=":")
    below.set_xlabel(f"mean index under {names[0]}")
    below.set_ylabel("under the other")
    return figure


def _draw_populations(axes: Axes, result: PopulationsResult) -> None:
    values = (result.index[~result.second], result.index[result.second])
    _draw_distributions(axes, values, result.names, "inputs", result.radius, result.ks_p)


def _draw_distributions(
    axes: Axes, sets: tuple[np.ndarray, np.ndarray], names: tuple[str, str], unit: str, radius: float, ks_p: float
) -> None:
    """Histograms with an empirical distribution function over them; the second set is hatched."""
    edges = np.linspace(0, 1, 26).tolist()
    for i, (colour, hatch, line) in enumerate(((CLASS_COLOURS[0], "", "-"), (CLASS_COLOURS[1], "////", "--"))):
        values = np.sort(sets[i][np.isfinite(sets[i])])
        if not len(values):
            continue
        label = f"{names[i]}: {len(values):,} {unit}, mean {values.mean():.3g}"
        weights = np.full(len(values), 1 / len(values))
        axes.hist(values, edges, weights=weights, facecolor=f"{colour}66", hatch=hatch, edgecolor=colour, linewidth=0.6, label=label)
        axes.step(np.r_[0, values, 1], np.r_[0, weights.cumsum(), 1], where="post", color=colour, linestyle=line)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(f"index at radius {radius:g}")
    axes.set_ylabel("share (bars) · share below (lines)")
    axes.set_title(f"Kolmogorov–Smirnov p = {ks_p:.2g}")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="best", fontsize=9)


def _draw_detector(axes: Axes, result: PopulationsResult) -> None:
    ink = mpl.rcParams["text.color"]
    axes.plot(result.false_alarms, result.detected, color=ink)
    axes.plot([0, 1], [0, 1], color=ink, linewidth=0.6, linestyle=":")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(f"false alarms (share of {result.names[0]} above the threshold)")
    axes.set_ylabel("detected")
    axes.set_title(f"The index as a detector: area {result.auc:.3g}")


FIGURES: dict[str, Callable[[Any], Figure]] = {
    "zonnscan": zonnscan_figure,
    "zonnscan_populations": zonnscan_populations_figure,
    "zonnscan_corner_cases": zonnscan_corner_cases_figure,
    "zonnscan_watermark": zonnscan_watermark_figure,
}
