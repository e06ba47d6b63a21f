"""The curves and bars of a feature game: severity by iteration, confidences, players, turned and scaled views."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QPen
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from robgui.core.text.words import percent
from robgui.gui.app.theme import theme
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.plots import Caption, Key, Legend, Plot

if TYPE_CHECKING:
    from robgui.analyses.feature_game import FeatureGameResult, Outcome

#: What the severity counts, by norm.
UNITS = {"l0": "changed pixels", "l1": "sum of changes (L1)", "l2": "distance (L2)", "linf": "largest change (L∞)"}
#: Name, colour, line and symbol of the curves of the paper's Figure 3, in the order of the columns of the history.
CURVES = (
    ("best", 0, Qt.PenStyle.SolidLine, "o"),
    ("current", 4, Qt.PenStyle.DotLine, "s"),
    ("mean of the last 10", 2, Qt.PenStyle.DashLine, "t1"),
)
#: With more iterations than this the symbols would hide the lines.
_MOST_SYMBOLS = 80
#: So many classes get a bar.
MOST_CLASSES = 10
#: Confidences, before and after: original blue, adversarial vermilion.
_BEFORE, _AFTER = 0, 1


class SeverityPlot(QWidget):
    """Severity of the best example so far, of the present iteration, and of the last ten."""

    def __init__(self) -> None:
        super().__init__()
        self.plot = Plot("iteration", UNITS["l0"])
        self.lines = tuple(pg.PlotDataItem(symbolSize=6, pxMode=True) for _ in CURVES)
        for line in reversed(self.lines):
            self.plot.addItem(line)
        self.note = Caption()
        self.note.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.note.setProperty("role", "quiet")
        self._legend = Legend(row=True)
        self._span: tuple[float, float, str] = (0.0, 0.0, "")
        _lay_out(self, self.plot, self.note, self._legend)
        self.restyle()

    def restyle(self) -> None:
        """One colour, line and symbol per curve."""
        keys = []
        for line, (words, colour, style, symbol) in zip(self.lines, CURVES, strict=True):
            pen = pg.mkPen(theme.class_colour(colour), width=2, style=style)
            line.setPen(pen)
            line.setSymbolBrush(pg.mkBrush(theme.class_colour(colour)))
            line.setSymbolPen(pg.mkPen(theme.class_colour(colour)))
            keys.append(Key(words, pen, symbol))
        self._legend.show_keys(keys)

    def show_result(self, result: FeatureGameResult) -> None:
        """Draws the curves; the axes move in steps, so that a live picture does not crawl."""
        history = result.history
        for place, line in enumerate(self.lines):
            known = np.flatnonzero(np.isfinite(history[:, place]))
            line.setSymbol(CURVES[place][3] if len(known) <= _MOST_SYMBOLS else None)
            line.setData(known + 1.0, np.ascontiguousarray(history[known, place]))
        self.plot.getPlotItem().setLabel("left", UNITS[result.norm])
        highest = float(np.nanmax(history)) if np.isfinite(history).any() else 10.0 if result.norm == "l0" else 1.0
        span = (_round_up(max(10, len(history))), _round_up(highest), result.norm)
        if span != self._span:
            self._span = span
            self.plot.setXRange(0, span[0], padding=0.02)
            self.plot.setYRange(0, span[1], padding=0.04)
            item = self.plot.getPlotItem()
            item.getAxis("bottom").setTickSpacing(levels=[(span[0] / 10, 0)])
            item.getAxis("left").setTickSpacing(levels=[(max(1.0, span[1] / 5), 0)] if result.norm == "l0" else None)
        self.note.set_words(_history_words(result))


class Confidences(QWidget):
    """The model's confidence in each class before and after, as bars beside each other."""

    def __init__(self) -> None:
        super().__init__()
        self.plot = Plot("confidence", "")
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.getPlotItem().showGrid(x=True, y=False)
        self.plot.getPlotItem().getAxis("bottom").setTicks([[(i / 4, f"{25 * i} %") for i in range(5)]])
        self.plot.getPlotItem().showLabel("left", False)
        self.plot.setAccessibleName("Confidence in each class before and after")
        self.bars = tuple(pg.BarGraphItem(x0=[0], y=[0], height=0.38, width=[0]) for _ in range(2))
        for bar in self.bars:
            self.plot.addItem(bar)
        self._legend = Legend(row=True)
        self._shown: tuple[int, ...] = ()
        _lay_out(self, self.plot, self._legend)
        self.restyle()

    def restyle(self) -> None:
        """Before plain in blue, after hatched in vermilion."""
        before, after = theme.class_colour(_BEFORE), theme.class_colour(_AFTER)
        self.bars[0].setOpts(brush=QBrush(before), pen=pg.mkPen(before))
        self.bars[1].setOpts(brush=QBrush(after, Qt.BrushStyle.BDiagPattern), pen=pg.mkPen(after, width=1.5))
        hatched = QPen(QBrush(after, Qt.BrushStyle.BDiagPattern), 10)
        self._keys = (Key("the image", pg.mkPen(before, width=10)), Key("the example", hatched))

    def show_confidences(self, before: np.ndarray, after: np.ndarray, labels: tuple[str, ...], *, found: bool = True) -> None:
        """Draws the classes with the highest confidence in either, the image's likeliest on top; without an example only the image."""
        self.bars[1].setVisible(found)
        self._legend.show_keys(self._keys[: 1 + found])
        top = np.argsort(-np.maximum(before, after), kind="stable")[:MOST_CLASSES]
        classes = tuple(top[np.argsort(-before[top], kind="stable")].tolist())
        places = -np.arange(len(classes), dtype=float)
        for bar, values, shift in zip(self.bars, (before, after), (0.2, -0.2), strict=True):
            bar.setOpts(y=places + shift, width=values[list(classes)], x0=np.zeros(len(classes)), height=0.36)
        if classes != self._shown:
            self._shown = classes
            axis = self.plot.getPlotItem().getAxis("left")
            names = [labels[c] if len(labels[c]) <= 22 else f"{labels[c][:21]}…" for c in classes]
            axis.setTicks([list(zip(places.tolist(), names, strict=True))])
            self.plot.setXRange(0, 1, padding=0.05)
            self.plot.setYRange(0.6 - len(classes), 0.6, padding=0.02)


