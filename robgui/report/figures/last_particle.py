"""Figures of the last particle: one test with its climbing level, and the table over inputs and sizes of noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, PercentFormatter

from robgui.analyses.last_particle.words import noise_words
from robgui.core.dataset.picture import picture_of
from robgui.core.text.words import count, probability
from robgui.report.figures.style import CLASS_COLOURS, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robgui.analyses.last_particle import LastParticleResult, LastParticleTableResult

_BLUE, _VERMILION, _GREEN, _ORANGE = CLASS_COLOURS[0], CLASS_COLOURS[1], CLASS_COLOURS[2], CLASS_COLOURS[4]


def last_particle_figure(result: LastParticleResult) -> Figure:
    """The level climbing towards failure, the estimate falling below it, and the failure found."""
    figure = Figure(layout="constrained")
    failing = result.failure if result.failure is not None else result.counterexample
    if failing is None:
        above, below = figure.subplots(2, 1, sharex=True)
    else:
        curves, pictures = np.ravel(figure.subfigures(2, 1, height_ratios=(2.4, 1)))  # type: ignore[arg-type]  # the stubs know one subfigure only
        above, below = curves.subplots(2, 1, sharex=True)
        _draw_failure(pictures.subplots(1, 3), result, failing)
    _draw_levels(above, result)
    _draw_estimate(below, result)
    below.set_xlabel("particles killed" if result.kill == 1 else f"rounds of {result.kill} killed")
    return figure


def _draw_levels(axes: Axes, result: LastParticleResult) -> None:
    ink = mpl.rcParams["text.color"]
    rounds = np.arange(1, result.replica_levels.shape[1] + 1)
    for levels in result.replica_levels[1:]:
        axes.plot(rounds, levels, color="0.6", linewidth=0.6)
    axes.plot(rounds[: len(result.levels)], result.levels, color=_BLUE, marker=".", markersize=3, label="level to exceed")
    if len(result.particles):
        last = np.full(len(result.particles), len(result.levels) + 1)
        axes.plot(last, result.particles, "o", color=_VERMILION, markersize=4, markerfacecolor="none", label="particles now")
    axes.axhline(0, color=ink, linewidth=1, linestyle="--", label="failure begins")
    axes.set_ylabel("score (margin of failure)")
    axes.set_title(f"{shorten(result.input_name, 40)}, {noise_words(result.noise, result.eps)}")
    axes.legend(loc="lower right", fontsize=9)


def _draw_estimate(axes: Axes, result: LastParticleResult) -> None:
    ink = mpl.rcParams["text.color"]
    rounds = np.arange(1, len(result.p_trace) + 1)
    if len(rounds):
        low, estimate, high = result.p_trace.T
        axes.fill_between(rounds, low, high, color=_BLUE, alpha=0.2, linewidth=0)
        axes.plot(rounds, estimate, color=_BLUE, label="estimate if it stopped here (95 % band)")
    axes.axhline(result.critical, color=ink, linewidth=1, linestyle="--", label=f"critical {probability(result.critical, 2)}")
    if np.isfinite(result.monte_carlo_bound):
        label = f"all that {result.monte_carlo_samples:,} plain samples prove"
        axes.axhline(result.monte_carlo_bound, color=_ORANGE, linewidth=1, linestyle=":", label=label)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=8))
    axes.set_ylim(min(result.critical, result.p_estimate, 1.0) / 1e3, 2)
    axes.set_ylabel("failure probability")
    axes.legend(loc="lower left", fontsize=9)


def _draw_failure(places: Any, result: LastParticleResult, failing: np.ndarray) -> None:
    """The input, the failing one, and their difference around white."""
    found = result.failure is not None
    number = result.failure_class if found else result.counterexample_class
    titles = (f"“{shorten(result.labels[result.label], 16)}”", f"“{shorten(result.labels[number], 16)}”", "difference")
    for axes, title in zip(places, titles, strict=True):
        axes.set_title(title, loc="center", fontsize=9.5)
    for axes, x in zip(places[:2], (result.input, failing), strict=True):
        axes.set_axis_off()
        axes.imshow(picture_of(x, result.kind))
    _draw_difference(places[2], failing - result.input, result.kind)


def _draw_difference(axes: Axes, difference: np.ndarray, kind: str) -> None:
    most = max(float(np.abs(difference).max()), 1e-9)
    if kind == "table":
        axes.bar(np.arange(len(difference)), difference, color=_VERMILION)
        axes.set_xlabel("feature")
        return
    axes.set_axis_off()
    plane = difference.mean(0) if kind == "image" else difference.T
    axes.imshow(plane, cmap="RdBu_r", vmin=-most, vmax=most, aspect="equal" if kind == "image" else "auto")


def last_particle_table_figure(result: LastParticleTableResult) -> Figure:
    """The share of inputs validated, sampled without failure and certified against the size of noise; below, each input."""
    figure = Figure(layout="constrained")
    above, below = figure.subplots(2, 1, height_ratios=(1.3, 1))
    _draw_shares(above, result)
    _draw_cells(below, result)
    figure.legend(*above.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
    return figure


def _draw_shares(axes: Axes, result: LastParticleTableResult) -> None:
    lines = [("validated", result.validated.mean(1), _BLUE, "o", "-")]
    if result.monte_carlo_samples and (result.monte_carlo_failures >= 0).any():
        label = f"no failure in {result.monte_carlo_samples:,} samples (p < {probability(result.monte_carlo_bound)})"
        lines.append((label, (result.monte_carlo_failures == 0).mean(1), _ORANGE, "s", ":"))
    if not result.certified_reason:
        lines.append(("certified by proof", result.certified.mean(1), _GREEN, "^", "--"))
        if result.attacked.any():
            lines.append(("validated, with counterexample", (result.validated & result.counterexample).mean(1), _VERMILION, "x", "-."))
    for label, shares, colour, marker, line in lines:
        axes.plot(result.radii, shares, color=colour, marker=marker, markersize=4, linestyle=line, label=label)
    if len(result.radii) > 1:
        axes.set_xscale("log")
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_ylabel("inputs")
    axes.set_xlabel("size of the noise")
    axes.set_title(f"{count(result.validated.shape[1], 'input')}, p < {probability(result.critical, 2)} at risk {result.risk:g}")


def _draw_cells(axes: Axes, result: LastParticleTableResult) -> None:
    """How often each input fails, as a power of ten; validated and proven inputs are at the dark end."""
    floor = np.log10(result.critical)
    powers = np.clip(np.log10(np.maximum(result.p_estimate, 1e-300)), floor, 0)
    powers = np.where(result.finished & ~result.inconclusive, powers, np.nan)
    powers = np.where(result.safe, floor, powers)
    image = axes.imshow(powers, cmap="viridis", vmin=floor, vmax=0, aspect="auto", interpolation="nearest")
    axes.set_yticks(np.arange(len(result.radii)), [f"{radius:g}" for radius in result.radii])
    axes.set_xlabel("input (white: inconclusive)")
    axes.set_ylabel("size of the noise")
    axes.figure.colorbar(image, ax=axes, label="failure probability, power of ten")


FIGURES: dict[str, Callable[[Any], Figure]] = {
    "last_particle": last_particle_figure,
    "last_particle_table": last_particle_table_figure,
}
