"""Bars on the screen: side by side, stacked, or a histogram; with error bars, levels and marks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QPen

from robgui.core.view import Bars, Ink, Series
from robgui.gui.app.theme import theme
from robgui.gui.widgets.inks import fill, pen
from robgui.gui.widgets.legend import LegendKey
from robgui.gui.widgets.views.plot_view import PADDING, PlotView, scaled, span

#: Share of the height that a number above the tallest bar takes.
_HEAD = 0.1
#: A group of bars takes this share of its place.
GROUP = 0.8
#: With more bars than this their numbers are read out, not written above them.
MOST_NUMBERS = 16


@dataclass(frozen=True)
class Spread:
    """Where the bars of one series stand: left sides, widths, feet and tops."""

    left: np.ndarray
    width: np.ndarray
    foot: np.ndarray
    top: np.ndarray


class BarsView(PlotView):
    """Draws Bars; ``chosen`` gives the bar that was clicked, ``(series, place)``."""

    kind = Bars

    def build(self) -> None:
        """A plot without bars."""
        super().build()
        self.bars: list[Any] = []
        self.errors: list[Any] = []
        self.numbers: list[Any] = []
        self.spreads: list[Spread] = []
        self.plot.box.sigResized.connect(lambda _: self._make_room())
        self.plot.box.sigRangeChanged.connect(lambda *_: self._make_room())

    def draw(self, view: Bars) -> None:
        """Gives every bar its new height."""
        # without a single bar the axis has no numbers of its own
        if view.edges is None:
            names = view.names or ("",)
        else:
            names = ()
        self.plot.show_axes(view.x, view.value, names)
        while len(self.bars) < len(view.series):
            # Kept for life: new items for each Step would cost more than drawing them.
            self.bars.append(pg.BarGraphItem(x0=[], x1=[], y0=[], y1=[]))
            self.errors.append(pg.ErrorBarItem(x=np.zeros(0), y=np.zeros(0)))
            # Error bars above all bars, also above those of the next series.
            for item, depth in ((self.bars[-1], 0), (self.errors[-1], 1000)):
                item.setZValue(depth)
                self.plot.addItem(item, ignoreBounds=True)
        self.spreads = spread(view)
        for place in range(len(self.bars)):
            if place < len(view.series):
                row = view.series[place]
            else:
                row = None
            self._draw_series(view, row, place)
        keys = self._keys(view) + self.show_marks(view.levels, 0, view.value)
        self.show_keys(keys + self.show_marks(view.marks, 90, view.x), view.value)
        self._fit(view)
        self._write(view)

    def read(self, x: float, y: float) -> str:
        """The bars at the pointer's place on the horizontal axis."""
        view: Bars = self.view
        place = self._place(x)
        if place is None:
            return ""
        where = _where(view, place)
        values = [_value(view, row, place) for row in view.series]
        return f"{where}: {', '.join(words for words in values if words)}"

    def hit(self, x: float, y: float) -> object | None:
        """The bar at a place, above its top too, so a short one can be hit."""
        place = self._place(x)
        if place is None:
            return None
        for series, one in enumerate(self.spreads):
            inside = one.left[place] <= x <= one.left[place] + one.width[place]
            tall = not self.view.stacked or one.foot[place] <= y <= one.top[place]
            if inside and tall:
                return series, place
        return None

    def _draw_series(self, view: Bars, row: Series | None, place: int) -> None:
        bars, errors = self.bars[place], self.errors[place]
        bars.setVisible(row is not None)
        errors.setVisible(row is not None and row.low is not None)
        if row is None:
            return
        one = self.spreads[place]
        area = view.stacked and view.edges is not None and row.low is None and not row.each
        if area:
            one = joined(one)
        known = np.isfinite(one.top)
        drawn = known & (one.top != one.foot)  # a bar of nothing would be a line
        sides = (one.left[drawn], (one.left + one.width)[drawn], one.foot[drawn], one.top[drawn])
        brush, line = fill(row.ink, place), pen(row.ink, 1, Qt.PenStyle.SolidLine)
        if area:
            line = QPen(Qt.PenStyle.NoPen)
        # None: pyqtgraph keeps what bars of another view had.
        own = [one for one, seen in zip(row.each, drawn, strict=True) if seen] if row.each else []
        brushes = [fill(one, place) for one in own] or None
        pens = [pen(one, 1, Qt.PenStyle.SolidLine) for one in own] or None
        bars.setOpts(x0=sides[0], x1=sides[1], y0=sides[2], y1=sides[3], brush=brush, pen=line)
        bars.setOpts(brushes=brushes, pens=pens)
        if row.low is not None and row.high is not None:
            low, high = scaled(view.value, row.low), scaled(view.value, row.high)
            known &= np.isfinite(low) & np.isfinite(high)
            middle = (one.left + one.width / 2)[known]
            up, down = (high - one.top)[known], (one.top - low)[known]
            beam = float(one.width.min(initial=1.0)) * 0.4
            line = pen(Ink("text"), 2)
            errors.setData(x=middle, y=one.top[known], top=up, bottom=down, beam=beam, pen=line)

    def _keys(self, view: Bars) -> list[LegendKey]:
        if len(view.series) < 2:
            return []
        return [
            LegendKey(row.name, pen(row.ink, 1, Qt.PenStyle.SolidLine), brush=fill(row.ink, place))
            for place, row in enumerate(view.series)
        ]

    def _place(self, x: float) -> int | None:
        """The group of bars, or the bin, at a place."""
        view: Bars = self.view
        if view.edges is None:
            place = math.floor(x)
            if 0 <= place < len(view.names):
                return place
            return None
        place = int(np.searchsorted(view.edges, x, side="right")) - 1
        if 0 <= place < len(view.edges) - 1:
            return place
        return None

    def _fit(self, view: Bars) -> None:
        heights = [part for one in self.spreads for part in (one.foot, one.top)]
        bounds = [end for row in view.series for end in (row.low, row.high) if end is not None]
        heights += [scaled(view.value, end) for end in bounds]
        heights.append(scaled(view.value, np.array([mark.at for mark in view.levels], float)))
        low, high = span(view.value, heights)
        known = [float(part[np.isfinite(part)].max(initial=low)) for part in heights]
        full = high - max(known, default=low) < _HEAD * (high - low)
        if self._written(view) and (full or not math.isfinite(view.value.high)):
            high += _HEAD * (high - low)  # room for the numbers above the bars
        # A little below 0 is the room that span leaves at either end, not a bar that hangs down.
        if not math.isfinite(view.value.low) and not view.value.log and low > -PADDING * high:
            low = 0.0  # bars stand on the axis
        if view.edges is None:
            ends = (0.0, float(max(1, len(view.names))))
        else:
            ends = span(view.x, [view.edges])
        self.plot.set_frame(ends, (low, high))

    def _written(self, view: Bars) -> bool:
        """Whether the numbers stand above the bars."""
        count = len(view.names) * len(view.series)
        plain = view.edges is None and not view.stacked and not self.mini
        return plain and 0 < count <= MOST_NUMBERS

    def _write(self, view: Bars) -> None:
        """Writes the values above their bars where there are few enough."""
        wanted = [
            (one.left[place] + one.width[place] / 2, one.top[place], row, place)
            for one, row in zip(self.spreads, view.series, strict=True)
            for place in range(len(view.names))
            if self._written(view) and np.isfinite(one.top[place])
        ]
        while len(self.numbers) < len(wanted):
            self.numbers.append(pg.TextItem(anchor=(0.5, 1)))
            self.numbers[-1].setZValue(900)
            self.plot.addItem(self.numbers[-1], ignoreBounds=True)
        for item, (x, y, row, place) in zip(self.numbers, wanted, strict=False):
            value = float(row.values[place])
            if row.high is None or not np.isfinite(row.high[place]):
                top = y
            else:
                # Above the whisker, which would run through the number otherwise.
                top = scaled(view.value, row.high[place : place + 1])[0]
            item.setFont(self.plot.font())
            item.setPlainText(view.value.words(value))
            item.setColor(theme.colours.text)
            item.fill = pg.mkBrush(theme.colours.surface)  # no line goes through a number
            # Below a bar that hangs down, above one that stands.
            item.setAnchor((0.5, 0.0 if value < 0 else 1.0))
            item.setPos(x, y if value < 0 else top)
        # Emptied, not removed: the next view may need them again.
        for item in self.numbers[len(wanted) :]:
            item.setPlainText("")
        self._make_room()

    def _make_room(self) -> None:
        """Hides all numbers where one of them would touch the next bar or leave the plot."""
        written = [item for item in self.numbers if item.toPlainText()]
        if not written or not self.spreads:
            return
        pixel = abs(self.plot.box.viewPixelSize()[0]) or 1.0
        # A bar alone in its group has a gap beside it, in which its number may stand too.
        if len(self.spreads) > 1:
            share = 1.0
        else:
            share = GROUP
        room = float(self.spreads[0].width.min(initial=1.0)) / pixel / share
        widest = max(item.textItem.boundingRect().width() for item in written)
        for item in self.numbers:
            # The rectangle of a QGraphicsTextItem has a
            # margin of four pixels, which may overlap.
            shown = bool(item.toPlainText()) and widest <= room + 4
            item.setVisible(shown and self._within(item))

    def _within(self, item: Any) -> bool:
        """Whether all of a number is within the plot: one that is cut reads as another."""
        box = self.plot.box
        low, high = box.viewRange()[1]
        reach = item.textItem.boundingRect().height() * (abs(box.viewPixelSize()[1]) or 1.0)
        below = item.anchor.y() == 0.0
        if below:
            ends = (item.pos().y() - reach, item.pos().y())
        else:
            ends = (item.pos().y(), item.pos().y() + reach)
        return bool(low <= ends[0] and ends[1] <= high + 0.25 * reach)


