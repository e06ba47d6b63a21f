"""``robgui pair``: a file that names two models and opens as one, which says where they differ."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from robgui.cli import Parser
from robgui.core.errors import ModelError, ParamsError
from robgui.core.files import write_whole
from robgui.core.identify import PAIR_HEAD, Kind, identify

#: What such a file is called.
SUFFIX = ".pair"


def pair(words: list[str]) -> int:
    """Writes the file; the models are not opened."""
    given = parser().parse_args(words)
    first, second = Path(given.first), Path(given.second)
    for side in (first, second):
        if identify(side).kind is not Kind.MODEL:
            raise ModelError(f"{side} is no model; name two model files.")
    out = Path(given.out) if given.out else _usual_place(first, second)
    if out.suffix != SUFFIX:
        raise ParamsError(f"--out {out}: the name of a pair ends in {SUFFIX}.")
    write_whole(out, _text(first, second, out.absolute().parent).encode())
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


def _usual_place(first: Path, second: Path) -> Path:
    """In the folder that holds both, called after both."""
    parents = [str(side.absolute().parent) for side in (first, second)]
    try:
        folder = Path(os.path.commonpath(parents))
    except ValueError:  # on two drives
        raise ModelError(f"{first} and {second} lie on two drives; copy one beside it.") from None
    return folder / f"{first.stem}_against_{second.stem}{SUFFIX}"


def _text(first: Path, second: Path, folder: Path) -> str:
    """What stands in the file: both models by their places below its folder."""
    try:
        places = [side.resolve().relative_to(folder.resolve()) for side in (first, second)]
    except ValueError:
        raise ModelError(
            f"{first} and {second} do not both lie in {folder} or below it; a pair names files"
            " beside it: write it into a folder that holds both."
        ) from None
    names = [json.dumps(place.as_posix(), ensure_ascii=False) for place in places]
    return f"{PAIR_HEAD.decode()}\nfirst = {names[0]}\nsecond = {names[1]}\n"
