"""``robgui pair``: writes a file that names two models and opens as one that compares them."""

from __future__ import annotations

import argparse
from pathlib import Path

from robgui.cli import Parser
from robgui.core.errors import ModelError, ParamsError
from robgui.core.identify import Kind, identify
from robgui.core.model.pairing import (
    BITS_RANGE,
    SUFFIX,
    usual_place,
    usual_twin_place,
    write_pair,
    write_twin,
)


def pair(words: list[str]) -> int:
    """Writes the file; the models are not opened."""
    given = parser().parse_args(words)
    if given.layer_inputs and given.bits is None:
        raise ParamsError("--layer-inputs rounds to as many bits as --bits says; give both.")
    # Exactly one of the two.
    if (given.second is None) == (given.bits is None):
        raise ParamsError("Name a second model, or say --bits for the first one with fewer bits.")
    first = _model(given.first)
    if given.bits is None:
        second = _model(given.second)
        out = _out(given, usual_place(first, second))
        write_pair(out, first, second)
    else:
        out = _out(given, usual_twin_place(first, given.bits, inner=given.layer_inputs))
        write_twin(out, first, given.bits, inner=given.layer_inputs)
    print(f"{out}: open it like a model; its classes are “agree” and “disagree”.")
    return 0


def _model(name: str) -> Path:
    path = Path(name)
    if identify(path).kind is not Kind.MODEL:
        raise ModelError(f"{path} is no model; name model files.")
    return path


def _out(given: argparse.Namespace, usual: Path) -> Path:
    if given.out:
        out = Path(given.out)
    else:
        out = usual
    if out.suffix != SUFFIX:
        raise ParamsError(f"--out {out}: the name of a pair ends in {SUFFIX}.")
    return out


def _bits(text: str) -> int:
    if not text.isdecimal() or int(text) not in BITS_RANGE:
        raise argparse.ArgumentTypeError(
            f"write a whole number from {BITS_RANGE.start} to {BITS_RANGE[-1]}"
        )
    return int(text)


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = Parser(
        prog="robgui pair",
        description=(
            "Writes a small file that names two models of the same inputs and classes, such as two"
            " versions of a network, or one and itself with rounded weights. It opens like a model"
            " with the classes agree and disagree, so every analysis answers where, how near"
            " and how likely they disagree."
        ),
        allow_abbrev=False,
    )
    made.add_argument("first", help="a model file; inputs are prepared as it wants them")
    made.add_argument("second", nargs="?", help="another one")
    made.add_argument(
        "--bits",
        type=_bits,
        metavar="N",
        help="instead of another one, the first with its weights rounded to N bits, as 8 for int8",
    )
    made.add_argument(
        "--layer-inputs",
        action="store_true",
        help="with --bits: what every layer takes is rounded too, as devices that compute in int8",
    )
    made.add_argument(
        "--out",
        metavar="FILE",
        help=f"the file to write, ending in {SUFFIX}, in a folder that holds both models",
    )
    return made