class Players(QWidget):
    """The severity that each kind of player II ends with, and the interval they span."""

    def __init__(self) -> None:
        super().__init__()
        self.plot = Plot(UNITS["l0"], "")
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.getPlotItem().showLabel("left", False)
        self.plot.getPlotItem().showGrid(x=True, y=False)
        self.plot.setAccessibleName("Severity by player II")
        self.interval = pg.PlotCurveItem()
        self.dots = pg.ScatterPlotItem(size=13, pxMode=True)
        self.plot.addItem(self.interval)
        self.plot.addItem(self.dots)
        self.words = Label(wordWrap=True)
        self.words.setProperty("role", "quiet")
        _lay_out(self, self.plot, self.words)
        self.plot.setMinimumHeight(self.fontMetrics().height() * 6)
        self.restyle()

    def restyle(self) -> None:
        """The interval as a broad pale bar, each player with its own symbol."""
        pale = pg.mkColor(theme.colours.accent)
        pale.setAlpha(90)
        self.interval.setPen(pg.mkPen(pale, width=10))
        self.dots.setPen(pg.mkPen(theme.colours.surface))

    def show_outcomes(self, outcomes: list[Outcome], norm: str) -> None:
        """One row per player; one that has found nothing stands without a dot."""
        looks = {"cooperative": (0, "o"), "nature": (2, "t1"), "adversarial": (1, "s")}
        best: dict[str, float] = {}
        for outcome in outcomes:
            value = outcome.severity.by(norm)  # type: ignore[arg-type]  # the norm of the result
            best[outcome.player] = float(np.fmin(best.get(outcome.player, np.nan), value))
        players = list(best)
        last = -len(players)
        ticks = [(-row, player if np.isfinite(best[player]) else f"{player}: none") for row, player in enumerate(players)]
        ticks.append((last, "interval"))
        self.plot.getPlotItem().getAxis("left").setTicks([ticks])
        self.plot.getPlotItem().setLabel("bottom", UNITS[norm])
        found = {player: value for player, value in best.items() if np.isfinite(value)}
        spots = [
            {"pos": (found[player], -row), "brush": pg.mkBrush(theme.class_colour(looks[player][0])), "symbol": looks[player][1]}
            for row, player in enumerate(players)
            if player in found
        ]
        self.dots.setData(spots)
        values = np.array(list(found.values()))
        spans = len(values) > 1
        self.interval.setData([values.min(), values.max()] if spans else [], [last, last] if spans else [])
        self.plot.setXRange(0, _round_up(float(values.max())) if len(values) else 1, padding=0.04)
        self.plot.setYRange(last - 0.6, 0.6, padding=0)
        self.words.setText(
            "The interval spans what the players found. These are values found, not exact ones, so nature may lie outside it."
        )


