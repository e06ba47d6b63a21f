"""A post-mortem as one HTML file: the finding, the paragraph, and the pictures that it leads to."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from robgui.core.errors import WorkspaceError
from robgui.core.files import write_whole
from robgui.report.origin import subject
from robgui.report.page import style
from robgui.report.pictures import Figures, drawing_address, thumbnail_address
from robgui.report.postmortem.facts import Facts
from robgui.report.postmortem.words import Sentence, paragraph
from robgui.report.report_content import chapter, title
from robgui.version import __version__

if TYPE_CHECKING:
    from robgui.core.workspace import Workspace

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def write_page(workspace: Workspace, facts: Facts, path: Path) -> Path:
    """Writes the page; every sentence links to its picture on it."""
    told = paragraph(facts)
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>Post-mortem: {escape(facts.finding.title)}</title>\n"
        f"<style>{style()}</style>\n</head>\n<body>\n<main>\n"
    )
    body = [f"<h1>{escape(facts.finding.title)}</h1>\n", _thumbnail(facts), "<p>"]
    body += [f'<a href="#{_anchor(one)}">{escape(one.text)}</a> ' for one in told]
    body += ["</p>\n", *_pictures(workspace, told)]
    foot = f'<footer class="quiet">robgui {escape(__version__)}</footer></main></body></html>\n'
    try:
        write_whole(path, "".join([head, *body, foot]).encode())
    except OSError as error:
        raise WorkspaceError(
            f"The post-mortem cannot be written to {path} ({error.strerror}); choose another place."
        ) from error
    return path


def _anchor(sentence: Sentence) -> str:
    if sentence.run:
        return f"run-{escape(sentence.run)}"
    return "rank"


def _thumbnail(facts: Facts) -> str:
    if facts.finding.picture is None:
        return ""
    address = thumbnail_address(facts.finding.picture, 192)
    return f'<img class="thumb" alt="{escape(facts.finding.title)}" src="{address}">\n'


def _pictures(workspace: Workspace, told: list[Sentence]) -> list[str]:
    """Each picture once, in the order in which the paragraph leads to it."""
    figures = Figures(workspace)
    made: dict[str, str] = {}
    for one in told:
        anchor = _anchor(one)
        if anchor in made:
            continue
        if one.run:
            made[anchor] = _of_run(workspace, one.run, figures)
        elif one.view is not None:
            image = f'<img class="figure" alt="{escape(one.text)}"'
            picture = f'{image} src="{drawing_address(one.view)}">'
            made[anchor] = (
                f'<article id="rank"><h3>{escape(one.view.title)}</h3>{picture}</article>'
            )
    return list(made.values())


def _of_run(workspace: Workspace, number: str, figures: Figures) -> str:
    run = workspace.run(number)
    one = chapter(workspace, run)
    if one.verdict is None:
        said = ""
    else:
        said = f"<p>{escape(one.verdict.line)}</p>"
    pictures = [shown for shown in figures.shown(one) if isinstance(shown, str)][:1]
    if pictures:
        image = f'<img class="figure" alt="{escape(title(run))}" src="{pictures[0]}">'
    else:
        image = ""
    where = f'<p class="quiet">{escape(subject(run.request))}</p>'
    if figures.problem(one):
        problem = f'<p class="error">{escape(figures.problem(one))}</p>'
    else:
        problem = ""
    heading = f"<h3>{escape(title(run))}</h3>"
    return f'<article id="run-{escape(number)}">{heading}{where}{said}{image}{problem}</article>\n'
