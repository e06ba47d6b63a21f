"""The DeepInspect panel: the matrix of classes, the reported pairs, and one pair in detail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from robgui.core.execution.analysis import Pace
from robgui.core.text.words import number, percent
from robgui.gui.panels.deepinspect.pair_views import Histogram, Ranking, Truth
from robgui.gui.panels.panel import Panel
from robgui.gui.panels.semantic.stage import Stage
from robgui.gui.state.sending import Offer
from robgui.gui.widgets.class_matrix import ClassMatrix
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.plots import column
from robgui.gui.widgets.sheet import Sheet
from robgui.gui.widgets.thumbs import Thumb, Thumbs

if TYPE_CHECKING:
    from robgui.analyses.deepinspect import DeepInspectResult
    from robgui.core.dataset import Dataset
    from robgui.gui.state.store import Store

#: Matrix -> its name on the scale.
MATRICES = {
    "napvd": "distance (dark: confused)",
    "avg_bias": "average bias",
    "conf": "true confusion",
    "mode": "distance of last-layer weights",
}
MATRIX_TITLES = {"napvd": "Distance", "avg_bias": "Bias", "conf": "True confusion", "mode": "Last-layer weights"}
ORDERS = {"given": "Order as given", "clustered": "Near classes together", "worst": "Most confused first"}
#: So many pairs are listed, so many images of a pair are shown.
MOST_PAIRS = 2000
MOST_IMAGES = 60
#: Said where there is nothing to show yet.
NO_PAIR = "Choose a pair first: click a cell of the matrix or a row of Pairs."
#: Lists and histogram of many classes need not follow every Step.
DETAIL_SECONDS = 0.3


class DeepInspectPanel(Panel):
    """Which classes the network confuses, live while the data are read."""

    analysis = "deepinspect"
    title = "DeepInspect"
    icon_name = "deepinspect"
    invitation = (
        "Which classes does this network confuse, and where is it biased? Press Run: all inputs that the gallery shows are read once, "
        "and the matrix sharpens while they arrive. Labels are not needed, but with them you see how right it was."
    )
    explanation = (
        "Each cell stands for two classes. Its value is the distance between the neurons that the two activate: dark cells are classes"
        " that look alike to the network and are easily confused. Bias is high where one of two classes is much nearer to a third one "
        "than the other is. The list holds the pairs beyond the threshold, which you can drag in the histogram. Click a cell or a row "
        "to see the inputs of that pair, those that are mixed up first, and the neurons that tell the two apart most and least. With "
        "labels, the view Truth compares all this with the real confusions: a curve above the dotted line is better than chance."
    )

    def __init__(self, store: Store) -> None:
        self._order = np.zeros(0, int)
        self._ordered_by: tuple[Any, ...] = ()
        self._limit: float | None = None
        self._listed = np.zeros((0, 2), int)
        self._images: tuple[object, ...] = ()
        self._details = Pace(DETAIL_SECONDS)
        super().__init__(store)

    def build(self) -> QWidget:
        """Matrix on the left; pairs, images, neurons, histogram and truth on the right."""
        self.matrix_box, self.order_box = QComboBox(), QComboBox()
        for box, words, name in ((self.matrix_box, MATRIX_TITLES, "Which matrix"), (self.order_box, ORDERS, "Order of the classes")):
            box.setAccessibleName(name)
            for key, text in words.items():
                box.addItem(text, key)
        self.search = QLineEdit(clearButtonEnabled=True)
        self.search.setPlaceholderText("Find class")
        self.search.setAccessibleName("Find class")
        self.matrix = ClassMatrix(MATRICES["napvd"])
        self.pairs = Sheet("Reported pairs, most suspicious first")
        self.images = Thumbs("Inputs of the pair, mixed-up ones first", lines=3, width=16, grid=True, empty=NO_PAIR)
        self.neurons = Sheet("Neurons of the pair", NO_PAIR)
        self.histogram, self.truth, self.ranking = Histogram(), Truth(), Ranking()
        lists = {"Pairs": self.pairs, "Images": self._pair_page(), "Neurons": self.neurons}
        self.stage = Stage("Matrix", self.matrix, {**lists, "Threshold": self.histogram, "Truth": self.truth, "Ranking": self.ranking})
        self.figures = Label(wordWrap=True)
        self._connect_parts()
        return column(self._controls(), self.stage, self.figures, stretch=1)

    def _pair_page(self) -> QWidget:
        self.attack = QPushButton("Attack this pair", toolTip="Sends a mixed-up input to the feature game, with the other class as target")
        self.closeness = QPushButton("How close?", toolTip="Sends the inputs of this pair to zoNNscan populations")
        page = QWidget()
        buttons = QHBoxLayout()
        buttons.addWidget(self.attack)
        buttons.addWidget(self.closeness)
        buttons.addStretch(1)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(buttons)
        layout.addWidget(self.images, 1)
        return page

    def _controls(self) -> QWidget:
        box = QWidget()
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.matrix_box)
        row.addWidget(self.order_box)
        row.addWidget(self.search, 1)
        return box

    def _connect_parts(self) -> None:
        self.matrix_box.currentIndexChanged.connect(lambda _: self._redraw())
        self.order_box.currentIndexChanged.connect(lambda _: self._redraw())
        self.search.textChanged.connect(self.matrix.find_class)
        self.matrix.hovered.connect(self._hover)
        self.matrix.pointed.connect(self._choose)
        self.pairs.pointed.connect(lambda row: self._choose(*self._listed[row]))
        self.images.pointed.connect(self.point_at)
        self.histogram.limited.connect(self._set_limit)
        self.attack.clicked.connect(lambda: self._send(0, "feature_game"))
        self.closeness.clicked.connect(lambda: self._send(1, "zonnscan_populations"))
        self.store.selection_changed.connect(self._selected)

    @property
    def which(self) -> str:
        """The matrix on show."""
        return str(self.matrix_box.currentData())

    def draw(self, result: DeepInspectResult) -> None:
        """The matrix at once, lists and histogram some times a second."""
        self._offer_matrices(result)
        self._draw_matrix(result)
        if result.complete or self._details.due():
            self._draw_details(result)

    def clear(self) -> None:
        """Back to the empty state."""
        super().clear()
        self._limit = None

    def table(self) -> dict[str, np.ndarray]:
        """One row per reported pair."""
        result: DeepInspectResult | None = self.result
        if result is None:
            return {}
        return {name: np.asarray(values) for name, values in self._columns(result).items()}

    def pictures(self) -> dict[str, QWidget]:
        """The matrix, the histogram, the truth, the ranking."""
        return {"matrix": self.matrix, "threshold": self.histogram, "truth": self.truth, "ranking": self.ranking}

    def offers(self) -> Sequence[Offer]:
        """A mixed-up input of the pair, with the other class as target; and the inputs of both classes."""
        result: DeepInspectResult | None = self.result
        pair = self.store.selection.pair
        if result is None or not result.complete or pair is None or max(pair) >= len(result.classes):
            return ()
        from robgui.analyses.deepinspect import pair_inputs

        found = pair_inputs(result, *pair)
        if not len(found.places):
            return ()
        names = tuple(f"input {int(place)}" for place in found.places[:MOST_IMAGES])
        both = " and ".join(f"“{result.classes[c]}”" for c in pair)
        one = self._to_attack(result, found.places, pair)
        target = pair[1] if result.predicted[one] == pair[0] else pair[0]
        first = Offer(
            f"An input between {both}",
            (f"input {one}",),
            places=(one,),
            params={"feature_game": {"target": result.classes[target]}},
        )
        return first, Offer(f"Inputs of {both}", names, places=tuple(int(place) for place in found.places[:MOST_IMAGES]))

    @staticmethod
    def _to_attack(result: DeepInspectResult, places: np.ndarray, pair: tuple[int, int]) -> int:
        """A member that the model gets right (an attack on a wrong one is no news), else the first."""
        if len(result.true):
            right = places[(result.predicted[places] == result.true[places]) & np.isin(result.true[places], pair)]
            if len(right):
                return int(right[0])
        return int(places[0])

    def _send(self, number: int, analysis: str) -> None:
        offers = self.offers()
        if not offers or self.request is None:
            self.store.say("info", NO_PAIR)
        elif analysis not in self.store.analyses:
            self.store.say("warning", "That analysis is not available here.")
        else:
            self.store.sending.send(offers[number], analysis, self.request, self.run_id)

    # --- the matrix ----------------------------------------------------------------------------------------

    def _redraw(self) -> None:
        if self.result is not None:
            self._limit = None
            self._draw_matrix(self.result)
            self._draw_details(self.result)

    def _offer_matrices(self, result: DeepInspectResult) -> None:
        """Greys what this result does not have."""
        model: Any = self.matrix_box.model()
        for row in range(self.matrix_box.count()):
            model.item(row).setEnabled(bool(getattr(result, str(self.matrix_box.itemData(row))).size))
        if not getattr(result, self.which).size:
            self.matrix_box.setCurrentIndex(0)

    def _draw_matrix(self, result: DeepInspectResult) -> None:
        values = getattr(result, self.which)
        self.matrix.show_matrix(values, result.classes, self._class_order(result), _levels(values), MATRICES[self.which])
        self.matrix.point(self.store.selection.pair)

    def _class_order(self, result: DeepInspectResult) -> np.ndarray:
        """Worked out again only when the result is complete or another order is wished: rows must not jump while it runs."""
        wish, count = str(self.order_box.currentData()), len(result.classes)
        key = (wish, self.request if result.complete else None, count)
        if key != self._ordered_by or len(self._order) != count:
            self._ordered_by = key
            self._order = _order(result, wish if result.complete else "given")
        return self._order

    def _hover(self, pair: tuple[int, int] | None) -> None:
        chosen = pair or self.store.selection.pair
        result: DeepInspectResult | None = self.result
        known = result is not None and chosen is not None and max(chosen) < len(result.classes) and chosen[0] != chosen[1]
        self.figures.setText(_pair_words(result, *chosen) if known and result is not None and chosen is not None else "")

    # --- lists ---------------------------------------------------------------------------------------------

    def _draw_details(self, result: DeepInspectResult) -> None:
        self._list_pairs(result)
        first, second = np.triu_indices(len(result.classes), 1)
        confusion = self.which != "avg_bias"
        values = (result.napvd if confusion else result.avg_bias)[first, second]
        self.histogram.show_values(values, self._present_limit(result), "distance" if confusion else "average bias")
        truth = result.conf if confusion else result.avg_cd
        quality = result.confusion if confusion else result.bias
        names = ("distance", "true confusion") if confusion else ("average bias", "true disparity")
        self.truth.show_truth(values, truth[first, second] if truth.size else np.zeros(0), quality, names)
        self.ranking.show_quality(quality)
        self._draw_pair(result)

    def _present_limit(self, result: DeepInspectResult) -> float:
        usual = result.bias_limit if self.which == "avg_bias" else result.confusion_limit
        return usual if self._limit is None else self._limit

    def _set_limit(self, limit: float) -> None:
        self._limit = limit
        if self.result is not None:
            self._list_pairs(self.result)

    def _list_pairs(self, result: DeepInspectResult) -> None:
        biased = self.which == "avg_bias"
        suspicion = result.avg_bias if biased else -result.napvd
        limit = self._present_limit(result)
        bound = limit if biased else -limit
        first, second = np.triu_indices(len(suspicion), 1)
        scores = suspicion[first, second]
        chosen = np.flatnonzero(np.nan_to_num(scores, nan=-np.inf) > bound) if np.isfinite(bound) else np.zeros(0, int)
        chosen = chosen[np.argsort(-scores[chosen], kind="stable")][:MOST_PAIRS]
        self._listed = np.column_stack([first[chosen], second[chosen]])
        self.pairs.show_columns(self._columns(result))
        self._mark_row(self.store.selection.pair)
        self.stage.name_view(self.pairs, f"Pairs ({len(chosen):,})")

    def _columns(self, result: DeepInspectResult) -> dict[str, Any]:
        a, b = self._listed[:, 0], self._listed[:, 1]
        columns: dict[str, Any] = {
            "Class": [result.classes[i] for i in a],
            "and class": [result.classes[i] for i in b],
            "Distance": result.napvd[a, b],
            "Bias": result.avg_bias[a, b],
        }
        if result.conf.size:
            columns["True confusion"] = result.conf[a, b]
        return columns

    # --- one pair ------------------------------------------------------------------------------------------

    def _choose(self, a: int, b: int) -> None:
        if a != b:
            self.store.select(self.store.selection.but(pair=(int(min(a, b)), int(max(a, b)))), origin=self)
            self._show_pair()

    def _selected(self, selection: Any, origin: object) -> None:
        if origin is not self and self.result is not None:
            self._show_pair()

    def _show_pair(self) -> None:
        pair = self.store.selection.pair
        self.matrix.point(pair)
        self._mark_row(pair)
        self._hover(None)
        self.send.refresh()
        if self.result is not None:
            self._draw_pair(self.result)

    def _mark_row(self, pair: tuple[int, int] | None) -> None:
        rows = np.flatnonzero((self._listed == pair).all(1)) if pair is not None and len(self._listed) else np.zeros(0, int)
        self.pairs.point(int(rows[0]) if len(rows) else -1)

    def _draw_pair(self, result: DeepInspectResult) -> None:
        from robgui.analyses.deepinspect import pair_inputs, pair_neurons

        pair = self.store.selection.pair
        if pair is None or max(pair) >= len(result.classes) or not result.complete:
            self._images = ()
            self.images.show_inputs((), ())
            self.neurons.show_columns({})
            return
        neurons = pair_neurons(result, *pair)
        rows = [(j, "most") for j in neurons.most] + [(j, "least") for j in neurons.least]
        self.neurons.show_columns(
            {
                "Neuron": [neurons.names[int(j)] for j, _ in rows],
                "separates": [words for _, words in rows],
                **{result.classes[c]: [float(result.rho[j, c]) for j, _ in rows] for c in pair},
            }
        )
        found = pair_inputs(result, *pair)
        wanted = (self.request, pair)
        if wanted != self._images and self.request is not None:
            self._images = wanted
            dataset = self.store.library.dataset_of(self.request)
            self._ask_images(result, dataset, found.places[:MOST_IMAGES], found.wrong[:MOST_IMAGES])

    def _ask_images(self, result: DeepInspectResult, dataset: Dataset | None, places: np.ndarray, wrong: np.ndarray) -> None:
        if dataset is None:
            return
        request = self.request
        indices = [int(place) if request is None or request.indices is None else request.indices[int(place)] for place in places]
        thumbs = [_thumb(result, int(place), bool(mixed)) for place, mixed in zip(places, wrong, strict=True)]
        marker = (request, self.store.selection.pair)
        self.store.pictures.run(
            lambda: [dataset.thumbnail(index, 64) for index in indices],
            lambda pictures: self.images.show_inputs(thumbs, pictures, marker),
            key="deepinspect pair",
        )


def _order(result: DeepInspectResult, wish: str) -> np.ndarray:
    from robgui.analyses.deepinspect import clustered

    count = len(result.classes)
    if wish == "clustered":
        return clustered(result.napvd)
    if wish == "worst":
        distance = np.nan_to_num(result.napvd, nan=np.inf) + np.diag(np.full(count, np.inf))
        return np.argsort(distance.min(1), kind="stable")
    return np.arange(count)


def _levels(values: np.ndarray) -> tuple[float, float]:
    """From 0 to the largest value, so that colours keep their meaning while the picture sharpens."""
    off = values[~np.eye(len(values), dtype=bool)]
    most = float(np.nanmax(off, initial=0.0)) if np.isfinite(off).any() else 1.0
    return 0.0, most or 1.0


def _pair_words(result: DeepInspectResult, a: int, b: int) -> str:
    parts = [f"“{result.classes[a]}” and “{result.classes[b]}”: distance {number(float(result.napvd[a, b]))}"]
    if np.isfinite(result.avg_bias[a, b]):
        parts.append(f"bias {number(float(result.avg_bias[a, b]))}")
    if result.conf.size and np.isfinite(result.conf[a, b]):
        parts.append(f"truly confused {percent(float(result.conf[a, b]))}")
    return ", ".join(parts) + f"; predicted {int(result.counts[a]):,} and {int(result.counts[b]):,} times."


def _thumb(result: DeepInspectResult, place: int, wrong: bool) -> Thumb:
    predicted = result.classes[int(result.predicted[place])]
    true = result.classes[int(result.true[place])] if len(result.true) and result.true[place] >= 0 else ""
    lines = (f"says {predicted}", f"is {true}" if true else "", "mixed up" if wrong else "")
    return Thumb(place, lines, f"Input {place}: the model says {predicted}{f', it is {true}' if true else ''}.")
