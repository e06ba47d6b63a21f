"""What a search for corner cases looks like."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from robgui.analyses.zonnscan.params import CornerCasesParams
from robgui.analyses.zonnscan.result import CornerCasesResult
from robgui.analyses.zonnscan.views.populations import distributions
from robgui.analyses.zonnscan.words.figures import short_names
from robgui.core.view import (
    Axis,
    Bars,
    Column,
    Images,
    Ink,
    Picture,
    Series,
    Table,
    View,
    class_inks,
)

#: Pictures on show; the table has more.
MOST_PICTURES = 60
#: Most rows of the table, to keep it readable.
MOST_ROWS = 1000


def views(result: CornerCasesResult, params: CornerCasesParams) -> Sequence[View]:
    """The corner cases with every model's answer, who disagrees with whom, and the uncertainty.

    While the models still look there are no pictures, and who disagrees comes first.
    """
    around = "Uncertainty around corner cases and agreeing inputs"
    pictures = _pictures(result)
    return (
        *([pictures] if pictures.pictures else []),
        _pairs(result),
        *(distributions(known, params.radius, around) for known in result.populations),
        _table(result),
    )


def _pictures(result: CornerCasesResult) -> Images:
    """A caption is the input's name in the dataset, so a click finds it in the gallery."""
    pictures = []
    for place, pixels in enumerate(result.thumbnails[:MOST_PICTURES]):
        truth, first = int(result.truth[place]), int(result.classes[0, place])
        # An ordered set: each answer once, that of the model in use first.
        answers = dict.fromkeys(result.labels[c] for c in result.classes[:, place])
        if truth >= 0:
            right = bool(first == truth)
        else:
            right = None
        (ink,) = class_inks((result.labels[first],), result.labels, ("class",))
        pictures.append(Picture(pixels, result.keys[place], " / ".join(answers), right, ink))
    left = len(result.numbers) - len(pictures)
    names = short_names(result.models)
    if left:
        order = f"Of {len(result.numbers):,}, the surest."
    else:
        order = "The surest come first."
    said = f"Answers of {' / '.join(names)}, equal ones once"
    note = f"{said}. ✓ {names[0]} is right, ✗ wrong. {order}"
    return Images("Inputs the models disagree on", tuple(pictures), note=note)


def _pairs(result: CornerCasesResult) -> Bars:
    """On what share of the inputs any two models, and each two, disagree."""
    names = short_names(result.models)
    looked = max(1, result.looked)
    shares = {"any two": len(result.numbers) / looked}
    for a, b in combinations(range(len(names)), 2):
        shares[f"{names[a]} and {names[b]}"] = float(result.pairs[a, b]) / looked
    return Bars(
        title="Who disagrees with whom",
        value=Axis("share of inputs", kind="share", low=0, better="low"),
        names=tuple(shares),
        series=(Series("disagree", np.array(list(shares.values())), Ink("fails")),),
        x=Axis("models"),
    )


def _table(result: CornerCasesResult) -> Table:
    rows = range(min(len(result.numbers), MOST_ROWS))
    truth = [result.labels[c] if c >= 0 else None for c in result.truth[: len(rows)]]
    columns = [
        Column("input", tuple(result.keys[i] for i in rows)),
        Column("label", tuple(truth)),
    ]
    for m, model in enumerate(short_names(result.models)):
        answers = tuple(result.labels[result.classes[m, i]] for i in rows)
        sure = tuple(float(result.confidence[m, i]) for i in rows)
        columns += [Column(model, answers), Column(f"{model} is sure", sure, "share")]
    left = len(result.numbers) - len(rows)
    return Table(
        "Every input they disagree on",
        tuple(columns),
        note=f"{left:,} more are left out." if left else "",
    )
