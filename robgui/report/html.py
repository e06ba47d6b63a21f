"""A workspace as one HTML file: no network, readable on a phone, light and dark.

Everything from outside (names, paths, notes, errors, settings) passes ``html.escape``; a content
security policy forbids scripts and every address except ``data:``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from robgui.core.errors import WorkspaceError
from robgui.core.experiment.carrying import GENERATOR
from robgui.core.files import write_whole
from robgui.core.finding_groups import counted, input_in_words
from robgui.core.text.words import count
from robgui.core.text.words import severity as severity_in_words
from robgui.report import origin, report_content
from robgui.report.bottom_line import BottomLine, Cell, hero_pair
from robgui.report.contents import WHOLE, Contents, Scope, contents_of
from robgui.report.evidence.html import evidence
from robgui.report.html_runs import methods, picture
from robgui.report.own import Own, read_own
from robgui.report.page import status_class, style
from robgui.report.pictures import Figures, thumbnail_address
from robgui.report.report_content import NOTHING_YET, Chapter, in_words, number_of
from robgui.report.verify.seal import NO_SEAL, sealed
from robgui.version import __version__

if TYPE_CHECKING:
    import numpy as np

    from robgui.core.finding import StoredFinding
    from robgui.core.finding_groups import Group
    from robgui.core.verdict import Status
    from robgui.core.workspace import Workspace

#: A report is for reading: it shows the starred and the worst findings and says how many there are.
MOST_FINDINGS = 60
#: This many of them are open at once; the others unfold.
_OPEN_FINDINGS = 8
#: Pixels of a finding's picture: the 9rem that the style sheet gives it.
_THUMBNAIL = 144
#: Pixels of the pair on top, and of the user's logo.
_HERO, _LOGO = 448, 96


def write_html(
    workspace: Workspace,
    path: str | Path,
    figures: Figures | None = None,
    scope: Scope = WHOLE,
) -> Path:
    """Writes the runs and findings of ``workspace`` into one HTML file; returns its path.

    Args:
        workspace: What to write.
        path: Where.
        figures: Those already drawn for another report of the same workspace.
        scope: Of which models, and whether every run is told in full.
    """
    target = Path(path)
    told = contents_of(workspace, scope)
    page = sealed("".join(_page(workspace, told, figures or Figures(workspace))))
    try:
        write_whole(target, page.encode())
    except OSError as error:
        why = f"cannot be written to {target} ({error.strerror})"
        raise WorkspaceError(f"The report {why}; choose another place.") from error
    return target


def _page(workspace: Workspace, contents: Contents, figures: Figures) -> Iterator[str]:
    name = escape(workspace.path.stem)
    if contents.chapters:
        heading, words = escape(contents.heading), contents.overview
    else:
        heading, words = name, NOTHING_YET
    yield _head(f"{heading} ({name})")
    own = read_own(workspace)
    title = escape(own.title) or heading
    yield f'<header>{_logo(own)}<p class="quiet">Robustness report, workspace {name}</p>'
    yield f"<h1>{title}</h1><p>{escape(words)}</p>"
    yield "".join(f"<p>{escape(part)}</p>" for part in own.paragraphs) + "</header>\n"
    if line := contents.line:
        pair = hero_pair(workspace, line, contents.findings)
        yield _bottom_line(line, contents.in_full, figures, pair)
    if contents.chapters:
        yield _links(contents)
    if contents.told:
        yield from _summary(contents)
    yield from _findings(workspace, contents)
    yield from methods(workspace, contents, figures)
    yield from _failed(contents.failed)
    if contents.told:
        yield from evidence(contents)
    written = f"Written {origin.moment(time.time())} by robgui {escape(__version__)}."
    yield f'<footer class="quiet">{written}</footer>\n</main>\n</body>\n</html>\n'


def _head(title: str) -> str:
    # The style stands in the file, hence 'unsafe-inline' for styles; scripts have no exception.
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="generator" content="{GENERATOR}">\n{NO_SEAL}\n'
        f"<title>{title}</title>\n<style>{style()}</style>\n</head>\n<body>\n<main>\n"
    )


def _logo(own: Own) -> str:
    pixels = own.pixels()
    if pixels is None:
        return ""
    return f'<img class="logo" alt="Logo" src="{thumbnail_address(pixels, _LOGO)}">'


def _bottom_line(
    line: BottomLine, chapters: Sequence[Chapter], figures: Figures, pair: np.ndarray | None
) -> str:
    """The overall status with its reason, how many runs say what, and the picture that shows it."""
    because = line.because
    link = f'<a href="#run-{escape(because.run.id)}">{escape(because.title)}</a>'
    where = f'<p class="quiet">{link}: {escape(origin.subject(because.run.request))}</p>'
    says = f'<p class="sentence">{escape(line.sentence)}</p>{where}<p>{escape(line.tally)}</p>'
    kind = status_class(line.status)
    return (
        f'<section class="bottom-line {kind}" aria-label="Bottom line">'
        f'<strong class="status {kind}">{escape(in_words(line.status))}</strong>{says}</section>\n'
        f"{_hero(line, chapters, figures, pair)}"
    )


def _hero(
    line: BottomLine, chapters: Sequence[Chapter], figures: Figures, pair: np.ndarray | None
) -> str:
    """The failure before and after, else a picture of the run that decides, or one like it."""
    if pair is not None:
        address, words = thumbnail_address(pair, _HERO), escape(line.sentence)
        return f'<img class="figure hero pair" alt="{words}" src="{address}">\n'
    same = [one for one in chapters if one.verdict and one.verdict.status is line.status]
    for one in (line.because, *same):
        light, dark = (
            [shown for shown in figures.shown(one, dark=dark, most=1) if isinstance(shown, str)]
            for dark in (False, True)
        )
        if light:
            if one.verdict:
                words = one.verdict.sentence
            else:
                words = one.title
            return f"{picture(escape(words), light[0], dark[0], 'figure hero')}\n"
    return ""


def _links(contents: Contents) -> str:
    """What there is, each a link."""
    used = report_content.by_method(contents.told)
    titles = [(f"method-{name}", report_content.method_title(name)) for name in used]
    links = [
        ("summary", "Summary", contents.told),
        ("findings", "Findings", contents.findings),
        *((anchor, title, contents.told) for anchor, title in titles),
        ("failed", "Runs without a result", contents.failed),
        ("evidence", "Evidence", contents.told),
    ]
    items = [f'<li><a href="#{to}">{escape(title)}</a></li>' for to, title, many in links if many]
    return f'<nav aria-label="Contents"><ul>{"".join(items)}</ul></nav>\n'


def _summary(contents: Contents) -> Iterator[str]:
    """Model by method: what speaks for it, and how many runs say what."""
    used = report_content.by_method(contents.told)
    titles = [report_content.method_title(name) for name in used]
    yield '<section aria-labelledby="summary"><h2 id="summary">Summary</h2>\n'
    yield '<table class="summary"><thead><tr><th scope="col">Model'
    yield "".join(f'<th scope="col">{escape(title)}' for title in titles)
    yield "</tr></thead><tbody>\n"
    for model, cells in contents.table.items():
        row = "".join(_cell(title, cell) for title, cell in zip(titles, cells, strict=True))
        yield f'<tr><th scope="row">{_breakable(model)}{row}</tr>\n'
    yield "</tbody></table>\n"
    yield '<p class="quiet">Each cell: what the leading analysis of this method says, or another '
    yield "one that saw a graver failure, then how many of its runs with this model say what. A "
    yield "run that was stopped, a first look, or one on a chosen part of the inputs does not "
    yield "answer where a whole run does. “Holds” is about this method, these inputs and "
    yield "these settings; it does not mean that there is no failure.</p></section>\n"


def _cell(title: str, cell: Cell) -> str:
    told = cell.told
    if told is None:
        return '<td class="none quiet">not run'
    words = number_of(told.verdict) or told.verdict.sentence
    link = f'<a href="#run-{escape(told.chapter.run.id)}">{escape(words)}</a>'
    many = ""
    if len(cell.judged) > 1:
        counts = ", ".join(f"{status.sign}\N{NO-BREAK SPACE}{runs}" for status, runs in cell.counts)
        many = f'<br><span class="quiet">{count(len(cell.judged), "run")}: {counts}</span>'
    status = _status(told.verdict.status)
    return f'<td data-label="{escape(title)}">{status}<br>{link}{many}'


def _status(status: Status) -> str:
    return f'<strong class="status {status_class(status)}">{escape(in_words(status))}</strong>'


def _breakable(name: str) -> str:
    """A file name that may be broken where a person would break it."""
    return escape(name).replace("_", "_<wbr>").replace(".", "<wbr>.")


def _findings(workspace: Workspace, contents: Contents) -> Iterator[str]:
    findings, telling = contents.findings, contents.telling
    if not findings:
        return
    shown = findings[:MOST_FINDINGS]
    rows = [
        _finding(workspace.finding(one.lead.id), one, telling.get(one.lead.run_id)) for one in shown
    ]
    yield '<section aria-labelledby="findings"><h2 id="findings">Findings</h2>\n'
    stars = sum(group.lead.starred for group in findings)
    if stars:
        first = f"the {stars} starred, then "
    else:
        first = ""
    yield f"<p>{counted(findings, shown)}: {first}the worst first.</p>\n"
    yield _finding_table(rows[:_OPEN_FINDINGS])
    if more := rows[_OPEN_FINDINGS:]:
        yield f"<details><summary>{len(more)} more</summary>{_finding_table(more)}</details>\n"
    yield "</section>\n"


def _finding_table(rows: Sequence[str]) -> str:
    head = "<thead><tr><th>Picture<th>Finding<th>Severity<th>Run</tr></thead>"
    return f'<table class="findings">{head}<tbody>\n{"".join(rows)}</tbody></table>\n'


def _finding(finding: StoredFinding, group: Group, chapter: Chapter | None) -> str:
    picture = run = ""
    if finding.picture is not None:
        address = thumbnail_address(finding.picture, _THUMBNAIL)
        picture = f'<img class="thumb" alt="{escape(finding.title)}" src="{address}">'
    if chapter is not None:
        where = escape(_where(finding, chapter))
        link = f'<a href="#run-{escape(chapter.run.id)}">{escape(chapter.title)}</a>'
        run = f'{link}<p class="quiet">{where}</p>'
    if finding.starred:
        star = '<span title="starred">★</span> '
    else:
        star = ""
    if finding.note:
        note = f'<p class="note">{escape(finding.note)}</p>'
    else:
        note = ""
    # The same limits as those of the bars in the window.
    ends = 'min="0" low="0.34" high="0.67" max="1" optimum="0"'
    bar = f'<meter {ends} value="{group.severity:.3f}"></meter> {severity_in_words(group.severity)}'
    kind = escape(f"{finding.kind}{report_content.alike(group)}")
    words = f'{star}{escape(finding.title)}<p class="quiet">{kind}</p>{note}'
    return f"<tr><td>{picture}<td>{words}<td>{bar}<td>{run}</tr>\n"


def _where(finding: StoredFinding, chapter: Chapter) -> str:
    """On which input, by its file where that is known, and of which run."""
    request = chapter.run.request
    one = input_in_words(finding, request)
    return ". ".join(filter(None, (one, origin.subject(request))))


def _failed(chapters: Sequence[Chapter]) -> Iterator[str]:
    """The runs without a result in one list, with why."""
    if not chapters:
        return
    yield '<section aria-labelledby="failed"><h2 id="failed">Runs without a result</h2>\n'
    yield '<ul class="failed">\n'
    for one in chapters:
        run = one.run
        what = f"{escape(one.title)}, {escape(origin.subject(run.request))}"
        said = " ".join(origin.problems(run))
        if said:
            why = f': <span class="error">{escape(said)}</span>'
        else:
            why = ""
        state = f'<span class="quiet">({escape(run.state)})</span>'
        yield f'<li id="run-{escape(run.id)}">{what} {state}{why}</li>\n'
    yield "</ul></section>\n"
