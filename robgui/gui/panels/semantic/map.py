"""The Map panel: which class wins over one or two parameters of a scene, with its traps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QToolButton, QWidget

from robgui.analyses.semantic.maps.views import TRAPS, map_details, trap_table
from robgui.analyses.semantic.result import image_place
from robgui.analyses.semantic.words import place_words
from robgui.core.offer import Offer
from robgui.gui.app.theme import icon, theme
from robgui.gui.panels.headline import place_in_use
from robgui.gui.panels.semantic.map_facts import (
    MEAN,
    at_of,
    choices_of,
    paper_name,
    point_of,
    spot_finding,
)
from robgui.gui.panels.semantic.map_view import MapView
from robgui.gui.panels.semantic.panel import (
    REGIONS,
    ScenePanel,
    keep_narrow,
    offer_starts,
    starts_on,
)
from robgui.gui.panels.semantic.path import Path, to_another_class
from robgui.gui.panels.semantic.seen import Seen
from robgui.gui.panels.semantic.shown_pose import ShownPose
from robgui.gui.panels.semantic.stage import Stage
from robgui.gui.widgets.plots import column
from robgui.gui.widgets.views import TableView, ViewBoard

if TYPE_CHECKING:
    from robgui.analyses.semantic import MapParams, MapResult
    from robgui.core.execution.analysis import Analysis
    from robgui.core.verdict import Verdict
    from robgui.core.view import View
    from robgui.gui.state.store import Store

HINT = (
    "Move the mouse over the map to see what the network sees there. A click makes that place a "
    "start for regions (a star), Shift+click adds one. Ctrl and drag draw a path that is played."
)


class SemanticMapPanel(ScenePanel):
    """Network and data semantic maps (the paper's Figures 1, 2, 4, 5), live from coarse to fine.

    Attributes:
        pose: What the network sees at the place that is pointed at.
    """

    result: MapResult | None
    params: MapParams

    def __init__(self, store: Store, analysis: Analysis) -> None:
        # Before the base class, whose constructor builds the panel and clears it.
        self._choices: tuple[tuple[int, int], ...] = ()
        self._listed: object = None
        self._first: object = None
        self._of: tuple[object, int] = (None, 0)
        super().__init__(store, analysis)

    def build(self) -> QWidget:
        """The map on the left; the picture at the mouse, the traps and the scene on the right."""
        self.chooser = QComboBox()
        self.chooser.setAccessibleName("Which map")
        self.chooser.currentIndexChanged.connect(lambda _: self._redraw())
        self.clear_starts = QToolButton(text="Clear")
        self.clear_starts.setToolTip("Takes the starts off; the program then chooses them itself")
        self.grow = QPushButton("Grow regions")
        self.grow.setToolTip("Goes to the regions, which grow from the starts on this map")
        self.view, self.here = MapView(), Seen(HINT)
        self.path = Path(self.view.matrix.heat.plot)
        self.star = QToolButton(autoRaise=True)
        self.star.setAccessibleName("Star this spot")
        self.star.setToolTip("Keeps the place that was clicked among the findings, with a star")
        self.star.setEnabled(False)
        theme.changed.connect(self._tint_star)
        self._tint_star()
        self.traps, self.more = TableView(), ViewBoard()
        views: dict[str, QWidget] = {"Here": self.here, "Traps": self.traps, "More": self.more}
        self.stage = Stage("Map", self.view, {**views, "Scene": self.make_controls()})
        # Above the details: a row above the map would take its height in a small window.
        self.stage.put_above_details(self._tools())
        self.pose = ShownPose(self)
        self._connect_parts()
        keep_narrow(self.chooser, 2)
        return column(self.chooser, self.stage, stretch=1)

    def _tools(self) -> QWidget:
        box = QWidget()
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        for button in (self.path.play, self.grow):
            button.setProperty("tight", True)
        row.addWidget(self.path.play)
        row.addWidget(self.star)
        row.addWidget(self.clear_starts)
        row.addWidget(self.grow)
        return box

    def _connect_parts(self) -> None:
        self.view.hovered.connect(self._hover)
        self.view.pointed.connect(self._clicked)
        self.traps.chosen.connect(self._point_at_trap)
        self.clear_starts.clicked.connect(lambda: self._set_starts(()))
        self.grow.clicked.connect(self._go_to_regions)
        self.path.asked.connect(self._offer_path)
        self.path.at.connect(self._walk)
        self.star.clicked.connect(self._star)
        self.store.params_changed.connect(self._params_changed)
        self.store.selection_changed.connect(self._selected)

    # --- drawing ------------------------------------------------------------------------------

    def draw(self, result: MapResult) -> None:
        """The map, its marks, and the list of traps once there are any."""
        self._offer_choices(result)
        self._choose_in_use()
        self.path.play.setVisible(len(result.axes) > 1)
        self.view.show_map(result, self.params, *self.which)
        self._mark_points(result)
        self._list_traps(result)
        details = [view for view in map_details(result) if view.title != TRAPS]
        self.more.show_views(details, live=self.live)
        if self._first is not self.request and result.computed.all():
            self._first = self.request
            self.pose.show_pointed()

    def part_on_show(self, said: Verdict) -> Verdict:
        """What is said of the network on show; of all where a mean or every curve is."""
        if self.which[0] == MEAN:
            return said
        return said.of(self.which[0])

    @property
    def which(self) -> tuple[int, int]:
        """Network and shape on show; MEAN stands for the mean over them."""
        chosen: tuple[int, int] | None = self.chooser.currentData()
        return chosen or (0, 0)

    def choose(self, which: tuple[int, int]) -> None:
        """Shows the map of a network and a shape, if there is one; MEAN is the mean over them."""
        if which in self._choices:
            self.chooser.setCurrentIndex(self._choices.index(which))

    def views(self) -> Sequence[View]:
        """The map on show first, so what is exported is what is seen."""
        if self.result is None:
            return ()
        shown = self.view.view
        return (shown, *(view for view in super().views() if view.title != shown.title))

    def _offer_choices(self, result: MapResult) -> None:
        choices = choices_of(result)
        if tuple(choices) == self._choices and self.chooser.count() == len(choices):
            return
        self._choices = tuple(choices)
        # A choice draws the map anew, and this is part of drawing it.
        with QSignalBlocker(self.chooser):
            self.chooser.clear()
            for place, (choice, words) in enumerate(choices.items()):
                self.chooser.addItem(words, choice)
                self.chooser.setItemData(place, paper_name(choice), Qt.ItemDataRole.ToolTipRole)
            self.chooser.setCurrentIndex(0)
        self.chooser.setVisible(len(choices) > 1)

    def _choose_in_use(self) -> None:
        """A run of several models opens on the map of the one in use."""
        place = place_in_use(self.request, self.store.library.model)
        if place is None or (self._of[0] is self.request and self._of[1] == place):
            return
        self._of = (self.request, place)
        wanted = (at for at, which in enumerate(self._choices) if which[0] == place)
        with QSignalBlocker(self.chooser):
            self.chooser.setCurrentIndex(next(wanted, self.chooser.currentIndex()))

    def _model_changed(self) -> None:
        super()._model_changed()
        self._redraw()

    def _redraw(self) -> None:
        if self.result is not None:
            self.draw(self.result)
            self.say_again()

    def _mark_points(self, result: MapResult) -> None:
        starts, point = starts_on(self.store, result), self._point(result)
        self.view.show_points(starts, point)
        self.clear_starts.setEnabled(bool(starts))

    def _point(self, result: MapResult) -> tuple[float, ...] | None:
        point = self.store.selection.point
        if point is not None and len(point) == len(result.axes):
            return point
        return None

    def _list_traps(self, result: MapResult) -> None:
        traps = result.traps
        key = (self.request, len(traps.score), bool(result.computed.all()))
        if key == self._listed:
            return
        self._listed = key
        if result.computed.all():
            many = f" ({len(traps.score):,})"
        else:
            many = ""
        self.stage.name_view(self.traps, f"Traps{many}")
        self.traps.keep_view(trap_table(result))

    def clear(self) -> None:
        """Back to the empty state."""
        super().clear()
        self._listed = None
        self.pose.clear()
        self.path.stop()
        self.path.set_points(())
        self.here.show_words("")

    # --- pointing -----------------------------------------------------------------------------

    def _hover(self, place: tuple[int, int, int] | None) -> None:
        result = self.result
        if result is None:
            return
        if place is None:
            self.pose.leave()
        else:
            self.pose.hover(point_of(result, place[0], place[1]), place[2])

    def _clicked(self, row: int, column: int, add: bool) -> None:
        result = self.result
        if result is None:
            return
        point = point_of(result, row, column)
        if add:
            others = starts_on(self.store, result)
        else:
            others = ()
        self._select(point)
        self._set_starts((*(start for start in others if start != point), point))

    def _select(self, point: tuple[float, ...]) -> None:
        self._show_here()
        self.store.select(self.store.selection.replace(point=point), origin=self)
        self._look_at_point()

    def _show_here(self) -> None:
        """The picture comes to the front; in a narrow window the map, which then has it inside."""
        self.stage.show_view(self.view if self.stage.narrow else self.here)

    def _selected(self, selection: Any, origin: object) -> None:
        """Another view has pointed at a place, or at something else."""
        if origin is not self and self.result is not None and self._point(self.result) is not None:
            self._look_at_point()

    def _look_at_point(self, nearest: int = MEAN) -> None:
        result = self.result
        if result is None:
            point = None
        else:
            point = self._point(result)
        if result is None or point is None:
            return
        self._mark_points(result)
        self.pose.point_at(point, nearest)

    def _point_at_trap(self, row: int) -> None:
        result = self.result
        if result is None:
            return
        wanted = int(result.traps.network[row]), int(result.traps.shape[row])
        self.choose((MEAN, wanted[1]) if len(result.axes) < 2 and wanted[0] >= 0 else wanted)
        point = tuple(float(value) for value in result.traps.at[row])
        self.store.select(self.store.selection.replace(point=point), origin=self)
        self._look_at_point(wanted[0])
        self._show_here()

    # --- a path, a star ---------------------------------------------------------------------------

    def _offer_path(self) -> None:
        """Nobody has drawn one: the way to the nearest pose that flips the answer."""
        if self.result is not None:
            self.path.set_points(to_another_class(self.result, *self.pose.looked_at()))

    def _walk(self, point: tuple[float, float]) -> None:
        """The picture of the next place on the path."""
        if self.result is None:
            self.path.stop()
            return
        self._show_here()
        self.view.marks.show_point([point])
        self.pose.hover(point)

    def _tint_star(self) -> None:
        self.star.setIcon(icon("star"))

    def _star(self) -> None:
        """Keeps the spot that was clicked: its answer is another one than at the input."""
        result, look = self.result, self.pose.pointed
        if result is None or look is None or self.run_id is None:
            return
        kept = spot_finding(result, look, self.pose.which)
        self.store.history.add_finding(self.run_id, kept, starred=True)
        self.store.say("info", f"Kept among the findings: {kept.title}.")

    # --- starts and sending -------------------------------------------------------------------

    def _set_starts(self, starts: Sequence[tuple[float, ...]]) -> None:
        result = self.result
        if result is not None:
            spec = result.specs[max(0, self.which[1])]
            offer_starts(self.store, self.params, result, spec, starts)

    def _params_changed(self, analysis: str) -> None:
        if analysis == REGIONS and self.result is not None:
            self._mark_points(self.result)

    def _go_to_regions(self) -> None:
        if self.result is not None and not starts_on(self.store, self.result):
            self._set_starts(())
        self.store.sending.arrived.emit(REGIONS)

    def offers(self) -> Sequence[Offer]:
        """The picture at the point that was clicked, and those of the traps."""
        result, look = self.result, self.pose.pointed
        if result is None:
            return ()
        if look is None or result.scene_axes != look.axes:
            return super().offers()
        where, shape = place_words(result.axes, at_of(result, look)), self.pose.which[1]
        place = image_place(result.specs, shape)
        name = f"{result.shapes[shape]}, {where}"
        one = Offer(f"The picture at {where}", (name,), look.image[None], places=(place,))
        return (one, *super().offers())
