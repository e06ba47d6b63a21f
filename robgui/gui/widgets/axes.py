"""The axis of a plot: numbers that read as an Axis says, or names; long titles are elided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontInfo, QFontMetrics

from robgui.core.text.words import number
from robgui.core.view import Axis
from robgui.gui.widgets.elided import in_lines

#: A longer name is cut in its middle; below a plot it may be half as long again.
LONGEST_NAME = 16
#: Most ticks; more add nothing.
MOST_TICKS = 9
#: Pixels that a number may reach beyond the end of its axis.
_EDGE = 15
#: Pixels around a title that stay empty.
_TITLE_MARGIN = 5
#: Round angles.
_DEGREES = (10, 15, 30, 45, 90, 180, 360)
#: Names that do not fit are written smaller, down to this many points; then only some are written.
_LEAST_POINTS = 9.0
#: Names that stand upright take at most this share of the height of the plot.
_HIGHEST = 0.3


class ViewAxis(pg.AxisItem):
    """Numbers by an Axis, or names of cells of width 1 that begin at 0.

    Below a plot the names stand upright as soon as one of them is wider than its cell. Without an
    Axis and names it is an ordinary axis with a title.
    """

    def __init__(self, side: str) -> None:
        self._side = side
        self._axis: Axis | None = None
        self._names: tuple[str, ...] = ()
        self._upright = False
        self._title = ""
        self._titled = True
        self._bare = False
        self._widths: dict[str, int] = {}
        self._limit = 0
        self._share = 1.0
        self._whole: QFont | None = None
        super().__init__(side)
        # Else pyqtgraph scales the numbers by itself and writes "(x0.001)" into the title.
        self.enableAutoSIPrefix(False)
        self.setStyle(autoReduceTextSpace=False)

    @property
    def upright(self) -> bool:
        """Whether the names stand upright."""
        return self._upright

    def show_axis(self, axis: Axis, names: Sequence[str] = ()) -> None:
        """Numbers as ``axis`` says, or ``names`` instead of them; ``axis`` gives the title."""
        if (axis, tuple(names)) == (self._axis, self._names):
            return
        self._axis = axis
        self.set_names(names)
        self._title = axis.title
        self._write_title()

    def set_titled(self, titled: bool) -> None:
        """Whether the title is written; a small picture needs its room."""
        if titled != self._titled:
            self._titled = titled
            self._write_title()
            self._fit()

    def set_names(self, names: Sequence[str]) -> None:
        """Names of the cells, in the order of the axis; none gives numbers again."""
        self._names = tuple(names)
        self._widths = {}
        self.setStyle(tickLength=0 if self._names else -5)
        self._fit()
        self.picture = None
        self.update()

    def tickValues(self, low: float, high: float, size: float) -> list[Any]:
        """Where something is written: few places at round numbers, or the middles of the cells."""
        low, high = sorted((low, high))  # An axis that runs downwards gives them in reverse.
        if self._names:
            return self._name_places(low, high, size)
        if self._axis is None:
            return list(super().tickValues(low, high, size))
        step = self._step(self._axis, low, high, size)
        # 1e-6 of a step: a tick at the very end must not be lost to rounding.
        first, last = math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6)
        return [(step, [place * step for place in range(first, last + 1)])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The names, shortened where they are long, or the numbers as the Axis says."""
        if self._names:
            return [self._name(value) for value in values]
        if self._axis is None:
            return list(super().tickStrings(values, scale, spacing))
        return [tick_words(self._axis, value, spacing) for value in values]

    def generateDrawSpecs(self, painter: Any) -> Any:
        """Where everything is drawn; names that stand upright have a rectangle that does too."""
        specs = super().generateDrawSpecs(painter)
        if specs is None or not self._upright:
            return specs
        line, ticks, _ = specs
        metrics, (low, high) = QFontMetrics(self.font()), self.range
        gap, length = self.style["tickTextOffset"][1], self._longest(metrics, self._limit)
        align, dont = Qt.AlignmentFlag, Qt.TextFlag.TextDontClip
        flags = align.AlignRight | align.AlignVCenter | dont
        texts = []
        for _, _, end in ticks:
            name = self._name(low + (high - low) * end.x() / max(self.size().width(), 1))
            corner = end.x() - metrics.height() / 2
            texts.append((QRectF(corner, end.y() + gap, metrics.height(), length), flags, name))
        return line, ticks, texts

    def drawPicture(self, painter: Any, line: Any, ticks: Any, texts: Any) -> None:
        """Draws what ``generateDrawSpecs`` has placed."""
        super().drawPicture(painter, line, ticks, () if self._upright else texts)
        for place, flags, name in texts if self._upright else ():
            painter.save()
            painter.translate(place.center().x(), place.top())
            painter.rotate(-90)
            box = QRectF(-place.height(), -place.width() / 2, place.height(), place.width())
            painter.drawText(box, flags, name)
            painter.restore()

    def resizeEvent(self, event: Any = None) -> None:
        """Less room may turn the names and break the title."""
        self._fit()
        self._write_title()
        super().resizeEvent(event)  # Puts the title into the middle, so it comes last.

    def linkedViewChanged(self, view: Any, newRange: Any = None) -> None:
        """So may other cells on show."""
        super().linkedViewChanged(view, newRange)
        self._fit()

    def boundingRect(self) -> Any:
        """With room for half a number beyond both ends: the first and the last are written too."""
        if self._side == "bottom":
            sides = (-_EDGE, 0, _EDGE, 0)
        else:
            sides = (0, -_EDGE, 0, _EDGE)
        return super().boundingRect().adjusted(*sides)

    def font(self) -> QFont:
        """The font of the numbers and names, smaller where many names stand close together."""
        chosen: QFont | None = self.style["tickFont"]
        return chosen or super().font()

    def setTickFont(self, font: QFont | None) -> None:
        """The font of numbers and of names that fit."""
        self._whole = font
        self._share = 1.0
        super().setTickFont(font)
        self._fit()

    def _shrink(self, size: float) -> None:
        """Takes the largest font in which every name of cells along ``size`` pixels fits."""
        base = self._whole or super().font()
        cell = size / max(abs(self.range[1] - self.range[0]), 1e-9)
        share = min(1.0, cell / (QFontMetrics(base).height() * 1.02))
        if not (share * QFontInfo(base).pointSizeF() >= _LEAST_POINTS):
            share = 1.0
        # A font that changes by a hair would have all names measured again, at every frame.
        if abs(share - self._share) < 0.02:
            return
        self._share = share
        smaller = QFont(base)
        smaller.setPointSizeF(QFontInfo(base).pointSizeF() * share)
        self._widths = {}
        super().setTickFont(smaller)

    def _step(self, axis: Axis, low: float, high: float, size: float) -> float:
        """The distance of two numbers: round, and wide enough that they do not touch."""
        metrics = QFontMetrics(self.font())
        room = metrics.height() * 2.2
        if self._side == "bottom":
            ends = (tick_words(axis, end, (high - low) / 5) for end in (low, high))
            room = max(metrics.horizontalAdvance(words) for words in ends) + room / 2
        least = (high - low) / np.clip(size / room, 2, MOST_TICKS)
        if axis.unit == "°" and least > 5:
            return next((float(step) for step in _DEGREES if step >= least), 360.0)
        step = _round_step(least)
        whole = axis.log or axis.kind == "count"
        if whole:
            return max(1.0, math.ceil(step))
        return step

    def _name_places(self, low: float, high: float, size: float) -> list[Any]:
        """The middles of the cells, as many as fit without touching.

        None below a small picture that would have to write them upright.
        """
        if self._bare:
            return []
        lies = self._side == "bottom" and not self._upright
        room = 1.0 if lies else QFontMetrics(self.font()).height() * 1.02
        fits = self._share < 1  # The font is as small as every name needs.
        if fits:
            step = 1
        else:
            step = max(1, math.ceil((high - low) * room / max(size, 1)))
        first, last = max(0, math.floor(low)), min(len(self._names), math.ceil(high))
        first += -first % step
        return [(step, [place + 0.5 for place in range(first, last, step)])]

    def _fit(self) -> None:
        """Takes the room that the names need; turns those below a plot that are too wide."""
        if not self._names:
            self._upright = False
            if self._share != 1:
                self._share = 1.0
                super().setTickFont(self._whole)
            if self._axis is not None and self._side == "bottom":
                self._take(self.setHeight, self.fixedHeight, self._lying_height())
            elif self._axis is not None:
                self._take(self.setWidth, self.fixedWidth, None)
            return
        if self._side != "bottom":
            self._shrink(self.size().height())
        metrics = QFontMetrics(self.font())
        title = self._title_height()
        if self._side != "bottom":
            self._limit = self._highest(metrics.averageCharWidth())
            wide = self._longest(metrics, self._limit) + title + 8
            self._take(self.setWidth, self.fixedWidth, wide)
            return
        cell = self.size().width() / max(abs(self.range[1] - self.range[0]), 1e-9)
        room, unit = cell - metrics.averageCharWidth(), metrics.averageCharWidth()
        whole = self._longest(metrics, unit * LONGEST_NAME)
        self._upright = whole > room and room < unit * 9
        self._bare = self._upright and not self._titled
        self._upright = self._upright and not self._bare
        lying = int(min(unit * LONGEST_NAME * 1.5, room))
        self._limit = self._highest(unit) if self._upright else lying
        needed = self._lying_height()
        if self._upright:
            needed = self._longest(metrics, self._limit) + self.style["tickTextOffset"][1] + title
        self._take(self.setHeight, self.fixedHeight, needed)

    def _lying_height(self) -> float:
        """Room for one line of numbers or names, and the title below it.

        Pyqtgraph's own share for the title is too little for large letters.
        """
        line = QFontMetrics(self.font()).height() + self.style["tickTextOffset"][1]
        title = max(0.0, self._title_height() - _TITLE_MARGIN)
        return line + max(0, self.style["tickLength"]) + title

    @staticmethod
    def _take(change: Any, now: float | None, wanted: float | None) -> None:
        if now != wanted:
            change(wanted)

    def _title_height(self) -> float:
        shown = self.label is not None and self.label.isVisible()
        if shown:
            return float(self.label.boundingRect().height())
        return 0.0

    def _write_title(self) -> None:
        """The title in one line or two, or as much of it as fits.

        Plain text, whatever a file has called its classes.
        """
        if self._axis is None or self.label is None:
            return
        size = self.size()
        if self._side in ("bottom", "top"):
            room = size.width()
        else:
            room = size.height()
        lines = in_lines(self._title, QFontMetrics(self.label.font()), max(40, int(room) - 8))
        words = "<br>".join(escape(line) for line in lines)
        if words != self.labelText:
            self.setLabel(words)
            self._fit()
            super().resizeEvent()
        written = self._titled and words not in ("", "…")
        if written != self.label.isVisible():
            self.showLabel(written)

    def _longest(self, metrics: QFontMetrics, limit: int) -> int:
        """Width of the widest name, measured once for each font: there may be a thousand."""
        key = self.font().key()
        if key not in self._widths:
            widths = (metrics.horizontalAdvance(name) for name in self._names)
            self._widths[key] = max(widths, default=0)
        return min(self._widths[key], limit)

    def _name(self, value: float) -> str:
        place = math.floor(value)
        if not 0 <= place < len(self._names):
            return ""
        return self._cut(self._names[place], QFontMetrics(self.font()))

    def _cut(self, name: str, metrics: QFontMetrics) -> str:
        return metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, self._limit)

    def _highest(self, unit: int) -> int:
        """How far names may reach away from the plot: in a small one the picture needs the room."""
        view, most = self.linkedView(), unit * LONGEST_NAME
        if view is None:
            return most
        own = self.size()
        low = self._side == "bottom"
        if low:
            whole = view.height() + own.height()
        else:
            whole = view.width() + own.width()
        return int(min(most, max(unit * 7, _HIGHEST * whole)))


def tick_words(axis: Axis, value: float, spacing: float) -> str:
    """A number beside an axis: as short as its neighbours allow."""
    if axis.log:
        return number(10.0**value)
    if axis.kind == "share":
        return f"{_decimals(100 * value, 100 * spacing)} %"
    if 0 < abs(value) < 1e-3 or abs(value) >= 1e6:
        return number(value)
    return _decimals(value, spacing)


def _decimals(value: float, spacing: float) -> str:
    if spacing > 0:
        digits = max(0, math.ceil(-math.log10(spacing) - 1e-9))
    else:
        digits = 0
    # Adding 0.0 turns −0.0 into 0.0.
    return f"{value + 0.0:,.{min(digits, 6)}f}"


def _round_step(least: float) -> float:
    """The next of 1, 2, 5, 10, 20, … that is not smaller than ``least``."""
    if not math.isfinite(least) or least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * (1 - 1e-9))
