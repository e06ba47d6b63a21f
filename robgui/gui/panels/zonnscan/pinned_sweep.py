"""A sweep that stays in the plot, so that the next one can be compared with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt

from robgui.core.text.words import percent
from robgui.gui.app.theme import theme
from robgui.gui.widgets.plots import Key, Plot

if TYPE_CHECKING:
    from robgui.analyses.zonnscan import ZonnscanResult


@dataclass(frozen=True)
class Pinned:
    """A result and what to call it."""

    result: ZonnscanResult
    name: str


class Reference:
    """The faint lines of a pinned sweep: index with its band, and the share in other classes."""

    def __init__(self, plot: Plot) -> None:
        self.pinned: Pinned | None = None
        self.index = pg.PlotDataItem()
        self.crossing = pg.PlotDataItem(symbol="d", symbolSize=6, pxMode=True)
        self._low, self._high = pg.PlotCurveItem(pen=None), pg.PlotCurveItem(pen=None)
        self._band = pg.FillBetweenItem(self._low, self._high)
        for item in (self._low, self._high, self._band, self.crossing, self.index):
            item.setZValue(-10)
            plot.addItem(item)
        self.restyle()

    def pin(self, pinned: Pinned | None) -> None:
        """Shows the lines of this sweep, or none."""
        self.pinned = pinned
        nothing = np.zeros(0)
        if pinned is None:
            series = [nothing] * 5
        else:
            r = pinned.result
            series = [r.radii, r.index, r.crossing, r.ci_low, r.ci_high]
        radii = series[0]
        for item, values in zip((self.index, self.crossing, self._low, self._high), series[1:], strict=True):
            item.setData(radii, values)

    def restyle(self) -> None:
        """Thin and pale, in the colour of the text: what belongs to the present run is stronger."""
        self.index.setPen(self._pen(Qt.PenStyle.DashLine))
        self.crossing.setPen(self._pen(Qt.PenStyle.DotLine))
        self.crossing.setSymbolPen(self._pen(Qt.PenStyle.SolidLine))
        self.crossing.setSymbolBrush(None)
        self._band.setBrush(_pale(24))

    def _pen(self, style: Qt.PenStyle) -> object:
        return pg.mkPen(_pale(150), width=1.25, style=style)

    def keys(self) -> list[Key]:
        """Its lines of the legend."""
        if self.pinned is None:
            return []
        return [Key("reference index", self.index.opts["pen"]), Key("reference share", self.crossing.opts["pen"], "d")]

    def figures(self, radius: float) -> tuple[str, str, str] | None:
        """Its index and share at the radius nearest to ``radius``, and its name; None without a reference."""
        if self.pinned is None:
            return None
        result = self.pinned.result
        place = int(np.abs(result.radii - radius).argmin())
        return f"{result.index[place]:.3f}", percent(float(result.crossing[place])), self.pinned.name


def _pale(alpha: int) -> object:
    colour = pg.mkColor(theme.colours.text)
    colour.setAlpha(alpha)
    return colour
