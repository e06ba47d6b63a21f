"""The methods of an HTML report with their runs: what each says, pictures, settings, origin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from robgui import manual
from robgui.core.experiment.carrying import html_element
from robgui.core.text.words import count
from robgui.core.verdict import Status
from robgui.core.view import Table
from robgui.report import origin, report_content
from robgui.report.page import status_class
from robgui.report.report_content import LOOSE, Chapter, in_words, number_of

if TYPE_CHECKING:
    from robgui.core.dataset.derived import Ancestor, Derived
    from robgui.core.verdict import Verdict
    from robgui.core.workspace import Workspace
    from robgui.report.contents import Contents
    from robgui.report.pictures import Figures

#: In a short report a run shows this many pictures at most, and all its tables.
MOST_PICTURES = 3
#: The first picture of a run comes in light and in dark; the others do while all stay below
#: this many bytes, then in light only, which also takes less time to write.
BOTH_BYTES = 1_500_000
#: Of a longer table this many rows are written, and how many there are is said.
MOST_ROWS = 100


def methods(workspace: Workspace, contents: Contents, figures: Figures) -> Iterator[str]:
    """Every method used: what it is in plain words, the runs told in full, then the others."""
    if contents.scope.full:
        most = 0
    else:
        most = MOST_PICTURES
    light = {}
    first: dict[str, list[str | Table]] = {}
    for one in contents.in_full:
        light[one.run.id] = figures.shown(one, most=most)
        # Right behind the light ones: Figures holds the views of the last run only.
        first[one.run.id] = figures.shown(one, dark=True, most=1)
    size = sum(len(one) for shown in light.values() for one in shown if isinstance(one, str))
    both = 2 * size <= BOTH_BYTES
    told: dict[tuple[Ancestor, ...], str] = {}
    for name, runs in report_content.by_method(contents.told).items():
        title = escape(report_content.method_title(name))
        yield f'<section aria-labelledby="method-{escape(name)}">'
        yield f'<h2 id="method-{escape(name)}">{title}</h2>\n'
        if name != LOOSE:
            yield f'<p class="plain">{escape(manual.page(name).plain)}</p>\n'
        for one in (one for one in runs if one.run.id in light):
            trail = _trails(workspace, one, contents.telling, told)
            if both:
                dark = figures.shown(one, dark=True, most=most)
            else:
                dark = first[one.run.id]
            looks = _looks(one, light[one.run.id], dark, figures.left(one, most))
            yield _run(one, looks, trail, figures.problem(one))
        others = [one for one in runs if one.run.id not in light]
        yield from _others((one, _trails(workspace, one, contents.telling, told)) for one in others)
        yield "</section>\n"


def _others(runs: Iterable[tuple[Chapter, str]]) -> Iterator[str]:
    """The runs told in brief: how many say what, and each without pictures where it unfolds."""
    told = list(runs)
    if not told:
        return
    said = Counter(one.status for one, _ in told)
    statuses = [in_words(status) for status in Status]
    tally = ", ".join(f"{words}: {said[words]:,}" for words in statuses if said[words])
    many = count(len(told), "more run")
    yield f'<details class="others"><summary>{many} ({escape(tally)})</summary>\n'
    for one, trail in told:
        yield _run(one, "", trail, one.problem)
    yield "</details>\n"


def _run(chapter: Chapter, pictures: str, trail: str, problem: str) -> str:
    run = chapter.run
    state = escape(str(run.state))
    if chapter.verdict is None:
        said = ""
    else:
        said = _verdict(chapter.verdict)
    errors = [f'<p class="error">{escape(text)}</p>' for text in origin.problems(run, problem)]
    tables = f"{_table(origin.origin(run))}{_table(origin.settings(run))}"
    return (
        f'<article id="run-{escape(run.id)}">\n'
        f'<h3>{escape(chapter.title)} <span class="state {state}">{state}</span></h3>\n'
        f'<p class="quiet">{escape(origin.subject(run.request))}</p>'
        f"{said}{''.join(errors)}{trail}{pictures}\n"
        f"{html_element(origin.experiment_of_run(run, chapter.verdict).to_text())}\n"
        f"<details><summary>Settings and origin</summary>{tables}</details>\n</article>\n"
    )


def _verdict(verdict: Verdict) -> str:
    """Status, sentence, number, scope, and what the status rests on."""
    kind = status_class(verdict.status)
    status = f'<strong class="status {kind}">{escape(in_words(verdict.status))}</strong>'
    sentence = f'<p class="sentence">{status} {escape(verdict.sentence)}</p>'
    if verdict.number:
        number = f'<p class="number">{escape(number_of(verdict))}</p>'
    else:
        number = ""
    if verdict.scope:
        scope = f'<p class="scope quiet">{escape(verdict.scope)}</p>'
    else:
        scope = ""
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in verdict.because)
    if reasons:
        because = f'<ul class="because">{reasons}</ul>'
    else:
        because = ""
    return f"{sentence}{number}{scope}{because}"


def _looks(
    chapter: Chapter, light: Sequence[str | Table], dark: Sequence[str | Table], left: int
) -> str:
    """The picture that matters most; the others and the tables unfold."""
    words = escape(chapter.verdict.sentence if chapter.verdict else chapter.title)
    # Tables have no dark twin, so only pictures are counted.
    at_night = iter([one for one in dark if isinstance(one, str)])
    made = []
    for shown in light:
        if isinstance(shown, Table):
            made.append(_view_table(shown))
        else:
            made.append(picture(words, shown, next(at_night, "")))
    if len(made) < 2 and not left:
        return "".join(made)
    more = count(len(made) - 1, "more view")
    if left:
        made.append(f'<p class="quiet">{count(left, "more picture")} in the full report.</p>')
    return f"{made[0]}<details><summary>{more}</summary>{''.join(made[1:])}</details>"


def picture(words: str, light: str, dark: str, kind: str = "figure") -> str:
    """A picture with its twin for dark pages; ``words`` are escaped already."""
    media = 'media="(prefers-color-scheme: dark)"'
    if dark:
        source = f'<source {media} srcset="{dark}">'
    else:
        source = ""
    image = f'<img class="{kind}" alt="{words}" src="{light}">'
    return f"<picture>{source}{image}</picture>"


def _view_table(view: Table) -> str:
    """A table as HTML, which can be read aloud and copied."""
    shown = min(view.height, MOST_ROWS)
    kinds = ["words" if column.kind in ("text", "status") else "figures" for column in view.columns]
    pairs = list(zip(kinds, view.columns, strict=True))
    head = "".join(f'<th class="{kind}">{escape(column.title)}' for kind, column in pairs)
    rows = []
    for place in range(shown):
        cells = [(kind, column.words(column.cells[place])) for kind, column in pairs]
        told = "".join(f'<td class="{kind}">{escape(words)}' for kind, words in cells)
        rows.append(f"<tr>{told}</tr>")
    if shown < view.height:
        left = f" {shown} of {view.height:,} rows are shown."
    else:
        left = ""
    if view.note or left:
        note = f'<p class="quiet">{escape((view.note + left).strip())}</p>'
    else:
        note = ""
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    if view.title:
        title = f"<caption>{escape(view.title)}</caption>"
    else:
        title = ""
    return f'<div class="wide"><table class="view">{title}{body}</table></div>{note}'


def _trails(
    workspace: Workspace,
    chapter: Chapter,
    telling: Mapping[str, Chapter],
    told: dict[tuple[Ancestor, ...], str],
) -> str:
    """How the derived inputs of a run came about, told once; later runs lead there."""
    lines = []
    for trail, items in origin.trails(workspace, chapter.run.request).items():
        if trail in told:
            link = f'<a href="#run-{escape(told[trail])}">told above</a>'
            words = f"{escape(origin.called(items))} ({link})"
        else:
            told[trail] = chapter.run.id
            words = _trail(trail, items, telling)
        start = '<span class="quiet">Where its input comes from:</span>'
        lines.append(f'<p class="trail">{start} {words}</p>')
    return "".join(lines)


def _trail(
    trail: Sequence[Ancestor],
    items: Sequence[Derived],
    telling: Mapping[str, Chapter],
) -> str:
    """From the root to the inputs themselves, each run a link."""
    steps = []
    for ancestor in trail:
        made = telling.get(ancestor.run)
        words = escape(ancestor.title)
        steps.append(words if made is None else f'<a href="#run-{escape(made.run.id)}">{words}</a>')
    return " → ".join([*steps, f"<strong>{escape(origin.called(items))}</strong>"])


def _table(rows: Mapping[str, str]) -> str:
    pairs = rows.items()
    lines = [f"<tr><th>{escape(name)}<td>{escape(value)}</tr>" for name, value in pairs]
    return f'<table class="facts"><tbody>{"".join(lines)}</tbody></table>'
