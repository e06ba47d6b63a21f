"""The colours of classes: one for each class of a list, the same in every picture.

It follows from the names alone, so models that name the same classes in another order agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from robgui.core.view.ink import CLASSES, Ink, Role, called_after

#: Colours that differ by no more than this (of 255 in each channel) look the same.
ALIKE = 80.0


def class_inks(
    shown: Sequence[str], names: Sequence[str], roles: Sequence[Role] = ()
) -> tuple[Ink, ...]:
    """Inks of the classes that a picture shows, the most important first.

    Each class has its own colour. Of a list longer than the palette some classes share one: in a
    picture the more important class keeps it, and the other takes one that is free.

    Args:
        shown: The classes in the picture.
        names: All classes of the model.
        roles: What they are in the picture; ``series`` where nothing is said.
    """
    # What stands for several classes is none of the list, and must not shift the others' colours.
    own, free = _hues(tuple(names or shown))
    taken: dict[str, int] = {}
    for name in shown:
        if name in taken or name not in own:
            continue
        first = free.index(own[name])
        turned = (*free[first:], *free[:first])
        used = set(taken.values())
        taken[name] = next((hue for hue in turned if hue not in used), own[name])
    rest: tuple[Role, ...] = ("series",)
    each = (*roles, *rest * (len(shown) - len(roles)))
    return tuple(
        Ink(role, at, name, taken.get(name, -1))
        for at, (role, name) in enumerate(zip(each, shown, strict=True))
    )


@cache
def _hues(names: tuple[str, ...]) -> tuple[dict[str, int], tuple[int, ...]]:
    """The hue of each class that is not named after a colour, and all hues for such classes."""
    called = [rgb(colour) for colour in map(called_after, names) if colour]
    free = [
        at
        for at, (light, _) in enumerate(CLASSES)
        if all(_apart(rgb(light), one) for one in called)
    ]
    # If every colour is taken, a shared one is better than none.
    free = free or list(range(len(CLASSES)))
    plain = sorted(name for name in set(names) if not called_after(name))
    return {name: free[at % len(free)] for at, name in enumerate(plain)}, tuple(free)


def _apart(first: np.ndarray, second: np.ndarray) -> bool:
    return float(np.linalg.norm(first - second)) > ALIKE


def rgb(colour: str) -> np.ndarray:
    """Red, green and blue of ``#rrggbb``."""
    return np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)], float)
