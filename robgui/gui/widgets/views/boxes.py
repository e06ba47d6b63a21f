"""Boxes on the screen: rectangles over two axes, on the map they were found in if there is one."""

from __future__ import annotations

import math
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QRectF
from PySide6.QtGui import QBrush, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsPathItem

from robgui.core.view import Axis, Box, Boxes, Ink
from robgui.gui.app.theme import theme
from robgui.gui.widgets.heat import Heat, Rect
from robgui.gui.widgets.inks import colour, pen
from robgui.gui.widgets.legend import Keyed, Legend, LegendKey
from robgui.gui.widgets.plots import Plot
from robgui.gui.widgets.views.matrix import cell_words, class_keys, show_matrix
from robgui.gui.widgets.views.spots import SIGN, Spots, spot_keys
from robgui.gui.widgets.views.widget import ViewWidget

#: More names over the picture than this cover each other; the others are read out.
MOST_NAMES = 24


class BoxesView(ViewWidget):
    """Draws Boxes; ``chosen`` gives the number of the smallest box that was clicked."""

    kind = Boxes

    def build(self) -> None:
        """A map with rectangles, names and signs over it, and their legend."""
        self.heat = Heat()
        self.legend = Legend()
        self.spots = Spots(self.heat.plot)
        self.rims: list[QGraphicsPathItem] = []
        self.names: list[Any] = []
        self.put(Keyed(self.heat, self.legend))
        self.heat.hovered.connect(self._hovered)
        self.heat.clicked.connect(self._pressed)
        self.heat.plot.box.sigResized.connect(lambda _: self._unpile())
        self.heat.plot.box.sigRangeChanged.connect(lambda *_: self._unpile())

    def draw(self, view: Boxes) -> None:
        """Gives every rectangle its new place."""
        if view.behind is not None:
            show_matrix(self.heat, view.behind)
        else:
            self.heat.image.clear()
        self.heat.plot.show_axes(view.x, view.y, (), view.lanes)
        self.heat.place(_rect(view))
        plain = view.behind is not None and view.behind.classes is None
        self.heat.bar.setVisible(plain and not self.mini)
        if view.behind is None:
            keys = []
        else:
            keys = class_keys(view.behind)
        keys = [*self._draw_boxes(view), *keys, *spot_keys(view.spots)]
        self.legend.show_keys(keys)
        self.legend.setVisible(bool(keys) and not self.mini)
        self.spots.show_spots(view.spots)
        self._name(view)

    @property
    def axes(self) -> Plot:
        """The plot of the map."""
        return self.heat.plot

    def _hovered(self, place: tuple[float, float] | None) -> None:
        self.tell("" if place is None else self.read(*place))

    def read(self, x: float, y: float) -> str:
        """The boxes and signs under the pointer, and the value of the map behind them."""
        view: Boxes = self.view
        pixel = self.heat.plot.box.viewPixelSize()
        sign = self.spots.at(x, y, (SIGN / 2 * abs(pixel[0]), SIGN / 2 * abs(pixel[1])))
        inside = [_box_words(view, view.boxes[number]) for number in _at(view, x, y)]
        if view.behind is None:
            behind = ""
        else:
            behind = cell_words(view.behind, x, y)
        # The two smallest: the line below the picture has room for no more.
        return "; ".join(part for part in (sign, *inside[:2], behind) if part)

    def _pressed(self, x: float, y: float) -> None:
        if found := _at(self.view, x, y):
            self.chosen.emit(found[0])

    def _draw_boxes(self, view: Boxes) -> list[LegendKey]:
        """One item for each ink, with a rim below it: a hundred boxes cost as little as one."""
        inks = list(dict.fromkeys(box.ink for box in view.boxes))
        while len(self.rims) < 2 * len(inks):
            self.rims.append(QGraphicsPathItem())
            self.rims[-1].setZValue(2000 + len(self.rims))
            self.heat.plot.addItem(self.rims[-1], ignoreBounds=True)
        for item in self.rims:
            # A former view may have had more inks, and their items stay in the plot.
            item.setPath(QPainterPath())
        for place, ink in enumerate(inks):
            path = QPainterPath()
            for box in view.boxes:
                if box.ink == ink:
                    path.addRect(QRectF(box.x, box.y, box.width, box.height))
            rim, line = self.rims[2 * place : 2 * place + 2]
            rim.setPath(path)
            rim.setPen(QPen(pg.mkPen(theme.colours.surface, width=4)))
            line.setPath(path)
            line.setPen(pen(ink, 2))
            # Over a map the boxes stay open, so its colours can be read.
            line.setBrush(pg.mkBrush(colour(ink, 0.0 if view.behind is not None else 0.25)))
        return _keys(view, inks)

    def _name(self, view: Boxes) -> None:
        """Writes the names into the boxes, as far as they fit beside each other."""
        # What the legend says of a colour is not written into every box again.
        told = {box.ink for box in view.boxes if _name_of(view, box.ink)}
        named = [box for box in view.boxes if box.name and box.ink not in told]
        if self.mini:
            named = []
        else:
            named = named[:MOST_NAMES]
        while len(self.names) < len(named):
            self.names.append(pg.TextItem(anchor=(0, 0)))
            self.names[-1].setZValue(2900)
            self.heat.plot.addItem(self.names[-1], ignoreBounds=True)
        for item, box in zip(self.names, named, strict=False):
            item.setFont(self.heat.plot.font())
            item.setPlainText(box.name)
            item.setColor(theme.colours.text)
            item.fill = pg.mkBrush(pg.mkColor(theme.colours.surface))
            # The upper left corner: in a plot y grows upwards.
            item.setPos(box.x, box.y + box.height)
        for item in self.names[len(named) :]:
            item.setPlainText("")
        self._unpile()

    def _unpile(self) -> None:
        """Hides the names that would cover one already written or leave the picture."""
        taken: list[QRectF] = []
        box = self.heat.plot.box
        # Compared in pixels of the scene: names keep their size whatever the zoom.
        room = box.sceneBoundingRect()
        for item in self.names:
            corner = box.mapViewToScene(item.pos())
            size = item.textItem.boundingRect()
            place = QRectF(corner.x(), corner.y(), size.width(), size.height())
            free = room.contains(place) and not any(place.intersects(other) for other in taken)
            item.setVisible(free and bool(item.toPlainText()))
            if free:
                taken.append(place)


