"""The Regions panel: three methods grow regions around starts, live, with a timeline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from robgui.core.execution.analysis import Pace
from robgui.gui.panels.semantic.background import Backdrop
from robgui.gui.panels.semantic.film import Film
from robgui.gui.panels.semantic.in_out import InOut
from robgui.gui.panels.semantic.methods import NAMES, MethodKeys
from robgui.gui.panels.semantic.panel import REGIONS, ScenePanel, offer_starts, starts_on
from robgui.gui.panels.semantic.preview import image_place
from robgui.gui.panels.semantic.region_views import Bars, Losses, OnMap
from robgui.gui.panels.semantic.stage import Stage
from robgui.gui.state.sending import Offer
from robgui.gui.widgets.plots import column
from robgui.gui.widgets.sheet import Sheet
from robgui.gui.widgets.timeline import Timeline

if TYPE_CHECKING:
    from robgui.analyses.semantic import MapResult, RegionsResult
    from robgui.gui.state.store import Store

ALL = -1
#: The table need not follow every Step.
TABLE_SECONDS = 0.3
FILMS = "Animations (*.gif *.mp4)"


class SemanticRegionsPanel(ScenePanel):
    """Robust and adversarial regions (Figures 3 and 6 of the paper), growing."""

    analysis = REGIONS
    title = "Semantic regions"
    icon_name = "semantic"
    most_axes = 6
    several = False
    invitation = (
        "How far around a pose, light or rotation does the class hold? Choose a scene below, tick the parameters that may vary and press "
        "Run: three methods grow regions side by side. On the map, or on this picture, a click chooses where they start."
    )
    explanation = (
        "Each box is a region of the scene's parameters in which the network keeps the class (robust), or loses it (adversarial). It "
        "begins as a dot at a star and grows until the score falls off. Three methods grow side by side: naive (orange, solid), OIR_B, "
        "which compares the inside with a thin frame around it (blue, dashed), and OIR_W, which follows the slope of the score (green, "
        "dash-dotted). Where an axis leads round, such as an angle, a region across the seam is drawn in two parts. The colours behind "
        "are the score itself. Drag the timeline or press Play to see the growing again. The pictures, with their scores, are from "
        "inside (in) the region chosen in the table and from just outside (out) of it: they show what still works and what no longer "
        "does. With one or more than two "
        "parameters every parameter has a row of bars, naive above OIR_B above OIR_W."
    )

    def __init__(self, store: Store) -> None:
        self._row: int | None = None
        self._drawn: object = None
        self._count = 0
        self._table_due = Pace(TABLE_SECONDS)
        self._listed: object = None
        super().__init__(store)

    def build(self) -> QWidget:
        """The map with its timeline; losses, the table and the scene beside it; pictures below."""
        self.start_box = QComboBox()
        self.start_box.setAccessibleName("Which starts")
        self.start_box.currentIndexChanged.connect(lambda _: self._redraw())
        self.clear_starts = QToolButton(text="Clear starts")
        self.clear_starts.setToolTip("The program chooses the starts itself")
        self.film_button = QPushButton("Save animation …", toolTip="Saves the growing as GIF or MP4")
        self.keys, self.map, self.bars, self.losses = MethodKeys(), OnMap(), Bars(), Losses()
        self.timeline = Timeline("step")
        self._stack = QStackedWidget()
        self._stack.addWidget(self.map)
        self._stack.addWidget(self.bars)
        self.picture = column(self.keys, self._stack, stretch=1)
        self.sheet = Sheet("Regions")
        self.in_out = InOut()
        views: dict[str, QWidget] = {"Loss": self.losses, "Table": self.sheet, "Scene": self.make_controls()}
        self.stage = Stage("Growing", column(self.picture, self.timeline), views, ("Pictures", self.in_out))
        self.backdrop = Backdrop(self.store)
        self._film = Film(self.store, self.picture, self.timeline.slider.setValue)
        self._connect_parts()
        return column(self._tools(), self.stage, stretch=1)

    def _tools(self) -> QWidget:
        box = QWidget()
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        self.start_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.start_box.setMinimumContentsLength(14)
        row.addWidget(self.start_box, 4)
        row.addStretch(1)
        row.addWidget(self.clear_starts)
        row.addWidget(self.film_button)
        return box

    def _connect_parts(self) -> None:
        self.timeline.moved.connect(lambda _: self._draw_step())
        self.sheet.pointed.connect(self._choose)
        self.map.clicked.connect(self._clicked)
        self.clear_starts.clicked.connect(lambda: self._set_starts(()))
        self.film_button.clicked.connect(self.ask_film)
        self.backdrop.changed.connect(self._draw_background)
        self.store.params_changed.connect(self._mark_points)

    # --- drawing -------------------------------------------------------------------------------------------

    def draw(self, result: RegionsResult) -> None:
        """The regions where the timeline stands, the losses, and some times a second the table."""
        if self.request is not self._drawn or len(result.method) != self._count:
            self._drawn, self._count, self._row = self.request, len(result.method), None
            self._offer_starts(result)
            if self.request is not None:
                self.backdrop.ask(self.request, result)
        self._stack.setCurrentIndex(0 if len(result.axes) == 2 else 1)
        self.keys.show_methods([method for method in NAMES if method in result.method])
        self._draw_background()
        self.timeline.set_count(result.trace.shape[1])
        self._draw_step()
        self._list(result)
        self.in_out.show_region(result, self.row)
        self._mark_points()

    def restyle(self) -> None:
        """Methods in the colours of the theme."""
        self.map.restyle()
        self.bars.restyle()
        self.losses.restyle()

    @property
    def start(self) -> int:
        """The start on show; ALL for all of them."""
        chosen = self.start_box.currentData()
        return ALL if chosen is None else int(chosen)

    @property
    def row(self) -> int:
        """The region whose pictures are shown: the chosen one, else the largest that is as asked; -1 before any has begun."""
        result: RegionsResult = self.result
        if not result.method:
            return -1
        if self._row is not None and self._row < len(result.method):
            return self._row
        grew = result.grown & ~result.never_grew
        return int(np.argmax(np.where(grew, np.nan_to_num(result.volume) + result.holds, -1)))

    def _offer_starts(self, result: RegionsResult) -> None:
        from robgui.analyses.semantic.words import place_words

        numbers, first = np.unique(result.start_number, return_index=True)
        with QSignalBlocker(self.start_box):
            self.start_box.clear()
            if not len(numbers):
                self.start_box.addItem("Looking for starts …", ALL)
            if len(numbers) > 1:
                self.start_box.addItem(f"All {len(numbers)} starts", ALL)
            for start, row in zip(numbers, first, strict=True):
                self.start_box.addItem(f"Start {start + 1}: {place_words(result.axes, result.start[row])}", int(start))
            self.start_box.setCurrentIndex(0 if len(result.axes) == 2 or len(numbers) == 1 else 1)

    def _draw_background(self) -> None:
        result: RegionsResult | None = self.result
        if result is None or len(result.axes) > 2:
            self.bars.show_score(np.zeros(0), np.zeros(0))
            return
        found: MapResult | None = self.backdrop.map_for(result)
        x, y, score = (found.x, found.y, found.scores[0, 0]) if found is not None else (result.map_x, result.map_y, result.map_score)
        if len(result.axes) == 1:
            self.bars.show_score(x, score[0])
        else:
            self.map.show_background(result.axes, x, y, score)

    def _draw_step(self) -> None:
        result: RegionsResult | None = self.result
        if result is None:
            return
        step = min(self.timeline.place, result.trace.shape[1] - 1)
        if len(result.axes) == 2:
            self.map.show_regions(result, step, self.start)
        else:
            self.bars.show_regions(result, step, self.start)
        self.losses.show_losses(result, step, self.start, self._steps(result))

    def _steps(self, result: RegionsResult) -> int:
        """Where the axis of steps ends: at the most there may be while regions grow, then at those there were."""
        params: Any = {} if self.request is None else self.request.params
        growing = not np.isfinite(result.inside_mean).any()
        return max(1, int(params.get("iterations", 0)) if growing else result.loss.shape[1])

    def _list(self, result: RegionsResult) -> None:
        complete = bool(np.isfinite(result.inside_mean).all()) and result.inside_scores.shape[1] > 0
        key = (self.request, complete)
        if key == self._listed and (complete or not self._table_due.due()):
            return
        self._listed = key
        self.sheet.show_columns(self._columns(result))
        self.sheet.point(self.row)

    def _columns(self, result: RegionsResult) -> dict[str, Any]:
        return {
            "Region": [f"{start + 1} {NAMES[method]}" for start, method in zip(result.start_number, result.method, strict=True)],
            "Range %": 100 * result.volume,
            "Mean": result.inside_mean,
            "As asked": [("yes" if holds else "no") if known else "" for holds, known in _known(result)],
            "Variance": result.inside_var,
            "Fate": [fate(result, row) for row in range(len(result.method))],
        }

    def _redraw(self) -> None:
        if self.result is not None:
            self._draw_step()

    def clear(self) -> None:
        """Back to the empty state."""
        super().clear()
        self._drawn = self._listed = self._row = None

    # --- pointing ------------------------------------------------------------------------------------------

    def _choose(self, row: int) -> None:
        self._row = row
        if self.result is None:
            return
        place = self.start_box.findData(int(self.result.start_number[row]))
        if place >= 0 and self.start != ALL:
            self.start_box.setCurrentIndex(place)
        self.in_out.show_region(self.result, row)
        self.send.refresh()

    def _clicked(self, x: float, y: float) -> None:
        result: RegionsResult | None = self.result
        if result is None:
            return
        add = bool(QApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier)
        point = tuple(float(f"{value:.4g}") for value in (x, y))
        self.store.select(self.store.selection.but(point=point), origin=self)
        self._set_starts((*(starts_on(self.store, result) if add else ()), point))

    def _set_starts(self, starts: Sequence[tuple[float, ...]]) -> None:
        if self.result is not None and self.request is not None:
            offer_starts(self.store, self.request, self.result, self.result.spec, starts)

    def _mark_points(self, analysis: str = REGIONS) -> None:
        """Stars where the regions on show began, rings where the next ones will."""
        result: RegionsResult | None = self.result
        if result is None or analysis != REGIONS:
            return
        coming = starts_on(self.store, result)
        self.clear_starts.setEnabled(bool(coming))
        if len(result.axes) == 2:
            began = {tuple(float(v) for v in start) for start in result.start}
            self.map.marks.starts.setData(pos=result.start)
            new = [start for start in coming if not any(np.allclose(start, old) for old in began)]
            self.map.marks.show_point(np.array(new, dtype=float).reshape(-1, 2))

    # --- out -----------------------------------------------------------------------------------------------

    def ask_film(self) -> None:
        """Asks where the animation goes."""
        if self.result is None or self._film.busy:
            return
        chosen, _ = QFileDialog.getSaveFileName(self, "Save animation", "regions.gif", FILMS)
        if chosen:
            self.save_film(Path(chosen))

    def save_film(self, path: Path) -> None:
        """Plays the growing once and writes it."""
        self.timeline.play.setChecked(False)
        before = self.timeline.place
        self.film_button.setEnabled(False)

        def ended() -> None:
            self.film_button.setEnabled(True)
            self.timeline.slider.setValue(before)

        self._film.save(path if path.suffix else path.with_suffix(".gif"), self.timeline.count, ended)

    def offers(self) -> Sequence[Offer]:
        """Pictures from inside the regions where the class fails."""
        result: RegionsResult | None = self.result
        if result is None or not len(result.worst_images):
            return ()
        from robgui.analyses.semantic.words import place_words

        names = tuple(f"{result.shape}, {place_words(result.axes, at)}" for at in result.worst_points)
        place = image_place((result.spec,), 0)
        title = f"{len(names)} pictures where the class fails" if len(names) > 1 else f"Where the class fails: {names[0]}"
        one = Offer(f"The worst: {names[0]}", names[:1], result.worst_images[:1], places=(place,))
        many = Offer(title, names, result.worst_images, places=(place,) * len(names))
        return (one, many) if len(names) > 1 else (one,)

    def table(self) -> dict[str, np.ndarray]:
        """One row per region: method, start, bounds, size, mean and variance inside, fate."""
        result: RegionsResult | None = self.result
        if result is None:
            return {}
        columns = {name.lower(): np.asarray(values) for name, values in self._columns(result).items()}
        for p, axis in enumerate(result.axes):
            columns |= {f"start {axis.name}": result.start[:, p], f"low {axis.name}": result.low[:, p]}
            columns[f"high {axis.name}"] = result.high[:, p]
        return columns

    def pictures(self) -> dict[str, QWidget]:
        """The regions, the losses, the pictures from inside and outside."""
        return {"regions": self.picture, "loss": self.losses, "inside and outside": self.in_out}


def fate(result: RegionsResult, row: int) -> str:
    """What became of a region, in words."""
    if not result.grown[row]:
        return "start does not fit"
    if result.never_grew[row]:
        return "never grew"
    words = [] if result.converged[row] else ["did not come to rest"]
    words += ["reaches the end of the range"] if result.hit_domain[row] else []
    return ", ".join(words) or "came to rest"


def _known(result: RegionsResult) -> list[tuple[bool, bool]]:
    return list(zip(result.holds.tolist(), np.isfinite(result.inside_mean).tolist(), strict=True))
