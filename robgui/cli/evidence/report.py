"""``robgui report``: a workspace as one HTML file, as PDF, or both."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from robgui.cli import Parser
from robgui.cli.printing import print_line
from robgui.core.errors import WorkspaceError

if TYPE_CHECKING:
    from robgui.core.workspace import Workspace

#: Letters of a run's id that tell the runs of a workspace apart.
_ID = 8


def report(words: list[str]) -> int:
    """Writes the report, or lists what may be chosen for it."""
    asked = parser()
    given = asked.parse_args(words)
    places = (given.html, given.pdf, given.evidence)
    if not given.list and all(place is None for place in places):
        asked.error("say where to write it, with --html FILE, --pdf FILE or --evidence FILE")
    if not Path(given.workspace).exists():
        raise WorkspaceError(f"There is no workspace {given.workspace}; check the path.")
    from robgui.core.workspace import Workspace

    with Workspace.open(given.workspace, create=False) as workspace:
        if given.list:
            _list(workspace)
        _write(workspace, given)
    for place in places:
        if place is not None:
            print_line(f"Wrote {place}.")
    return 0


def _write(workspace: Workspace, given: argparse.Namespace) -> None:
    from robgui.report.contents import scope_of
    from robgui.report.kept import KEPT
    from robgui.report.pictures import Figures

    scope = scope_of(workspace, given.model, full=given.full, runs=given.run)
    KEPT.use_shelf()
    figures = Figures(workspace)
    if given.html is not None:
        from robgui.report.html import write_html

        write_html(workspace, Path(given.html), figures, scope)
    if given.pdf is not None:
        from robgui.report.pdf import write_pdf

        write_pdf(workspace, Path(given.pdf), figures, scope)
    if given.evidence is not None:
        from robgui.report.writing import write_evidence

        write_evidence(workspace, Path(given.evidence), scope)


def _list(workspace: Workspace) -> None:
    """One line per run: its id, what it is, of which models, and what it says."""
    from robgui.report.report_content import chapters_of

    for one in chapters_of(workspace, workspace.runs()):
        names = ", ".join(model.name for model in one.run.request.models)
        print_line(f"{one.run.id[:_ID]}  {one.title}, {names}: {one.status}")


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="robgui report",
        description="Writes a workspace as one HTML file, as PDF, or both.",
        allow_abbrev=False,
    )
    made.add_argument("workspace", help="the workspace file (*.robgui)")
    made.add_argument(
        "--html", metavar="FILE", help="where to write the HTML file; it needs no network"
    )
    made.add_argument("--pdf", metavar="FILE", help="where to write the PDF file")
    made.add_argument(
        "--evidence",
        metavar="FILE",
        help="where to write, as CSV, what was tested, how surely it is known, and what was not",
    )
    made.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="NAME",
        help="only about this model, by name or fingerprint (may be repeated) [all]",
    )
    made.add_argument(
        "--run",
        action="append",
        default=[],
        metavar="ID",
        help="only this run, by the beginning of its id, told in full (may be repeated) [all]",
    )
    made.add_argument("--list", action="store_true", help="name the runs with their ids")
    made.add_argument(
        "--full",
        action="store_true",
        help="every run with all its pictures, not only the one that speaks for model and method",
    )
    return made
