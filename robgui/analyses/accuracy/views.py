"""What the labels say, as pictures: classes, confusions, calibration, mistakes, the map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from robgui.analyses.accuracy.params import AccuracyParams
from robgui.analyses.accuracy.result import AccuracyResult, Shown, calibration, precision
from robgui.core.class_errors import DARKEST, FEWEST, ClassErrors
from robgui.core.intervals import clopper_pearson
from robgui.core.text.words import count, percent, rough_percent, with_share
from robgui.core.view import (
    Axis,
    Bars,
    Column,
    Curves,
    Images,
    Ink,
    Line,
    Mark,
    Matrix,
    Picture,
    Series,
    Table,
    View,
    class_inks,
)

#: Most bars that can be read; the table has all classes.
MOST_BARS = 24
#: Most rows of a matrix that can be read; the worst classes stay.
MOST_ROWS = 40
#: Most classes that colours can tell apart on the map.
MOST_COLOURS = 8


def views(result: AccuracyResult, params: AccuracyParams) -> Sequence[View]:
    """Recall by class first; what needs all inputs appears once known."""
    errors = result.errors()
    if errors is None:
        return (Table("Classes", (Column("Class", ()),), note="No input was counted yet."),)
    found: list[View] = [
        _recall(result, errors, params),
        _confusion(result, errors),
        _calibration(result),
    ]
    if result.mistakes:
        found.append(_pictures("The surest mistakes", result, result.mistakes))
    if result.compared.tried:
        found.append(_slices(result))
    if len(result.compared.spots):
        found.append(_map(result))
    if result.compared.suspects:
        found.append(_pictures("Labels to check", result, result.compared.suspects))
    return (*found, _table(result, errors))


def _recall(result: AccuracyResult, errors: ClassErrors, params: AccuracyParams) -> Bars:
    seen = errors.order[errors.members[errors.order] > 0]
    shown = seen[:MOST_BARS]
    # Recall is one minus the errors, so the ends of their interval trade places.
    share, low, high = (1 - part[shown] for part in (errors.share, errors.high, errors.low))
    rest = len(seen) - len(shown)
    note = (
        "The lines are exact 95 % intervals of each class; the status takes wider ones, which hold"
        " for all classes together. Red: the interval lies below what is required; amber: around"
        " it; green: above. The weakest class comes first."
    )
    each = by_limit(low, high, params.least)
    if (errors.members[shown] < FEWEST).any():
        note += f" A class with fewer than {FEWEST} labelled inputs counts by its interval."
    if rest:
        note = f"The {len(shown)} weakest of {count(len(seen), 'class')}. {note}"
    return Bars(
        "Inputs of each class that are recognised",
        Axis("share of the class", kind="share", low=0, high=1, better="high"),
        tuple(result.classes[c] for c in shown),
        (Series("recognised", share, Ink("series"), low, high, each),),
        x=Axis("true class"),
        levels=(
            Mark(params.least, f"required: {percent(params.least)}", Ink("risk")),
            Mark(result.accuracy()[0], "all classes together", Ink("text")),
        ),
        note=note,
    )


def by_limit(low: np.ndarray, high: np.ndarray, least: float) -> tuple[Ink, ...]:
    """The inks of bars by where their intervals lie: below a limit, around it, or above."""
    inks = {(True, False): Ink("fails"), (False, True): Ink("holds")}
    sides = zip((high < least).tolist(), (low >= least).tolist(), strict=True)
    return tuple(inks.get(side, Ink("risk")) for side in sides)


def _confusion(result: AccuracyResult, errors: ClassErrors) -> Matrix:
    seen = errors.order[errors.members[errors.order] > 0]
    # In the order of the classes, which a reader knows.
    rows = np.sort(seen[:MOST_ROWS])
    answers = np.flatnonzero(errors.table.sum(0) > 0)
    left = len(seen) - len(rows)
    if left:
        # Columns for all answers would not fit either; the most
        # frequent wrong one of each row stays.
        answers = errors.taken_for[rows][errors.taken_for[rows] >= 0]
    columns = np.union1d(rows, answers)
    values = errors.directed[np.ix_(rows, columns)]
    if np.isfinite(values).any():
        most = float(np.nanmax(values))
    else:
        most = 0.0
    note = (
        f"The {len(rows)} weakest classes and what they are mostly taken for; {left} others are in"
        " the table."
    )
    return Matrix(
        "What is taken for what",
        Axis("predicted class"),
        Axis("true class"),
        # Rows of a matrix count from below; a table of confusions is read from the top.
        values[::-1],
        Axis("share of the true class", kind="share", low=0, high=1, better="low"),
        (0.0, max(most, DARKEST)),
        worst="high",
        rows=tuple(result.classes[c] for c in rows[::-1]),
        columns=tuple(result.classes[c] for c in columns),
        note=note if left else "",
        unknown="right answers",
    )


def _calibration(result: AccuracyResult) -> Curves:
    found = calibration(result)
    known = found.members > 0
    exact = np.array([0.0, 1.0])
    return Curves(
        "Claimed and observed",
        Axis("claimed probability", kind="share", low=0, high=1),
        Axis("share that is right", kind="share", low=0, high=1),
        found.claimed[known],
        (
            Line(
                "the model",
                found.right[known],
                Ink("series"),
                low=found.low[known],
                high=found.high[known],
                symbol="circle",
                strong=True,
            ),
            Line("exact claims", exact, Ink("quiet"), x=exact),
        ),
        note="Below the diagonal it claims too much. The band is the exact 95 % interval.",
    )


def _pictures(title: str, result: AccuracyResult, shown: Sequence[Shown]) -> Images:
    return Images(
        title,
        tuple(
            Picture(
                one.picture,
                f"{one.name}: {result.classes[one.truth]}",
                with_share(result.classes[one.predicted], rough_percent(one.confidence)),
                right=False,
            )
            for one in shown
        ),
        note="Below each picture what the model says and how surely, then its name and label.",
    )


def _slices(result: AccuracyResult) -> Bars:
    weak = result.compared.slices
    hits = np.array([one.right for one in weak], dtype=np.int64)
    members = np.array([len(one.members) for one in weak], dtype=np.int64)
    low, high = clopper_pearson(hits, members)
    tried = count(result.compared.tried, "slice")
    note = (
        f"Of {tried}, those with more errors than the rest beyond chance (Fisher's test, 5 % for"
        " all together)."
    )
    if not weak:
        note = f"None of {tried} has more errors than the rest beyond chance."
    return Bars(
        "Weak slices of the data",
        Axis("share that is right", kind="share", low=0, high=1, better="high"),
        tuple(one.name for one in weak),
        (Series("right", hits / np.maximum(members, 1), Ink("changed"), low, high),),
        x=Axis("slice"),
        levels=(Mark(result.accuracy()[0], "all inputs", Ink("text")),),
        note=note,
    )


def _map(result: AccuracyResult) -> Curves:
    spots = result.compared.spots
    shown = slice(0, len(spots))
    truth, right = result.truth[shown], result.right[shown]
    # The most frequent classes get colours: most spots can then be told apart.
    common = np.argsort(-np.bincount(truth, minlength=len(result.classes)), kind="stable")
    coloured = [int(c) for c in common[:MOST_COLOURS] if (truth == c).any()]
    lines = []
    inks = class_inks([result.classes[c] for c in coloured], result.classes)
    for c, ink in zip(coloured, inks, strict=True):
        lines.append(_dots(result.classes[c], spots[right & (truth == c)], ink, "circle"))
    others = right & ~np.isin(truth, coloured)
    if others.any():
        lines.append(_dots("other classes", spots[others], Ink("other"), "circle"))
    if (~right).any():
        # Last, so they are drawn on top.
        lines.append(_dots("wrong answers", spots[~right], Ink("fails"), "cross"))
    return Curves(
        "Map of the inputs",
        Axis("first direction"),
        Axis("second direction"),
        np.empty(0),
        tuple(lines),
        note=(
            f"Inputs that the model sees as alike stand together (by {result.compared.features})."
            " The directions have no unit."
        ),
    )


def _dots(name: str, spots: np.ndarray, ink: Ink, symbol: Literal["circle", "cross"]) -> Line:
    x, y = spots[:, 0].astype(float), spots[:, 1].astype(float)
    return Line(name, y, ink, x=x, symbol=symbol, line=False)


def _table(result: AccuracyResult, errors: ClassErrors) -> Table:
    order = errors.order
    exact, exact_low, exact_high = precision(errors)
    names = [result.classes[c] for c in order]
    taken = [result.classes[errors.taken_for[c]] if errors.taken_for[c] >= 0 else "" for c in order]
    return Table(
        "Classes",
        (
            Column("Class", tuple(names)),
            Column("Inputs", tuple(int(n) for n in errors.members[order]), "count"),
            Column("Recognised", _cells(1 - errors.share[order]), "share"),
            Column("Recognised at least", _cells(1 - errors.high[order]), "share"),
            Column("Recognised at most", _cells(1 - errors.low[order]), "share"),
            Column("Precision", _cells(exact[order]), "share"),
            Column("Precision at least", _cells(exact_low[order]), "share"),
            Column("Precision at most", _cells(exact_high[order]), "share"),
            Column("Mostly taken for", tuple(taken)),
        ),
        note=(
            "Recognised: inputs of the class that get its name (recall). Precision: answers that"
            " are right."
        ),
    )


def _cells(values: np.ndarray) -> tuple[float | None, ...]:
    return tuple(float(value) if np.isfinite(value) else None for value in values)
