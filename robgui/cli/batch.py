"""``robgui batch``: runs a suite file; it is checked before anything starts."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from robgui.cli import Parser
from robgui.cli.files import writable
from robgui.core.errors import ParamsError


def batch(words: list[str]) -> int:
    """Runs the suite; returns the exit code."""
    given = parser().parse_args(words)
    if not given.suite.startswith("demo:") and not Path(given.suite).exists():
        raise ParamsError(f"{given.suite}: there is no such suite; name a TOML file.")
    report = writable("--junit", given.junit)
    for module in given.import_module:
        # Here too, not only in the workers: the gates and the plan name its analyses.
        importlib.import_module(module)
    from robgui.cli.batching import run_suite

    return run_suite(given, report)


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = Parser(
        prog="robgui batch",
        description=(
            "Runs every request of a suite file. What the workspace holds already is not computed"
            " again."
        ),
        epilog=(
            "exit codes: 0 all done, 1 a gate or a request failed, 2 bad input, 130 interrupted"
            " (what is done is kept)"
        ),
        allow_abbrev=False,
    )
    made.add_argument("suite", help="the TOML file; demo:suite.toml is an example")
    made.add_argument(
        "--workspace",
        metavar="FILE",
        help="where the runs are kept [as the suite says, or its name in this folder]",
    )
    made.add_argument(
        "--device", default="", help="cpu or cuda [as the suite says, or cuda where there is one]"
    )
    where = made.add_mutually_exclusive_group()
    where.add_argument(
        "--workers", type=int, default=0, metavar="N", help="worker processes [one per device]"
    )
    where.add_argument(
        "--cluster", metavar="ADDRESS", help="run on Ray: auto, local, or the address of a cluster"
    )
    made.add_argument(
        "--fail-on",
        action="append",
        default=[],
        metavar="GATE",
        help='"analysis.field<0.95" or "analysis.field.mean>2" (may be repeated)',
    )
    made.add_argument("--junit", metavar="FILE", help="also write JUnit XML")
    made.add_argument("--json", action="store_true", help="write a summary as JSON to stdout")
    made.add_argument(
        "--trust", action="store_true", help="the model files may execute code when they are read"
    )
    made.add_argument("--dry-run", action="store_true", help="list the requests and run nothing")
    made.add_argument(
        "--import",
        dest="import_module",
        action="append",
        default=[],
        metavar="MODULE",
        help="a module that registers analyses of your own",
    )
    return made
