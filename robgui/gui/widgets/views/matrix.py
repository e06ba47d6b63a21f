"""Matrix on the screen: one image, however many cells, with names, scale, spots and read-out."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QBrush, QColor, QGradient, QLinearGradient

from robgui.core.view import (
    Axis,
    Ink,
    Matrix,
    class_ink,
    class_pixels,
    colour_map,
    empty_words,
    see_through,
)
from robgui.gui.app.theme import theme
from robgui.gui.widgets.hatching import hatched
from robgui.gui.widgets.heat import Heat, lookup
from robgui.gui.widgets.inks import colour, fill, pen
from robgui.gui.widgets.legend import Keyed, Legend, LegendKey
from robgui.gui.widgets.plots import Plot
from robgui.gui.widgets.views.callout import Callout, of_axes, of_cells
from robgui.gui.widgets.views.cell_numbers import CellNumbers
from robgui.gui.widgets.views.spots import SIGN, Spots, spot_keys
from robgui.gui.widgets.views.widget import ViewWidget

#: Of cells that were not computed.
GUESSED_WORDS = "not computed, as a coarser cell"


class MatrixView(ViewWidget):
    """Draws a Matrix; ``chosen`` gives the cell that was clicked, ``(row, column)``."""

    kind = Matrix

    def build(self) -> None:
        """A heat map with numbers and signs over it, and its legend."""
        self.heat = Heat()
        self.legend = Legend()
        self.spots = Spots(self.heat.plot)
        if self.mini:
            self.numbers = None
        else:
            self.numbers = CellNumbers(self.heat)
        self.put(Keyed(self.heat, self.legend))
        self.heat.hovered.connect(self._hovered)
        self.heat.clicked.connect(lambda x, y: self.chosen.emit(cell_at(self.view, x, y)))

    def draw(self, view: Matrix) -> None:
        """Gives the image its new values; colours and levels are those of the view."""
        show_matrix(self.heat, view)
        self.heat.bar.setVisible(view.classes is None and not self.mini)
        keys = [*class_keys(view), *spot_keys(view.spots)]
        self.legend.show_keys(keys)
        self.legend.setVisible(bool(keys) and not self.mini)
        self.spots.show_spots(view.spots)
        if self.numbers is not None:
            self.numbers.show_matrix(view)

    @property
    def axes(self) -> Plot:
        """The plot of the map."""
        return self.heat.plot

    def callouts(self) -> list[Callout]:
        """What its rows, columns and colours mean."""
        plot, view = self.heat.plot, self.view
        found = [*of_axes(plot, view.x, view.y, self), *of_cells(plot, view, self)]
        if view.classes is None and view.scale.title:
            side = self.heat.bar.mapTo(self, self.heat.bar.rect().bottomRight())
            low, high = (view.scale.words(level) for level in view.levels)
            words = f"Colour: {view.scale.title}, from {low} to {high}."
            found.append(Callout(side - QPoint(12, 12), words))
        return found

    def _hovered(self, place: tuple[float, float] | None) -> None:
        self.tell("" if place is None else self.read(*place))

    def read(self, x: float, y: float) -> str:
        """The cell under the pointer and the sign on it."""
        pixel = self.heat.plot.box.viewPixelSize()
        # A sign has a size in pixels whatever the zoom, so the reach is measured in them too; the
        # axes may be turned round, hence the absolute values.
        near = (SIGN / 2 * abs(pixel[0]), SIGN / 2 * abs(pixel[1]))
        sign = self.spots.at(x, y, near)
        words = cell_words(self.view, x, y)
        if sign:
            return f"{words}; {sign}"
        return words


def show_matrix(heat: Heat, view: Matrix) -> None:
    """Draws a matrix into a heat map: its axes, its image, its scale."""
    heat.plot.show_axes(view.x, view.y, view.columns, view.rows)
    heat.hatching.setVisible(view.guessed is not None or bool(empty_words(view)))
    if view.classes is not None:
        heat.show_pixels(class_pixels(view, theme.dark), view.rect)
        return
    name, flipped = colour_map(view.worst, theme.dark)
    heat.set_colours(lookup(name, flipped, theme.dark and name == "diverging"))
    heat.bar.set_axis(view.scale)
    if view.guessed is None:
        heat.show_values(view.values.astype(np.float32), view.rect, view.levels)
        return
    heat.bar.set_levels(view.levels)
    heat.show_pixels(see_through(heat.coloured(view.values, view.levels), view), view.rect)


def class_keys(view: Matrix) -> list[LegendKey]:
    """The classes that win somewhere, what the intensity means, and what is not known."""
    if view.classes is None:
        return _unknown_keys(view)
    winners, counts = np.unique(view.classes[view.classes >= 0], return_counts=True)
    keys = []
    # Stable, so classes of the same area keep their places from one live step to the next.
    for number in winners[np.argsort(-counts, kind="stable")]:
        ink = class_ink(view, int(number))
        if number < len(view.class_names):
            name = view.class_names[number]
        else:
            name = f"class {number}"
        keys.append(LegendKey(name, pen(ink, 1, Qt.PenStyle.SolidLine), brush=fill(ink, 0)))
    quiet = pen(Ink("quiet"), 1)
    keys.append(LegendKey(f"intensity: {view.scale.title}", quiet, brush=_fading()))
    return [*keys, *_unknown_keys(view)]


def _unknown_keys(view: Matrix) -> list[LegendKey]:
    """What is hatched: unknown cells, and those that show what a coarser one has."""
    if view.guessed is not None:
        words = [GUESSED_WORDS, empty_words(view)]
    else:
        words = [empty_words(view)]
    return [LegendKey(one, pen(Ink("quiet"), 1), brush=hatched()) for one in words if one]


def _fading() -> QBrush:
    """From the palest to the most intense."""
    ramp = QLinearGradient(0, 0, 1, 0)
    # From 0 to 1 across whatever is filled with it.
    ramp.setCoordinateMode(QGradient.CoordinateMode.ObjectMode)
    ramp.setColorAt(0, QColor(theme.colours.surface))
    ramp.setColorAt(1, colour(Ink("text")))
    return QBrush(ramp)


def cell_at(view: Matrix, x: float, y: float) -> tuple[int, int]:
    """Row and column of the cell at a place."""
    left, bottom, width, height = view.rect
    rows, columns = view.values.shape
    # floor and not int: int rounds towards zero and would take what lies just outside for cell 0.
    row = math.floor((y - bottom) / (height or 1.0) * rows)
    column = math.floor((x - left) / (width or 1.0) * columns)
    # The upper edge belongs to no cell by itself; the mouse can still be on it.
    return min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)


def cell_words(view: Matrix, x: float, y: float) -> str:
    """A cell in words: where it is, what its value is, which class wins there."""
    if not view.values.size:
        return ""
    row, column = cell_at(view, x, y)
    across = _place(view.x, view.columns, column, view.rect[0], view.rect[2] / view.values.shape[1])
    up = _place(view.y, view.rows, row, view.rect[1], view.rect[3] / view.values.shape[0])
    value = float(view.values[row, column])
    if math.isfinite(value):
        known = f"{view.scale.name} {view.scale.words(value)}"
    else:
        known = view.unknown
    if view.classes is not None and (number := int(view.classes[row, column])) >= 0:
        if number < len(view.class_names):
            name = view.class_names[number]
        else:
            name = f"class {number}"
        known = f"{name}, {known}"
    if view.guessed is not None and view.guessed[row, column]:
        known = f"not computed, a coarser cell has {known}"
    return f"{up}, {across}: {known}"


def _place(axis: Axis, names: tuple[str, ...], number: int, begin: float, width: float) -> str:
    """One row or column in words: its name, or its middle on the axis."""
    if names:
        words = names[number]
    else:
        words = axis.words(begin + (number + 0.5) * width)
    return f"{axis.name} {words}".strip()
