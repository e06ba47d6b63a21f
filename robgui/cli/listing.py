"""``robgui list``: shows what can be run."""

from __future__ import annotations

import sys
from dataclasses import asdict

from robgui.cli import Parser
from robgui.cli.options import describe
from robgui.cli.printing import print_json, print_line
from robgui.core.data_formats import FORMATS
from robgui.core.execution.analysis import Analysis
from robgui.core.execution.method import methods, problems
from robgui.core.execution.registry import analyses, find, method_of


def list_analyses(words: list[str]) -> int:
    """Prints every analysis by method, or those named; a sentence warns of each that is broken."""
    given = parser().parse_args(words)
    if given.data:
        return _list_formats(given.json)
    wanted = {find(name).name for name in given.analysis} or set(analyses())
    for problem in problems():
        # Not to stdout, which may be JSON for a program.
        print_line(f"Warning: {problem}", sys.stderr)
    if given.json:
        print_json([_described(one) for one in analyses().values() if one.name in wanted])
        return 0
    for title, question, group in _groups():
        shown = [known for known in group if known.name in wanted]
        if shown:
            print(f"{title}: {question}" if question else title)
            _print_analyses(shown)
    return 0


def _print_analyses(group: list[Analysis]) -> None:
    """Each with its question and its settings."""
    for known in group:
        print(f"\n  {known.name.replace('_', '-')}: {known.title}\n    {known.question}")
        for name, field in known.params.model_fields.items():
            print(f"      --{name.replace('_', '-'):<20} {describe(field)}")
    print()


def _list_formats(as_json: bool) -> int:
    """The formats of data, a line each."""
    if as_json:
        print_json([{**asdict(known), "missing": known.missing} for known in FORMATS])
        return 0
    for known in FORMATS:
        if known.missing:
            lack = f" (needs: pip install 'robgui[{known.extra}]')"
        else:
            lack = ""
        print(f"{known.name:<20} {known.words}{lack}")
    return 0


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="robgui list",
        description="Lists the analyses, the question each answers, and their settings.",
        allow_abbrev=False,
    )
    made.add_argument("analysis", nargs="*", help="only these analyses [all]")
    made.add_argument(
        "--json",
        action="store_true",
        help="as JSON, the settings of each analysis as a JSON schema",
    )
    made.add_argument(
        "--data", action="store_true", help="the formats of data instead, and what each needs"
    )
    return made


def _groups() -> list[tuple[str, str, list[Analysis]]]:
    """The analyses by their method, in the order of the rail; title and question of each method."""
    grouped = [(method.title, method.question, list(method.analyses)) for method in methods()]
    loose = [known for known in analyses().values() if method_of(known.name) is None]
    return [*grouped, *([("Other analyses", "", loose)] if loose else [])]


def _described(known: Analysis) -> dict[str, object]:
    method = method_of(known.name)
    return {
        "name": known.name,
        "title": known.title,
        "question": known.question,
        "method": None if method is None else method.name,
        "settings": known.params.model_json_schema(),
    }
