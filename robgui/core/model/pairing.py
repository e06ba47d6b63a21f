"""Pair files: one names two models and opens as a model that says where they disagree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from robgui.core.errors import ModelError
from robgui.core.files import write_whole
from robgui.core.identify import PAIR_HEAD
from robgui.core.model.settings import ModelSettings, side_text
from robgui.core.regular import common_folder

#: Suffix of such a file.
SUFFIX = ".pair"
#: Tables with the settings of the first and the second model.
SETTINGS_KEYS = ("first_settings", "second_settings")
#: Stands in for a second model: the number of bits for each weight of the first.
BITS, BITS_RANGE = "bits", range(2, 17)
#: Whether the inputs of its layers are rounded to as many bits.
INNER = "layer_inputs"


def usual_place(first: Path, second: Path) -> Path:
    """The default path: named after both models, in the folder that holds both."""
    folder = common_folder([first.absolute(), second.absolute()])
    if folder is None:
        raise ModelError(
            f"{first} and {second} lie on two drives; copy one of them beside the other."
        )
    return folder / f"{first.stem}_against_{second.stem}{SUFFIX}"


def usual_twin_place(first: Path, bits: int, *, inner: bool = False) -> Path:
    """The default path: beside the model, named after it and what is rounded."""
    if inner:
        what = f"int{bits}"
    else:
        what = f"{bits}_bits"
    return first.absolute().parent / f"{first.stem}_against_{what}{SUFFIX}"


def write_twin(
    out: Path,
    first: Path,
    bits: int,
    settings: ModelSettings | None = None,
    *,
    inner: bool = False,
) -> None:
    """Writes a pair of a model and its copy with weights of ``bits`` bits.

    The model must lie in the pair's folder or below it.

    Args:
        out: The file.
        first: The model.
        bits: How many.
        settings: Of the model, as the user has them.
        inner: Whether its layers' inputs are rounded too.
    """
    text = f"first = {_name(out, first)}\n{BITS} = {bits}\n"
    text += f"{INNER} = true\n" if inner else ""
    _write(out, text, () if settings is None else (settings,))


def write_pair(
    out: Path, first: Path, second: Path, settings: Sequence[ModelSettings] = ()
) -> None:
    """Writes the file; both models must lie in its folder or below it.

    Args:
        out: The file.
        first: A model.
        second: Another one.
        settings: Of both, as the user has them; by default those in their side files.
    """
    text = f"first = {_name(out, first)}\nsecond = {_name(out, second)}\n"
    _write(out, text, settings)


def _name(out: Path, side: Path) -> str:
    """A model's path relative to the file."""
    folder = out.absolute().parent
    try:
        place = side.resolve().relative_to(folder.resolve())
    except ValueError:
        raise ModelError(
            f"{side} does not lie in {folder} or below it; a pair names files beside it: write it"
            " into a folder that holds both."
        ) from None
    # A JSON string is a TOML string too. With slashes, so the pair opens on every system.
    return json.dumps(place.as_posix(), ensure_ascii=False)


def _write(out: Path, named: str, settings: Sequence[ModelSettings]) -> None:
    text = f"{PAIR_HEAD.decode()}\n{named}"
    for key, each in zip(SETTINGS_KEYS, settings, strict=False):
        text += f"\n[{key}]\n{side_text(each, whole=True)}"
    try:
        write_whole(out, text.encode())
    except OSError as error:
        raise ModelError(f"{out} cannot be written ({error.strerror}).") from error
