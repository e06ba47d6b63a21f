"""Figures of the feature game: one image and its example, and the severities of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter

from robgui.core.dataset.picture import picture_of
from robgui.report.figures.style import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robgui.analyses.feature_game import FeatureGameBatchResult, FeatureGameResult

#: The fixed colours of what is original and what is adversarial; the paper's Figure 3 has best, current and window.
ORIGINAL, ADVERSARIAL, CURRENT, WINDOW = "#0072B2", "#D55E00", "#E69F00", "#009E73"
#: So many classes get a bar.
SHOWN_CLASSES = 6
#: So many of the least severe examples stand in a row.
SHOWN_EXAMPLES = 5
UNITS = {"l0": "changed pixels", "l1": "L1 distance", "l2": "L2 distance", "linf": "largest change"}


def feature_game_figure(result: FeatureGameResult) -> Figure:
    """Keypoints, saliency and example above; severity by iteration as in the paper's Figure 3 and confidences below."""
    figure = Figure(layout="constrained")
    above, below = np.ravel(figure.subfigures(2, 1, height_ratios=(1, 1.15)))  # type: ignore[arg-type]  # the stubs know one subfigure only
    keypoints, saliency, example = above.subplots(1, 3)
    _draw_keypoints(keypoints, result)
    saliency.imshow(result.saliency, cmap="viridis")
    saliency.set_title("saliency")
    _draw_example(example, result)
    for axes in (keypoints, saliency, example):
        axes.set_axis_off()
    history, bars = below.subplots(1, 2, width_ratios=(1.3, 1))
    _draw_history(history, result)
    _draw_confidences(bars, result)
    return figure


def _draw_keypoints(axes: Axes, result: FeatureGameResult) -> None:
    """Circles as large as the keypoints, coloured by response; the size is a diameter."""
    axes.imshow(picture_of(result.input, "image"))
    colours = ScalarMappable(cmap="cividis")
    colours.set_clim(0, float(result.keypoints[:, 3].max()))
    for x, y, size, response in result.keypoints.tolist():
        axes.add_patch(Circle((x, y), max(size / 2, 0.5), fill=False, linewidth=0.9, edgecolor=colours.to_rgba(response)))
    words = "grid" if result.keypoint_source == "grid" else "keypoints"
    axes.set_title(f"{shorten(result.labels[result.original], 14)}, {len(result.keypoints)} {words}")


def _draw_example(axes: Axes, result: FeatureGameResult) -> None:
    axes.imshow(picture_of(result.best, "image"))
    side = max(1.0, max(result.input.shape[1:]) / 28)
    for x, y in result.changed.tolist():
        axes.add_patch(Rectangle((x - side / 2, y - side / 2), side, side, fill=False, linewidth=0.9, edgecolor=ADVERSARIAL))
    axes.set_title(
        "none found" if result.found_class < 0 else f"{shorten(result.labels[result.found_class], 14)}, {len(result.changed)} px"
    )


def _draw_history(axes: Axes, result: FeatureGameResult) -> None:
    iterations = np.arange(1, len(result.history) + 1)
    styles = (("current", CURRENT, "-", "s", 1), ("mean of last 10", WINDOW, "--", "", 2), ("best", ORIGINAL, "-", "o", 0))
    for label, colour, line, marker, column in styles:
        axes.plot(iterations, result.history[:, column], color=colour, linestyle=line, marker=marker, markersize=3, label=label)
    axes.set_xlim(0.5, max(2, len(iterations)) + 0.5)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("iteration")
    axes.set_ylabel(UNITS[result.norm])
    axes.set_title(f"{result.model_calls:,} model calls")
    axes.legend(loc="best", fontsize=9)


def _draw_confidences(axes: Axes, result: FeatureGameResult) -> None:
    """Before and after, for the classes with the highest confidence in either."""
    order = np.argsort(-np.maximum(result.confidence, result.found_confidence), kind="stable")[:SHOWN_CLASSES]
    places = np.arange(len(order))
    axes.barh(places - 0.2, result.confidence[order], 0.38, color=ORIGINAL, label="before")
    axes.barh(
        places + 0.2, result.found_confidence[order], 0.38, color=ADVERSARIAL, hatch="////", edgecolor="white", linewidth=0, label="after"
    )
    axes.set_yticks(places, [shorten(result.labels[c], 12) for c in order])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_title("confidence")
    axes.legend(loc="best", fontsize=9)


def feature_game_batch_figure(result: FeatureGameBatchResult) -> Figure:
    """The severities as a histogram with mean and median, and the least severe examples below."""
    figure = Figure(layout="constrained")
    above, below = np.ravel(figure.subfigures(2, 1, height_ratios=(1.3, 1)))  # type: ignore[arg-type]  # the stubs know one subfigure only
    _draw_severities(above.subplots(), result)
    for place, axes in enumerate(np.ravel(below.subplots(2, SHOWN_EXAMPLES)).reshape(2, -1).T):
        for each in axes:
            each.set_axis_off()
        if place < len(result.worst):
            _draw_pair(axes, result, place)
    return figure


def _draw_severities(axes: Axes, result: FeatureGameBatchResult) -> None:
    column = {"l0": 0, "l1": 2, "l2": 3, "linf": 4}[result.norm]
    values = result.severity[np.isfinite(result.severity[:, column]), column]
    if len(values):
        edges: Any = np.arange(0.5, values.max() + 1.5) if result.norm == "l0" and values.max() < 60 else 24
        axes.hist(values, edges, color=f"{ADVERSARIAL}88", edgecolor=ADVERSARIAL, linewidth=0.6)
        ink = mpl.rcParams["text.color"]
        axes.axvline(result.mean, color=ink, label=f"mean {result.mean:.3g}")
        axes.axvline(result.median, color=ink, linestyle="--", label=f"median {result.median:.3g}")
        axes.legend(loc="best", fontsize=9)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(UNITS[result.norm])
    axes.set_ylabel("images")
    played = int((result.played & ~result.skipped).sum())
    axes.set_title(f"{int((result.found_class >= 0).sum())} of {played} images change class")


def _draw_pair(axes: np.ndarray, result: FeatureGameBatchResult, rank: int) -> None:
    """An image above and its example below, with their classes."""
    place = int(result.worst[rank])
    for each, x, klass in zip(
        axes, (result.worst_inputs[rank], result.worst_examples[rank]), (result.predicted, result.found_class), strict=True
    ):
        each.imshow(picture_of(x, "image"))
        each.set_title(shorten(result.labels[int(klass[place])], 12), fontsize=9, loc="center")


FIGURES: dict[str, Callable[[Any], Figure]] = {
    "feature_game": feature_game_figure,
    "feature_game_batch": feature_game_batch_figure,
}
