"""What a user puts on a map: the starts of regions, and the point that is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg

from robgui.gui.widgets.plots import Plot

#: Above everything that a view draws.
_DEPTH = 4000


class PlotMarks:
    """Stars and rings over a plot; rims keep them readable on any colour."""

    def __init__(self, plot: Plot) -> None:
        star = {
            "symbol": "star",
            "size": 15,
            "brush": pg.mkBrush("w"),
            "pen": pg.mkPen("k", width=1),
        }
        self.starts = pg.ScatterPlotItem(**star)
        ring = {"symbol": "o", "size": 21, "brush": None}
        self.rim = pg.ScatterPlotItem(**ring, pen=pg.mkPen("w", width=4))
        self.point = pg.ScatterPlotItem(**ring, pen=pg.mkPen("k", width=1.5))
        for item in (self.starts, self.rim, self.point):
            item.setZValue(_DEPTH)
            plot.addItem(item, ignoreBounds=True)

    def show_starts(self, at: Sequence[Sequence[float]]) -> None:
        """A star at every ``(x, y)``."""
        self.starts.setData(pos=_places(at))

    def show_point(self, at: Sequence[Sequence[float]]) -> None:
        """A ring around every ``(x, y)``, usually one or none."""
        for item in (self.rim, self.point):
            item.setData(pos=_places(at))


def _places(at: Sequence[Sequence[float]]) -> Any:
    return np.array(at, dtype=float).reshape(-1, 2)
