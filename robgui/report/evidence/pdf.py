"""The evidence of a PDF report: what was tested, how surely it is known, and what was not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robgui.report.evidence.table import Row, evidence_rows, gaps
from robgui.report.report_content import Chapter
from robgui.report.sheet import QUIET, PaperSheet, table_height


def evidence_sheets(chapters: Sequence[Chapter]) -> Iterator[PaperSheet]:
    """What an audit asks for, one block per run and model."""
    sheet = PaperSheet()
    sheet.text("Evidence", 15, bold=True)
    for row in evidence_rows(chapters):
        rows = _rows(row)
        if sheet.left < 0.6 + table_height(rows, 6.4, 8):
            yield sheet
            sheet = PaperSheet()
        sheet.space(0.12)
        sheet.rule()
        sheet.text(f"{row.test}: {row.model}", 10, bold=True, most=2)
        sheet.table(rows, 8)
    left = gaps(chapters)
    if left:
        sheet.space(0.2)
        sheet.text("What was not tested", 12, bold=True)
    for sentence in left:
        if sheet.left < 0.5:
            yield sheet
            sheet = PaperSheet()
        sheet.text(f"• {sentence}", 9, x=0.1, colour=QUIET, most=4)
    yield sheet


def _rows(row: Row) -> dict[str, str]:
    found = {
        "On what": row.inputs,
        "Result": f"{row.status}: {row.finding}",
        "How sure": row.confidence,
        "Reservations": row.reservations,
        "Known by": ", ".join(part for part in (row.model_content, row.data_content) if part),
    }
    return {name: value for name, value in found.items() if value}
