"""``robgui run``: checks what to run an analysis on before anything slow is imported or started."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robgui.cli import Parser
from robgui.cli.files import settings_in, writable
from robgui.cli.options import add_params, values_of
from robgui.cli.places import add_model_options, data_options, model_settings
from robgui.core.errors import ParamsError
from robgui.core.execution.analysis import Analysis
from robgui.core.execution.params.params import Params
from robgui.core.execution.params.text import indices
from robgui.core.execution.registry import analyses, find


@dataclass(frozen=True, slots=True)
class Wish:
    """What a command line asks for, as far as it can be checked without a model.

    Attributes:
        known: The analysis.
        params: Its settings.
        given: All options.
        settings: Settings of the models.
        options: Options of the data.
        picked: Which inputs, by number; None for all, or for those of a query.
        out: Where the result goes; None for stdout.
        export: Where inputs made by the run are exported; None for nowhere.
    """

    known: Analysis
    params: Params
    given: argparse.Namespace
    settings: dict[str, Any]
    options: dict[str, Any]
    picked: list[int] | None
    out: Path | None
    export: Path | None


def run(words: list[str]) -> int:
    """Runs the analysis named first; returns the exit code."""
    if not words or words[0].startswith("-"):
        _overview().parse_args(words)
    wish = _wish(words)
    from robgui.cli.running import run_analysis

    return run_analysis(wish)


def _wish(words: list[str]) -> Wish:
    known = find(words[0])
    given = parser(known).parse_args(words[1:])
    if given.params is not None:
        stored = settings_in(given.params, known)
    else:
        stored = {}
    # What is typed goes before what the file says.
    params = known.params.parse({**stored, **values_of(given, known.params)})
    _check_workspace(given.workspace)
    return Wish(
        known,
        params,
        given,
        model_settings(given),
        data_options(given),
        None if given.index is None else indices("--index", given.index),
        _checked(given.out),
        _export_place(given),
    )


def _checked(out: str | None) -> Path | None:
    """The path of the result, checked before the work and not after it."""
    if out is not None and Path(out).suffix == ".npz":
        raise ParamsError(
            f"--out {out}: the result is JSON, and .npz is for the arrays beside it; name a .json"
            " file."
        )
    return writable("--out", out)


def _export_place(given: argparse.Namespace) -> Path | None:
    """Where to export, checked before the work: a file, or a folder that does not exist yet."""
    name = getattr(given, "export", None)
    if name is None:
        return None
    if given.data is None:
        raise ParamsError("--export writes inputs that are made of others; name these with --data.")
    place = Path(name)
    # An empty folder is as good as a new one; anything else in it could be overwritten.
    if place.is_dir() and not any(place.iterdir()):
        return place
    return writable("--export", name)


def _check_workspace(name: str | None) -> None:
    """Refuses a place where no workspace can be made; missing folders are made later."""
    if name is None or Path(name).exists():
        return
    place = Path(name).absolute()
    # On Windows not even the last one need exist: a drive may be unplugged.
    folder = next((each for each in place.parents if each.exists()), Path(place.anchor))
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise ParamsError(
            f"--workspace {name}: it cannot be made there, because {folder} is no folder that may"
            " be written; choose another place."
        )


def _overview() -> argparse.ArgumentParser:
    names = "\n".join(
        f"  {name.replace('_', '-'):<22} {known.question}" for name, known in analyses().items()
    )
    parser = Parser(
        prog="robgui run",
        description="Runs an analysis and writes its result as JSON.",
        epilog=f"analyses:\n{names}\n\n'robgui run ANALYSIS --help' lists its settings.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("analysis")
    return parser


def parser(known: Analysis) -> argparse.ArgumentParser:
    """What the command takes for one analysis."""
    made = Parser(
        prog=f"robgui run {known.name.replace('_', '-')}",
        description=f"{known.title}: {known.question}",
        allow_abbrev=False,
    )
    several = " (repeat for several)" if known.several_models else ""
    made.add_argument(
        "--model", action="append", required=True, metavar="FILE", help=f"the model{several}"
    )
    made.add_argument(
        "--data",
        metavar="PATH",
        help="the inputs: a file or a folder; 'robgui list --data' names the formats",
    )
    which = made.add_mutually_exclusive_group()
    which.add_argument(
        "--index", metavar="I", help="which inputs, by number from 0: 3 or 0,4,7 or 10:20 [all]"
    )
    which.add_argument(
        "--select", metavar="QUERY", help='which inputs, by query: "label=shirt and index<100"'
    )
    add_model_options(made)
    made.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the analysis (may be repeated)",
    )
    made.add_argument(
        "--params",
        metavar="FILE",
        help=(
            "settings of the analysis in a TOML or JSON file, or in a result of --out; options go"
            " before it"
        ),
    )
    made.add_argument("--workspace", metavar="FILE", help="also keep the run in this workspace")
    made.add_argument(
        "--dry-run",
        action="store_true",
        help="say what the run would cost and run nothing; --max-seconds limits it",
    )
    made.add_argument(
        "--out",
        metavar="FILE",
        help="where to write the JSON; large arrays go into an NPZ beside it [stdout]",
    )
    if known.export is not None:
        made.add_argument(
            "--export",
            metavar="PLACE",
            help=f"{known.export.title.lower()} into a new folder, or one file that ends in .npz",
        )
    # A setting named like an option of the command itself is left to --set.
    taken = [action.dest for action in made._actions]
    add_params(made, known.params, taken)
    return made
