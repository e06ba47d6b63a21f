"""``robgui tour``: runs the demo without a screen; saves pictures and a report."""

from __future__ import annotations

import os
from pathlib import Path

from robgui.cli import Parser
from robgui.core.errors import ParamsError, RobguiError

_FOLDER = "robgui-demo"


def tour(words: list[str]) -> int:
    """Runs the demo in a hidden window; pictures of it and a report go into a folder."""
    given = parser().parse_args(words)
    from robgui.doctor import window_problem

    # Before Qt starts, which reads it once.
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if problem := window_problem(os.environ):
        raise RobguiError(problem)
    from robgui.gui.show.tour import Tour, stops

    wanted = [name.replace("-", "_") for name in given.only]
    known = [stop.name for stop in stops()]
    for name in wanted:
        if name not in known:
            raise ParamsError(
                f"--only {name}: the tour shows {', '.join(known)}; choose one of these."
            )
    return Tour(
        Path(given.folder).expanduser(),
        [stop for stop in stops() if not wanted or stop.name in wanted],
    ).run()


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="robgui tour",
        description=(
            "Runs every analysis on the demo without a screen; writes a picture of each, a report"
            " and the workspace into a folder."
        ),
        allow_abbrev=False,
    )
    made.add_argument(
        "folder", nargs="?", default=_FOLDER, help=f"where to write them [./{_FOLDER}]"
    )
    made.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="ANALYSIS",
        help="only this analysis; may be given several times",
    )
    return made
