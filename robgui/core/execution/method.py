"""Method: a folder with everything about one method, found through an entry point.

The group is ``robgui.methods``; ours are registered in pyproject.toml like those of any other
package. A method that cannot be loaded becomes one sentence in ``problems()`` and never keeps the
program from starting.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from robgui.core.execution.analysis import Analysis
from robgui.core.execution.asking.question import Question

GROUP = "robgui.methods"


@dataclass(frozen=True)
class Method:
    """What the rail, the manual and the command line know about a method.

    Attributes:
        name: Its folder.
        title: Name shown to people.
        question: The question it answers, one short sentence.
        analyses: Its analyses, the first one being its picture.
        folder: Where its files are: ``Path(__file__).parent``.
        help: Its page of the manual, Markdown.
        icon: Its icon, an SVG that is tinted.
        order: Its place in the rail; ours take 10 to 50.
        claims: ``module:name`` of its paper's claims; empty without.
        questions: What its panels ask models besides running an analysis.
    """

    name: str
    title: str
    question: str
    analyses: tuple[Analysis, ...]
    folder: Path
    help: str = "help.md"
    icon: str = "icon.svg"
    order: int = 100
    claims: str = ""
    questions: tuple[Question, ...] = ()

    @property
    def help_path(self) -> Path:
        """The file of its manual page."""
        return self.folder / self.help

    @property
    def icon_path(self) -> Path:
        """The file of its icon."""
        return self.folder / self.icon


def methods() -> tuple[Method, ...]:
    """Every method that can be loaded, in the order of the rail."""
    return _discover()[0]


def problems() -> tuple[str, ...]:
    """One sentence per method that failed to load."""
    return _discover()[1]


def refresh() -> None:
    """Searches for methods again, after a package was installed."""
    _entries.cache_clear()
    _discover.cache_clear()
    bringing.cache_clear()


@cache
def bringing(analysis: str) -> Method | None:
    """The method of ours that brings an analysis, without importing the others.

    Ours take precedence over those of other packages, so it is the only one.
    """
    # Analyses are mostly named after their method, so the right record is usually the first
    # imported.
    ours = sorted(filter(_ours, _entries()), key=lambda entry: not analysis.startswith(entry.name))
    for entry in ours:
        with contextlib.suppress(Exception):  # Reported by ``problems``.
            method = _checked(entry, [])
            if any(one.name == analysis for one in method.analyses):
                return method
    return None


@cache
def _discover() -> tuple[tuple[Method, ...], tuple[str, ...]]:
    found: list[Method] = []
    lacks: list[str] = []
    for entry in _entries():
        try:
            found.append(_checked(entry, found))
        except Exception as error:  # noqa: BLE001 - foreign code raises anything; each becomes one sentence
            first = (str(error).splitlines() or [""])[0]
            lacks.append(
                f"The method {entry.name} ({entry.value}) cannot be loaded: {type(error).__name__}:"
                f" {first[:300]}; update or remove the package that brings it."
            )
    return tuple(sorted(found, key=lambda method: (method.order, method.title))), tuple(lacks)


@cache
def _entries() -> tuple[EntryPoint, ...]:
    """All entry points, ours first; reading those of every package takes milliseconds."""
    found = entry_points(group=GROUP)
    # Ours first: whoever comes second with a name is refused, so nobody can replace our analyses.
    return tuple(sorted(found, key=lambda entry: (not _ours(entry), entry.name)))


def _ours(entry: EntryPoint) -> bool:
    return entry.value.startswith("robgui.")


def _checked(entry: EntryPoint, known: list[Method]) -> Method:
    """The method behind an entry point; raises if its name or files do not fit."""
    method = entry.load()
    if not isinstance(method, Method):
        raise TypeError(f"{entry.value} is a {type(method).__name__}, not a Method")
    names = {one.name for other in known for one in other.analyses}
    for one in method.analyses:
        if one.name in names:
            raise ValueError(f"there already is an analysis called {one.name}")
    if method.name in {other.name for other in known}:
        raise ValueError(f"there already is a method called {method.name}")
    for path in (method.help_path, method.icon_path):
        if not path.is_file():
            raise FileNotFoundError(f"its file {path.name} is missing")
    return method
