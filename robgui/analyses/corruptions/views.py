"""The views of corruptions: how accuracy falls, which kind costs most, and the pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robgui.analyses.corruptions.params import CorruptionsParams
from robgui.analyses.corruptions.result import CorruptionsResult, worst_cell
from robgui.core.text.words import rough_percent, with_share
from robgui.core.view import (
    Axis,
    Column,
    Curves,
    Images,
    Ink,
    Line,
    Mark,
    Matrix,
    Picture,
    Table,
    View,
)

GROUPS = ("noise", "blur", "weather", "digital")


def views(result: CorruptionsResult, params: CorruptionsParams) -> Sequence[View]:
    """What decides first, a matrix of one model or curves of several; then examples, the table."""
    found: list[View] = [_matrix(result, params, at) for at in range(len(result.networks))]
    # Several models are compared, and lines beside each other compare better than matrices.
    found.insert(0 if len(found) > 1 else 1, _falls(result, params))
    if result.examples:
        found.append(_examples(result))
    return (*found, _table(result))


def _falls(result: CorruptionsResult, params: CorruptionsParams) -> Curves:
    # Severity 0 is the clean picture.
    at = np.array([0, *result.severities], dtype=float)
    several = len(result.networks) > 1
    if several:
        lines = _model_lines(result)
    else:
        lines = _group_lines(result, params)
    return Curves(
        "Accuracy under corruption",
        Axis("severity (0: as the picture is)", low=0, high=max(result.severities)),
        Axis("share that is right", kind="share", low=0, high=1, better="high"),
        at,
        lines,
        marks=(Mark(float(params.judged), "must survive up to here", Ink("text")),),
        note="" if several else "The line of a group is the mean over its kinds.",
    )


def _group_lines(result: CorruptionsResult, params: CorruptionsParams) -> tuple[Line, ...]:
    """Each group, all of them, and the kind that the sentence names."""
    clean, accuracy = result.clean_accuracy(0), result.accuracy(0)
    lines = []
    for number, group in enumerate(GROUPS):
        rows = [at for at, name in enumerate(result.groups) if name == group]
        if rows:
            y = np.array([clean, *accuracy[rows].mean(0)])
            lines.append(Line(group, y, Ink("series", number), symbol="circle"))
    whole = np.array([clean, *accuracy.mean(0)])
    lines.append(Line("all kinds", whole, Ink("text"), symbol="square", strong=True))
    if (worst := worst_cell(result, 0, params.judged)) is not None:
        name, y = result.kinds[worst[0]], np.array([clean, *accuracy[worst[0]]])
        lines.append(Line(f"worst kind: {name}", y, Ink("fails"), symbol="cross", strong=True))
    return tuple(lines)


def _model_lines(result: CorruptionsResult) -> tuple[Line, ...]:
    return tuple(
        Line(
            name,
            np.array([result.clean_accuracy(at), *result.accuracy(at).mean(0)]),
            Ink("series", at),
            symbol="circle",
            strong=at == 0,
            model=at,
        )
        for at, name in enumerate(result.networks)
    )


def _matrix(result: CorruptionsResult, params: CorruptionsParams, network: int) -> Matrix:
    """Every kind in a row, the one that costs most at the top, and the clean pictures before."""
    accuracy, clean = result.accuracy(network), result.clean_accuracy(network)
    judged = np.array([severity <= params.judged for severity in result.severities])
    if not judged.any():
        judged[:] = True
    # What decides goes first, then all severities; the first row of a matrix is its lowest.
    order = np.lexsort((accuracy.mean(1), accuracy[:, judged].min(1)))[::-1]
    columns = ("clean", *(str(severity) for severity in result.severities))
    values = np.column_stack([np.full(len(order), clean), accuracy[order]])
    if len(result.networks) > 1:
        name = f": {result.networks[network]}"
    else:
        name = ""
    return Matrix(
        f"Accuracy by kind and severity{name}",
        Axis("severity"),
        Axis("corruption"),
        values,
        Axis("share that is right", kind="share", low=0, high=1, better="high"),
        (0.0, 1.0),
        worst="low",
        rows=tuple(result.kinds[kind] for kind in order),
        columns=columns,
        model=network,
        note=(
            f"The kind that costs most up to severity {params.judged}, which decides, is at the"
            " top. Severities are those of CIFAR-10-C for pictures under 64 pixels and of"
            " ImageNet-C for larger ones; they need not grow evenly."
        ),
    )


def _examples(result: CorruptionsResult) -> Images:
    pictures = []
    for one in result.examples:
        if len(result.networks) > 1:
            model = f"{result.networks[one.network]}, "
        else:
            model = ""
        pictures += [
            Picture(
                one.before, f"{model}{one.name}", result.classes[one.network][one.truth], right=True
            ),
            Picture(
                one.after,
                f"{result.kinds[one.kind]}, severity {one.severity}",
                with_share(
                    result.classes[one.network][one.predicted], rough_percent(one.confidence)
                ),
                right=False,
            ),
        ]
    return Images("Right answers that turn", tuple(pictures), pairs=True)


def _table(result: CorruptionsResult) -> Table:
    rows = [
        (network, kind, at)
        for network in range(len(result.networks))
        for kind in range(len(result.kinds))
        for at in range(len(result.severities))
    ]
    accuracy = [result.accuracy(network) for network in range(len(result.networks))]
    bounds = [result.bounds(network) for network in range(len(result.networks))]
    columns = [
        Column("Corruption", tuple(result.kinds[kind] for _, kind, _ in rows)),
        Column("Severity", tuple(result.severities[at] for _, _, at in rows), "count"),
        Column("Accuracy", tuple(float(accuracy[n][k, s]) for n, k, s in rows), "share"),
        Column("At least", tuple(float(bounds[n][0][k, s]) for n, k, s in rows), "share"),
        Column("At most", tuple(float(bounds[n][1][k, s]) for n, k, s in rows), "share"),
    ]
    if len(result.networks) > 1:
        columns.insert(1, Column("Model", tuple(result.networks[n] for n, _, _ in rows)))
    return Table("Corruptions", tuple(columns))
