"""Spots on the screen: signs with a rim, so they are seen on every colour."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt

from robgui.core.view import Spot
from robgui.gui.widgets.inks import SYMBOLS, colour, halo, pen
from robgui.gui.widgets.legend import LegendKey

#: Diameter in pixels of a sign without a size of its own.
SIGN = 15


class Spots:
    """The signs of a plot: those of fixed size in one item, those in axis units in another."""

    def __init__(self, plot: Any) -> None:
        self.signs = pg.ScatterPlotItem(pxMode=True)
        self.areas = pg.ScatterPlotItem(pxMode=False)
        # Items at one depth lie in the order they were added: signs above areas, which may be
        # large.
        for item in (self.areas, self.signs):
            item.setZValue(3000)
            plot.addItem(item, ignoreBounds=True)
        self._spots: tuple[Spot, ...] = ()

    def show_spots(self, spots: Sequence[Spot]) -> None:
        """Draws these signs and no others."""
        self._spots = tuple(spots)
        self.signs.setData([_sign(spot) for spot in spots if not spot.size])
        self.areas.setData([_area(spot) for spot in spots if spot.size])

    def at(self, x: float, y: float, near: tuple[float, float]) -> str:
        """The names of the signs within ``near`` of a place; empty for none."""
        found = [spot.name for spot in self._spots if spot.name and _touches(spot, x, y, near)]
        return ", ".join(dict.fromkeys(found))


def spot_keys(spots: Sequence[Spot]) -> list[LegendKey]:
    """What each kind of sign means: what the names of its signs begin with."""
    kinds: dict[tuple[Any, str], str] = {}
    for spot in spots:
        words = re.split(r":| ?\d", spot.name)[0].strip()
        if words:
            kinds.setdefault((spot.ink, spot.symbol or "circle"), words)
    return [
        LegendKey(words, pen(ink, 1, Qt.PenStyle.SolidLine), symbol=SYMBOLS[symbol], line=False)
        for (ink, symbol), words in kinds.items()
    ]


def _touches(spot: Spot, x: float, y: float, near: tuple[float, float]) -> bool:
    reach = np.maximum(near, spot.size / 2)
    return abs(spot.x - x) <= reach[0] and abs(spot.y - y) <= reach[1]


def _sign(spot: Spot) -> dict[str, Any]:
    return {
        "pos": (spot.x, spot.y),
        "size": SIGN,
        "symbol": SYMBOLS[spot.symbol or "circle"],
        "brush": pg.mkBrush(colour(spot.ink)),
        "pen": halo(),
    }


def _area(spot: Spot) -> dict[str, Any]:
    """An open shape: what lies below it is to be seen."""
    return {
        "pos": (spot.x, spot.y),
        "size": spot.size,
        "symbol": SYMBOLS[spot.symbol or "circle"],
        "brush": None,
        "pen": pg.mkPen(colour(spot.ink), width=2),
    }
