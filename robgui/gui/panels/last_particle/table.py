"""The table of the last particle: inputs times sizes of noise, beside plain sampling and formal proofs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from robgui.core.text.words import probability
from robgui.gui.app.theme import theme
from robgui.gui.panels.panel import Panel
from robgui.gui.state.sending import Offer
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.plots import Key, Legend, Plot, beside, column
from robgui.gui.widgets.sheet import Sheet
from robgui.gui.widgets.thumbs import Thumb, Thumbs, Views

if TYPE_CHECKING:
    from robgui.analyses.last_particle import LastParticleTableResult

#: Name, symbol, line and colour number of each curve.
CURVES = {
    "validated": ("validated (last particle)", "o", Qt.PenStyle.SolidLine, 0),
    "certified": ("certified (formal proof)", "s", Qt.PenStyle.DashLine, 2),
    "clean": ("no failure in plain sampling", "t1", Qt.PenStyle.DotLine, 1),
    "inconclusive": ("inconclusive", "x", Qt.PenStyle.DashDotLine, 3),
}


class LastParticleTablePanel(Panel):
    """Table 1 of the paper, live: how many inputs are validated at which noise."""

    analysis = "last_particle_table"
    title = "Table"
    icon_name = "last-particle"
    invitation = (
        "How many inputs does the model keep right under how much noise? Press Run: all inputs that the gallery shows and that the model "
        "gets right are tested together, at every size of noise."
    )
    explanation = (
        "The horizontal axis is the size of the noise. Circles: share of inputs validated by the last particle. Squares: share certified "
        "by a formal proof, where the model allows one. Triangles: share for which plain sampling met no failure, which proves much less. "
        "Validated but not certified is no contradiction: a failure may exist and yet be rarer than the critical probability. "
        "The table gives the figures for each size of noise; Inputs shows every input, Failures what failing inputs look like."
    )

    def build(self) -> QWidget:
        """The curves; the tables and the failures below."""
        self.plot = Plot("size of the noise", "share of inputs")
        self._legend = Legend()
        self._lines = {name: pg.PlotDataItem(symbolSize=8) for name in CURVES}
        for line in self._lines.values():
            self.plot.addItem(line)
        self.sizes, self.inputs = Sheet("One row per size of noise"), Sheet("One row per input")
        self.failures = Thumbs("Failing inputs, worst first", lines=3, width=24, grid=True)
        self.views = Views({"Sizes": self.sizes, "Inputs": self.inputs, "Failures": self.failures})
        self.notes = Label(wordWrap=True)
        self.notes.setProperty("role", "quiet")
        self.inputs.pointed.connect(lambda row: self.point_at(int(self.result.places[row])) if self.result is not None else None)
        self.failures.pointed.connect(self.point_at)
        self.restyle()
        return column(beside(self.plot, self._legend), self.views, self.notes)

    def restyle(self) -> None:
        """One colour, line and symbol per curve."""
        keys = []
        for name, (words, symbol, style, colour) in CURVES.items():
            pen = pg.mkPen(theme.class_colour(colour), width=2, style=style)
            line = self._lines[name]
            line.setPen(pen)
            line.setSymbol(symbol)
            line.setSymbolBrush(pg.mkBrush(theme.class_colour(colour)))
            line.setSymbolPen(pg.mkPen(theme.class_colour(colour)))
            keys.append(Key(words, pen, symbol))
        self._legend.show_keys(keys)

    def draw(self, result: LastParticleTableResult) -> None:
        """Gives curves, tables and failures their new numbers."""
        places = np.log10(result.radii)
        shares = _shares(result)
        for name, line in self._lines.items():
            values = shares.get(name, np.full(len(places), np.nan))
            known = np.isfinite(values)
            line.setData(places[known], values[known])
        self.plot.getPlotItem().getAxis("bottom").setTicks(_ticks(places, result.radii))
        self.plot.setXRange(float(places.min()), float(places.max()) + 1e-6, padding=0.08)
        self.plot.setYRange(0, 1, padding=0.05)
        self.sizes.show_columns(self.table())
        self.inputs.show_columns(_input_columns(result))
        self._draw_failures(result)
        notes = (result.certified_reason, result.attack_note)
        self.notes.setText(" ".join(note for note in notes if note))
        self.notes.setVisible(bool(self.notes.text()))

    def _draw_failures(self, result: LastParticleTableResult) -> None:
        thumbs = []
        for place, (e, i) in enumerate(result.shown):
            other = result.labels[int(result.shown_class[place])]
            lines = (
                result.names[i],
                f"fails as {other}",
                f"noise {result.radii[e]:g}, p about {probability(float(result.p_estimate[e, i]))}",
            )
            thumbs.append(Thumb(int(result.places[i]), lines, ", ".join(lines)))
        marker = (self.request, len(thumbs))
        failing, kind = result.shown_failure, result.kind
        self.store.pictures.run(
            lambda: _failure_pictures(failing, kind),
            lambda pictures: self.failures.show_inputs(thumbs, pictures, marker),
            key="last particle failures",
        )

    def table(self) -> dict[str, np.ndarray]:
        """One row per size of noise."""
        result: LastParticleTableResult | None = self.result
        if result is None:
            return {}
        columns: dict[str, np.ndarray] = {"noise": result.radii}
        columns |= {f"{name} (share)": values for name, values in _shares(result).items()}
        if "certified (share)" in columns:
            columns["validated only"] = result.false_positives.mean(1)
            columns["of these, counterexample known"] = (result.false_positives & result.counterexample).sum(1)
        return columns | {"model calls": result.calls.sum(1), "seconds": result.seconds}

    def pictures(self) -> dict[str, QWidget]:
        """The curves."""
        return {"table": self.plot}

    def offers(self) -> Sequence[Offer]:
        """The failing inputs found."""
        result: LastParticleTableResult | None = self.result
        if result is None or not len(result.shown):
            return ()
        names = tuple(f"{result.names[i]} with noise of {result.radii[e]:g}" for e, i in result.shown)
        places = tuple(int(result.places[i]) for _, i in result.shown)
        return (
            Offer("The worst failing input", names[:1], result.shown_failure[:1], places=places[:1]),
            Offer("All failing inputs on show", names, result.shown_failure, places=places),
        )


def _ticks(places: np.ndarray, radii: np.ndarray) -> list[list[tuple[float, str]]]:
    """Every size has a mark; a name has those that lie apart from the last one named."""
    apart = (places[-1] - places[0]) / 6
    named: list[int] = []
    for i in range(len(places)):
        if not named or places[i] - places[named[-1]] >= apart:
            named.append(i)
    return [[(float(places[i]), f"{radii[i]:g}") for i in named], [(float(place), "") for place in places]]


def _shares(result: LastParticleTableResult) -> dict[str, np.ndarray]:
    """Share of inputs at each size of noise, of those decided so far; only what is known."""
    decided = result.finished.sum(1)
    of = np.where(decided > 0, decided, np.nan)
    shares = {"validated": result.validated.sum(1) / of, "inconclusive": (result.undecided & result.finished).sum(1) / of}
    proven = np.isfinite(result.certified_lower).all(1)
    if not result.certified_reason and proven.any():
        shares["certified"] = np.where(proven, result.certified.mean(1), np.nan)
    sampled = (result.monte_carlo_failures >= 0).all(1)
    if result.monte_carlo_samples and sampled.any():
        shares["clean"] = np.where(sampled, (result.monte_carlo_failures == 0).mean(1), np.nan)
    return shares


def _input_columns(result: LastParticleTableResult) -> dict[str, Sequence[object]]:
    columns: dict[str, Sequence[object]] = {"input": list(result.names), "class": [result.labels[int(c)] for c in result.classes]}
    for e, radius in enumerate(result.radii):
        columns[f"noise {radius:g}"] = [_cell(result, e, i) for i in range(len(result.names))]
    return columns


def _cell(result: LastParticleTableResult, e: int, i: int) -> str:
    if not result.finished[e, i]:
        return "…"
    if result.validated[e, i]:
        return "validated and certified" if result.certified[e, i] else "validated"
    if result.inconclusive[e, i]:
        return "certified, test inconclusive" if result.certified[e, i] else "inconclusive"
    return f"fails, p about {probability(float(result.p_estimate[e, i]))}"


def _failure_pictures(failing: np.ndarray, kind: str) -> list[np.ndarray]:
    from robgui.core.dataset.picture import picture_of

    return [picture_of(x, kind) for x in failing]
