"""The DeepInspect panel: its views, and the pair of classes that the user points at in detail."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from robgui.core.view import Images, Matrix, Table, View
from robgui.gui.panels.generic import GenericPanel
from robgui.gui.widgets.views.bars import BarsView
from robgui.gui.widgets.views.widget import ViewWidget

if TYPE_CHECKING:
    from robgui.analyses.deepinspect import DeepInspectResult
    from robgui.core.execution.execution import Execution
    from robgui.core.offer import Offer

HISTOGRAM = "Distances of all pairs"
#: Orders of the classes in every matrix, and what they are called.
ORDERS = {"likeness": "Near classes together", "name": "By name", "worst": "Worst first"}
#: Model calls of a game that confirms a pair.
CALLS = 2000
#: Fingerprints of the models and the data, and two classes.
Subject = tuple[tuple[str, ...], str, tuple[int, int]]
NO_PAIR = "Choose a pair first: click a cell of a matrix or a row of the pairs."


class DeepInspectPanel(GenericPanel):
    """All views of the result; a click on two classes adds their inputs and neurons."""

    def build(self) -> QWidget:
        """The views, and above them what can be done with a pair."""
        self._pixels: tuple[tuple[object, ...], list[np.ndarray]] = ((), [])
        self._limit: tuple[object, float] = (None, math.nan)
        self._games: dict[int, Subject] = {}
        self._apart: dict[Subject, str] = {}
        self.order_box = QComboBox()
        self.order_box.setAccessibleName("Order of the classes")
        for key, words in ORDERS.items():
            self.order_box.addItem(words, key)
        self.order_box.currentIndexChanged.connect(lambda _: self._redraw())
        self.search = QLineEdit(clearButtonEnabled=True)
        self.search.setPlaceholderText("Find class")
        self.search.setAccessibleName("Find class")
        self.attack = QPushButton(
            "Attack this pair",
            toolTip="Sends an input to the feature game, with the other class as target",
        )
        self.confirm = QPushButton(
            "Confirm this pair",
            toolTip=(
                "Plays a feature game from an input of one class to the other and says how many"
                " pixels apart they are"
            ),
        )
        self.closeness = QPushButton(
            "How close?", toolTip="Sends the inputs of this pair to zoNNscan populations"
        )
        self.search.returnPressed.connect(self._find)
        self.attack.clicked.connect(lambda: self._send(0, "feature_game"))
        self.closeness.clicked.connect(lambda: self._send(1, "zonnscan_populations"))
        self.confirm.clicked.connect(self._confirm)
        self.store.selection_changed.connect(self._selected)
        self.store.job_changed.connect(self._game_changed)
        box = QWidget()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        row = QHBoxLayout()
        for widget in (self.order_box, self.search, self.confirm, self.attack, self.closeness):
            row.addWidget(widget)
        row.addStretch(1)
        layout.addLayout(row)
        layout.addWidget(super().build(), 1)
        self.board.made.connect(self._made)
        return box

    def draw(self, result: DeepInspectResult) -> None:
        """The views of the result, with those of the chosen pair after the first."""
        super().draw(result)
        self._ask_pictures(result)

    def _made(self, widget: ViewWidget) -> None:
        """The limit can be dragged in the histogram."""
        if isinstance(widget, BarsView) and widget.view.title == HISTOGRAM:
            widget.let_move(0, self._moved)

    @property
    def shown(self) -> DeepInspectResult:
        """The result, with the limit where the user has dragged it to."""
        from robgui.analyses.deepinspect.pairs import with_limit

        result: DeepInspectResult = self.result
        whose, limit = self._limit
        if whose is self.request:
            return with_limit(result, limit)
        return result

    def _moved(self, limit: float) -> None:
        """The limit is being dragged: pairs and pictures follow."""
        self._limit = (self.request, limit)
        self._redraw()

    def _redraw(self) -> None:
        if self.result is not None:
            self.draw(self.result)

    def views(self) -> Sequence[View]:
        """The views of the result; those of the chosen pair stand second and third."""
        from robgui.analyses.deepinspect.pair_views import pair_pictures, pair_table
        from robgui.analyses.deepinspect.views import inspect_views

        if self.result is None:
            return ()
        order = self.order_box.currentData()
        first, *others = inspect_views(self.shown, self.params, order)
        pair = self._pair()
        if pair is None:
            return [first, *others]
        key, pixels = self._pixels
        if key == (self.request, pair):
            shown = pixels
        else:
            shown = []
        return [
            first,
            pair_pictures(self.result, *pair, shown, self._apart.get(self._between(pair), "")),
            pair_table(self.result, *pair),
            *others,
        ]

    def offers(self) -> Sequence[Offer]:
        """A mixed-up input of the pair, with the other class as target.

        And the inputs of both classes.
        """
        from robgui.analyses.deepinspect.pair_views import pair_offers

        pair = self._pair()
        if pair is None:
            return ()
        return pair_offers(self.result, *pair)

    def _pair(self) -> tuple[int, int] | None:
        """The chosen pair, if the result covers it."""
        pair, result = self.store.selection.pair, self.result
        if (
            result is None
            or pair is None
            or not result.complete
            or max(pair) >= len(result.classes)
        ):
            return None
        return pair

    def _between(self, pair: tuple[int, int]) -> Subject:
        """What a game between the two classes is about: model, data and pair."""
        request = self.request
        models = () if request is None else tuple(one.fingerprint for one in request.models)
        if request is not None:
            data = request.dataset
        else:
            data = None
        return models, data.fingerprint if data is not None else "", pair

    def choose(self, a: int, b: int) -> None:
        """Shows two classes in detail."""
        if a != b:
            self.store.select(
                self.store.selection.replace(pair=(min(a, b), max(a, b))), origin=self
            )
            self._show_pair()

    def _point(self, view: View, what: Any) -> None:
        """A cell or a row chooses its pair, a picture of the pair its input."""
        from robgui.analyses.deepinspect.pair_views import shown_places

        result: DeepInspectResult = self.result
        if isinstance(view, Matrix) and view.rows:
            row, column = what
            self.choose(
                result.classes.index(view.rows[row]), result.classes.index(view.columns[column])
            )
        elif isinstance(view, Table) and view.columns[0].name == "Class":
            self.choose(
                *(result.classes.index(str(column.cells[what])) for column in view.columns[:2])
            )
        elif (
            isinstance(view, Images)
            and view.title == "Inputs of the pair"
            and (pair := self._pair()) is not None
        ):
            self.point_at(int(shown_places(result, *pair)[what]))

    def _selected(self, selection: Any, origin: object) -> None:
        if origin is not self and self.result is not None:
            self._show_pair()

    def _show_pair(self) -> None:
        self.draw(self.result)
        self.send.refresh()

    def _find(self) -> None:
        """Shows the first class whose name holds the typed text, beside the one most like it."""
        from robgui.analyses.deepinspect.pair_views import nearest_class

        words, result = self.search.text().strip().casefold(), self.result
        if result is None or not words:
            return
        found = next((c for c, name in enumerate(result.classes) if words in name.casefold()), None)
        if found is None:
            other = None
        else:
            other = nearest_class(result, found)
        if found is None or other is None:
            self.store.say(
                "info", f"No class of this result is called {self.search.text().strip()!r}."
            )
        else:
            self.choose(found, other)

    def _ask_pictures(self, result: DeepInspectResult) -> None:
        """Fetches the inputs of the pair away from the GUI thread."""
        from robgui.analyses.deepinspect.pair_views import shown_places

        pair, request = self._pair(), self.request
        if pair is None or request is None or self._pixels[0] == (request, pair):
            return
        self._pixels = ((request, pair), [])
        dataset = self.store.subjects.dataset_of(request)
        if dataset is None:
            return
        places = shown_places(result, *pair).tolist()
        if request.indices is None:
            indices = places
        else:
            indices = [request.indices[place] for place in places]

        # By then another pair may have been chosen, whose own pictures are on their way.
        def arrived(pixels: list[np.ndarray]) -> None:
            if self._pixels[0] == (request, pair):
                self._pixels = ((request, pair), pixels)
                # Without arguments super() would take ``pixels`` for self here.
                super(DeepInspectPanel, self).draw(self.result)

        self.store.pictures.run(
            lambda: [dataset.thumbnail(index, 64) for index in indices],
            arrived,
            key="deepinspect pair",
        )

    def _confirm(self) -> None:
        """Plays a game between the two classes of the pair; what it finds is said of the pair."""
        pair, offers, request = self._pair(), self.offers(), self.request
        known = self.store.analyses.get("feature_game")
        if pair is None or not offers or request is None:
            self.store.say("info", NO_PAIR)
            return
        model = self.store.library.model
        if known is None:
            reason = "That analysis is not available here."
        else:
            reason = ""
        if known is not None and model is not None:
            reason = known.refusal(model)
        if reason or known is None:
            self.store.say("warning", reason)
            return
        index = offers[0].places[0]
        if request.indices is not None:
            index = request.indices[index]
        params = known.params.parse({**offers[0].params["feature_game"], "max_calls": CALLS})
        job = self.store.submit(self.store.next_run.build(known, params, (index,)))
        # The pair with its model and data: by the time the game ends the panel may show another
        # run.
        self._games[id(job)] = self._between(pair)
        self._apart[self._between(pair)] = "Looking for the fewest pixels between the two …"
        self._redraw()

    def _game_changed(self, job: Execution) -> None:
        """A game that was started here has gone on."""
        from robgui.analyses.deepinspect.pair_views import apart_words

        if id(job) not in self._games or not job.state.ended:
            return
        key = self._games.pop(id(job))
        step = job.newest
        if step is None:
            self._apart[key] = ""
        else:
            self._apart[key] = apart_words(step.result)
        self._redraw()

    def _send(self, number: int, analysis: str) -> None:
        offers = self.offers()
        if not offers or self.request is None:
            self.store.say("info", NO_PAIR)
        elif analysis not in self.store.analyses:
            self.store.say("warning", "That analysis is not available here.")
        else:
            self.store.sending.send(offers[number], analysis, self.request, self.run_id)
