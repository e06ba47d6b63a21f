"""The Regions panel: regions grow live, with a timeline, and what is inside them is counted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QPushButton,
    QToolButton,
    QWidget,
)

from robgui.analyses.semantic.maps.guessed import guessed_cells
from robgui.analyses.semantic.regions.lost import shown_region
from robgui.analyses.semantic.regions.views import (
    backdrop,
    bounds_table,
    boxes_at,
    growth_film,
    loss_curves,
    lost_bars,
    region_pictures,
    region_table,
    score_curve,
    size_bars,
)
from robgui.analyses.semantic.views import score_matrix
from robgui.analyses.semantic.words import place_words
from robgui.core.execution.step import Pace
from robgui.gui.panels.semantic.background import Backdrop
from robgui.gui.panels.semantic.marks import PlotMarks
from robgui.gui.panels.semantic.panel import (
    REGIONS,
    ScenePanel,
    keep_narrow,
    offer_starts,
    starts_on,
)
from robgui.gui.panels.semantic.stage import Stage
from robgui.gui.widgets.plots import column
from robgui.gui.widgets.timeline import Timeline
from robgui.gui.widgets.views import (
    BarsView,
    BoxesView,
    ImagesView,
    TableView,
    ViewBoard,
)

if TYPE_CHECKING:
    from robgui.analyses.semantic import RegionsParams, RegionsResult
    from robgui.core.execution.analysis import Analysis
    from robgui.core.view import Matrix, View
    from robgui.gui.state.store import Store

ALL = -1
#: Tables and bars need not follow every Step.
TABLE_SECONDS = 0.3
FILMS = "Animations (*.gif *.mp4)"
#: A saved film has at most this many frames.
MOST_FRAMES = 120


class SemanticRegionsPanel(ScenePanel):
    """Regions that keep or lose the class (Figures 3 and 6 of the paper), growing."""

    result: RegionsResult | None
    params: RegionsParams
    most_axes = 6
    several = False

    def __init__(self, store: Store, analysis: Analysis) -> None:
        # Before the base class, whose constructor builds the panel and clears it.
        self._row: int | None = None
        self._drawn: object = None
        self._count = 0
        self._table_due = Pace(TABLE_SECONDS)
        self._listed: object = None
        super().__init__(store, analysis)

    def build(self) -> QWidget:
        """The growing with its timeline; pictures, numbers and the scene beside it."""
        self.start_box = QComboBox()
        self.start_box.setAccessibleName("Which starts")
        self.start_box.currentIndexChanged.connect(lambda _: self._redraw())
        self.clear_starts = QToolButton(text="Clear starts")
        self.clear_starts.setToolTip("The program chooses the starts itself")
        self.film_button = QPushButton(
            "Save animation …", toolTip="Saves the growing as GIF or MP4"
        )
        self.picture, self.timeline = BoxesView(), Timeline("step")
        self.marks = PlotMarks(self.picture.heat.plot)
        self.lost, self.table = BarsView(), TableView()
        self.more, self.in_out = ViewBoard(), ImagesView()
        views: dict[str, QWidget] = {
            "Pictures": self.in_out,
            "Lost inside": self.lost,
            "Table": self.table,
        }
        views |= {"More": self.more, "Scene": self.make_controls()}
        growing = column(self.picture, self.timeline)
        self.stage = Stage("Growing", growing, views)
        self.backdrop = Backdrop(self.store)
        self._connect_parts()
        return column(self._tools(), self.stage, stretch=1)

    def _tools(self) -> QWidget:
        box = QWidget()
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        keep_narrow(self.start_box, 14)
        row.addWidget(self.start_box, 4)
        row.addStretch(1)
        row.addWidget(self.clear_starts)
        row.addWidget(self.film_button)
        return box

    def _connect_parts(self) -> None:
        self.timeline.moved.connect(lambda _: self._draw_step())
        self.table.chosen.connect(self._choose)
        self.picture.heat.clicked.connect(self._clicked)
        self.clear_starts.clicked.connect(lambda: self._set_starts(()))
        self.film_button.clicked.connect(self.ask_film)
        self.backdrop.changed.connect(self._draw_step)
        self.store.params_changed.connect(self._mark_points)

    # --- drawing ------------------------------------------------------------------------------

    def draw(self, result: RegionsResult) -> None:
        """The regions where the timeline stands, and some times a second the tables."""
        if self.request is not self._drawn or len(result.method) != self._count:
            self._drawn, self._count, self._row = self.request, len(result.method), None
            self._offer_starts(result)
            if self.request is not None:
                self.backdrop.ask(self.request, self.params.scene, result)
        self.timeline.set_count(result.trace.shape[1])
        self._draw_step()
        self._list(result)
        self._mark_points()

    @property
    def start(self) -> int:
        """The start on show; ALL for all of them."""
        chosen = self.start_box.currentData()
        if chosen is None:
            return ALL
        return int(chosen)

    @property
    def row(self) -> int:
        """The region whose pictures are shown: the chosen one, else that of the verdict."""
        result = self.result
        if result is None:
            return -1
        if self._row is not None and self._row < len(result.method):
            return self._row
        return shown_region(result, self.params)

    @property
    def ground(self) -> Matrix | None:
        """The map behind the regions: a finer one of the same scene where the workspace has one."""
        result = self.result
        if result is None or len(result.axes) != 2:
            return None
        found = self.backdrop.map_for(self.params.scene, result)
        if found is None:
            return backdrop(result)
        grid = (found.x, found.y)
        guessed = guessed_cells(found, 0, 0)
        scores = found.scores[0, 0]
        return score_matrix("Score of the class", result.axes, grid, scores, guessed=guessed)

    def views(self) -> Sequence[View]:
        """The growing as it is on show first: of the chosen start, over the finest map."""
        if self.result is None:
            return ()
        _, *rest = super().views()
        return (growth_film(self.result, self.start, self.ground), *rest)

    def _offer_starts(self, result: RegionsResult) -> None:
        numbers, first = np.unique(result.start_number, return_index=True)
        # A choice draws the picture, which follows once when all starts are listed.
        with QSignalBlocker(self.start_box):
            self.start_box.clear()
            if not len(numbers):
                self.start_box.addItem("Looking for starts …", ALL)
            if len(numbers) > 1:
                self.start_box.addItem(f"All {len(numbers)} starts", ALL)
            for start, row in zip(numbers, first, strict=True):
                where = place_words(result.axes, result.start[row])
                self.start_box.addItem(f"Start {start + 1}: {where}", int(start))
            self.start_box.setCurrentIndex(0 if len(result.axes) <= 2 or len(numbers) == 1 else 1)

    def _draw_step(self) -> None:
        result = self.result
        if result is None:
            return
        step = min(self.timeline.place, result.trace.shape[1] - 1)
        self.picture.show_view(boxes_at(result, step, self.start, self.ground))

    def _list(self, result: RegionsResult) -> None:
        complete = bool(np.isfinite(result.inside_mean).all()) and result.inside_scores.shape[1] > 0
        key = (self.request, complete)
        if key == self._listed and (complete or not self._table_due.due()):
            return
        self._listed = key
        self.lost.keep_view(lost_bars(result, self.params))
        self.table.show_view(region_table(result))
        self.table.sheet.point(self.row)
        if len(result.axes) == 1:
            more: list[View] = [score_curve(result)]
        else:
            more = []
        more.append(bounds_table(result))
        if np.isfinite(result.loss).any():  # The largest box has one way to grow and no loss.
            more += [size_bars(result), loss_curves(result)]
        self.more.show_views(more, live=self.live)
        self.in_out.keep_view(region_pictures(result, self.row))

    def _redraw(self) -> None:
        if self.result is not None:
            self._draw_step()

    def clear(self) -> None:
        """Back to the empty state."""
        super().clear()
        self._drawn = self._listed = self._row = None

    # --- pointing -----------------------------------------------------------------------------

    def _choose(self, row: int) -> None:
        result = self.result
        if result is None:
            return
        self._row = row
        place = self.start_box.findData(int(result.start_number[row]))
        if place >= 0 and self.start != ALL:
            self.start_box.setCurrentIndex(place)
        self.in_out.keep_view(region_pictures(result, row))

    def _clicked(self, x: float, y: float) -> None:
        result = self.result
        if result is None or len(result.axes) != 2:
            return
        add = bool(QApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier)
        # The form writes every digit out, and a click means no more than these.
        point = tuple(float(f"{value:.4g}") for value in (x, y))
        self.store.select(self.store.selection.replace(point=point), origin=self)
        self._set_starts((*(starts_on(self.store, result) if add else ()), point))

    def _set_starts(self, starts: Sequence[tuple[float, ...]]) -> None:
        if self.result is not None:
            offer_starts(self.store, self.params, self.result, self.params.scene, starts)

    def _mark_points(self, analysis: str = REGIONS) -> None:
        """Rings where the next regions will start; the picture shows where those on show began."""
        result = self.result
        if result is None or analysis != REGIONS:
            return
        coming = starts_on(self.store, result)
        self.clear_starts.setEnabled(bool(coming))
        began = result.start
        new = [start for start in coming if not any(np.allclose(start, old) for old in began)]
        self.marks.show_point(new if len(result.axes) == 2 else [])

    # --- out ----------------------------------------------------------------------------------

    def ask_film(self) -> None:
        """Asks where the animation goes."""
        if self.result is None:
            return
        chosen, _ = QFileDialog.getSaveFileName(self, "Save animation", "regions.gif", FILMS)
        if chosen:
            self.save_film(Path(chosen))

    def save_film(self, path: Path) -> None:
        """Writes the growing on show in the background; the window goes on."""
        result, request, store = self.result, self.request, self.store
        if result is None or request is None or not self.film_button.isEnabled():
            return
        # Made now: the panel may show another run by the time it is written.
        film = growth_film(result, self.start, self.ground, MOST_FRAMES)
        if path.suffix:
            file = path
        else:
            file = path.with_suffix(".gif")
        title, subject = self.analysis.title, store.subjects.words(request)
        self.film_button.setEnabled(False)
        store.work_on("film", f"Writing {file.name} …")

        def write() -> Path:
            from robgui.report.drawing import save_film

            return save_film(film, file, title=title, subject=subject)

        def ended(sentence: str, details: str = "", kind: str = "error") -> None:
            store.work_on("film", "")
            store.say(kind, sentence, details)
            self.film_button.setEnabled(True)

        def written(made: Path) -> None:
            ended(f"Animation written: {made}", kind="info")

        store.background.run(write, written, failed=ended)
