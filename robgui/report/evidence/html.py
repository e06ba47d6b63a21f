"""The evidence of an HTML report: one table of what was tested, one list of what was not."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from robgui.report.contents import Contents
from robgui.report.evidence.table import Row, evidence_rows, gaps

_HEAD = ("Model", "Test", "On what", "Result", "How sure", "Reservations")


def evidence(contents: Contents) -> Iterator[str]:
    """What an audit asks for, of every run."""
    yield '<section aria-labelledby="evidence"><h2 id="evidence">Evidence</h2>\n'
    head = "".join(f'<th scope="col">{title}' for title in _HEAD)
    yield f'<div class="wide"><table class="evidence"><thead><tr>{head}</tr></thead><tbody>\n'
    for row in evidence_rows(contents.chapters, contents.scope.models):
        yield _row(row)
    yield "</tbody></table></div>\n"
    if left := gaps(contents.chapters, contents.scope.models, contents.not_chosen):
        items = "".join(f"<li>{escape(sentence)}</li>" for sentence in left)
        yield f'<h3>What was not tested</h3><ul class="untested">{items}</ul>\n'
    yield "</section>\n"


def _row(row: Row) -> str:
    status = f'<strong class="status">{escape(row.status)}</strong>'
    link = f'<a href="#run-{escape(row.run)}">{escape(row.finding)}</a>'
    model = f'{escape(row.model)}<br><span class="quiet">{escape(row.model_content)}</span>'
    if row.data_content:
        data = f'<br><span class="quiet">{escape(row.data_content)}</span>'
    else:
        data = ""
    return (
        f"<tr><td>{model}<td>{escape(row.test)}<td>{escape(row.inputs)}{data}"
        f"<td>{status}<br>{link}<td>{escape(row.confidence)}<td>{escape(row.reservations)}</tr>\n"
    )
