"""One matplotlib Figure per analysis, made from its result alone; one module per method."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from robgui.report.figures import deepinspect, feature_game, last_particle, semantic, zonnscan
from robgui.report.figures.style import CLASS_COLOURS, class_style, shorten

__all__ = ["CLASS_COLOURS", "FIGURES", "class_style", "draw", "pixels", "save", "shorten"]

FIGURES: dict[str, Callable[[Any], Figure]] = {
    **zonnscan.FIGURES,
    **semantic.FIGURES,
    **feature_game.FIGURES,
    **deepinspect.FIGURES,
    **last_particle.FIGURES,
}

_COMMON: dict[str, Any] = {
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    "figure.figsize": (5.8, 5.4),
}
#: What painting reads from the style. Letters fitted to pixels would be wider in one size than in another and leave the room
#: that the layout gave them.
_PAINT: dict[Any, Any] = {"svg.hashsalt": "robgui", "text.hinting": "none"}
_DARK: dict[str, Any] = {
    "figure.facecolor": "#1b1d21",
    "axes.facecolor": "#1b1d21",
    "savefig.facecolor": "#1b1d21",
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"), "#e4e6ea"),
}
#: matplotlib keeps its style in one global table.
_LOCK = threading.Lock()


def draw(name: str, result: Any, *, dark: bool = False) -> Figure | None:
    """The figure of a result of analysis ``name``; None when the analysis has none.

    It is laid out here, in its own style, and never again: saving it in several sizes only paints.
    """
    function = FIGURES.get(name)
    if function is None:
        return None
    style: dict[Any, Any] = dict(mpl.rcParamsDefault)
    with _LOCK, mpl.rc_context(style | _COMMON | _PAINT | (_DARK if dark else {})):
        figure = function(result)
        FigureCanvasAgg(figure)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        return figure


def pixels(figure: Figure, width: int) -> np.ndarray:
    """The figure painted ``width`` pixels wide, as uint8 ``(h, w, 4)``."""
    with _LOCK, mpl.rc_context(_PAINT):
        figure.set_dpi(width / figure.get_size_inches()[0])
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())


def save(figure: Figure, kind: str = "svg", dpi: int = 160) -> bytes:
    """The figure as the bytes of an SVG, PNG or PDF file."""
    buffer = io.BytesIO()
    stamp = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with _LOCK, mpl.rc_context(_PAINT):
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=stamp)
    return buffer.getvalue()
