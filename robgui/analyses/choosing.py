"""What settings mean that choose a class or some of the inputs."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import numpy as np

from robgui.core.errors import ParamsError

#: The word that stands for every other class as a target.
ALL_CLASSES = "all"


def names_target(text: str, labels: Sequence[str]) -> bool:
    """Whether a target means something for these classes; no target means any class."""
    if text.strip().casefold() in ("", ALL_CLASSES):
        return True
    try:
        class_of(text, labels)
    except ParamsError:
        return False
    return True


def class_of(text: str, labels: Sequence[str]) -> int:
    """The class that a name or number means."""
    wanted = text.strip().casefold()
    names = [label.strip().casefold() for label in labels]
    if wanted in names:
        return names.index(wanted)
    several = [
        place
        for place, name in enumerate(names)
        if wanted in (part.strip() for part in name.split(","))
    ]
    if len(several) == 1:
        return several[0]
    if wanted.isdecimal() and int(wanted) < len(labels):
        return int(wanted)
    near = difflib.get_close_matches(wanted, names, 3)
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    else:
        hint = f"give a name or a number from 0 to {len(labels) - 1}."
    raise ParamsError(f"target = {text!r} is none of the {len(labels):,} classes; {hint}")


def chosen_places(count: int, most: int, seed: int) -> np.ndarray:
    """At most ``most`` of the places 0 … count - 1 in rising order, by chance.

    ``most`` 0 takes all.
    """
    if not 0 < most < count:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False))
