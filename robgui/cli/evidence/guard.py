"""``robgui guard`` and ``robgui check``: findings become tests, and a model takes them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.cli import GATE_FAILED, Parser
from robgui.cli.files import writable
from robgui.cli.places import add_model_options, model_settings
from robgui.core.errors import ParamsError, RobguiError, WorkspaceError

if TYPE_CHECKING:
    from robgui.batch.guards.checking import Checked


def guard(words: list[str]) -> int:
    """Writes the starred findings of a workspace as a guard suite."""
    given = guard_parser().parse_args(words)
    if not Path(given.workspace).exists():
        raise WorkspaceError(f"There is no workspace {given.workspace}; check the path.")
    if Path(given.folder).is_file():
        raise ParamsError(f"{given.folder} is a file; name a folder for the guard suite.")
    # Imported after the options are checked, so a typing error is answered at once.
    from robgui.batch.guards.making import make_guards
    from robgui.cli.opening import asking, computing
    from robgui.core.workspace import Workspace

    with computing("Guard suite") as (executor, progress):
        with Workspace.open(given.workspace, create=False) as workspace:
            made = make_guards(
                workspace,
                Path(given.folder),
                asking(executor),
                ids=_chosen(given.finding),
                controls=given.controls,
                seed=given.seed,
                trust=given.trust,
            )
        for why in made.left_out:
            progress.say(f"Left out: {why}")
        progress.say(f"{given.folder}: {made.words}.")
    return 0


def guard_parser() -> Parser:
    """What the command ``guard`` takes."""
    made = Parser(
        prog="robgui guard",
        description=(
            "Writes the starred findings of a workspace as tests: a folder with their inputs, a"
            " pytest file, and suite.json for 'robgui check'."
        ),
        allow_abbrev=False,
    )
    made.add_argument("workspace", help="the workspace file (*.robgui)")
    made.add_argument("folder", help="where to write the tests")
    made.add_argument(
        "--finding",
        action="append",
        type=int,
        default=[],
        metavar="N",
        help="this finding, starred or not, by its number in findings.csv (may be repeated)",
    )
    made.add_argument(
        "--controls",
        type=_many,
        default=50,
        metavar="N",
        help="inputs of the same data that the model has right, drawn at random [50]",
    )
    made.add_argument("--seed", type=int, default=0, metavar="N", help="which ones are drawn [0]")
    made.add_argument(
        "--trust", action="store_true", help="the model files may execute code when they are read"
    )
    return made


def check(words: list[str]) -> int:
    """Asks a model about every case of a guard suite; 1 if something is still or newly wrong."""
    given = check_parser().parse_args(words)
    from robgui.batch.guards.checking import check as ask_model
    from robgui.batch.guards.checking import read_baseline
    from robgui.batch.guards.suite import guard_suite
    from robgui.cli.opening import asking, computing, open_model

    suite, settings = guard_suite(given.suite), model_settings(given)
    # Tried before the model is asked: a bad path should not cost the whole check.
    report = writable("--junit", given.junit)
    if given.baseline is None:
        baseline = None
    else:
        baseline = read_baseline(Path(given.baseline))
    with computing("Check") as (executor, progress):
        card = open_model(executor, given.model, given, settings, progress.say)
        if given.baseline is None:
            called = ""
        else:
            called = Path(given.baseline).name
        checked = ask_model(suite, card, asking(executor), baseline, called)
    _tell(checked, report, as_json=given.json)
    if checked.passed:
        return 0
    return GATE_FAILED


def check_parser() -> argparse.ArgumentParser:
    """What the command ``check`` takes."""
    made = Parser(
        prog="robgui check",
        description=(
            "Asks a model about every input of a guard suite, and says which findings are fixed,"
            " which are still there, and which inputs are newly wrong. No code of the suite runs."
        ),
        epilog=(
            "exit codes: 0 nothing fails, 1 a finding is still there or an input is newly wrong"
            " (with --baseline: that was right there), 2 bad input"
        ),
        allow_abbrev=False,
    )
    made.add_argument("suite", help="the folder that 'robgui guard' or the window wrote")
    made.add_argument("--model", required=True, metavar="FILE", help="the model to check")
    made.add_argument(
        "--baseline",
        metavar="FILE",
        help="what an earlier 'robgui check --json' printed: what failed there fails nobody here",
    )
    made.add_argument("--junit", metavar="FILE", help="also write JUnit XML")
    made.add_argument("--json", action="store_true", help="write everything as JSON to stdout")
    add_model_options(made)
    return made


def _tell(checked: Checked, report: Path | None, *, as_json: bool) -> None:
    from robgui.batch.guards import telling
    from robgui.cli.printing import print_json, print_line
    from robgui.core.files import write_whole

    if report is not None:
        try:
            write_whole(report, telling.junit(checked))
        except OSError as error:
            raise RobguiError(
                f"The report cannot be written to {report} ({error.strerror}); choose another"
                " place."
            ) from error
    if as_json:
        print_json(telling.document(checked))
        return
    for line in telling.lines(checked):
        print_line(line)


def _chosen(numbers: list[int]) -> list[int] | None:
    # None means the starred ones, an empty list none at all.
    return numbers or None


def _many(text: str) -> Any:
    """A number of controls."""
    if not text.isdecimal() or int(text) > 5_000:
        raise argparse.ArgumentTypeError("write a whole number from 0 to 5000")
    return int(text)
