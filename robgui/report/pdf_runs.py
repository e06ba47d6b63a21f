"""The pages of one run in a PDF report: what it says, its pictures, settings and origin."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from robgui.core.text.words import count
from robgui.report import origin
from robgui.report.lettering import line_height, wrap
from robgui.report.paper import PaperPicture, packed
from robgui.report.report_content import Chapter, in_words, number_of
from robgui.report.sheet import QUIET, TEXT_WIDTH, PaperSheet, status_colour, table_height

if TYPE_CHECKING:
    from robgui.core.verdict import Verdict
    from robgui.core.workspace import Workspace
    from robgui.report.pictures import Figures

#: The first picture is at most this high (inches); less than this, and it begins another page.
_HIGH, _LOW = 5.4, 3.2
#: A picture that is not the first one is at most this high.
_MORE_HIGH = 4.4
#: In a short report a run shows this many pictures at most, none of them lower than this.
MOST_PICTURES, _SMALLEST = 2, 2.4
#: Points of the small print there, and lines that a part of it takes at most.
_SMALL, _MOST_LINES = 7, 12
#: Width of each of two tables side by side.
_HALF = TEXT_WIDTH / 2 - 0.1


def run_sheets(
    workspace: Workspace, chapter: Chapter, figures: Figures, *, every: bool
) -> Iterator[PaperSheet]:
    """Title, what the run says, its pictures, settings and origin.

    Args:
        workspace: Where the run is kept.
        chapter: The run.
        figures: Draws the pictures.
        every: Whether all pictures are shown; else those that matter most, on one page.
    """
    run = chapter.run
    sheet = PaperSheet()
    sheet.text(chapter.title, 15, bold=True)
    sheet.text(f"{origin.subject(run.request)} ({run.state})", 9, colour=QUIET, most=2)
    sheet.space(0.08)
    if chapter.verdict is not None:
        _verdict(sheet, chapter.verdict)
    for text in origin.problems(run, figures.problem(chapter)):
        if text:
            sheet.text(text, 10)
    # A run over many sent inputs may have a trail for each; the HTML report tells all.
    for trail, items in list(origin.trails(workspace, run.request).items())[:3]:
        steps = [*(ancestor.title for ancestor in trail), origin.called(items)]
        words = f"Where its input comes from: {' → '.join(steps)}"
        sheet.text(words, 9, colour=QUIET, most=3)
    sheet.space(0.1)
    if every:
        # The generator returns the last page, on which there may be room.
        sheet = yield from _all_pictures(sheet, chapter, figures)
        yield from _small_print(sheet, chapter)
    else:
        lines = _small_lines(chapter, figures.left(chapter, MOST_PICTURES))
        _first_pictures(sheet, chapter, figures, _lines_height(lines))
        sheet.rule()
        for line in lines:
            sheet.text(line, _SMALL, colour=QUIET, most=_MOST_LINES)
        yield sheet


def _all_pictures(
    sheet: PaperSheet, chapter: Chapter, figures: Figures
) -> Generator[PaperSheet, None, PaperSheet]:
    """Sets every picture, on further pages where they need them; returns the last page."""
    most = _HIGH
    for picture in map(packed, figures.files(chapter)):
        high = _height(picture, most)
        if sheet.left < min(high, _LOW):
            yield sheet
            sheet = PaperSheet()
        _, used = sheet.picture(picture, 0.0, TEXT_WIDTH, min(high, sheet.left))
        sheet.space(used + 0.15)
        most = _MORE_HIGH
    return sheet


def _first_pictures(sheet: PaperSheet, chapter: Chapter, figures: Figures, below: float) -> None:
    """Sets the first pictures that have room on the page, with ``below`` inches left below."""
    most = _HIGH
    for picture in map(packed, figures.files(chapter, MOST_PICTURES)):
        room = sheet.left - below
        if room < _SMALLEST:
            return
        # Smaller rather than on another page: a short report has one page for each run.
        _, used = sheet.picture(picture, 0.0, TEXT_WIDTH, min(_height(picture, most), room))
        sheet.space(used + 0.15)
        most = _MORE_HIGH


def _small_lines(chapter: Chapter, left: int) -> list[str]:
    """Origin and settings of a run as running text, and how many pictures are not shown."""
    parts = (("Origin", origin.origin(chapter.run)), ("Settings", origin.settings(chapter.run)))
    lines = [
        f"{title}: {'; '.join(f'{name} {value}' for name, value in rows.items() if value)}."
        for title, rows in parts
        if rows
    ]
    if left:
        lines.append(f"{count(left, 'more picture')} in the full report.")
    return lines


def _lines_height(lines: Sequence[str]) -> float:
    """How many inches lines of small print take, with the rule above them."""
    many = [len(wrap(line, _SMALL, TEXT_WIDTH, most=_MOST_LINES)) for line in lines]
    return 0.2 + sum(many) * line_height(_SMALL)


def _verdict(sheet: PaperSheet, verdict: Verdict) -> None:
    """Status, sentence, number, scope, and what the status rests on."""
    colour = status_colour(verdict.status)
    sheet.text(in_words(verdict.status), 11, bold=True, colour=colour)
    sheet.text(verdict.sentence, 11)
    if verdict.number is not None:
        sheet.space(0.04)
        sheet.text(number_of(verdict), 10, bold=True)
    if verdict.scope:
        sheet.text(verdict.scope, 9, colour=QUIET)
    for reason in verdict.because:
        sheet.text(f"• {reason}", 9, x=0.1)
    sheet.space(0.04)


def _height(picture: PaperPicture, most: float) -> float:
    """How high a picture as wide as the text is."""
    return min(most, TEXT_WIDTH * picture.height / picture.width)


def _small_print(sheet: PaperSheet, chapter: Chapter) -> Iterator[PaperSheet]:
    """Origin left, settings right; on a page of its own where the pictures leave no room."""
    tables = (origin.origin(chapter.run), origin.settings(chapter.run))
    if sheet.left < 0.2 + max(table_height(rows, _HALF) for rows in tables):
        yield sheet
        sheet = PaperSheet()
        sheet.text(f"{chapter.title}: settings and origin", 12, bold=True)
        sheet.space(0.1)
    sheet.rule()
    top = sheet.y
    sheet.table(tables[0], width=_HALF)
    sheet.y = top
    sheet.table(tables[1], x=_HALF + 0.2, width=_HALF)
    yield sheet
