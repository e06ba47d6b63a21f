"""The file of a pair: it names two models, and opens as one that says where they disagree."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from robgui.core.errors import ModelError
from robgui.core.files import write_whole
from robgui.core.identify import PAIR_HEAD
from robgui.core.model.settings import ModelSettings, side_text

#: What such a file is called.
SUFFIX = ".pair"
#: Tables of the file that say how to talk to the first and to the second model.
SETTINGS_KEYS = ("first_settings", "second_settings")


def usual_place(first: Path, second: Path) -> Path:
    """In the folder that holds both models, called after both."""
    parents = [str(side.absolute().parent) for side in (first, second)]
    try:
        folder = Path(os.path.commonpath(parents))
    except ValueError:  # on two drives
        raise ModelError(
            f"{first} and {second} lie on two drives; copy one of them beside the other."
        ) from None
    return folder / f"{first.stem}_against_{second.stem}{SUFFIX}"


def write_pair(
    out: Path, first: Path, second: Path, settings: Sequence[ModelSettings] = ()
) -> None:
    """Writes the file; both models must lie in its folder or below it.

    Args:
        out: The file.
        first: A model.
        second: Another one.
        settings: Of both, as the user has them; without them their side files say.
    """
    folder = out.absolute().parent
    try:
        places = [side.resolve().relative_to(folder.resolve()) for side in (first, second)]
    except ValueError:
        raise ModelError(
            f"{first} and {second} do not both lie in {folder} or below it; a pair names files"
            " beside it: write it into a folder that holds both."
        ) from None
    names = [json.dumps(place.as_posix(), ensure_ascii=False) for place in places]
    text = f"{PAIR_HEAD.decode()}\nfirst = {names[0]}\nsecond = {names[1]}\n"
    for key, each in zip(SETTINGS_KEYS, settings, strict=False):
        text += f"\n[{key}]\n{side_text(each, whole=True)}"
    try:
        write_whole(out, text.encode())
    except OSError as error:
        raise ModelError(f"{out} cannot be written ({error.strerror}).") from error
