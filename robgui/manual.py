"""The manual: a first page and one per method, used by F1, the report and the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from robgui import resources
from robgui.core.errors import RobguiError
from robgui.core.execution.method import methods
from robgui.core.execution.params.text import format_value
from robgui.core.execution.registry import method_of

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis

#: Name of the first page, which belongs to no method.
START = "start"


@dataclass(frozen=True)
class ManualPage:
    """One page.

    Attributes:
        name: Name of its method; ``start`` for the first page.
        title: Its heading.
        text: The whole page as Markdown.
        sections: Heading -> text of each section.
    """

    name: str
    title: str
    text: str
    sections: dict[str, str]

    @property
    def plain(self) -> str:
        """The method in plain words, one paragraph."""
        return self.sections.get("In plain words", "").strip()


@dataclass(frozen=True)
class Hit:
    """A place in the manual that matches a search."""

    page: str
    section: str
    text: str


def page(name: str) -> ManualPage:
    """The page of the method called ``name``, or the first page."""
    if name == START:
        return read_page(START, resources.path("help", "start.md"), "robgui")
    for method in methods():
        if method.name == name:
            return read_page(name, method.help_path, method.title)
    raise RobguiError(f"The manual has no page {name!r}; no method of this name is installed.")


def pages() -> list[ManualPage]:
    """Every page, in the order of the rail."""
    return [page(START), *(page(method.name) for method in methods())]


def page_of(analysis: str) -> ManualPage:
    """The page of the method that an analysis belongs to; the first one for an unknown analysis."""
    method = method_of(analysis)
    return page(START if method is None else method.name)


def search(words: str) -> list[Hit]:
    """The sections that contain all words; those with a word in the heading come first."""
    wanted = words.casefold().split()
    hits = [
        Hit(one.name, heading, _around(body, wanted))
        for one in pages()
        for heading, body in one.sections.items()
        if wanted and all(word in f"{one.title} {heading} {body}".casefold() for word in wanted)
    ]
    return sorted(hits, key=lambda hit: not any(word in hit.section.casefold() for word in wanted))


def settings(analyses: Iterable[Analysis]) -> str:
    """What each setting of these analyses does, as Markdown made from the settings themselves."""
    parts = ["## Settings"]
    for analysis in analyses:
        parts.append(f"### {analysis.title}")
        for name, field in analysis.params.model_fields.items():
            usual = format_value(field.get_default(call_default_factory=True))
            parts.append(
                f"- **{field.title or name}** (`{name}`, by default {usual or 'empty'}):"
                f" {field.description or ''}"
            )
    return (
        "\n\n".join(parts[:1])
        + "\n\n"
        + "\n".join(f"\n{part}\n" if part.startswith("#") else part for part in parts[1:])
    )


@cache
def read_page(name: str, path: Path, title: str) -> ManualPage:
    """Parses a page of Markdown; ``title`` names one without a heading."""
    text = path.read_text(encoding="utf-8")
    head, *rest = re.split(r"^## +", text, flags=re.MULTILINE)
    sections = {part.partition("\n")[0].strip(): part.partition("\n")[2].strip() for part in rest}
    first = head.strip().partition("\n")[0]
    if first.startswith("# "):
        heading = first.removeprefix("# ").strip()
    else:
        heading = title
    return ManualPage(name, heading, text, sections)


def _without_marks(body: str) -> str:
    """A section's words on one line, without Markdown marks."""
    text = re.sub(r"^\s*(?:#+|[-*+>]|\d+\.)\s+", "", body, flags=re.MULTILINE)
    text = re.sub(r"^\s*\|?(?:\s*:?-{3,}:?\s*\|?)+\s*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\*\*|`|(?<!\w)[*_](?=\w)|(?<=[\w.])[*_](?!\w)", "", text)
    return " ".join(text.replace("|", " ").split())


def _around(body: str, words: list[str]) -> str:
    """An excerpt around the first word found."""
    plain = _without_marks(body)
    place = min((found for word in words if (found := plain.casefold().find(word)) >= 0), default=0)
    start = max(0, place - 60)
    return (
        ("…" if start else "")
        + plain[start : start + 160]
        + ("…" if len(plain) > start + 160 else "")
    )
