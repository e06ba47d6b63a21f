"""What the views over two axes share: a plot, a legend, the pointer, lines at some values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt

from robgui.core.view import Axis, Curves, Ink, Mark
from robgui.gui.widgets.inks import pen
from robgui.gui.widgets.legend import Keyed, Legend, LegendKey
from robgui.gui.widgets.plots import Plot
from robgui.gui.widgets.views.callout import Callout, of_axes, of_lines, of_marks
from robgui.gui.widgets.views.flags import PlotFlags
from robgui.gui.widgets.views.widget import ViewWidget

#: Share of an axis left free at both ends of the data.
PADDING = 0.03


class PlotView(ViewWidget):
    """A plot with its legend beside or below it; a subclass says what stands at a place.

    Attributes:
        marks: Lines across the plot: level ones (0) and upright ones (90).
        flags: The names of the upright ones.
    """

    def __init__(self, *, mini: bool = False, later: bool = False) -> None:
        self.marks: dict[int, list[Any]] = {0: [], 90: []}
        self._movable: dict[int, Callable[[float], None]] = {}
        super().__init__(mini=mini, later=later)

    def build(self) -> None:
        """A plot with its legend."""
        self.plot = Plot("", "")
        self.legend = Legend()
        self.legend.setVisible(not self.mini)
        self.flags = PlotFlags(self.plot)
        self.put(Keyed(self.plot, self.legend))
        self.plot.scene().sigMouseMoved.connect(self._moved)
        self.plot.scene().sigMouseClicked.connect(self._pressed)

    @property
    def axes(self) -> Plot:
        """The plot."""
        return self.plot

    def callouts(self) -> list[Callout]:
        """What its axes and its lines mean."""
        view = self.view
        if not isinstance(view, Curves):
            return of_axes(self.plot, view.x, view.value, self)
        made = (of_axes(self.plot, view.x, view.y, self), of_lines(self.plot, view, self))
        return [*made[0], *made[1], *of_marks(self.plot, view, self)]

    def read(self, x: float, y: float) -> str:
        """What stands at a place of the plot, in words."""
        raise NotImplementedError

    def hit(self, x: float, y: float) -> object | None:
        """What a click at a place of the plot means; None for nothing."""
        return None

    def show_keys(self, keys: Sequence[LegendKey], axis: Axis) -> None:
        """Fills the legend; there is none without keys, or with one that ``axis`` says already."""
        if [key.words for key in keys] == [axis.name]:
            keys = ()
        self.legend.show_keys(keys)
        self.legend.setVisible(bool(keys) and not self.mini)

    def show_marks(self, marks: Sequence[Mark], angle: int, axis: Axis) -> list[LegendKey]:
        """Draws lines at some values, upright (90) or lying (0).

        The names of upright lines stand above them; those of lying ones are keys of the legend.
        """
        items = self.marks[angle]
        while len(items) < len(marks):
            items.append(pg.InfiniteLine(angle=angle))
            self.plot.addItem(items[-1], ignoreBounds=True)
        self._loosen()
        if angle:
            style = Qt.PenStyle.DashDotDotLine
        else:
            style = Qt.PenStyle.DashDotLine
        for item, mark in zip(items, marks, strict=False):
            item.setPen(pen(mark.ink, 1.5, style))
            item.setValue(scaled(axis, np.array([mark.at]))[0])
        for place, item in enumerate(items):
            item.setVisible(place < len(marks) and math.isfinite(marks[place].at))
        if angle:
            self._name(marks, axis)
            return []
        shown = [mark for mark in marks if mark.name and math.isfinite(mark.at)]
        return [LegendKey(mark.name, pen(mark.ink, 1.5, style)) for mark in shown]

    def _name(self, marks: Sequence[Mark], axis: Axis) -> None:
        """Names the upright lines; a mini picture has no room for words."""
        self.plot.setAccessibleDescription(", ".join(mark.name for mark in marks))
        if not self.mini:
            self.flags.show_marks(
                marks, scaled(axis, np.array([mark.at for mark in marks])).tolist()
            )

    def let_move(self, place: int, moved: Callable[[float], None]) -> None:
        """Lets the user drag an upright line, drawn already or later.

        ``moved`` gets its place on the axis meanwhile.
        """
        self._movable[place] = moved
        self._loosen()

    def _loosen(self) -> None:
        for place, moved in self._movable.items():
            if place < len(self.marks[90]):
                line = self.marks[90][place]
            else:
                line = None
            # Only once: connected again, it would report every move twice.
            if line is not None and not line.movable:
                line.setMovable(True)
                line.setHoverPen(pen(Ink("text"), 3))
                line.sigDragged.connect(lambda one, moved=moved: moved(float(one.value())))

    def tell(self, words: str) -> None:
        """Reads out what stands at the pointer."""
        super().tell(words)
        if not words:
            self.unpoint()

    def unpoint(self) -> None:
        """Takes away what was drawn for the pointer."""

    def _moved(self, position: QPointF) -> None:
        place = self._data(position)
        self.tell("" if place is None or self.view is None else self.read(place.x(), place.y()))

    def _pressed(self, event: Any) -> None:
        place = self._data(event.scenePos())
        single = event.button() == Qt.MouseButton.LeftButton and not event.double()
        if place is None or not single or self.view is None:
            return
        found = self.hit(place.x(), place.y())
        if found is not None:
            self.chosen.emit(found)

    def _data(self, position: QPointF) -> QPointF | None:
        box = self.plot.box
        if not box.sceneBoundingRect().contains(position):
            return None
        place: QPointF = box.mapSceneToView(position)
        return place


def scaled(axis: Axis, values: np.ndarray) -> np.ndarray:
    """Values as they stand along an axis: their logarithms where it goes by powers of ten."""
    if not axis.log:
        return np.asarray(values, float)
    # Nan is a gap; the logarithm of 0 would be an infinite range, and numpy warns of it.
    positive = np.where(np.asarray(values, float) > 0, values, np.nan)
    return np.log10(positive)


def span(axis: Axis, data: Iterable[np.ndarray]) -> tuple[float, float]:
    """Where an axis begins and ends: as it says itself, else around the data with a little room."""
    known = [part for array in data if (part := array[np.isfinite(array)]).size]
    low = min((float(part.min()) for part in known), default=0.0)
    high = max((float(part.max()) for part in known), default=1.0)
    # Data at one place only: a share of its size, or of 1 where that is 0 as well.
    room = PADDING * ((high - low) or abs(high) or 1.0)
    ends = scaled(axis, np.array([axis.low, axis.high]))
    if math.isfinite(ends[0]):
        begin = float(ends[0])
    else:
        begin = low - room
    if math.isfinite(ends[1]):
        end = float(ends[1])
    else:
        end = high + room
    if math.isfinite(ends[0]) or math.isfinite(ends[1]):
        own = PADDING * (end - begin)
    else:
        own = 0.0
    if math.isfinite(ends[0]):
        begin -= own
    if math.isfinite(ends[1]):
        end += own
    if end > begin:
        return (begin, end)
    return (begin - 0.5, begin + 0.5)
