"""A workspace as a PDF file: a cover with the bottom line, the methods, findings, the runs."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from robgui import manual
from robgui.core.errors import WorkspaceError
from robgui.core.experiment.carrying import pdf_entries
from robgui.core.files import write_whole
from robgui.core.finding_groups import counted, input_in_words
from robgui.core.text.words import count
from robgui.core.text.words import severity as severity_in_words
from robgui.report import origin, report_content
from robgui.report.bottom_line import BottomLine, Cell, hero_pair
from robgui.report.contents import WHOLE, Contents, Scope, contents_of
from robgui.report.evidence.pdf import evidence_sheets
from robgui.report.own import read_own
from robgui.report.paper import Document, packed
from robgui.report.pdf_runs import run_sheets
from robgui.report.pictures import Figures
from robgui.report.report_content import LOOSE, NOTHING_YET, Chapter, in_words, number_of
from robgui.report.sheet import (
    HEIGHT,
    INK,
    MARGIN,
    QUIET,
    TEXT_WIDTH,
    WIDTH,
    PaperSheet,
    paragraph_height,
    status_colour,
)
from robgui.version import __version__

if TYPE_CHECKING:
    import numpy as np

    from robgui.core.finding import StoredFinding
    from robgui.core.finding_groups import Group
    from robgui.core.verdict import Verdict
    from robgui.core.workspace import Workspace

#: As many findings as a reader leafs through, in a full report and in a short one; how many there
#: are is said.
MOST_FINDINGS, MOST_IN_BRIEF = 42, 14
HOLDS_MEANS = (
    "“Holds” is about a method, its inputs and its settings; it does not mean that there is no "
    "failure. Every run is repeated exactly by its settings, its seed and the fingerprints of "
    "model and data, which stand on its page or in the record that this file carries."
)
#: Inches that a finding takes at least: its picture with a little room.
_ROW = 1.25
#: The picture on the cover is at most this high (inches).
_HERO = 4.2
#: The user's logo is at most this wide.
_LOGO = 1.6


def write_pdf(
    workspace: Workspace,
    path: str | Path,
    figures: Figures | None = None,
    scope: Scope = WHOLE,
) -> Path:
    """Writes the runs and the worst findings of ``workspace`` into one PDF file; returns its path.

    Args:
        workspace: What to write.
        path: Where.
        figures: Those already drawn for another report of the same workspace.
        scope: Of which models, and whether every run is told in full.
    """
    target, contents = Path(path), contents_of(workspace, scope)
    footer = f"{workspace.path.stem}: robustness report"
    information = {"Title": footer, "Creator": f"robgui {__version__}", "Producer": "robgui"}
    try:
        document = Document(WIDTH, HEIGHT)
        for sheet in sheets(workspace, contents, figures or Figures(workspace)):
            sheet.write(document, footer)
        carried = pdf_entries(_carried(contents))
        write_whole(target, document.to_bytes({**information, **carried}))
    except OSError as error:
        why = f"cannot be written to {target} ({error.strerror})"
        raise WorkspaceError(f"The report {why}; choose another place.") from error
    return target


def _carried(contents: Contents) -> list[str]:
    """The runs that the report tells of, as the file carries them."""
    return [origin.experiment_of_run(one.run, one.verdict).to_text() for one in contents.told]


def sheets(workspace: Workspace, contents: Contents, figures: Figures) -> Iterator[PaperSheet]:
    """The pages one after the other."""
    sheet = yield from _summary(_cover(workspace, contents, figures), contents)
    names = [name for name in report_content.by_method(contents.told) if name != LOOSE]
    yield from method_sheets(names, sheet)
    yield from _findings(workspace, contents)
    for group in report_content.by_method(contents.in_full).values():
        for one in group:
            yield from run_sheets(workspace, one, figures, every=contents.scope.full)
    yield from _failed(contents.failed)
    if contents.told:
        yield from evidence_sheets(contents)


def _cover(workspace: Workspace, contents: Contents, figures: Figures) -> PaperSheet:
    """What the report is about, the user's words, the bottom line and the picture that shows it."""
    sheet, name, own = PaperSheet(), workspace.path.stem, read_own(workspace)
    beside = TEXT_WIDTH - _logo(sheet, own.pixels())
    sheet.text(f"Robustness report, workspace {name}", 11, width=beside, colour=QUIET, most=2)
    if contents.chapters:
        heading, words = contents.heading, contents.overview
    else:
        heading, words = name, NOTHING_YET
    sheet.text(own.title or heading, 24, width=beside, bold=True, most=4)
    # A logo may reach lower than the title beside it.
    sheet.y = max(sheet.y, MARGIN + _LOGO / 2 if beside < TEXT_WIDTH else 0.0)
    sheet.space(0.1)
    if not contents.chapters:
        sheet.text(words, 11)
        return sheet
    written = f"Written {origin.moment(time.time())} by robgui {__version__}."
    sheet.text(f"{words} {written}", 10, colour=QUIET)
    sheet.space(0.25)
    for part in own.paragraphs:
        sheet.text(part, 10, most=12)
    if own.paragraphs:
        sheet.space(0.25)
    if line := contents.line:
        _bottom_line(sheet, line, figures, hero_pair(workspace, line, contents.findings))
    return sheet


