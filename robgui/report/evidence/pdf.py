"""The evidence of a PDF report: what was tested, how surely it is known, and what was not."""

from __future__ import annotations

from collections.abc import Iterator

from robgui.report.contents import Contents
from robgui.report.evidence.table import Row, evidence_rows, gaps
from robgui.report.sheet import QUIET, PaperSheet

#: Points of the small letters, and lines that a sentence takes at most.
_SMALL, _MOST_LINES = 8, 3
#: Room that a row asks for, in inches: the title, what it says, and on what.
_ROW = 1.1


def evidence_sheets(contents: Contents) -> Iterator[PaperSheet]:
    """What an audit asks for: every run in a few lines, then what has not been tested."""
    models = contents.scope.models
    rows = evidence_rows(contents.chapters, models)
    sheet = PaperSheet()
    sheet.text("Evidence", 15, bold=True)
    sheet.text(f"All {len(rows):,} answers, one for each run and model.", 9, colour=QUIET)
    for row in rows:
        if sheet.left < _ROW:
            yield sheet
            sheet = PaperSheet()
        _row(sheet, row)
    for title, lines in (
        ("Models and data by content", _by_content(contents)),
        ("What was not tested", gaps(contents.chapters, models, contents.not_chosen)),
    ):
        if lines and sheet.left < 1:
            yield sheet
            sheet = PaperSheet()
        if lines:
            sheet.space(0.2)
            sheet.text(title, 12, bold=True)
        for line in lines:
            if sheet.left < 0.5:
                yield sheet
                sheet = PaperSheet()
            sheet.text(f"• {line}", 9, x=0.1, colour=QUIET, most=4)
    yield sheet


def _row(sheet: PaperSheet, row: Row) -> None:
    """What was asked of which model, what came out, on what and how surely."""
    sheet.space(0.08)
    sheet.rule()
    sheet.text(f"{row.test}: {row.model}", 9, bold=True, most=1)
    sheet.text(f"{row.status}: {row.finding}", _SMALL, most=_MOST_LINES)
    sure = f"{row.confidence[:1].upper()}{row.confidence[1:]}."
    small = " ".join(part for part in (row.inputs, sure, row.reservations) if part)
    sheet.text(small, _SMALL, colour=QUIET, most=_MOST_LINES)


def _by_content(contents: Contents) -> list[str]:
    """The fingerprint of every model and of all data, each once."""
    models: dict[str, None] = {}
    data: dict[str, None] = {}
    wanted = contents.scope.models
    for one in contents.told:
        request = one.run.request
        for model in request.models:
            if not wanted or model.fingerprint in wanted:
                models[f"{model.name}: {model.fingerprint}"] = None
        if request.dataset is not None:
            data[f"{request.dataset.name}: {request.dataset.fingerprint}"] = None
    return [*models, *data]