class Turned(QWidget):
    """Which class the image and its example have when they are turned and scaled (the paper's Figure 5)."""

    def __init__(self) -> None:
        super().__init__()
        self.angles, self.scales = Plot("angle (degrees)", ""), Plot("scale", "")
        self._lines = []
        for plot in (self.angles, self.scales):
            plot.setMouseEnabled(x=False, y=False)
            plot.getPlotItem().showLabel("left", False)
            pair = (pg.PlotDataItem(symbolSize=13, pxMode=True), pg.PlotDataItem(symbolSize=7, pxMode=True))
            for line in pair:
                plot.addItem(line)
            self._lines.append(pair)
        self.angles.setAccessibleName("Class of the image and of the example against the angle")
        self.scales.setAccessibleName("Class of the image and of the example against the scale")
        self._legend = Legend(row=True)
        self.words = Label(wordWrap=True)
        self.words.setProperty("role", "quiet")
        row = QWidget()
        plots = QHBoxLayout(row)
        plots.setContentsMargins(0, 0, 0, 0)
        plots.addWidget(self.angles, 3)
        plots.addWidget(self.scales, 2)
        self._row = row
        _lay_out(self, row, self._legend, self.words)
        self.restyle()

    def restyle(self) -> None:
        """The image as blue rings, the example as vermilion squares."""
        pens = (
            pg.mkPen(theme.class_colour(_BEFORE), width=1.5),
            pg.mkPen(theme.class_colour(_AFTER), width=1.5, style=Qt.PenStyle.DashLine),
        )
        for image, example in self._lines:
            image.setPen(pens[0])
            image.setSymbol("o")
            image.setSymbolBrush(None)
            image.setSymbolPen(pg.mkPen(theme.class_colour(_BEFORE), width=2))
            example.setPen(pens[1])
            example.setSymbol("s")
            example.setSymbolBrush(pg.mkBrush(theme.class_colour(_AFTER)))
            example.setSymbolPen(pg.mkPen(theme.class_colour(_AFTER)))
        self._legend.show_keys([Key("the image", pens[0], "o"), Key("the example", pens[1], "s")])

    def show_result(self, result: FeatureGameResult) -> None:
        """Draws both plots; without an example they stay away."""
        views = result.persistence
        self._row.setVisible(views is not None)
        self._legend.setVisible(views is not None)
        if views is None:
            self.words.setText(
                "There is no example that could be turned and scaled."
                if result.found_class < 0
                else "The example is turned and scaled when the search has ended, if “Turn and scale” is on and there are calls enough."
            )
            return
        classes = sorted({*views.rotated_class.ravel().tolist(), *views.scaled_class.ravel().tolist()} - {result.original})
        order = {c: -row for row, c in enumerate([result.original, *classes])}
        for plot, lines, x, found in (
            (self.angles, self._lines[0], views.angles, views.rotated_class),
            (self.scales, self._lines[1], views.scales, views.scaled_class),
        ):
            for line, row in zip(lines, found, strict=True):
                line.setData(x, [order[c] for c in row.tolist()])
            plot.getPlotItem().getAxis("left").setTicks([[(place, result.labels[c]) for c, place in order.items()]])
            plot.setXRange(float(x.min()), float(x.max()), padding=0.1)
            plot.setYRange(0.6 - len(order), 0.6, padding=0)
        self.words.setText(_turned_words(result))


def _lay_out(widget: QWidget, first: QWidget, *others: QWidget) -> None:
    layout = QVBoxLayout(widget)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    layout.addWidget(first, 1)
    for other in others:
        layout.addWidget(other)


def _round_up(value: float) -> float:
    """The next larger one of 1, 2, 5, 10, 20, 50 and so on."""
    power = 10.0 ** np.floor(np.log10(max(value, 1e-9)))
    return float(next((step * power for step in (1, 2, 5) if value <= step * power), 10 * power))


def _history_words(result: FeatureGameResult) -> str:
    if not np.isfinite(result.history).any():
        return "The curves begin with the first example."
    search = len(result.outcomes)
    which = f"Search {search:,} of {result.searches:,} ({result.player}): " if result.searches > 1 else ""
    return f"{which}{len(result.history):,} iterations, {int(result.history_calls[-1]):,} model calls."


def _turned_words(result: FeatureGameResult) -> str:
    views = result.persistence
    assert views is not None
    told = [
        f"{percent(share)} of those {how}"
        for share, how in ((views.rotated_kept, "turned"), (views.scaled_kept, "scaled"))
        if np.isfinite(share)
    ]
    if not told:
        return "The image itself loses its class in every view, so nothing can be said of the example."
    return f"Of the views in which the image keeps its class, the example still fools the model in {' and '.join(told)}."