def _logo(sheet: PaperSheet, logo: np.ndarray | None) -> float:
    """Sets the user's logo at the right margin; how wide it is, with room on its left."""
    if logo is None:
        return 0.0
    high, wide = logo.shape[:2]
    # Within a frame twice as wide as it is high.
    width = min(_LOGO, _LOGO / 2 * wide / high)
    sheet.picture(logo, TEXT_WIDTH - width, width, _LOGO / 2)
    return width + 0.2


def _bottom_line(
    sheet: PaperSheet, line: BottomLine, figures: Figures, pair: np.ndarray | None
) -> None:
    sheet.text(in_words(line.status), 18, bold=True, colour=status_colour(line.status))
    sheet.space(0.05)
    sheet.text(line.sentence, 13)
    because = line.because
    where = f"{because.title}: {origin.subject(because.run.request)}"
    sheet.text(where, 9, colour=QUIET, most=2)
    sheet.space(0.08)
    sheet.text(line.tally, 10)
    sheet.space(0.2)
    drawn = next(map(packed, figures.files(because, 1)), None) if pair is None else None
    picture = drawn if pair is None else pair
    # Less than an inch high, a picture shows nothing.
    if picture is not None and sheet.left > 1:
        _, used = sheet.picture(picture, 0.0, TEXT_WIDTH, min(_HERO, sheet.left))
        sheet.space(used)


def _summary(
    sheet: PaperSheet, contents: Contents
) -> Generator[PaperSheet, None, PaperSheet | None]:
    """What speaks for each method on each model, below the bottom line where there is room.

    Returns:
        The last page, on which there may be room; None where it has been given.
    """
    if not contents.told:
        yield sheet
        return None
    begun = False
    for model, cells in contents.table.items():
        used = [cell for cell in cells if cell.judged]
        # A model is not parted from its rows, nor the title from the first of them.
        # Inches: the model's name, with the title of the
        # part above the first, and rows of two lines.
        if sheet.left < (0.5 if begun else 1.1) + 0.45 * len(used):
            yield sheet
            sheet = PaperSheet()
        if not begun:
            _section(sheet, "Summary")
            begun = True
        sheet.space(0.15)
        sheet.rule()
        sheet.text(model, 11, bold=True)
        for cell in used:
            if cell.told is not None:
                _summary_row(sheet, cell, cell.told.verdict)
    return sheet


def _section(sheet: PaperSheet, title: str) -> None:
    """The title of a part, at the top of a page or below what stands on it."""
    if sheet.lines:
        sheet.space(0.35)
    sheet.text(title, 15, bold=True)


def _summary_row(sheet: PaperSheet, cell: Cell, said: Verdict) -> None:
    """Method, status in words, what it comes down to."""
    words = number_of(said) or said.sentence
    if len(cell.judged) > 1:
        counts = ", ".join(f"{status.sign}\N{NO-BREAK SPACE}{many}" for status, many in cell.counts)
        words += f" ({count(len(cell.judged), 'run')}: {counts})"
    title = report_content.method_title(cell.method)
    columns = [
        (0.0, 1.7, title, QUIET),
        (1.75, 1.5, in_words(said.status), status_colour(said.status)),
        (3.3, TEXT_WIDTH - 3.3, words, INK),
    ]
    top = low = sheet.y + 0.04
    for x, width, text, colour in columns:
        sheet.y = top
        sheet.text(text, 9, x=x, width=width, colour=colour)
        low = max(low, sheet.y)
    # The row ends below the longest of its columns.
    sheet.y = low


