"""A workspace as a PDF file: a cover with the summary, the methods in plain words, findings, one page per run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.backends.backend_pdf import PdfPages

from robgui import __version__, manual
from robgui.core.errors import WorkspaceError
from robgui.core.execution.request import subject
from robgui.report import facts
from robgui.report.pictures import Figures
from robgui.report.sheet import INK, QUIET, TEXT_WIDTH, Sheet, table_height

if TYPE_CHECKING:
    from robgui.core.finding import StoredFinding
    from robgui.core.workspace import Workspace
    from robgui.report.facts import Cell, Chapter

#: As many findings as a reader leafs through; how many there are is said.
MOST_FINDINGS = 42
#: A figure is at most so high (inches), and gives way to the small print down to so little; then that takes another page.
_FIGURE_HIGH, _FIGURE_LOW = 5.4, 3.2
_ROW = 1.25
#: Width of each of two tables side by side.
_HALF = TEXT_WIDTH / 2 - 0.1
_STATUS_COLOURS = {"bad": "#a8320a", "doubtful": "#7a5200", "good": "#1a6b3c", "unknown": QUIET}


def write_pdf(workspace: Workspace, path: str | Path, figures: Figures | None = None) -> Path:
    """Writes every run and the worst findings of ``workspace`` into one PDF file; returns its path.

    Args:
        workspace: What to write.
        path: Where.
        figures: Those already drawn for another report of the same workspace.
    """
    target = Path(path)
    footer = f"{workspace.path.stem}: robustness report"
    information = {"Title": footer, "Creator": f"robgui {__version__}", "Producer": "robgui"}
    try:
        with PdfPages(target, metadata=information) as pages:
            for sheet in _sheets(workspace, figures or Figures(workspace)):
                sheet.save(pages, footer)
    except OSError as error:
        raise WorkspaceError(f"The report cannot be written to {target} ({error.strerror}); choose another place.") from error
    return target


def _sheets(workspace: Workspace, figures: Figures) -> Iterator[Sheet]:
    runs = workspace.runs()
    chapters, telling = facts.told_once([facts.chapter(workspace, run) for run in runs])
    findings = facts.distinct(workspace.findings(), telling)
    words = facts.overview(chapters, len(runs) - len(chapters), len(findings))
    yield from _cover(workspace.path.stem, chapters, words)
    yield from _methods(chapters)
    yield from _findings(workspace, telling, findings)
    for group in facts.methods([one.run for one in chapters]).values():
        for run in group:
            yield from _run(workspace, telling[run.id], figures)


def _cover(name: str, chapters: Sequence[Chapter], words: str) -> Iterator[Sheet]:
    sheet = Sheet()
    sheet.text(f"Robustness report, workspace {name}", 11, colour=QUIET)
    sheet.text(facts.heading(chapters) if chapters else name, 24, bold=True)
    sheet.space(0.1)
    if not chapters:
        sheet.text("This workspace holds no run yet: open a model and inputs, choose an analysis and press Run.", 11)
        yield sheet
        return
    sheet.text(f"{words} Written {facts.moment(time.time())} by robgui {__version__}.", 10, colour=QUIET)
    sheet.space(0.25)
    sheet.text("Summary", 15, bold=True)
    sheet.text(facts.tally(chapters), 10)
    for model, cells in facts.summary(chapters).items():
        used = [cell for cell in cells if cell.chapters]
        if sheet.left < 0.5 + 0.45 * len(used):
            yield sheet
            sheet = Sheet()
        sheet.space(0.15)
        sheet.rule()
        sheet.text(model, 11, bold=True)
        for cell in used:
            _summary_row(sheet, cell)
    yield sheet


def _summary_row(sheet: Sheet, cell: Cell) -> None:
    """Method, status in words, what it comes down to."""
    top = sheet.y + 0.04
    newest, runs = cell.newest, facts.count(len(cell.chapters), "run")
    columns = [(0.0, 1.7, manual.page(cell.method).title, QUIET), (1.75, 1.5, runs, QUIET)]
    if newest is not None and newest.headline is not None:
        counts = ", ".join(f"{facts.SIGNS[status]}\N{NO-BREAK SPACE}{count}" for status, count in cell.counts)
        more = f" ({runs}: {counts})" if len(cell.chapters) > 1 else ""
        columns[1] = (1.75, 1.5, newest.status, _STATUS_COLOURS[newest.headline.status])
        columns.append((3.3, TEXT_WIDTH - 3.3, f"{newest.headline.title}: {newest.headline.text}{more}", INK))
    low = top
    for x, width, words, colour in columns:
        sheet.y = top
        sheet.text(words, 9, x=x, width=width, colour=colour)
        low = max(low, sheet.y)
    sheet.y = low


def _methods(chapters: Sequence[Chapter]) -> Iterator[Sheet]:
    """The methods used, in plain words."""
    names = list(facts.methods([one.run for one in chapters]))
    if not names:
        return
    sheet = Sheet()
    sheet.text("The methods in plain words", 15, bold=True)
    for name in names:
        page = manual.page(name)
        if sheet.left < 1.8:
            yield sheet
            sheet = Sheet()
        sheet.space(0.2)
        sheet.text(page.title, 12, bold=True)
        sheet.space(0.03)
        sheet.text(page.plain, 10)
    sheet.space(0.25)
    sheet.text(
        "“Nothing alarming found” is about a method and its settings; it does not mean that there is no failure. Every run is repeated "
        "exactly by its settings, its seed and the fingerprints of model and data, which stand on its page.",
        9,
        colour=QUIET,
    )
    yield sheet


def _findings(workspace: Workspace, telling: Mapping[str, Chapter], findings: Sequence[StoredFinding]) -> Iterator[Sheet]:
    if not findings:
        return
    shown = findings[:MOST_FINDINGS]
    sheet = Sheet()
    sheet.text("Findings", 15, bold=True)
    sheet.text(f"{len(shown):,} of {facts.count(len(findings), 'finding')}, the starred ones first, then the worst.", 9, colour=QUIET)
    sheet.space(0.1)
    for listed in shown:
        if sheet.left < _ROW + 0.1:
            yield sheet
            sheet = Sheet()
        sheet.rule()
        _finding(sheet, workspace.finding(listed.id), telling.get(listed.run_id))
    yield sheet


def _finding(sheet: Sheet, finding: StoredFinding, chapter: Chapter | None) -> None:
    top = sheet.y
    if finding.picture is not None:
        sheet.picture(finding.picture, 0.0, 2.0, _ROW - 0.15)
    words = 2.2
    sheet.text(("★ " if finding.starred else "") + finding.title, 10, x=words, bold=True, most=2)
    sheet.text(f"{finding.kind}, severity {finding.severity:.2f} (0 harmless, 1 worst)", 8.5, x=words, colour=QUIET)
    if chapter is not None:
        sheet.text(f"{chapter.title}: {subject(chapter.run.request)}", 8.5, x=words, colour=QUIET, most=2)
    if finding.note:
        sheet.text(finding.note, 9, x=words, most=2)
    sheet.y = max(top + _ROW, sheet.y + 0.08)


def _run(workspace: Workspace, chapter: Chapter, figures: Figures) -> Iterator[Sheet]:
    """Title, what it comes down to, verdict, figure, settings and origin."""
    run, headline = chapter.run, chapter.headline
    sheet = Sheet()
    sheet.text(chapter.title, 15, bold=True)
    sheet.text(f"{subject(run.request)} ({run.state})", 9, colour=QUIET)
    sheet.space(0.08)
    if headline is not None:
        sheet.text(f"{chapter.status}. {headline.title}: {headline.text}", 10.5, bold=True, colour=_STATUS_COLOURS[headline.status])
        sheet.space(0.04)
    for text in (run.verdict, run.error, chapter.problem, "" if run.has_result else "This run has no result."):
        if text:
            sheet.text(text, 10)
    for item in facts.trails(workspace, run.request)[:3]:
        sheet.text(f"Where its input comes from: {item.words()}", 9, colour=QUIET)
    sheet.space(0.1)
    figure = figures.pixels(chapter)
    if figure is not None:
        room = min(_FIGURE_HIGH, sheet.left - 0.15 - _small_print_height(chapter))
        room = room if room >= _FIGURE_LOW else _FIGURE_HIGH
        sheet.space(sheet.picture(figure, 0.0, TEXT_WIDTH, room)[1] + 0.1)
    yield from _small_print(sheet, chapter)


def _small_print_height(chapter: Chapter) -> float:
    """Inches that settings and origin take."""
    return 0.2 + max(table_height(rows, _HALF) for rows in (facts.origin(chapter.run), facts.settings(chapter.run)))


def _small_print(sheet: Sheet, chapter: Chapter) -> Iterator[Sheet]:
    """Origin left, settings right; on a page of its own where the figure leaves no room."""
    if sheet.left < _small_print_height(chapter):
        yield sheet
        sheet = Sheet()
        sheet.text(f"{chapter.title}: settings and origin", 12, bold=True)
        sheet.space(0.1)
    sheet.rule()
    top = sheet.y
    sheet.table(facts.origin(chapter.run), width=_HALF)
    sheet.y = top
    sheet.table(facts.settings(chapter.run), x=_HALF + 0.2, width=_HALF)
    yield sheet
