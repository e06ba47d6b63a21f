"""What is written into a cell of a matrix, where there is room for two digits."""

from __future__ import annotations

import math

from robgui.core.text.words import number, percent
from robgui.core.view.views import Matrix

#: Cells of a matrix of five classes: in so few each number can be read.
FEW = 25


def cell_number(view: Matrix, value: float) -> str:
    """A value in its cell, without the unit that the scale says.

    In a matrix of failures a zero is written only where there are few cells: among many it would
    hide the others, and among few its absence looks like missing data.
    """
    many = view.values.size > FEW
    unharmed = many and value == 0 and view.worst == "high" and view.levels[0] == 0
    if unharmed or not math.isfinite(value):
        return ""
    if view.scale.kind == "share":
        return _share(value)
    if view.scale.kind == "number" and abs(value) < 100:
        # Two digits fit a cell; ``number`` alone would write more.
        return number(float(f"{value:.2g}"))
    return view.scale.plain(value)


def _share(value: float) -> str:
    # ``.2g`` writes 99.6 as 1e+02.
    if value > 0.995:
        return percent(value)
    if 0 < value < 0.001:
        return "<0.1 %"
    return f"{100 * value:.2g} %"
