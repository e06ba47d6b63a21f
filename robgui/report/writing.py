"""Writes a report in the format of its file's ending."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from robgui.core.errors import WorkspaceError

if TYPE_CHECKING:
    from robgui.core.workspace import Workspace

ENDINGS = (".html", ".htm", ".pdf")


def write_report(workspace: Workspace, path: str | Path) -> Path:
    """Writes the report as HTML or PDF, by the ending of ``path``; returns its path."""
    ending = Path(path).suffix.lower()
    if ending == ".pdf":
        from robgui.report.pdf import write_pdf

        return write_pdf(workspace, path)
    if ending not in ENDINGS:
        raise WorkspaceError(
            f"{Path(path).name}: a report is written as .html or .pdf; choose one of these endings."
        )
    from robgui.report.html import write_html

    return write_html(workspace, path)


def drawings(workspace: Workspace) -> list[Callable[[], object]]:
    """What draws the pictures of a report, run by run, for whoever has time before it is written.

    A drawing is made once.
    """
    from robgui.report import report_content
    from robgui.report.pictures import Figures

    chapters, _ = report_content.told_once(report_content.chapters_of(workspace, workspace.runs()))
    figures = Figures(workspace)
    return [partial(figures.shown, one) for one in report_content.with_result(chapters)]


def write_evidence(workspace: Workspace, path: Path) -> Path:
    """Writes as CSV what was tested, with what confidence, and what was not."""
    from robgui.core.files import write_whole
    from robgui.report import report_content
    from robgui.report.evidence.table import to_csv

    chapters, _ = report_content.told_once(report_content.chapters_of(workspace, workspace.runs()))
    try:
        write_whole(path, to_csv(chapters).encode("utf-8-sig"))
    except OSError as error:
        raise WorkspaceError(
            f"The evidence cannot be written to {path} ({error.strerror}); choose another place."
        ) from error
    return path
