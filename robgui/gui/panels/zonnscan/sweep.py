"""The zoNNscan panel: the views of a sweep, with a cursor, random inputs there, and a reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtWidgets import QWidget

from robgui.analyses.zonnscan.views.samples import samples_view
from robgui.analyses.zonnscan.words.twin import twin_finding
from robgui.core.view import Curves, Images, View
from robgui.gui.panels.generic import GenericPanel
from robgui.gui.panels.zonnscan.pinned_sweep import PinnedSweep
from robgui.gui.panels.zonnscan.sweep_tools import SweepTools
from robgui.gui.widgets.plots import column
from robgui.gui.widgets.views import CurvesView, ViewWidget
from robgui.gui.widgets.views.cursor import Cursor

if TYPE_CHECKING:
    from robgui.analyses.zonnscan import ZonnscanParams, ZonnscanResult
    from robgui.analyses.zonnscan.result import Twins
    from robgui.core.execution.request import Request

SAMPLES = 8
DRAG = "The cursor: drag it; “Random inputs at one radius” shows inputs from there."
#: Of eight samples one or two.
SOME = 0.2


class ZonnscanPanel(GenericPanel):
    """Radius sweep around one input (Figure 2 of the paper), live.

    The cursor shows random inputs.
    """

    def build(self) -> QWidget:
        """The views, the cursor in the first one, and the tools below."""
        self.pinned: PinnedSweep | None = None
        self._pixels: tuple[tuple[object, ...], list[np.ndarray]] = ((), [])
        self.marker = Cursor("cursor", DRAG, 0.2)
        self.marker.sigPositionChanged.connect(lambda _: self._show_cursor())
        self.marker.sigDragged.connect(lambda _: self._hold())
        self._held: object = None
        self.marker.sigPositionChangeFinished.connect(lambda _: self._tell_radius())
        self.tools = SweepTools(self.store)
        self.tools.keep.clicked.connect(self._keep)
        self.tools.forget.clicked.connect(lambda: self._refer(None))
        self.tools.made.connect(self._twin_made)
        self.store.selection_changed.connect(self._selected)
        self.restyle()
        views = super().build()
        self.board.made.connect(self._place_marker)
        return column(views, self.tools)

    def restyle(self) -> None:
        """The cursor in the colours of the look."""
        self.marker.restyle()

    def draw(self, result: ZonnscanResult) -> None:
        """Gives every view its new data."""
        super().draw(result)
        largest = float(result.radii[-1])
        if tuple(self.marker.maxRange) != (0, largest):
            self.marker.setBounds((0, largest))
        # By identity: every run makes its own request, so a cursor is held for one run only.
        if self._held is not self.request:
            self.marker.setValue(crossing_radius(result))
        self._ask_samples()

    def views(self) -> Sequence[View]:
        """The views of the result, the reference behind the first, the samples after it."""
        made = super().views()
        if not made:
            return made
        first, *others = made
        if self.pinned is not None and isinstance(first, Curves):
            first = self.pinned.behind(first)
        return [first, self._samples(), *others]

    def clear(self) -> None:
        """Back to the empty state; a reference belongs to the workspace that was open."""
        super().clear()
        self.pinned = None
        self.tools.forget.setEnabled(False)

    def _at(self) -> int:
        """The radius of the sweep nearest to the cursor, as its number."""
        return int(np.abs(self.result.radii - self.marker.value()).argmin())

    def _wanted(self, place: int) -> tuple[object, ...]:
        """Which samples belong there; a number alone would not do, because radii are added."""
        return (self.request, float(self.result.radii[place]))

    def _samples(self) -> Images:
        place = self._at()
        if self._pixels[0] == self._wanted(place):
            pixels = self._pixels[1]
        else:
            pixels = []
        view = samples_view(self.result, place, pixels)
        if self.pinned is None:
            return view
        return replace(
            view, note=f"{view.note} {self.pinned.words(float(self.result.radii[place]))}"
        )

    def _place_marker(self, made: ViewWidget) -> None:
        """The cursor belongs to the plot of the first view, which is made with the first result."""
        if isinstance(made, CurvesView) and self.board.widgets.index(made) == 0:
            made.add_cursor(self.marker)

    def _hold(self) -> None:
        """The cursor stays where the user has put it."""
        self._held = self.request

    def _show_cursor(self) -> None:
        if self.result is not None and len(self.board.widgets) > 1:
            self.board.widgets[1].keep_view(self._samples())
            self._ask_samples()

    def _ask_samples(self) -> None:
        """Draws the samples again away from the GUI thread, unless they are on show already."""
        result, params, place = self.result, self.params, self._at()
        wanted = self._wanted(place)
        if self._pixels[0] == wanted:
            return
        # At once, or the next Step would ask for the same again.
        self._pixels = (wanted, [])

        def arrived(pixels: list[np.ndarray]) -> None:
            if self._pixels[0] == wanted:
                self._pixels = (wanted, pixels)
                self._show_cursor()

        ask = self.store.answers.ask
        self.store.pictures.run(
            lambda: _sample_pictures(ask, result, params, place), arrived, key="zonnscan samples"
        )

    def _keep(self) -> None:
        """The picture on show becomes the one that later runs are compared with."""
        if self.request is not None and self.result is not None:
            name = f"{self.result.input_name}, {self.request.models[0].name}"
            self._refer(PinnedSweep(self.result, name))

    def _twin_made(self, twin: Twins, asked: Request | None, eps: float) -> None:
        """Counts a twin with another class as a failure of the sweep shown, if of its original."""
        shown = self.request
        if shown is None or asked is None or self.run_id is None:
            return
        if (shown.models, shown.dataset, shown.indices) == (
            asked.models,
            asked.dataset,
            asked.indices,
        ):
            finding = twin_finding(self.result, self.params, twin, eps)
            if finding is not None:
                self.store.history.add_finding(self.run_id, finding)

    def _refer(self, pinned: PinnedSweep | None) -> None:
        self.pinned = pinned
        self.tools.forget.setEnabled(pinned is not None)
        if self.result is not None:
            self.draw(self.result)

    def _point(self, view: View, what: Any) -> None:
        """A click into the picture brings the cursor there."""
        if isinstance(view, Curves):
            self._hold()
            self.marker.setValue(what)
            self._tell_radius()
        else:
            super()._point(view, what)

    def _tell_radius(self) -> None:
        radius = float(self.marker.value())
        self.store.select(self.store.selection.replace(radius=radius), origin=self)

    def _selected(self, selection: Any, origin: object) -> None:
        if origin is not self and selection.radius is not None:
            self._hold()
            self.marker.setValue(selection.radius)


def crossing_radius(result: ZonnscanResult) -> float:
    """Where the cursor begins: the smallest radius at which some samples have flipped.

    Both answers can be seen there.
    """
    share = np.nan_to_num(result.crossing)
    # The smallest positive number stands for "any at all".
    for least in (SOME, np.finfo(float).tiny):
        if (share >= least).any():
            return float(result.radii[int((share >= least).argmax())])
    return float(result.radii[len(result.radii) // 2])


def _sample_pictures(
    ask: Callable[..., Any], result: ZonnscanResult, params: ZonnscanParams, place: int
) -> list[np.ndarray]:
    from robgui.analyses.zonnscan.result import corners_drawn, how_drawn
    from robgui.core.dataset.picture import picture_of

    radius = float(result.radii[place])
    # Around a radius of 0 there is nothing but the input.
    if radius <= 0:
        return [picture_of(result.input, result.kind)] * SAMPLES
    samples = ask(
        "zonnscan_samples",
        corners=corners_drawn(result),
        radius=radius,
        **how_drawn(result, params),
        count=SAMPLES,
    )
    return [picture_of(x, result.kind) for x in samples]
