"""Printed against recorded, and recorded against computed anew."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from robgui.core.experiment import Experiment
from robgui.core.verdict import Quantity, Verdict
from robgui.report.report_content import in_words, number_of
from robgui.report.verify.reading import Printed, ReportPage

#: How far a number may move with the size of a batch or the device: the last bits of float32, and
#: a sample at a boundary here and there.
RELATIVE, ABSOLUTE = 1e-3, 1e-6
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def misprints(page: ReportPage, experiments: Sequence[Experiment]) -> Iterator[str]:
    """What a report prints and its own record does not say, a sentence each."""
    known = {one.run: one for one in experiments}
    for run, printed in page.runs.items():
        record = known.get(run)
        if record is None:
            yield f"run {run}: the report carries no record of it."
            continue
        yield from _of_run(printed, record)
    for run in known:
        if run not in page.runs:
            yield f"run {run}: the report carries its record and does not print it."
    yield from _of_summary(page, known)


def _of_run(printed: Printed, record: Experiment) -> Iterator[str]:
    said = record.printed
    if said is None:
        if printed.sentence:
            yield f"run {printed.run}: the report prints a verdict and the record has none."
        return
    pairs = [
        ("status", printed.status, in_words(said.status)),
        ("sentence", printed.sentence, said.sentence),
        ("number", printed.number, number_of(said)),
        ("scope", printed.scope, said.scope),
        ("reasons", " ".join(printed.because), " ".join(said.because)),
    ]
    for name, shown, recorded in pairs:
        if _line(shown) != _line(recorded):
            yield (
                f"run {printed.run}: the {name} printed is “{_line(shown)}”, and the one recorded"
                f" is “{_line(recorded)}”."
            )
    own = record.said
    if own is not None and own.number != said.number and not _near(own.number, said.number):
        yield f"run {printed.run}: the record holds two different numbers."


def _of_summary(page: ReportPage, known: dict[str, Experiment]) -> Iterator[str]:
    for run, status, words in page.cells:
        record = known.get(run)
        if record is None:
            said = None
        else:
            said = record.printed
        if said is None:
            yield f"A table names the run {run}, of which there is no record."
        elif not any(
            _line(status) == in_words(one.status)
            and _line(words) in (_line(number_of(one)), _line(one.sentence))
            for one in (said, *said.models)
        ):
            yield (
                f"run {run}: a table says “{_line(status)} {_line(words)}”, and its record does"
                " not."
            )
    every = [one.printed for one in known.values() if one.printed is not None]
    each = [said for one in every for said in (one, *one.models)]
    told = {(in_words(one.status), _line(one.sentence)) for one in each}
    if page.bottom[1] and (_line(page.bottom[0]), _line(page.bottom[1])) not in told:
        yield f"The bottom line says “{_line(page.bottom[1])}”, and no record does."


def disagreement(recorded: Verdict, computed: Verdict) -> str:
    """What is different when a run is computed anew; empty if nothing is.

    Numbers may move as far as another size of batch moves them.
    """
    if recorded.status is not computed.status:
        return f"recorded “{recorded.status.words}”, computed “{computed.status.words}”"
    if (recorded.number is None) != (computed.number is None):
        return f"recorded {number_of(recorded) or 'no number'}, computed {number_of(computed)}"
    if not _near(recorded.number, computed.number):
        return f"recorded {number_of(recorded)}, computed {number_of(computed)}"
    if not _same_words(recorded.sentence, computed.sentence):
        return f"recorded “{recorded.sentence}”, computed “{computed.sentence}”"
    for one, other in zip(recorded.models, computed.models, strict=False):
        if said := disagreement(one, other):
            return said
    return ""


def _near(one: Quantity | None, other: Quantity | None) -> bool:
    if one is None or other is None:
        return one is other
    pairs = [(one.value, other.value), (one.low, other.low), (one.high, other.high)]
    same = all(_close(a, b) for a, b in pairs) and one.name == other.name
    moved = any(a != b and math.isfinite(a) for a, b in pairs)
    return same and (_same_words(one.text, other.text) if moved else one.text == other.text)


def _same_words(one: str, other: str) -> bool:
    """Whether two texts are the same but for the last digit of their numbers."""
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(
        # One number rounded twice may differ by a unit of its last digit; 1.01 allows for binary.
        math.isclose(float(a), float(b), rel_tol=RELATIVE, abs_tol=1.01 * max(_unit(a), _unit(b)))
        for a, b in pairs
    )


def _unit(figures: str) -> float:
    """The value of a fraction's last digit; 0 for a whole number."""
    _, point, digits = figures.partition(".")
    if point:
        return 10.0 ** -len(digits)
    return 0.0


def _close(one: float, other: float) -> bool:
    if not (math.isfinite(one) and math.isfinite(other)):
        return math.isnan(one) == math.isnan(other) and (math.isnan(one) or one == other)
    return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _line(text: str) -> str:
    return " ".join(text.split())
