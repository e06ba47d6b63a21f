"""The Map panel: the score of a class over one or two parameters of a scene, with its traps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QToolButton, QWidget

from robgui.gui.panels.semantic.map_facts import cell_columns, cell_words, choices_of, point_of, trap_columns, trap_offers
from robgui.gui.panels.semantic.map_view import MEAN, MapView
from robgui.gui.panels.semantic.panel import REGIONS, ScenePanel, offer_starts, starts_on
from robgui.gui.panels.semantic.preview import Looker, image_place, place_of
from robgui.gui.panels.semantic.seen import Picture, Seen
from robgui.gui.panels.semantic.stage import Line, Stage
from robgui.gui.state.sending import Offer
from robgui.gui.widgets.plots import column
from robgui.gui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from robgui.analyses.semantic import MapResult
    from robgui.gui.panels.semantic.preview import Look
    from robgui.gui.state.store import Store

HINT = "Move the mouse over the map to see what the network sees there."


class SemanticMapPanel(ScenePanel):
    """Network and data semantic maps (Figures 1, 2, 4 and 5 of the paper), live from coarse to fine."""

    analysis = "semantic_map"
    title = "Semantic map"
    icon_name = "semantic"
    invitation = (
        "Over which poses, lights or rotations does the class survive? Choose an input in the gallery or a mesh below, tick one or two "
        "parameters to vary and press Run: the whole map is there at once and sharpens while it runs."
    )
    explanation = (
        "Every cell is one picture of the scene, turned, lit or moved as the axes say; its colour is the score, from 0 to 1, that the "
        "network gives to the class. Bright areas are where the network is sure; dark ones where it fails. A cross marks a trap: a "
        "spot of low score inside an area of high score, where a small turn of the object makes the network fail. Move the mouse over "
        "the map to see the picture there and the five best classes. A click makes that place a start for growing regions (Shift+click "
        "adds another one, drawn as a star) and lets you send the picture to the other analyses. With several networks or shapes "
        "choose above the map: each one, the mean of one network over all shapes (NSM), or the mean over everything (DSM), which shows "
        "what the training data left out."
    )

    def __init__(self, store: Store) -> None:
        self._choices: tuple[tuple[int, int], ...] = ()
        self._pointed: Look | None = None
        self._wanted: tuple[int, int] = (0, 0)
        self._listed: object = None
        super().__init__(store)

    def build(self) -> QWidget:
        """The map on the left; the picture at the mouse, the traps and the scene on the right."""
        self.chooser = QComboBox()
        self.chooser.setAccessibleName("Which map")
        self.chooser.currentIndexChanged.connect(lambda _: self._redraw())
        self.clear_starts = QToolButton(text="Clear starts")
        self.clear_starts.setToolTip("Takes the starts off the map; the program then chooses them itself")
        self.grow = QPushButton("Grow regions", toolTip="Goes to the regions, which grow from the starts on this map")
        self.view = MapView()
        self.here, self.traps = Seen(HINT), Sheet("Traps, the worst first")
        views: dict[str, QWidget] = {"Here": self.here, "Traps": self.traps, "Scene": self.make_controls()}
        self.stage = Stage("Map", self.view, views)
        self.figures = Line()
        self._inset = Picture("Rendered picture")
        self._inset.setParent(self.view)
        self._inset.setAutoFillBackground(True)
        self._inset.hide()
        self._hover_look, self._point_look = Looker(self.store, "semantic hover"), Looker(self.store, "semantic point")
        self._connect_parts()
        return column(self._tools(), self.stage, self.figures, stretch=1)

    def _tools(self) -> QWidget:
        box = QWidget()
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        self.chooser.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.chooser.setMinimumContentsLength(16)
        row.addWidget(self.chooser, 4)
        row.addStretch(1)
        row.addWidget(self.clear_starts)
        row.addWidget(self.grow)
        return box

    def _connect_parts(self) -> None:
        self.view.hovered.connect(self._hover)
        self.view.pointed.connect(self._clicked)
        self.traps.pointed.connect(self._point_at_trap)
        self.clear_starts.clicked.connect(lambda: self._set_starts(()))
        self.grow.clicked.connect(self._go_to_regions)
        self.store.params_changed.connect(self._params_changed)
        self.store.selection_changed.connect(self._selected)

    # --- drawing -------------------------------------------------------------------------------------------

    def draw(self, result: MapResult) -> None:
        """The map, its marks, and the list of traps once there are any."""
        self._offer_choices(result)
        network, shape = self.which
        self.view.show_map(result, network, shape)
        self._mark_points(result)
        self._list_traps(result)
        self._write_figures(result, None)

    def restyle(self) -> None:
        """Axes and curves."""
        self.view.restyle()

    @property
    def which(self) -> tuple[int, int]:
        """Network and shape on show; MEAN stands for the mean over them."""
        chosen: tuple[int, int] | None = self.chooser.currentData()
        return chosen or (0, 0)

    def choose(self, which: tuple[int, int]) -> None:
        """Shows the map of a network and a shape, if there is one; MEAN stands for the mean over them."""
        if which in self._choices:
            self.chooser.setCurrentIndex(self._choices.index(which))

    def _offer_choices(self, result: MapResult) -> None:
        choices = choices_of(result)
        if tuple(choices) == self._choices and self.chooser.count() == len(choices):
            return
        self._choices = tuple(choices)
        with QSignalBlocker(self.chooser):
            self.chooser.clear()
            for choice, words in choices.items():
                self.chooser.addItem(words, choice)
            self.chooser.setCurrentIndex(0)
        self.chooser.setVisible(len(choices) > 1)

    def _redraw(self) -> None:
        if self.result is not None:
            self.draw(self.result)

    def _mark_points(self, result: MapResult) -> None:
        starts, point = starts_on(self.store, result), self._point(result)
        self.view.show_points(starts, point)
        self.clear_starts.setEnabled(bool(starts))

    def _point(self, result: MapResult) -> tuple[float, ...] | None:
        point = self.store.selection.point
        return point if point is not None and len(point) == len(result.axes) else None

    def _list_traps(self, result: MapResult) -> None:
        traps = result.traps
        key = (self.request, len(traps.score), bool(result.computed.all()))
        if key == self._listed:
            return
        self._listed = key
        self.stage.name_view(self.traps, f"Traps ({len(traps.score):,})" if result.computed.all() else "Traps")
        self.traps.show_columns(trap_columns(result))
        self.traps.resizeColumnsToContents()

    def clear(self) -> None:
        """Back to the empty state."""
        super().clear()
        self._pointed, self._listed = None, None
        self.here.show_words("")

    # --- pointing ------------------------------------------------------------------------------------------

    def _hover(self, place: tuple[int, int, int] | None) -> None:
        result: MapResult | None = self.result
        if result is None:
            return
        self._write_figures(result, place)
        if place is None:
            self._hover_look.drop()
            self._show_pointed()
            return
        network, shape = self._looked_at(place[2])
        self._look(result, self._hover_look, point_of(result, place[0], place[1]), network, shape, keep=False)

    def _clicked(self, row: int, column: int, add: bool) -> None:
        result: MapResult | None = self.result
        if result is None:
            return
        point = point_of(result, row, column)
        others = starts_on(self.store, result) if add else ()
        self._select(point)
        self._set_starts((*(start for start in others if start != point), point))

    def _select(self, point: tuple[float, ...]) -> None:
        self._show_here()
        self.store.select(self.store.selection.but(point=point), origin=self)
        self._look_at_point()

    def _show_here(self) -> None:
        """The picture comes to the front, or the map where both have one place; there the picture stands in its corner."""
        self.stage.show_view(self.view if self.stage.narrow else self.here)

    def _selected(self, selection: Any, origin: object) -> None:
        """Another view has pointed at a place, or at something else."""
        if origin is not self and self.result is not None and self._point(self.result) is not None:
            self._look_at_point()

    def _look_at_point(self, nearest: int = MEAN) -> None:
        result: MapResult | None = self.result
        point = None if result is None else self._point(result)
        if result is None or point is None:
            return
        self._mark_points(result)
        network, shape = self._looked_at(nearest)
        self._look(result, self._point_look, point, network, shape, keep=True)

    def _point_at_trap(self, row: int) -> None:
        result: MapResult = self.result
        wanted = int(result.traps.network[row]), int(result.traps.shape[row])
        self.choose((MEAN, wanted[1]) if len(result.axes) < 2 and wanted[0] >= 0 else wanted)
        self.store.select(self.store.selection.but(point=tuple(float(v) for v in result.traps.at[row])), origin=self)
        self._look_at_point(wanted[0])
        self._show_here()

    def _looked_at(self, nearest: int) -> tuple[int, int]:
        """The network and shape of a picture: those on show, the first where a mean is shown."""
        network, shape = self.which
        return nearest if nearest >= 0 else max(0, network), max(0, shape)

    def _look(self, result: MapResult, looker: Looker, point: tuple[float, ...], network: int, shape: int, *, keep: bool) -> None:
        if self.request is None:
            return
        where = place_of(self.store, self.request, result, point, network, shape)
        if isinstance(where, str):
            self.here.show_words(where)
            return

        def seen(look: Look) -> None:
            if keep:
                self._pointed, self._wanted = look, (network, shape)
                self.send.refresh()
            self._show_look(look, network, shape)

        looker.look(where, seen, lambda sentence, _: self.here.show_words(sentence))

    def _show_look(self, look: Look, network: int, shape: int) -> None:
        result: MapResult | None = self.result
        if result is None:
            return
        self.here.show_look(look, self._words_at(result, look, network, shape), int(result.target[shape]))
        width = self.view.heat.bar.width()
        self._inset.setGeometry(self.view.width() - width, 0, width, min(width, self.view.height() * 3 // 5))
        self._inset.show_picture(look.picture)
        self._inset.setVisible(self.stage.narrow)

    def _words_at(self, result: MapResult, look: Look, network: int, shape: int) -> str:
        from robgui.analyses.semantic.words import place_words

        at = np.array([look.where.values[axis.name] for axis in result.axes])
        words = [place_words(result.axes, at).capitalize()]
        words += [result.networks[network]] if len(result.networks) > 1 else []
        words += [result.shapes[shape]] if len(result.shapes) > 1 else []
        return ", ".join(words)

    def _show_pointed(self) -> None:
        if self._pointed is not None:
            self._show_look(self._pointed, *self._wanted)
        else:
            self.here.show_words("")
            self._inset.hide()

    def _write_figures(self, result: MapResult, place: tuple[int, int, int] | None) -> None:
        if place is None:
            self.figures.set_words("Cross: trap. Star: start of a region. Click for a start, Shift+click for one more.")
            return
        self.figures.set_words(cell_words(result, self.which, place))

    # --- starts and sending --------------------------------------------------------------------------------

    def _set_starts(self, starts: Sequence[tuple[float, ...]]) -> None:
        result: MapResult | None = self.result
        if result is not None and self.request is not None:
            offer_starts(self.store, self.request, result, result.specs[max(0, self.which[1])], starts)

    def _params_changed(self, analysis: str) -> None:
        if analysis == REGIONS and self.result is not None:
            self._mark_points(self.result)

    def _go_to_regions(self) -> None:
        result: MapResult | None = self.result
        if result is not None and not starts_on(self.store, result):
            self._set_starts(())
        self.store.sending.arrived.emit(REGIONS)

    def offers(self) -> Sequence[Offer]:
        """The picture at the point that was clicked, and those of the traps."""
        result: MapResult | None = self.result
        if result is None:
            return ()
        from robgui.analyses.semantic.words import place_words

        offers = []
        if self._pointed is not None and result.scene_axes == self._pointed.axes:
            at = np.array([self._pointed.where.values[axis.name] for axis in result.axes])
            name = f"{result.shapes[self._wanted[1]]}, {place_words(result.axes, at)}"
            place = image_place(result.specs, self._wanted[1])
            offers.append(Offer(f"The picture at {place_words(result.axes, at)}", (name,), self._pointed.image[None], places=(place,)))
        offers += trap_offers(result)
        return offers

    # --- out -----------------------------------------------------------------------------------------------

    def table(self) -> dict[str, np.ndarray]:
        """One row per cell: where it is, and the score and class of every network and shape."""
        return {} if self.result is None else cell_columns(self.result)

    def pictures(self) -> dict[str, QWidget]:
        """The map, and the picture at the chosen point."""
        return {"map": self.view, "picture": self.here}
