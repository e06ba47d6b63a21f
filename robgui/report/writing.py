"""Writes a report in the format of its file's ending."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from robgui.core.errors import WorkspaceError
from robgui.report.contents import WHOLE

if TYPE_CHECKING:
    from robgui.core.workspace import Workspace
    from robgui.report.contents import Scope

ENDINGS = (".html", ".htm", ".pdf")


def write_report(workspace: Workspace, path: str | Path, scope: Scope = WHOLE) -> Path:
    """Writes the report as HTML or PDF, by the ending of ``path``; returns its path.

    Args:
        workspace: What to write.
        path: Where.
        scope: Of which models, and whether every run is told in full.
    """
    ending = Path(path).suffix.lower()
    if ending == ".pdf":
        from robgui.report.pdf import write_pdf

        return write_pdf(workspace, path, scope=scope)
    if ending not in ENDINGS:
        raise WorkspaceError(
            f"{Path(path).name}: a report is written as .html or .pdf; choose one of these endings."
        )
    from robgui.report.html import write_html

    return write_html(workspace, path, scope=scope)


def drawings(workspace: Workspace, scope: Scope = WHOLE) -> list[Callable[[], object]]:
    """What draws the pictures of a report, run by run, for whoever has time before it is written.

    A drawing is made once.

    Args:
        workspace: Whose runs.
        scope: What the report is about.
    """
    from robgui.report.contents import contents_of
    from robgui.report.html_runs import MOST_PICTURES
    from robgui.report.pictures import Figures

    figures = Figures(workspace)
    runs = contents_of(workspace, scope).in_full
    return [
        draw
        for one in runs
        for draw in (
            partial(figures.shown, one, most=MOST_PICTURES),
            partial(figures.shown, one, dark=True, most=1),
        )
    ]


def write_evidence(workspace: Workspace, path: Path, scope: Scope = WHOLE) -> Path:
    """Writes what was tested, how surely it is known, and what was not, as CSV."""
    from robgui.core.files import write_whole
    from robgui.report.contents import contents_of
    from robgui.report.evidence.table import to_csv

    contents = contents_of(workspace, scope)
    table = to_csv(contents.chapters, scope.models, contents.not_chosen)
    try:
        # With its mark: Excel takes UTF-8 without one for the local code page.
        write_whole(path, table.encode("utf-8-sig"))
    except OSError as error:
        raise WorkspaceError(
            f"The evidence cannot be written to {path} ({error.strerror}); choose another place."
        ) from error
    return path