def spread(view: Bars) -> list[Spread]:
    """Where the bars of each series stand."""
    if view.edges is not None:
        left, width = view.edges[:-1].astype(float), np.diff(view.edges).astype(float)
    else:
        left = np.arange(len(view.names)) + (1 - GROUP) / 2
        width = np.full(len(view.names), GROUP)
    if view.stacked:
        count = 1
    else:
        count = max(1, len(view.series))
    foot = np.zeros(len(left))
    made = []
    for number, row in enumerate(view.series):
        values = scaled(view.value, row.values)
        if view.stacked:
            start = foot
        else:
            start = np.zeros(len(left))
        if view.value.log:
            # A logarithmic axis has no 0 to stand on.
            start = np.full(len(left), _lowest(view))
        shift = 0 if view.stacked else number
        if view.stacked:
            top = start + values
        else:
            top = values
        made.append(Spread(left + shift * width / count, width / count, start, top))
        # An unknown part adds nothing, so those above it still have a foot.
        foot = foot + np.nan_to_num(values)
    return made


def joined(one: Spread) -> Spread:
    """The parts of a stacked histogram with equal neighbours as one: steps without seams."""
    other = (np.diff(one.foot) != 0) | (np.diff(one.top) != 0)
    first = np.flatnonzero(np.concatenate([[True], other]))
    right = one.left + one.width
    ends = np.append(first[1:], len(one.left)) - 1
    return Spread(one.left[first], right[ends] - one.left[first], one.foot[first], one.top[first])


def _lowest(view: Bars) -> float:
    """Where bars over powers of ten stand: where the axis begins, or a power below the least."""
    begin = float(scaled(view.value, np.array([view.value.low]))[0])
    if math.isfinite(begin):
        return begin
    tops = [scaled(view.value, row.values) for row in view.series]
    least = min((float(np.nanmin(top)) for top in tops if np.isfinite(top).any()), default=0.0)
    return math.floor(least) - 1.0


def _where(view: Bars, place: int) -> str:
    if view.edges is None:
        return view.names[place]
    low, high = (view.x.words(float(edge)) for edge in view.edges[place : place + 2])
    return f"{view.x.name} {low} to {high}".strip()


def _value(view: Bars, row: Series, place: int) -> str:
    value = float(row.values[place])
    if not math.isfinite(value):
        return ""
    words = view.value.words(value)
    if row.low is not None and row.high is not None and np.isfinite(row.low[place]):
        low, high = (view.value.words(float(end[place])) for end in (row.low, row.high))
        words += f" ({low} to {high})"
    if len(view.series) > 1:
        return f"{row.name} {words}".strip()
    return words
