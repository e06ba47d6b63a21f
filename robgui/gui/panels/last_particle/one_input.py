"""The Last particle panel: the level climbing towards failure, the estimate falling, and the failure found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from robgui.core.text.words import number, percent
from robgui.gui.app.theme import theme
from robgui.gui.panels.panel import Panel
from robgui.gui.state.sending import Offer
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.plots import Key, Legend, Plot, Strip, column

if TYPE_CHECKING:
    from robgui.analyses.last_particle import LastParticleResult
    from robgui.gui.state.store import Store

#: Probabilities are drawn as powers of ten down to this one.
SMALLEST = 1e-16


class LastParticlePanel(Panel):
    """The test of one input, live."""

    analysis = "last_particle"
    title = "Last particle"
    icon_name = "last-particle"
    invitation = (
        "How rarely does noise make the model fail at this input? Choose an input that the model gets right and press Run: "
        "particles climb towards failure, and the number of rounds tells how rare it is."
    )
    explanation = (
        "Left: the score that the particles must exceed, round by round; failure begins at 0 (the line). The dots are the particles at "
        "present. If the level is still below 0 after enough rounds, the input is validated: failure is rarer than the critical "
        "probability, at the confidence given. If it reaches 0, a failing input has been found. Right: the estimate of the failure "
        "probability with its exact 95 % interval, had the test stopped at that round; the dashed line is the critical probability. "
        "Below: the input, a failing input and the difference between the two, enlarged. All this holds if the particles move freely; "
        "acceptance, ancestors and the spread over repetitions are the signs, and a bad one makes the verdict inconclusive."
    )

    def __init__(self, store: Store) -> None:
        self._pictured: tuple[object, ...] = ()
        self._spans: tuple[object, ...] = ()
        self._repeated = False
        super().__init__(store)

    def build(self) -> QWidget:
        """Two plots beside each other, a line of figures, a strip of pictures."""
        self.levels = Plot("round", "score (failure above 0)")
        self._zero = pg.InfiniteLine(0, angle=0)
        self._others = pg.PlotCurveItem(connect="finite")
        self._level = pg.PlotCurveItem(connect="finite")
        self._dots = pg.ScatterPlotItem(size=8, symbol="o", pxMode=True)
        for item in (self._zero, self._others, self._level, self._dots):
            self.levels.addItem(item)
        self.chances = Plot("round", "failure probability")
        self.chances.getPlotItem().getAxis("left").setTicks([[(power, _power(power)) for power in range(-16, 1, 4)]])
        self._low, self._high = pg.PlotCurveItem(pen=None), pg.PlotCurveItem(pen=None)
        self._band = pg.FillBetweenItem(self._low, self._high)
        self._estimate = pg.PlotCurveItem(connect="finite")
        self._critical = pg.InfiniteLine(angle=0)
        for item in (self._low, self._high, self._band, self._estimate, self._critical):
            self.chances.addItem(item)
        self._legends = [Legend(row=True), Legend(row=True)]
        self.figures = Label(wordWrap=True)
        self.strip = Strip(4)
        self.restyle()
        split = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        for plot, legend in zip((self.levels, self.chances), self._legends, strict=True):
            split.addWidget(column(plot, legend))
        return column(split, self.figures, self.strip)

    def restyle(self) -> None:
        """Level in the accent colour, repetitions quiet, failure vermilion."""
        colours = theme.colours
        self._level.setPen(pg.mkPen(colours.accent, width=2.5))
        self._others.setPen(pg.mkPen(colours.quiet, width=1, style=Qt.PenStyle.DotLine))
        self._zero.setPen(pg.mkPen(colours.bad, width=2, style=Qt.PenStyle.DashLine))
        self._dots.setBrush(pg.mkBrush(theme.class_colour(4)))
        self._dots.setPen(pg.mkPen(colours.text))
        self._estimate.setPen(pg.mkPen(colours.accent, width=2.5))
        band = pg.mkColor(colours.accent)
        band.setAlpha(50)
        self._band.setBrush(band)
        self._critical.setPen(pg.mkPen(colours.text, width=1.5, style=Qt.PenStyle.DashLine))
        dots = pg.mkPen(theme.class_colour(4), width=0)
        level_keys = [Key("level", self._level.opts["pen"]), Key("particles", dots, "o"), Key("failure begins", self._zero.pen)]
        others = [Key("repetitions", self._others.opts["pen"])] if self._repeated else []
        self._legends[0].show_keys([*level_keys, *others])
        interval = pg.mkPen(band, width=8)
        keys = [Key("estimate", self._estimate.opts["pen"]), Key("95 % interval", interval), Key("critical", self._critical.pen)]
        self._legends[1].show_keys(keys)

    def draw(self, result: LastParticleResult) -> None:
        """Gives every item its new numbers."""
        rounds = np.arange(1, len(result.levels) + 1)
        if self._repeated != (result.replicas > 1):
            self._repeated = result.replicas > 1
            self.restyle()
        self._set_spans(result)
        self._level.setData(rounds, result.levels)
        self._others.setData(*_joined(result.replica_levels[1:]))
        self._dots.setData(np.full(len(result.particles), len(rounds) + 0.5), np.asarray(result.particles, float))
        trace = np.log10(np.clip(result.p_trace, SMALLEST, 1.0))
        for item, place in ((self._low, 0), (self._estimate, 1), (self._high, 2)):
            item.setData(rounds[: len(trace)], trace[:, place])
        self._critical.setValue(float(np.log10(result.critical)))
        self.figures.setText(_figures(result))
        self._draw_pictures(result)

    def _set_spans(self, result: LastParticleResult) -> None:
        """The axes hold the whole test from its start, and move only for another one or for a value beyond them."""
        most = max(len(result.levels), -(-result.m // max(1, result.kill * result.replicas)))
        values = np.concatenate([result.levels, np.asarray(result.particles, float).ravel(), [result.start]])
        values = values[np.isfinite(values)]
        low, high = float(values.min()), float(max(values.max(), 0.0))
        old = self._spans
        if old and old[0] is self.request:
            most, low, high = max(most, old[1]), min(low, old[2]), max(high, old[3])
        wanted = (self.request, most, low, high)
        if wanted != old:
            self._spans = wanted
            self.levels.setXRange(0, most, padding=0.03)
            self.levels.setYRange(low, high, padding=0.08)
            self.chances.setXRange(0, most, padding=0.03)
            self.chances.setYRange(min(-1.0, float(np.log10(result.critical)) * 1.3), 0, padding=0.03)

    def _draw_pictures(self, result: LastParticleResult) -> None:
        wanted = (self.request, result.failure is None, result.counterexample is None)
        if wanted != self._pictured:
            self._pictured = wanted
            self.strip.set_words(_captions(result))
            self.store.pictures.run(lambda: _pictures(result), self.strip.set_pictures, key="last particle pictures")

    def table(self) -> dict[str, np.ndarray]:
        """One row per round."""
        result: LastParticleResult | None = self.result
        if result is None:
            return {}
        count = min(len(result.levels), len(result.p_trace))
        columns = {"round": np.arange(1, count + 1), "level": result.levels[:count], "acceptance": result.acceptance[:count]}
        return columns | {name: result.p_trace[:count, i] for i, name in enumerate(("p_low", "p_estimate", "p_high"))}

    def pictures(self) -> dict[str, QWidget]:
        """Both plots and the strip."""
        return {"levels": self.levels, "probability": self.chances, "inputs": self.strip}

    def offers(self) -> Sequence[Offer]:
        """The failing input, the one found by gradient search, and the input itself."""
        result: LastParticleResult | None = self.result
        if result is None:
            return ()
        offers = [Offer(f"The input, {result.input_name}", (result.input_name,), places=(0,))]
        for failing, title, words in (
            (result.failure, "The failing input", "with noise of"),
            (result.counterexample, "The failure found by gradient search", "attacked within noise of"),
        ):
            if failing is not None:
                offers.insert(0, Offer(title, (f"{result.input_name} {words} {result.eps:g}",), failing[None], places=(0,)))
        return offers

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low window the pictures leave their room to the plots."""
        super().resizeEvent(event)
        self.strip.set_height(3 if event.size().height() < 30 * self.fontMetrics().height() else 5)


