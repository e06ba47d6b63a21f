"""``robgui pair``: a file that names two models and opens as one, which says where they differ."""

from __future__ import annotations

import argparse
from pathlib import Path

from robgui.cli import Parser
from robgui.core.errors import ModelError, ParamsError
from robgui.core.identify import Kind, identify
from robgui.core.model.pairing import SUFFIX, usual_place, write_pair


def pair(words: list[str]) -> int:
    """Writes the file; the models are not opened."""
    given = parser().parse_args(words)
    first, second = Path(given.first), Path(given.second)
    for side in (first, second):
        if identify(side).kind is not Kind.MODEL:
            raise ModelError(f"{side} is no model; name two model files.")
    out = Path(given.out) if given.out else usual_place(first, second)
    if out.suffix != SUFFIX:
        raise ParamsError(f"--out {out}: the name of a pair ends in {SUFFIX}.")
    write_pair(out, first, second)
    print(f"{out}: open it like a model; its classes are “agree” and “disagree”.")
    return 0


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = Parser(
        prog="robgui pair",
        description=(
            "Writes a small file that names two models of the same inputs and classes, such as two"
            " versions of a network. It opens like a model with the classes agree and disagree, so"
            " that every analysis answers where, how near and how likely they disagree."
        ),
        allow_abbrev=False,
    )
    made.add_argument("first", help="a model file; inputs are prepared as it wants them")
    made.add_argument("second", help="another one")
    made.add_argument(
        "--out",
        metavar="FILE",
        help=f"the file to write, ending in {SUFFIX}, in a folder that holds both models",
    )
    return made
