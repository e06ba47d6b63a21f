"""Finds the files named on a command line before anything slow is imported."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from robgui.core.errors import DataError, ModelError


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Options that say how to read models and data, shared by the commands."""
    parser.add_argument(
        "--names",
        metavar="FILE",
        help="class names of the model, one per line in the order of its outputs, or a JSON list",
    )
    parser.add_argument(
        "--model-set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=(
            "a setting of the model: mean=0.5,0.5,0.5 (may be repeated; robgui inspect --help lists"
            " them)"
        ),
    )
    parser.add_argument(
        "--data-set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the data: label=column (may be repeated; as above)",
    )
    parser.add_argument(
        "--split",
        metavar="PART",
        help="which part of the data: train, val or test [test, else val, else train]",
    )
    parser.add_argument(
        "--device", default="", help="cpu, cuda or cuda:1 [cuda where there is one]"
    )
    parser.add_argument(
        "--autocast", action="store_true", help="compute in half precision where that is faster"
    )
    parser.add_argument(
        "--trust", action="store_true", help="the model files may execute code when they are read"
    )


def check_places(words: Sequence[str], *, first: bool = False) -> None:
    """Refuses models and data that are missing.

    Other mistakes in the words are found later.

    Args:
        words: A command line without the name of the command.
        first: Whether the first word that belongs to no option is a model.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--data")
    if first:
        # The same destination as --model, so one loop below sees both.
        parser.add_argument("model", nargs="?", action="append", default=[])
    add_model_options(parser)
    try:
        given, _ = parser.parse_known_args(words)
    # The real parser will say it, with the options of the analysis.
    except argparse.ArgumentError:
        return
    for model in filter(None, given.model):
        if not Path(model).exists():
            raise ModelError(f"{model} does not exist; check the path.")
    if given.data is not None and not Path(given.data).exists():
        raise DataError(f"{given.data}: there is no such file or folder; check the path.")


def model_settings(given: argparse.Namespace) -> dict[str, Any]:
    """The model settings given by the options."""
    from robgui.cli.options import pairs
    from robgui.core.model.class_names import read_names
    from robgui.core.model.settings import ModelSettings

    settings = pairs(given.model_set, ModelSettings.model_fields, "model setting")
    if given.names is not None:
        settings["labels"] = read_names(Path(given.names))
    return settings


def data_options(given: argparse.Namespace) -> dict[str, Any]:
    """The data options given on the command line."""
    from robgui.cli.options import pairs
    from robgui.core.dataset.options import Options, parse

    options = pairs(given.data_set, Options.model_fields, "data option")
    if given.split is not None:
        options["split"] = given.split
    parse(options)
    return options