def _power(power: int) -> str:
    return "1" if power == 0 else f"1e{power}"


def _joined(lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Several lines as one curve with gaps."""
    if not len(lines):
        return np.zeros(0), np.zeros(0)
    rounds = np.arange(1, lines.shape[1] + 2, dtype=float)
    gap = np.full((len(lines), 1), np.nan)
    return np.tile(rounds, len(lines)), np.concatenate([lines, gap], 1).ravel()


def _figures(result: LastParticleResult) -> str:
    known = result.acceptance[np.isfinite(result.acceptance)]
    parts = [f"{result.killed:,} of {result.m:,} rounds that validate" if not result.validated else f"all {result.m:,} rounds passed"]
    if len(known):
        parts.append(f"{percent(float(known[-20:].mean()))} of moves accepted")
    parts.append(f"{result.ancestors:,} of {result.n_particles * result.replicas:,} ancestors left")
    if np.isfinite(result.dispersion):
        parts.append(f"spread over repetitions {number(result.dispersion)} times what is expected")
    words = "; ".join(parts) + "."
    if result.monte_carlo_samples:
        failures = f"{result.monte_carlo_failures:,} failures" if result.monte_carlo_failures else "no failure"
        proves = "" if result.monte_carlo_failures else f", which proves only a probability below {number(result.monte_carlo_bound)}"
        words += f" Plain sampling: {failures} among {result.monte_carlo_samples:,} samples{proves}."
    return words[0].upper() + words[1:]


def _captions(result: LastParticleResult) -> list[str]:
    words = [f"{result.input_name}: {result.labels[result.label]}"]
    failing = _failing(result)
    if failing is not None:
        word = "fails as" if result.failure is not None else "gradient search:"
        words += [f"{word} {result.labels[failing[1]]}", "difference, enlarged"]
    return words


def _failing(result: LastParticleResult) -> tuple[np.ndarray, int] | None:
    if result.failure is not None:
        return result.failure, result.failure_class
    return None if result.counterexample is None else (result.counterexample, result.counterexample_class)


def _pictures(result: LastParticleResult) -> list[np.ndarray]:
    from robgui.core.dataset.picture import picture_of

    pictures = [picture_of(result.input, result.kind)]
    failing = _failing(result)
    if failing is not None:
        change = failing[0] - result.input
        most = float(np.abs(change).max()) or 1.0
        pictures += [picture_of(failing[0], result.kind), picture_of((0.5 + change / (2 * most)).astype(np.float32), result.kind)]
    return pictures
