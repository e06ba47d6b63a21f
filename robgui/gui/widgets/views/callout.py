"""Callout: a place on a picture and what it means; every view makes its own from what it shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtWidgets import QWidget

from robgui.core.text.words import count
from robgui.core.view import Axis, Curves, Line, Matrix
from robgui.gui.widgets.plots import Plot

#: Lines with a number of their own; the legend has the others.
MOST_LINES = 3


@dataclass(frozen=True)
class Callout:
    """A place in the widget that shows a view, and one sentence about it."""

    place: QPoint
    words: str


def of_axes(plot: Plot, x: Axis, y: Axis, within: QWidget) -> list[Callout]:
    """What goes from left to right and from bottom to top."""
    found = []
    for side, axis, words in (("bottom", x, "Left to right"), ("left", y, "Bottom to top")):
        if not axis.title:
            continue
        box = plot.axis(side).sceneBoundingRect()
        corner = box.bottomRight() - QPointF(12, 10)
        if side == "bottom":
            spot = corner
        else:
            top = plot.box.sceneBoundingRect().top()
            spot = QPointF(box.left() + 10, top + 12)
        found.append(Callout(_in(plot, spot, within), f"{words}: {axis.title}."))
    return found


def of_lines(plot: Plot, view: Curves, within: QWidget) -> list[Callout]:
    """The lines that matter, each where it can be told from the others."""
    found: list[Callout] = []
    lines = [line for line in view.lines if not line.quiet and np.isfinite(line.y).any()]
    # The sort is stable: strong lines first, the others in their order.
    lines.sort(key=lambda line: not line.strong)
    for number, line in enumerate(lines[:MOST_LINES]):
        known = np.flatnonzero(np.isfinite(line.y))
        # Each at another share of its length, so their numbers do not stand on each other.
        at = known[min(len(known) - 1, round((number + 1) * len(known) / (MOST_LINES + 1)))]
        if line.x is None:
            along = view.at
        else:
            along = line.x
        spot = _spot(plot, float(along[at]), float(line.y[at]), view)
        if spot is not None:
            found.append(Callout(_in(plot, spot, within), _line_words(view, line, along)))
    return found


def _line_words(view: Curves, line: Line, along: np.ndarray) -> str:
    """Where a line comes from and where it goes; of dots, how many there are."""
    known = np.flatnonzero(np.isfinite(line.y))
    if not line.line:
        return f"“{line.name}”: {count(len(known), 'dot')}."
    first, last = (
        f"{view.y.words(float(line.y[at]))} at {view.x.words(float(along[at]))}"
        for at in (known[0], known[-1])
    )
    if len(known) == 1:
        return f"“{line.name}”: {first}."
    return f"“{line.name}”: from {first} to {last}."


def of_cells(plot: Plot, view: Matrix, within: QWidget) -> list[Callout]:
    """The cell that is worst, or what the colours of the classes mean."""
    left, bottom, width, height = view.rect
    rows, columns = view.values.shape
    if view.classes is not None:
        words = f"Its colour is the class that wins; the paler, the lower its {view.scale.name}."
        middle = QPointF(left + width / 2, bottom + height / 2)
        return [Callout(_in(plot, _mapped(plot, middle), within), words)]
    # nanargmax passes over nan, but would take an infinity for the worst cell.
    known = np.where(np.isfinite(view.values), view.values, np.nan)
    if view.worst not in ("high", "low") or not np.isfinite(known).any():
        return []
    worst = int(np.nanargmax(known) if view.worst == "high" else np.nanargmin(known))
    row, column = divmod(worst, columns)
    # at the corner of the cell, whose number stays readable
    at = QPointF(left + (column + 1) * width / columns, bottom + (row + 1) * height / rows)
    names = [view.rows[row] if view.rows else "", view.columns[column] if view.columns else ""]
    which = ", ".join(f"“{name}”" for name in names if name)
    value = f"{view.scale.name} {view.scale.words(float(view.values[row, column]))}"
    if which:
        words = f"The worst cell: {which}: {value}."
    else:
        words = f"The worst cell: {value}."
    return [Callout(_in(plot, _mapped(plot, at), within), words)]


def _spot(plot: Plot, x: float, y: float, view: Curves) -> QPointF | None:
    """A place of the plot in its scene; None for what an axis of powers cannot show."""
    if (view.x.log and x <= 0) or (view.y.log and y <= 0):
        return None
    return _mapped(
        plot, QPointF(np.log10(x) if view.x.log else x, np.log10(y) if view.y.log else y)
    )


def _mapped(plot: Plot, place: QPointF) -> QPointF:
    mapped: QPointF = plot.box.mapViewToScene(place)
    return mapped


def _in(plot: Plot, spot: QPointF, within: QWidget) -> QPoint:
    """A place of the scene of a plot in the widget around it."""
    return plot.mapTo(within, plot.mapFromScene(spot))
