"""The colours of a Matrix for both renderers.

Which map, its direction, and a hue for each class.
"""

from __future__ import annotations

import numpy as np

from robgui.core.view.classes import class_inks, rgb
from robgui.core.view.ink import Ink
from robgui.core.view.views import NOT_COMPUTED, Matrix

#: The background that pale colours fade into, light and dark.
GROUND = ("#FFFFFF", "#1D2127")
#: Share of its hue that a class keeps when it wins by nothing: it stays recognisable.
PALEST = 0.18
#: Opacity, of 255, of a cell that shows the value of a coarser one.
GUESSED = 150


def colour_map(worst: str, dark: bool) -> tuple[str, bool]:
    """The colour map for a worst end, and whether it is reversed.

    The worst is furthest from the background: dark in the light look and bright in the dark one.
    ``diverging`` has its colours in ``diverging()``; every plotting library knows magma and
    cividis.
    """
    if worst == "middle":
        return "diverging", False
    if worst == "neither":
        return "cividis", False
    return "magma", (worst == "low") == dark


def diverging(dark: bool) -> tuple[str, str, str]:
    """Below zero, at zero, above zero."""
    return (
        Ink("changed").colour(dark),
        "#30363F" if dark else "#F2F2F2",
        Ink("original").colour(dark),
    )


def class_ink(view: Matrix, number: int) -> Ink:
    """The ink of a class of a matrix; grey for what stands for several classes."""
    if not 0 <= number < len(view.class_names):
        return Ink("series", number)
    if view.class_list and view.class_names[number] not in view.class_list:
        return Ink("other")
    return class_inks(view.class_names, view.class_list)[number]


def class_pixels(view: Matrix, dark: bool) -> np.ndarray:
    """``(rows, columns, 4)`` uint8: the hue says which class wins, its intensity how surely.

    No class is transparent.
    """
    if view.classes is None:
        raise ValueError(f"the matrix {view.title!r} has no classes")
    hues = np.zeros((*view.classes.shape, 3))
    for number in np.unique(view.classes):
        hues[view.classes == number] = rgb(class_ink(view, int(number)).colour(dark))
    low, high = view.levels
    # ``or 1.0``: equal levels mean a constant matrix, not a division by zero.
    share = np.clip((np.nan_to_num(view.values, nan=low) - low) / ((high - low) or 1.0), 0, 1)
    share = (PALEST + (1 - PALEST) * share)[..., None]
    mixed = share * hues + (1 - share) * rgb(GROUND[dark])
    opaque = np.where(view.classes >= 0, 255, 0)
    pixels = np.concatenate([mixed, opaque[..., None]], axis=-1).round().astype(np.uint8)
    return see_through(pixels, view)


def see_through(pixels: np.ndarray, view: Matrix) -> np.ndarray:
    """The same with cells that were not computed letting the ground through."""
    if view.guessed is not None:
        opaque = pixels[..., 3]
        pixels[..., 3] = np.where(view.guessed, np.minimum(opaque, GUESSED), opaque)
    return pixels


def empty_words(view: Matrix) -> str:
    """Why cells of a matrix are empty, for a legend.

    Nothing where none is, or where only a class that meets itself is left out, which everybody
    sees.
    """
    if view.classes is not None:
        empty = view.classes < 0
    else:
        empty = np.isnan(view.values)
    if not empty.any():
        return ""
    if view.unknown == NOT_COMPUTED or not view.rows:
        return view.unknown
    numbers = {name: place for place, name in enumerate(view.columns)}
    rows = np.array([numbers.get(name, -1) for name in view.rows])
    itself = rows[:, None] == np.arange(empty.shape[1])
    if (empty & ~itself).any():
        return view.unknown
    return ""
