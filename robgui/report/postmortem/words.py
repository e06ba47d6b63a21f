"""The paragraph: what breaks the input, what does not, how it ranks, the likely cause, what to do.

What is measured is said as such; a cause is only ever called likely, with the reason beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from robgui.core.text.words import count, number, percent
from robgui.core.verdict import Status
from robgui.core.view import Bars
from robgui.report.postmortem.facts import Facts

#: An input of which fewer others are decided more narrowly lies close to a boundary.
NARROW = 0.1
#: A model that is surer than this of a wrong class was taught so, or the label is wrong.
SURE = 0.9
#: A change of each value by less than this is hard to see.
SMALL = 0.1

BREAKS, ALREADY_WRONG = "It also breaks:", "On the wrong answer:"
HOLDS, OPEN, KNOWN = "It does not break:", "Not decided:", "Also known:"
CAUSE, ADVICE = "Likely cause:", "What to do:"
#: What sentences begin with, to be set apart.
LEADS = (BREAKS, ALREADY_WRONG, HOLDS, OPEN, KNOWN, CAUSE, ADVICE)


@dataclass(frozen=True)
class Sentence:
    """One sentence and its picture: that of a run, or a view of its own."""

    text: str
    run: str = ""
    view: Bars | None = None


class Cause(StrEnum):
    """What is likely behind a finding."""

    LABEL = "label"
    UNLEARNED = "unlearned"
    NARROW = "narrow"
    BRITTLE = "brittle"
    CHANGE = "change"


def paragraph(facts: Facts) -> list[Sentence]:
    """Everything to say, in order."""
    return [
        Sentence(_what(facts), facts.finding.run_id),
        *_breaking(facts),
        *_holding(facts),
        *_ranking(facts),
        *_others(facts),
        *_cause(facts),
        *(Sentence(text, facts.finding.run_id) for text in facts.open),
    ]


def cause(facts: Facts) -> Cause:
    """The likely cause, from what the unchanged input and the change tell."""
    if facts.before is not None and facts.before != facts.expected:
        if facts.sure >= SURE and facts.by == "label":
            return Cause.LABEL
        return Cause.UNLEARNED
    if facts.before is None:
        return Cause.CHANGE
    if facts.rank is not None and facts.rank.share <= NARROW:
        return Cause.NARROW
    if facts.change <= SMALL:
        return Cause.BRITTLE
    return Cause.CHANGE


def _what(facts: Facts) -> str:
    return (
        f"{facts.model} takes “{facts.expected}” for “{facts.given}”:"
        f" {facts.finding.title.rstrip('.')}."
    )


def _breaking(facts: Facts) -> Iterator[Sentence]:
    wrong_as_it_is = facts.before is not None and facts.before != facts.expected
    # What turns an already wrong answer breaks nothing.
    if wrong_as_it_is:
        lead = ALREADY_WRONG
    else:
        lead = BREAKS
    for told in facts.runs:
        if told.verdict.status in (Status.FAILS, Status.AT_RISK):
            yield Sentence(f"{lead} {told.title}: {told.verdict.sentence}", told.run.id)


def _holding(facts: Facts) -> Iterator[Sentence]:
    for told in facts.runs:
        if told.verdict.status is Status.HOLDS:
            yield Sentence(f"{HOLDS} {told.title}: {told.verdict.sentence}", told.run.id)
        elif told.verdict.status is Status.UNKNOWN:
            # What has no number decides nothing, for example where an answer comes from.
            if told.verdict.number is None:
                lead = KNOWN
            else:
                lead = OPEN
            yield Sentence(f"{lead} {told.title}: {told.verdict.sentence}", told.run.id)


def _ranking(facts: Facts) -> Iterator[Sentence]:
    rank = facts.rank
    if rank is None or facts.before is None or not len(rank.others):
        return
    others = f"of {count(len(rank.others), 'other input')} of {rank.data}"
    wrong = percent(rank.wrong)
    if rank.margin < 0:
        compared = f"{wrong} {others} are answered wrongly too, {percent(rank.share)} by a wider"
        compared += " margin"
    else:
        compared = f"{percent(rank.share)} {others} are decided more narrowly, counting the"
        compared += f" {wrong} answered wrongly"
    yield Sentence(
        f"Unchanged, the input gets “{facts.before}”, {percent(facts.sure)} sure; {compared}.",
        view=rank.view(),
    )


def _others(facts: Facts) -> Iterator[Sentence]:
    if facts.alike:
        worst = max(facts.alike, key=lambda one: one.severity)
        yield Sentence(
            f"The same confusion, “{facts.expected}” as “{facts.given}”, stands in"
            f" {count(len(facts.alike), 'other finding')} of this model; the worst:"
            f" {worst.title.rstrip('.')}.",
            worst.run_id,
        )


def _cause(facts: Facts) -> Iterator[Sentence]:
    likely, advice = _CAUSES[cause(facts)]
    if facts.rank is None:
        view = None
    else:
        view = facts.rank.view()
    if view is None:
        run = facts.finding.run_id
    else:
        run = ""
    if math.isnan(facts.change):
        reach = "an unknown amount"
    else:
        reach = number(facts.change)
    values = {
        "expected": facts.expected,
        "before": facts.before or "",
        "given": facts.given,
        "sure": percent(facts.sure) if math.isfinite(facts.sure) else "",
        "change": reach,
        "share": "" if facts.rank is None else percent(facts.rank.share),
    }
    yield Sentence(f"{CAUSE} {likely.format(**values)}", run, view)
    yield Sentence(f"{ADVICE} {advice.format(**values)}", run, view)


_CAUSES = {
    Cause.LABEL: (
        (
            "the label or the training data, for the model is {sure} sure of “{before}” without any"
            " change."
        ),
        "look at the label first; if it is right, train with more inputs of “{expected}” like it.",
    ),
    Cause.UNLEARNED: (
        (
            "the model has not learned this input, which it takes for “{before}” without any"
            " change, {sure} sure."
        ),
        "train with more inputs of “{expected}” like it.",
    ),
    Cause.NARROW: (
        (
            "the input lies close to the boundary: only {share} of the others are decided more"
            " narrowly."
        ),
        (
            "train with inputs between “{expected}” and “{given}”, and treat answers as narrow as"
            " this one as unsure."
        ),
    ),
    Cause.BRITTLE: (
        (
            "the model is brittle here: values moved by at most {change} turn an answer that is no"
            " narrow one ({share} of the others are decided more narrowly)."
        ),
        "train with such small changes, and guard the finding with a test (robgui guard).",
    ),
    Cause.CHANGE: (
        "the change itself, which moves values by {change}.",
        "decide whether such inputs occur where the model is used; if they do, train with them.",
    ),
}
