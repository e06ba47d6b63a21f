"""A workspace as one HTML file: no network, readable on a phone, light and dark.

Everything that comes from outside (names, paths, notes, errors, settings) passes ``html.escape``; a content
security policy forbids scripts and every address but ``data:``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from robgui import __version__, manual
from robgui.core.errors import WorkspaceError
from robgui.core.execution.request import subject
from robgui.report import facts
from robgui.report.page import STYLE
from robgui.report.pictures import Figures, thumbnail_address

if TYPE_CHECKING:
    from robgui.core.dataset.derived import Derived
    from robgui.core.finding import StoredFinding
    from robgui.core.workspace import Workspace
    from robgui.report.facts import Cell, Chapter

#: A report is for reading: the starred and the worst so many findings are shown, and how many there are is said.
MOST_FINDINGS = 60
NOTHING_YET = "This workspace holds no run yet: open a model and inputs, choose an analysis and press Run."
#: So many of them are open at once; the others unfold.
_OPEN_FINDINGS = 8
_THUMBNAIL = 144
#: Figures come in light and in dark while both together stay below so many bytes; then in light only, which also
#: takes half the time to write.
_BOTH_BYTES = 1_500_000


def write_html(workspace: Workspace, path: str | Path, figures: Figures | None = None) -> Path:
    """Writes every run and finding of ``workspace`` into one HTML file; returns its path.

    Args:
        workspace: What to write.
        path: Where.
        figures: Those already drawn for another report of the same workspace.
    """
    target = Path(path)
    page = "".join(_page(workspace, figures or Figures(workspace)))
    try:
        target.write_text(page, encoding="utf-8")
    except OSError as error:
        raise WorkspaceError(f"The report cannot be written to {target} ({error.strerror}); choose another place.") from error
    return target


def _page(workspace: Workspace, figures: Figures) -> Iterator[str]:
    runs = workspace.runs()
    chapters, telling = facts.told_once([facts.chapter(workspace, run) for run in runs])
    findings = facts.distinct(workspace.findings(), telling)
    name = escape(workspace.path.stem)
    heading = escape(facts.heading(chapters)) if chapters else name
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n"
    yield f"<title>{heading} ({name})</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
    words = facts.overview(chapters, len(runs) - len(chapters), len(findings)) if chapters else NOTHING_YET
    yield f'<header><p class="quiet">Robustness report, workspace {name}</p><h1>{heading}</h1><p>{escape(words)}</p></header>\n'
    if chapters:
        yield _contents(chapters, findings)
        yield from _summary(chapters)
    yield from _findings(workspace, telling, findings)
    yield from _methods(workspace, chapters, telling, figures)
    yield f'<footer class="quiet">Written {facts.moment(time.time())} by robgui {escape(__version__)}.</footer>\n'
    yield "</main>\n</body>\n</html>\n"


def _contents(chapters: Sequence[Chapter], findings: Sequence[StoredFinding]) -> str:
    links = [("summary", "Summary"), *([("findings", "Findings")] if findings else [])]
    links += [(f"method-{name}", manual.page(name).title) for name in facts.methods([one.run for one in chapters])]
    listed = "".join(f'<li><a href="#{anchor}">{escape(title)}</a></li>' for anchor, title in links)
    return f'<nav aria-label="Contents"><ul>{listed}</ul></nav>\n'


# --- summary -------------------------------------------------------------------------------------------------


def _summary(chapters: Sequence[Chapter]) -> Iterator[str]:
    """Model by method: what the newest run comes down to, and how many runs passed and failed."""
    table = facts.summary(chapters)
    methods = [manual.page(name).title for name in facts.methods([one.run for one in chapters])]
    yield f'<section aria-labelledby="summary"><h2 id="summary">Summary</h2>\n<p>{escape(facts.tally(chapters))}</p>\n'
    yield '<table class="summary"><thead><tr><th scope="col">Model'
    yield "".join(f'<th scope="col">{escape(title)}' for title in methods) + "</tr></thead><tbody>\n"
    for model, cells in table.items():
        row = "".join(_cell(title, cell) for title, cell in zip(methods, cells, strict=True))
        yield f'<tr><th scope="row">{_breakable(model)}{row}</tr>\n'
    yield "</tbody></table>\n"
    yield '<p class="quiet">Each cell: the newest result, then how many runs of this method with this model ended how. '
    yield "“Nothing alarming found” is about this method and these settings; it does not mean that there is no failure.</p></section>\n"


def _cell(title: str, cell: Cell) -> str:
    if not cell.chapters:
        return '<td class="none quiet">not run'
    newest = cell.newest
    runs = facts.count(len(cell.chapters), "run")
    if newest is None or newest.headline is None:
        words = f'<a href="#run-{escape(cell.chapters[0].run.id)}">{runs}</a>'
    else:
        counts = ", ".join(f"{facts.SIGNS[status]}\N{NO-BREAK SPACE}{count}" for status, count in cell.counts)
        many = f'<br><span class="quiet">{runs}: {counts}</span>' if len(cell.chapters) > 1 else ""
        link = f'<a href="#run-{escape(newest.run.id)}">{escape(newest.headline.title)}: {escape(newest.headline.text)}</a>'
        words = f"{_status(newest)}<br>{link}{many}"
    return f'<td data-label="{escape(title)}">{words}'


def _breakable(name: str) -> str:
    """A file name that may be broken where a person would break it."""
    return escape(name).replace("_", "_<wbr>").replace(".", "<wbr>.")


def _status(chapter: Chapter) -> str:
    if chapter.headline is None:
        return ""
    return f'<strong class="status {chapter.headline.status}">{escape(chapter.status)}</strong>'


# --- findings ------------------------------------------------------------------------------------------------


def _findings(workspace: Workspace, telling: Mapping[str, Chapter], findings: Sequence[StoredFinding]) -> Iterator[str]:
    if not findings:
        return
    shown = findings[:MOST_FINDINGS]
    rows = [_finding(workspace.finding(listed.id), telling.get(listed.run_id)) for listed in shown]
    yield '<section aria-labelledby="findings"><h2 id="findings">Findings</h2>\n'
    stars = sum(finding.starred for finding in findings)
    first = f"the {stars} starred, then " if stars else ""
    yield f"<p>{len(shown):,} of {facts.count(len(findings), 'finding')}: {first}the worst first.</p>\n"
    yield _finding_table(rows[:_OPEN_FINDINGS])
    if rows[_OPEN_FINDINGS:]:
        yield f"<details><summary>{len(rows) - _OPEN_FINDINGS} more</summary>{_finding_table(rows[_OPEN_FINDINGS:])}</details>\n"
    yield "</section>\n"


def _finding_table(rows: Sequence[str]) -> str:
    head = "<thead><tr><th>Picture<th>Finding<th>Severity<th>Run</tr></thead>"
    return f'<table class="findings">{head}<tbody>\n{"".join(rows)}</tbody></table>\n'


def _finding(finding: StoredFinding, chapter: Chapter | None) -> str:
    picture = ""
    if finding.picture is not None:
        picture = f'<img class="thumb" alt="{escape(finding.title)}" src="{thumbnail_address(finding.picture, _THUMBNAIL)}">'
    star = '<span title="starred">★</span> ' if finding.starred else ""
    note = f'<p class="note">{escape(finding.note)}</p>' if finding.note else ""
    link = "" if chapter is None else f'<a href="#run-{escape(chapter.run.id)}">{escape(chapter.title)}</a>'
    where = "" if chapter is None else f'<p class="quiet">{escape(subject(chapter.run.request))}</p>'
    bar = f'<meter min="0" low="0.34" high="0.67" max="1" optimum="0" value="{finding.severity:.3f}"></meter> {finding.severity:.2f}'
    words = f'{star}{escape(finding.title)}<p class="quiet">{escape(finding.kind)}</p>{note}'
    return f"<tr><td>{picture}<td>{words}<td>{bar}<td>{link}{where}</tr>\n"


# --- methods and their runs ----------------------------------------------------------------------------------


def _methods(workspace: Workspace, chapters: Sequence[Chapter], telling: Mapping[str, Chapter], figures: Figures) -> Iterator[str]:
    """Every method used: what it is in plain words, then its runs."""
    pictures = _pictures(chapters, figures)
    for name, runs in facts.methods([one.run for one in chapters]).items():
        page = manual.page(name)
        yield f'<section aria-labelledby="method-{name}"><h2 id="method-{name}">{escape(page.title)}</h2>\n'
        yield f'<p class="plain">{escape(page.plain)}</p>\n'
        for run in runs:
            trail = "".join(_trail(item, telling) for item in facts.trails(workspace, run.request))
            yield _run(telling[run.id], pictures.get(run.id, ""), trail)
        yield "</section>\n"


def _run(chapter: Chapter, picture: str, trail: str) -> str:
    run, headline = chapter.run, chapter.headline
    state = escape(str(run.state))
    number = "" if headline is None else f'<p class="headline">{_status(chapter)} {escape(headline.title)}: {escape(headline.text)}</p>'
    verdict = f'<p class="verdict">{escape(run.verdict)}</p>' if run.verdict else ""
    error = "".join(f'<p class="error">{escape(text)}</p>' for text in (run.error, chapter.problem) if text)
    nothing = "" if run.has_result else '<p class="quiet">This run has no result.</p>'
    return (
        f'<article id="run-{escape(run.id)}">\n<h3>{escape(chapter.title)} <span class="state {state}">{state}</span></h3>\n'
        f'<p class="quiet">{escape(subject(run.request))}</p>{number}{verdict}{error}{trail}{picture}{nothing}\n'
        f"<details><summary>Settings and origin</summary>{_table(facts.origin(run))}{_table(facts.settings(run))}</details>\n</article>\n"
    )


def _trail(item: Derived, telling: Mapping[str, Chapter]) -> str:
    """How a derived input came about, from the root to itself."""
    links = [
        f'<a href="#run-{escape(telling[ancestor.run].run.id)}">{escape(ancestor.title)}</a>'
        if ancestor.run in telling
        else escape(ancestor.title)
        for ancestor in item.trail
    ]
    steps = " → ".join([*links, f"<strong>{escape(item.name)}</strong>"])
    return f'<p class="trail"><span class="quiet">Where its input comes from:</span> {steps}</p>'


def _pictures(chapters: Sequence[Chapter], figures: Figures) -> dict[str, str]:
    """The figure of every run, by its id; in dark too where that does not make the file too large."""
    light = {one.run.id: address for one in chapters if (address := figures.address(one))}
    both = 2 * sum(map(len, light.values())) <= _BOTH_BYTES
    pictures = {}
    for one in chapters:
        if one.run.id in light:
            image = f'<img class="figure" alt="{escape(one.run.verdict or one.title)}" src="{light[one.run.id]}">'
            dark = f'<source media="(prefers-color-scheme: dark)" srcset="{figures.address(one, dark=True)}">' if both else ""
            pictures[one.run.id] = f"<picture>{dark}{image}</picture>"
    return pictures


def _table(rows: Mapping[str, str]) -> str:
    lines = "".join(f"<tr><th>{escape(name)}<td>{escape(value)}</tr>" for name, value in rows.items())
    return f'<table class="facts"><tbody>{lines}</tbody></table>'
