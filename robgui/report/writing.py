"""A report by the ending of its file."""

from __future__ import annotations

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
