"""``robgui postmortem``: explains a finding in one paragraph with pictures."""

from __future__ import annotations

import argparse
from pathlib import Path

from robgui.cli import Parser
from robgui.cli.files import writable
from robgui.core.errors import WorkspaceError


def postmortem(words: list[str]) -> int:
    """Runs what is missing within the time, and prints the paragraph."""
    given = parser().parse_args(words)
    if not Path(given.workspace).exists():
        raise WorkspaceError(f"There is no workspace {given.workspace}; check the path.")
    page = writable("--html", given.html)
    from robgui.cli.opening import asking, computing
    from robgui.cli.printing import print_line
    from robgui.core.workspace import Workspace
    from robgui.report.postmortem.making import post_mortem
    from robgui.report.postmortem.words import paragraph

    with (
        computing("Post-mortem") as (executor, progress),
        Workspace.open(given.workspace, create=False) as workspace,
    ):
        facts = post_mortem(
            workspace,
            given.finding,
            asking(executor),
            executor,
            seconds=given.seconds,
            seed=given.seed,
            trust=given.trust,
            say=progress.say,
        )
        for sentence in paragraph(facts):
            print_line(f"{sentence.text}{f' [run {sentence.run}]' if sentence.run else ''}")
        if page is not None:
            from robgui.report.postmortem.page import write_page

            write_page(workspace, facts, page)
    return 0


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = Parser(
        prog="robgui postmortem",
        description=(
            "Says what breaks the input of a finding and what does not, how it ranks among the"
            " data, the likely cause, and what to do. Runs what is missing and keeps it."
        ),
        allow_abbrev=False,
    )
    made.add_argument("workspace", help="the workspace file (*.robgui)")
    made.add_argument("finding", type=int, help="the finding, by its number in findings.csv")
    made.add_argument(
        "--seconds",
        type=_seconds,
        default=60.0,
        metavar="X",
        help="for all runs together; 0 runs nothing [60]",
    )
    made.add_argument(
        "--seed", type=int, default=0, metavar="N", help="which inputs it is ranked among [0]"
    )
    made.add_argument("--html", metavar="FILE", help="also write it with its pictures")
    made.add_argument(
        "--trust", action="store_true", help="the model files may execute code when they are read"
    )
    return made


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    # Written so that NaN fails it too.
    if not 0 <= value <= 1e6:
        raise argparse.ArgumentTypeError("write a number of seconds from 0 on")
    return value