def _keys(view: Boxes, inks: list[Ink]) -> list[LegendKey]:
    """What each colour of boxes means, where all boxes of it have one name."""
    names = [(ink, _name_of(view, ink)) for ink in inks]
    return [LegendKey(name, pen(ink, 2), brush=QBrush()) for ink, name in names if name]


def _name_of(view: Boxes, ink: Ink) -> str:
    """The one name of all boxes of an ink; empty if they differ."""
    names = {box.name for box in view.boxes if box.ink == ink}
    if len(names) == 1:
        return names.pop()
    return ""


def _rect(view: Boxes) -> Rect:
    """What is on show: the map, or the axes, or around the boxes."""
    if view.behind is not None:
        return view.behind.rect
    x, width = _ends(view.x, [(box.x, box.x + box.width) for box in view.boxes])
    if view.lanes:
        return x, 0.0, width, float(len(view.lanes))
    y, height = _ends(view.y, [(box.y, box.y + box.height) for box in view.boxes])
    return x, y, width, height


def _ends(axis: Axis, sides: list[tuple[float, float]]) -> tuple[float, float]:
    """Where an axis begins and how long it is."""
    low = min((side[0] for side in sides), default=0.0)
    high = max((side[1] for side in sides), default=1.0)
    if math.isfinite(axis.low):
        low = axis.low
    if math.isfinite(axis.high):
        high = axis.high
    return low, (high - low) or 1.0


def _at(view: Boxes, x: float, y: float) -> list[int]:
    """The boxes at a place, the smallest first."""
    inside = [number for number, box in enumerate(view.boxes) if _holds(box, x, y)]
    # A large box around others would hide them from the pointer.
    return sorted(inside, key=lambda number: view.boxes[number].width * view.boxes[number].height)


def _holds(box: Box, x: float, y: float) -> bool:
    return box.x <= x <= box.x + box.width and box.y <= y <= box.y + box.height


def _box_words(view: Boxes, box: Box) -> str:
    """A box in words: its name and its sides."""
    across = f"{view.x.name} {view.x.words(box.x)} to {view.x.words(box.x + box.width)}"
    up = f"{view.y.name} {view.y.words(box.y)} to {view.y.words(box.y + box.height)}"
    if view.lanes:
        sides = across
    else:
        sides = f"{across}, {up}"
    if box.name:
        return f"{box.name}: {sides}"
    return sides
