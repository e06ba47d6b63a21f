"""A check as pictures: what is new, still there and fixed, then every input."""

from __future__ import annotations

from collections.abc import Sequence

from robgui.batch.guards.checking import CaseOutcome, Checked, State
from robgui.core.dataset.picture import picture_of
from robgui.core.text.words import count
from robgui.core.view import Column, Images, Picture, Table, View

#: What counts against the model comes first.
_ORDER = (State.NEW, State.STILL, State.FIXED)


def views(checked: Checked) -> Sequence[View]:
    """Pictures of the findings and of new errors, and a table of every input."""
    moved = [one for state in _ORDER for one in checked.outcomes if one.state is state]
    kept = checked.count(State.KEPT)
    note = (
        "Below each picture what the model says now; then, where that is wrong, what is right, and"
        " where it is fixed, what was said before."
    )
    if kept:
        note += f" In the table also {count(kept, 'guarded input')} that stayed right."
    pictures = tuple(_picture(checked, one) for one in moved)
    return (Images("New, still there, fixed", pictures, note=note), _table(checked))


def _picture(checked: Checked, outcome: CaseOutcome) -> Picture:
    suite, case = checked.suite, outcome.case
    fixed = outcome.state is State.FIXED
    if fixed:
        told = f"was {case.given}"
    else:
        told = case.expected
    pixels = picture_of(suite.input(case), suite.kind)
    return Picture(pixels, f"{outcome.state}: {told}", outcome.answer, right=fixed)


def _table(checked: Checked) -> Table:
    outcomes = checked.outcomes
    return Table(
        "Every input",
        (
            Column("Input", tuple(one.case.name for one in outcomes)),
            Column("Now", tuple(one.state.value for one in outcomes)),
            Column("Right class", tuple(one.case.expected for one in outcomes)),
            Column("Answer before", tuple(one.case.given for one in outcomes)),
            Column("Answer now", tuple(one.answer for one in outcomes)),
            Column("Of the right class", tuple(one.probability for one in outcomes), "share"),
            Column("Says what is right", tuple(one.case.by for one in outcomes)),
            Column("From", tuple(one.case.source for one in outcomes)),
        ),
        note="Of the right class: the probability that the model gives to it now.",
    )
