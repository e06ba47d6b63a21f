"""The evidence of a report for an audit: what was tested, how surely it is known, and what not."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass, fields

from robgui.core.execution.method import methods
from robgui.core.execution.run import Run, RunState
from robgui.core.text.words import count
from robgui.core.text.words import number as in_figures
from robgui.core.verdict import Verdict
from robgui.report import origin
from robgui.report.bottom_line import place
from robgui.report.report_content import Chapter, in_words, method_name, number_of, without_result

#: What a spreadsheet would take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Row:
    """One run on one model.

    Attributes:
        run: Its id.
        model: The model, by name.
        model_content: By content.
        test: What was asked.
        inputs: On which inputs, and how much of them was computed.
        data_content: The data, by content; empty without data.
        status: What it means.
        finding: What it comes down to.
        confidence: How surely that is known.
        reservations: What speaks against relying on it; empty if nothing is known.
    """

    run: str
    model: str
    model_content: str
    test: str
    inputs: str
    data_content: str
    status: str
    finding: str
    confidence: str
    reservations: str


def evidence_rows(chapters: Sequence[Chapter], models: Collection[str] = ()) -> list[Row]:
    """One row for each run with a result and each of its models.

    Args:
        chapters: The runs.
        models: The fingerprints of those that the report is about; empty for all.
    """
    rows = []
    for one in chapters:
        # No result is a gap, which is listed below, not a row without a status.
        if one.verdict is None:
            continue
        for model in one.run.request.models:
            if models and model.fingerprint not in models:
                continue
            said = one.verdict.of(place(one.run.request, model.fingerprint))
            rows.append(_row(one, model.name, model.fingerprint, said))
    return rows


def gaps(
    chapters: Sequence[Chapter], models: Collection[str] = (), others: Sequence[Run] = ()
) -> list[str]:
    """What the report says nothing about, a sentence each.

    Args:
        chapters: The runs.
        models: The fingerprints of those that the report is about; empty for all.
        others: Runs with a result that were left out by choice.
    """
    return [
        *_methods_left_out(chapters, models, others),
        *_without_results(chapters),
        *_parts(chapters),
    ]


def to_csv(
    chapters: Sequence[Chapter], models: Collection[str] = (), others: Sequence[Run] = ()
) -> str:
    """Both as a table for other programs; what was not tested comes last."""
    buffer = io.StringIO()
    table = csv.writer(buffer)
    table.writerow([field.name for field in fields(Row)])
    for row in evidence_rows(chapters, models):
        table.writerow([_harmless(cell) for cell in astuple(row)])
    for sentence in gaps(chapters, models, others):
        table.writerow(["", "", "", "not tested", _harmless(sentence), "", "", "", "", ""])
    return buffer.getvalue()


def _row(chapter: Chapter, name: str, content: str, said: Verdict) -> Row:
    request = chapter.run.request
    where = _looked_at(said) or request.chosen or origin.subject(request).partition(" on ")[2]
    return Row(
        run=chapter.run.id,
        model=name,
        model_content=content,
        test=chapter.title,
        inputs=" ".join(part for part in (_sentence(where), said.scope) if part),
        data_content="" if request.dataset is None else request.dataset.fingerprint,
        status=in_words(said.status),
        finding=number_of(said) or said.sentence,
        confidence=_confidence(said),
        reservations=_reservations(chapter),
    )


def _looked_at(said: Verdict) -> str:
    """How many inputs a verdict rests on, where these are fewer than were offered."""
    if said.inputs is None:
        return ""
    return count(said.inputs, "input")


def _sentence(words: str) -> str:
    if words:
        return f"{words[:1].upper()}{words[1:]}."
    return ""


def _confidence(said: Verdict) -> str:
    quantity = said.number
    if quantity is None or not (math.isfinite(quantity.low) and math.isfinite(quantity.high)):
        return "no interval is known"
    return f"95 % interval {in_figures(quantity.low)} to {in_figures(quantity.high)}"


def _reservations(chapter: Chapter) -> str:
    if origin.problems(chapter.run):
        said = [origin.problems(chapter.run)[0]]
    else:
        said = []
    if chapter.run.state is not RunState.DONE:
        said.insert(
            0, f"The run is {chapter.run.state}: it speaks of what was computed until then."
        )
    return " ".join(said)


def _methods_left_out(
    chapters: Sequence[Chapter], models: Collection[str], others: Sequence[Run]
) -> list[str]:
    """By model, the methods that were not run, and those whose runs the report leaves out."""
    used: dict[str, tuple[str, set[str]]] = {}
    for one in chapters:
        for model in one.run.request.models:
            _, known = used.setdefault(model.fingerprint, (model.name, set()))
            if one.verdict is not None:
                known.add(method_name(one.run))
    left = []
    for mark, (name, known) in used.items():
        if models and mark not in models:
            continue
        untold = [method for method in methods() if method.name not in known]
        ran = {method_name(run) for run in others if run.request.place_of(mark) is not None}
        missing = [method.title for method in untold if method.name not in ran]
        if missing:
            left.append(f"{name}: not looked at with {', '.join(missing)}.")
        chosen = [method.title for method in untold if method.name in ran]
        if chosen:
            left.append(f"{name}: looked at with {', '.join(chosen)}, left out of this report.")
    return left


def _without_results(chapters: Sequence[Chapter]) -> list[str]:
    return [
        f"{one.title}, {origin.subject(one.run.request)}: no result ({one.run.state})."
        for one in without_result(chapters)
    ]


def _parts(chapters: Sequence[Chapter]) -> list[str]:
    """The runs that looked at some of the inputs only, each choice once."""
    # A dict for a set that keeps the order of the runs.
    chosen: dict[tuple[str, str], None] = {}
    for one in chapters:
        request = one.run.request
        if one.verdict is None or request.dataset is None:
            continue
        words = _looked_at(one.verdict)
        if not words and request.indices is not None:
            words = request.chosen or count(len(request.indices), "input")
        if words:
            chosen[(one.title, f"of {request.dataset.name} only {words}")] = None
    return [f"{title}: {words} looked at." for title, words in chosen]


def _harmless(cell: str) -> str:
    """A cell that no spreadsheet computes: names come from files of anyone."""
    if cell.startswith(_FORMULA):
        # A leading apostrophe makes a spreadsheet take the cell for text.
        return f"'{cell}"
    return cell
