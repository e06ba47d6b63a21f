"""The pictures of the comparison: one for each run and one for their difference, with axes that move together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from robgui.core.text.words import number
from robgui.gui.app.theme import theme
from robgui.gui.widgets.class_matrix import ClassAxis
from robgui.gui.widgets.heat import DIVERGING, Heat
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.plots import Key, Legend, Plot
from robgui.report.comparison import Bars, Comparable, Curves, Matrix

NO_NUMBER = "This run has no such number."
#: A difference is drawn over at least this much, so that rounding does not look like a change.
_LEAST_SPAN = 0.05
_LINES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)


def view(part: Comparable | str, *, differs: bool) -> tuple[QWidget, Plot | None]:
    """The picture of one side or of the difference, and its plot to be linked with the others; a sentence where there is none."""
    if isinstance(part, Bars) and not np.isfinite(list(part.values.values())).any():
        part = NO_NUMBER
    if isinstance(part, str):
        return Label(part, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter), None
    if isinstance(part, Matrix):
        return _matrix(part, differs)
    return _curves(part, differs) if isinstance(part, Curves) else _bars(part, differs)


def link(plots: Sequence[Plot | None]) -> None:
    """Both sides move together over the range that holds both; the difference shares their horizontal axis."""
    first, second = plots[:2]
    for plot in plots[1:]:
        if first is not None and plot is not None:
            plot.setXLink(first)
    if first is not None and second is not None:
        spans = [plot.viewRange()[1] for plot in (first, second)]
        second.setYLink(first)
        first.setYRange(min(low for low, _ in spans), max(high for _, high in spans), padding=0)


def _matrix(part: Matrix, differs: bool) -> tuple[QWidget, Plot]:
    diverging = differs or part.levels[0] < 0 < part.levels[1]
    heat = Heat(part.x_name, part.y_name, part.scale, DIVERGING if diverging else "viridis")
    if part.names:
        _name_classes(heat, part.names)
    heat.show_values(part.values, part.rect, part.levels)
    return heat, heat.plot


def _name_classes(heat: Heat, names: Sequence[str]) -> None:
    """Class names on both axes, the first class above as in the panel."""
    axes = {side: ClassAxis(side) for side in ("left", "bottom")}
    heat.plot.getPlotItem().setAxisItems(axes)
    heat.plot.getPlotItem().getViewBox().invertY(True)
    for axis in axes.values():
        axis.set_names(names)
    axes["left"].setWidth(heat.fontMetrics().averageCharWidth() * 13)
    heat.plot.restyle()


def _curves(part: Curves, differs: bool) -> tuple[QWidget, Plot]:
    values = np.concatenate([line[np.isfinite(line)] for line in part.lines.values()]) if part.lines else np.zeros(0)
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    most = max(-low, high, _LEAST_SPAN)
    span = (-most, most) if differs else (min(0.0, low), max(1.0, high))
    plot = Plot(part.x_name, "difference" if differs else part.y_name, (float(part.x.min()), float(part.x.max())), span)
    pens = [pg.mkPen(theme.class_colour(i), width=2, style=_LINES[i % len(_LINES)]) for i in range(len(part.lines))]
    if differs:
        plot.addItem(pg.InfiniteLine(0, angle=0, pen=pg.mkPen(theme.colours.quiet)))
    for line, pen in zip(part.lines.values(), pens, strict=True):
        plot.addItem(pg.PlotCurveItem(part.x, line, pen=pen, connect="finite"))
    legend = Legend()
    legend.show_keys([Key(name, pen) for name, pen in zip(part.lines, pens, strict=True)])
    keys = legend.widget()
    assert keys is not None
    legend.setFixedHeight(keys.sizeHint().height())
    box = QWidget()
    layout = QVBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(plot, 1)
    layout.addWidget(legend)
    return box, plot


def _bars(part: Bars, differs: bool) -> tuple[QWidget, Plot]:
    """Bars with their numbers above and their names below; what they count is named below too, where there is room for it."""
    values = np.array(list(part.values.values()), float)
    low, high = (float(end(values[np.isfinite(values)], initial=0.0)) for end in (np.min, np.max))
    high = high if high > low else 1.0
    room = 0.08 * (high - low)
    plot = Plot("", "", (0, len(values)), (low - room * (low < 0), high + room))
    axis = ClassAxis("bottom")
    axis.set_names(list(part.values))
    plot.getPlotItem().setAxisItems({"bottom": axis})
    plot.getPlotItem().setLabel("bottom", part.y_name)
    plot.setAccessibleName(part.y_name)
    plot.restyle()
    colour = theme.class_colour(1 if differs else 0)
    places = np.arange(len(values)) + 0.5
    plot.addItem(pg.BarGraphItem(x=places, height=np.nan_to_num(values), width=0.6, brush=colour, pen=pg.mkPen(theme.colours.line)))
    for place, value in zip(places, values, strict=True):
        text = f"{value:+.3g}" if differs and np.isfinite(value) and value else number(float(value))
        words = pg.TextItem(text, color=theme.colours.text, anchor=(0.5, 0 if value < 0 else 1))
        words.setPos(place, float(np.nan_to_num(value)))
        plot.addItem(words)
    return plot, plot
