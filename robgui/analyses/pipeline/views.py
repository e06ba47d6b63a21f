"""What an audit looks like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.pipeline.params import PipelineParams
from robgui.analyses.pipeline.result import PipelineResult, apart
from robgui.core.intervals import clopper_pearson
from robgui.core.text.words import percent, rough_percent, with_share
from robgui.core.view import (
    Axis,
    Bars,
    Column,
    Images,
    Ink,
    Mark,
    Matrix,
    Picture,
    Series,
    Table,
    View,
)


def views(result: PipelineResult, params: PipelineParams) -> Sequence[View]:
    """Changed answers first, then accuracy if there are labels, pairs of ways, examples."""
    found: list[View] = [_changes(result, params)]
    if result.known.any():
        found.append(_accuracy(result))
    found.append(_matrix(result))
    if result.examples:
        found.append(_examples(result))
    return (*found, _table(result))


def _changes(result: PipelineResult, params: PipelineParams) -> Bars:
    low, high = result.change_bounds()
    if result.done:
        share = result.changes / max(1, result.done)
    else:
        share = np.full(len(low), np.nan)
    # Without the first: the model's own way never differs from itself.
    bars = Series("changed answers", share[1:], Ink("changed"), low[1:], high[1:])
    ways = zip(result.ways[1:], result.judged[1:], strict=True)
    names = tuple(way if judged else f"{way} *" for way, judged in ways)
    note = "Against the answers under the model's own settings; the lines are 95 % intervals."
    if not result.judged.all():
        note += " * Other colours: not counted."
    return Bars(
        "Answers that change with the preparation",
        Axis("share of the pictures", kind="share", low=0, better="low"),
        names,
        (bars,),
        x=Axis("way of preparing"),
        levels=(Mark(params.most_changes, f"limit: {percent(params.most_changes)}", Ink("risk")),),
        note=note,
    )


def _accuracy(result: PipelineResult) -> Bars:
    known = int(result.known.sum())
    low, high = clopper_pearson(result.right, np.full(len(result.ways), known))
    bars = Series("right answers", result.right / known, Ink("series"), low, high)
    return Bars(
        "Accuracy by preparation",
        Axis("share of the labelled pictures", kind="share", low=0, high=1, better="high"),
        result.ways,
        (bars,),
        x=Axis("way of preparing"),
        levels=(Mark(float(result.right[0] / known), "as the model is set", Ink("text")),),
    )


def _matrix(result: PipelineResult) -> Matrix:
    values = apart(result)[::-1]
    if np.isfinite(values).any():
        most = float(np.nanmax(values))
    else:
        most = 1.0
    return Matrix(
        "Pictures on which two ways disagree",
        Axis("way of preparing"),
        Axis("way of preparing"),
        values,
        Axis("share of the pictures", kind="share"),
        (0.0, max(most, 1e-3)),
        worst="high",
        rows=result.ways[::-1],
        columns=result.ways,
    )


def _examples(result: PipelineResult) -> Images:
    pictures = []
    for example in result.examples:
        column = int(np.flatnonzero(result.places == example.place)[0])
        for number, pixels in ((0, example.before), (example.way, example.after)):
            seen = int(result.predicted[number, column])
            truth = int(result.truth[column])
            pictures.append(
                Picture(
                    pixels,
                    example.name if number == 0 else result.ways[number],
                    with_share(
                        result.labels[seen], rough_percent(result.confidence[number, column])
                    ),
                    None if truth < 0 else seen == truth,
                )
            )
    return Images("Pictures whose answer changes", tuple(pictures), pairs=True)


def _table(result: PipelineResult) -> Table:
    low, high = result.change_bounds()
    done = max(1, result.done)
    columns = [
        Column("Way", result.ways),
        Column("Changed answers", tuple(int(n) for n in result.changes), "count"),
        Column("Share", tuple(float(n / done) for n in result.changes), "share"),
        Column("At least", tuple(map(float, low)), "share"),
        Column("At most", tuple(map(float, high)), "share"),
    ]
    if result.known.any():
        known = int(result.known.sum())
        right = tuple(float(n / known) for n in result.right)
        columns.append(Column("Accuracy", right, "share"))
    return Table("Ways of preparing", tuple(columns))