def method_sheets(names: Sequence[str], sheet: PaperSheet | None = None) -> Iterator[PaperSheet]:
    """The methods of these names in plain words; what has no room begins a page.

    Args:
        names: The methods.
        sheet: A page that is not given yet, on which there may be room.
    """
    if not names:
        if sheet is not None:
            yield sheet
        return
    sheet = sheet or PaperSheet()
    for place, name in enumerate(names):
        page = manual.page(name)
        needed = (
            0.18 + paragraph_height(page.title, 11, bold=True) + paragraph_height(page.plain, 9)
        )
        # The title of the part is not parted from the first of them.
        if sheet.left < needed + (0.0 if place else 0.65):
            yield sheet
            sheet = PaperSheet()
        if not place:
            _section(sheet, "The methods in plain words")
        sheet.space(0.15)
        sheet.text(page.title, 11, bold=True)
        sheet.space(0.03)
        sheet.text(page.plain, 9)
    if sheet.left < 0.25 + paragraph_height(HOLDS_MEANS, 9):
        yield sheet
        sheet = PaperSheet()
    sheet.space(0.25)
    sheet.text(HOLDS_MEANS, 9, colour=QUIET)
    yield sheet


def _findings(workspace: Workspace, contents: Contents) -> Iterator[PaperSheet]:
    findings = contents.findings
    if not findings:
        return
    if contents.scope.full:
        most = MOST_FINDINGS
    else:
        most = MOST_IN_BRIEF
    shown = findings[:most]
    sheet = PaperSheet()
    sheet.text("Findings", 15, bold=True)
    order = "the starred ones first, then the worst"
    sheet.text(f"{counted(findings, shown)}, {order}.", 9, colour=QUIET)
    sheet.space(0.1)
    for listed in shown:
        if sheet.left < _ROW + 0.1:
            yield sheet
            sheet = PaperSheet()
        sheet.rule()
        lead = workspace.finding(listed.lead.id)
        _finding(sheet, lead, listed, contents.telling.get(lead.run_id))
    yield sheet


def _finding(
    sheet: PaperSheet, finding: StoredFinding, group: Group, chapter: Chapter | None
) -> None:
    top = sheet.y
    if finding.picture is not None:
        sheet.picture(finding.picture, 0.0, 2.0, _ROW - 0.15)
    words = 2.2
    sheet.text(("★ " if finding.starred else "") + finding.title, 10, x=words, bold=True, most=2)
    severity = f"severity {severity_in_words(group.severity)} (0 harmless, 1 worst)"
    sheet.text(
        f"{finding.kind}{report_content.alike(group)}, {severity}", 8.5, x=words, colour=QUIET
    )
    if chapter is not None:
        request = chapter.run.request
        one = input_in_words(finding, request)
        where = ". ".join(filter(None, (one, f"{chapter.title}: {origin.subject(request)}")))
        sheet.text(where, 8.5, x=words, colour=QUIET, most=2)
    if finding.note:
        sheet.text(finding.note, 9, x=words, most=2)
    # Below the picture or below the words, whichever ends lower.
    sheet.y = max(top + _ROW, sheet.y + 0.08)


def _failed(chapters: Sequence[Chapter]) -> Iterator[PaperSheet]:
    """One list of the runs without a result, with the reasons."""
    if not chapters:
        return
    sheet = PaperSheet()
    sheet.text("Runs without a result", 15, bold=True)
    sheet.space(0.1)
    for one in chapters:
        if sheet.left < 0.8:
            yield sheet
            sheet = PaperSheet()
        what = f"{one.title}, {origin.subject(one.run.request)} ({one.run.state})"
        sheet.text(what, 10, most=2)
        for sentence in origin.problems(one.run):
            sheet.text(sentence, 9, x=0.2, colour=QUIET, most=2)
        sheet.space(0.08)
    yield sheet
