"""What the studies of thresholds and of coverage look like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.deepinspect.params import CoverageParams, ThresholdsParams
from robgui.analyses.deepinspect.studies.result import CoverageResult, Sensitivity, ThresholdsResult
from robgui.analyses.deepinspect.views import SHOWN_CLASSES, cells
from robgui.core.view import (
    Axis,
    Bars,
    Column,
    Curves,
    Ink,
    Line,
    Mark,
    Matrix,
    Series,
    Table,
    View,
)

#: The strongest colour stands for at least this share, so small differences stay pale.
LEAST_APART = 0.25
#: The criteria in few letters, in order.
SHORT_NAMES = ("activated", "sections", "outer regions", "above range", "top of layer")


def thresholds_views(result: ThresholdsResult, params: ThresholdsParams) -> Sequence[View]:
    """Confused pairs over the threshold, biased ones, and all figures as a table."""
    return (
        _sensitivity("Confused pairs and the threshold", result, result.confusion),
        _sensitivity("Biased pairs and the threshold", result, result.bias),
        _threshold_table(result, params),
    )


def _sensitivity(title: str, result: ThresholdsResult, values: Sensitivity) -> Curves:
    middle = f"{result.thresholds[result.reference]:g}"
    lines = [
        Line(
            f"same pairs as at {middle}",
            values.agreement,
            Ink("series", 0),
            symbol="circle",
            strong=True,
        )
    ]
    if result.labelled:
        lines += [
            Line(
                "reported pairs that are true", values.precision, Ink("series", 1), symbol="square"
            ),
            Line(
                "true pairs that are reported", values.recall, Ink("series", 2), symbol="triangle"
            ),
        ]
    return Curves(
        title,
        Axis("activation threshold"),
        Axis("share of pairs", kind="share", low=0, high=1),
        result.thresholds,
        tuple(lines),
        marks=(Mark(float(result.thresholds[result.reference]), "compared with this one"),),
    )


def _threshold_table(result: ThresholdsResult, params: ThresholdsParams) -> Table:
    columns = [
        Column("Threshold", tuple(float(value) for value in result.thresholds), "number"),
        Column("Active neurons", cells(result.active), "share"),
    ]
    for kind, values in (("Confused", result.confusion), ("Biased", result.bias)):
        columns.append(
            Column(f"{kind} pairs", tuple(int(value) for value in values.reported), "count")
        )
        columns.append(Column(f"{kind}: same pairs", cells(values.agreement), "share"))
        if result.labelled:
            columns.append(Column(f"{kind}: true", cells(values.precision), "share"))
            columns.append(Column(f"{kind}: found", cells(values.recall), "share"))
            top = f"{kind}: true among the top {params.top_percent:g} %"
            columns.append(Column(top, cells(values.top_precision), "share"))
    return Table("All thresholds", tuple(columns))


def coverage_views(result: CoverageResult, params: CoverageParams) -> Sequence[View]:
    """How far the classes are apart first: that is the question; then every number."""
    criteria = coverage_criteria(result, params)
    return (
        _apart(result, criteria),
        _criteria_bars(result, criteria),
        _criteria_means(criteria),
        _coverage_table(result, criteria),
    )


def coverage_criteria(result: CoverageResult, params: CoverageParams) -> dict[str, np.ndarray]:
    """Criterion name -> its value for every class."""
    return {
        "neurons activated": result.neuron,
        f"of {params.sections:,} sections reached": result.multisection,
        "outer regions reached": result.boundary,
        "driven above their range": result.strong,
        f"among the top {params.top} of their layer": result.top,
    }


def _shown(result: CoverageResult) -> tuple[np.ndarray, str]:
    """The classes with the most inputs, and how many are left out, in words."""
    most = np.argsort(-result.counts, kind="stable")[:SHOWN_CLASSES]
    # Chosen by their inputs, shown in the order of the classes, which a reader knows.
    shown = np.sort(most[result.counts[most] > 0])
    left = int((result.counts > 0).sum()) - len(shown)
    note = f"The {len(shown)} classes with the most inputs; {left:,} are not shown."
    return shown, note if left > 0 else ""


def _apart(result: CoverageResult, criteria: dict[str, np.ndarray]) -> Matrix:
    """Every class against the mean of all: no colour means nothing tells them apart."""
    shown, note = _shown(result)
    values = np.array([of[shown].astype(np.float64) for of in criteria.values()])
    known = np.isfinite(values)
    means = np.where(known, values, 0.0).sum(1) / np.maximum(known.sum(1), 1)
    apart = values - means[:, None]
    # Symmetric around 0, so the middle colour is the mean.
    far = float(np.nanmax(np.abs(apart), initial=LEAST_APART))
    return Matrix(
        "How far each class is from the mean of all",
        Axis("predicted class"),
        Axis("what is counted"),
        apart,
        Axis("coverage above or below the mean", kind="share"),
        (-far, far),
        worst="middle",
        rows=SHORT_NAMES,
        columns=tuple(result.classes[int(c)] for c in shown),
        note=note,
    )


def _criteria_bars(result: CoverageResult, criteria: dict[str, np.ndarray]) -> Bars:
    shown, note = _shown(result)
    rows = tuple(
        Series(name, values[shown].astype(np.float64), Ink("series", i))
        for i, (name, values) in enumerate(criteria.items())
    )
    return Bars(
        "Coverage by class",
        Axis("share of the neurons", kind="share", low=0, high=1),
        tuple(result.classes[int(c)] for c in shown),
        rows,
        x=Axis("predicted class"),
        note=note,
    )


def _criteria_means(criteria: dict[str, np.ndarray]) -> Bars:
    means = np.array(
        [float(np.nanmean(of)) if np.isfinite(of).any() else np.nan for of in criteria.values()]
    )
    title = "Mean over the classes"
    return Bars(
        title,
        Axis("mean coverage", kind="share", low=0, high=1),
        tuple(criteria),
        (Series("mean", means),),
    )


def _coverage_table(result: CoverageResult, criteria: dict[str, np.ndarray]) -> Table:
    columns = [
        Column("Class", result.classes),
        Column("Predicted", tuple(int(value) for value in result.counts), "count"),
        *(Column(name, cells(values), "share") for name, values in criteria.items()),
        Column("Different top sets", _whole(result.patterns), "count"),
    ]
    return Table("All classes", tuple(columns))


def _whole(values: np.ndarray) -> tuple[int | None, ...]:
    return tuple(int(value) if np.isfinite(value) else None for value in values)
