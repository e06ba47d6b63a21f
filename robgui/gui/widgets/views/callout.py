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
MOST_LINES = 5
#: Places along a line where its number may stand.
_SPOTS = 24
#: Pixels from the middle of a number to that of the next, at least.
_DISC = 36


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
        # Half a disc away from the edge, so that the whole number is seen.
        corner = box.bottomRight() - QPointF(12, 10)
        if side == "bottom":
            spot = corner
        else:
            top = plot.box.sceneBoundingRect().top()
            spot = QPointF(box.left() + 10, top + 12)
        found.append(Callout(_in(plot, spot, within), f"{words}: {axis.title}."))
    return found


def of_lines(plot: Plot, view: Curves, within: QWidget) -> list[Callout]:
    """The lines that matter, each where it is farthest from the others and their numbers."""
    found: list[Callout] = []
    lines = [line for line in view.lines if not line.quiet and np.isfinite(line.y).any()]
    # The sort is stable: strong lines first, the others in their order.
    lines.sort(key=lambda line: not line.strong)
    spots = [_spots(plot, view, line) for line in lines[:MOST_LINES]]
    taken: list[QPointF] = []
    across = _marked(plot, view)
    for place, (line, own) in enumerate(zip(lines, spots, strict=False)):
        others = [spot for at, each in enumerate(spots) if at != place for spot in each]
        if own:
            taken.append(max(own, key=lambda spot: _apart(spot, others, taken, across)))
            words = _line_words(view, line, view.at if line.x is None else line.x)
            found.append(Callout(_in(plot, taken[-1], within), words))
    return found


def of_marks(plot: Plot, view: Curves, within: QWidget) -> list[Callout]:
    """The upright lines together, since they may stand close, and each level line."""
    found = []
    area = plot.box.sceneBoundingRect()
    upright = [mark for mark in view.marks if mark.name and np.isfinite(mark.at)]
    if upright:
        along = float(np.log10(upright[-1].at)) if view.x.log else upright[-1].at
        spot = QPointF(_mapped(plot, QPointF(along, 0)).x(), area.top() + 0.25 * area.height())
        names = "; ".join(mark.name for mark in upright)
        words = f"{'Upright lines' if len(upright) > 1 else 'Upright line'}: {names}."
        found.append(Callout(_in(plot, spot, within), words))
    for mark in view.levels:
        if mark.name and np.isfinite(mark.at):
            height = float(np.log10(mark.at)) if view.y.log else mark.at
            spot = QPointF(area.right() - 16, _mapped(plot, QPointF(0, height)).y())
            words = f"Level line: {mark.name}, {view.y.words(mark.at)}."
            found.append(Callout(_in(plot, spot, within), words))
    return found


def _spots(plot: Plot, view: Curves, line: Line) -> list[QPointF]:
    """Some places along a line, in the scene of its plot."""
    if line.x is None:
        along = view.at
    else:
        along = line.x
    known = np.flatnonzero(np.isfinite(line.y)).tolist()
    made = [_spot(plot, float(along[at]), float(line.y[at]), view) for at in known]
    spots = [spot for spot in made if spot is not None]
    if not line.line or line.steps or len(spots) < 2:
        return spots[:: max(1, len(spots) // _SPOTS)]
    # Between its points too, but not at its very ends, where axes and other lines begin.
    places = np.linspace(0, len(spots) - 1, _SPOTS + 2)[1:-1]
    numbers = np.arange(len(spots))
    across = np.interp(places, numbers, [spot.x() for spot in spots])
    down = np.interp(places, numbers, [spot.y() for spot in spots])
    return [QPointF(x, y) for x, y in zip(across.tolist(), down.tolist(), strict=True)]


def _marked(plot: Plot, view: Curves) -> tuple[list[float], list[float]]:
    """Where upright and level lines run, in the scene of the plot."""
    upright = [_spot(plot, mark.at, 1.0, view) for mark in view.marks if np.isfinite(mark.at)]
    level = [_spot(plot, 1.0, mark.at, view) for mark in view.levels if np.isfinite(mark.at)]
    return [one.x() for one in upright if one], [one.y() for one in level if one]


def _apart(
    spot: QPointF,
    others: list[QPointF],
    taken: list[QPointF],
    across: tuple[list[float], list[float]],
) -> tuple[bool, float]:
    """Whether a number here is clear of the others, and how many pixels the nearest line is off."""
    # Not the true distance: it need not be exact, and
    # there is one for each of hundreds of places.
    clear = all((spot - other).manhattanLength() > _DISC for other in taken)
    lines = [(spot - other).manhattanLength() for other in others]
    upright = [abs(spot.x() - x) for x in across[0]]
    level = [abs(spot.y() - y) for y in across[1]]
    return clear, min([*lines, *upright, *level], default=0.0)


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
