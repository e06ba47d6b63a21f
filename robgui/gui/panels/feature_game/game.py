"""The feature game panel: keypoints, saliency and example in a row; curves, classes, searches and tree below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QScrollArea, QSplitter, QWidget

from robgui.core.execution.analysis import Pace
from robgui.core.text.words import count
from robgui.gui.panels.feature_game.example import Shown, caption, evidence_words, pixel_words, save_example, severities, shown
from robgui.gui.panels.feature_game.pictures import ExampleCell, KeypointCell, SaliencyCell
from robgui.gui.panels.feature_game.plots import Confidences, Players, SeverityPlot, Turned
from robgui.gui.panels.feature_game.stage import Stage
from robgui.gui.panels.feature_game.tree import GameTree
from robgui.gui.panels.panel import Panel
from robgui.gui.state.sending import Offer
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.plots import Caption, beside, column
from robgui.gui.widgets.sheet import Sheet
from robgui.gui.widgets.thumbs import Views

if TYPE_CHECKING:
    from robgui.analyses.feature_game import FeatureGameResult
    from robgui.core.execution.request import Request
    from robgui.gui.state.store import Store

#: Tables need not follow every Step.
TABLE_SECONDS = 0.4


class FeatureGamePanel(Panel):
    """The game on one image, live."""

    analysis = "feature_game"
    title = "Feature game"
    icon_name = "feature-game"
    invitation = (
        "Which few pixels of this image flip its class? Choose an image and press Run: the features of the image are found at once, "
        "and a search looks for the smallest change within them that makes the model see another class."
    )
    explanation = (
        "Left: the image with its features; a circle is as large as the feature, its colour tells how strong it is. Middle: where the "
        "search looks; it warms up where changes work. Right: the best example found, with the changed pixels framed: the model gives it "
        "another class although a person sees hardly any difference. Click a circle or a frame to read about it. Below: how the number of "
        "changed pixels fell (Severity), how sure the model is before and after (Classes), every search with all distances (Searches), "
        "the moves that were tried (Tree), and whether the example still works when turned or scaled. Few pixels mean a fragile model; "
        "that none is found proves nothing, and Evidence says why."
    )

    def __init__(self, store: Store) -> None:
        self._search: int | None = None
        self._game: Request | None = None
        self._tables = Pace(TABLE_SECONDS)
        super().__init__(store)

    def build(self) -> QWidget:
        """Three pictures on top, tabs below."""
        self.keypoints, self.saliency, self.example = KeypointCell(), SaliencyCell(), ExampleCell()
        self.save = QPushButton("Save example …", toolTip="Writes the example, the difference and the changed pixels as PNG files")
        self.severity, self.classes, self.players, self.turned = SeverityPlot(), Confidences(), Players(), Turned()
        self.searches, self.tree = Sheet("One row per search, with all distances"), GameTree()
        self.figures = Caption()
        self.figures.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.evidence = Label(wordWrap=True, alignment=Qt.AlignmentFlag.AlignTop)
        self.evidence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._searches, self._moves, self._proof = self._searches_page(), self._tree_page(), self._evidence_page()
        self.views = Views(
            {
                "Severity": self.severity,
                "Classes": self.classes,
                "Searches": self._searches,
                "Tree": self._moves,
                "Turned": self.turned,
                "Evidence": self._proof,
            }
        )
        self._connect_parts()
        below = column(beside(self.figures, self.save), self.views, stretch=1)
        self._stage = Stage(self._pictures_row(), "Pictures", self.views, below)
        return self._stage

    def _pictures_row(self) -> QWidget:
        self._row = QWidget()
        row = QHBoxLayout(self._row)
        row.setContentsMargins(0, 0, 0, 4)
        row.setSpacing(8)
        for cell in (self.keypoints, self.saliency, self.example):
            row.addWidget(cell, 1)
        return self._row

    def _searches_page(self) -> QWidget:
        split = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        split.addWidget(self.searches)
        split.addWidget(self.players)
        return split

    def _tree_page(self) -> QWidget:
        self.tree_words = Label(wordWrap=True)
        self.tree_words.setProperty("role", "quiet")
        return column(self.tree, self.tree_words)

    def _evidence_page(self) -> QWidget:
        area = QScrollArea(widgetResizable=True, frameShape=QScrollArea.Shape.NoFrame)
        self.evidence.setContentsMargins(8, 8, 8, 8)
        self.evidence.setMaximumWidth(110 * self.fontMetrics().averageCharWidth())
        area.setWidget(self.evidence)
        return area

    def _connect_parts(self) -> None:
        for part in (self.keypoints, self.saliency, self.example, self.tree):
            part.pointed.connect(self._point)
        self.searches.pointed.connect(self._show_search)
        self.save.clicked.connect(self.ask_save)
        self.views.bar.currentChanged.connect(lambda _: self._draw_view())
        self.store.selection_changed.connect(self._selected)

    def restyle(self) -> None:
        """The plots follow; the cells follow by themselves."""
        for part in (self.severity, self.classes, self.players, self.turned):
            part.restyle()

    def clear(self) -> None:
        """Back to the empty state."""
        super().clear()
        self._search = self._game = None

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low window the pictures are one of the tabs, so that each has room."""
        super().resizeEvent(event)
        if self._stage.fold(event.size().height()):
            self._draw_view()

    # --- drawing -------------------------------------------------------------------------------------------

    def draw(self, result: FeatureGameResult) -> None:
        """The pictures at once, and the view that is open below them."""
        if self.request is not self._game:
            self._game, self._search = self.request, None
            self._tables = Pace(TABLE_SECONDS)
            self.tree.forget()
        self.keypoints.show_result(result)
        self.saliency.show_result(result)
        self._draw_example(result)
        if self._job is None or self._tables.due() or self.views.stack.currentWidget() in (self.severity, self.classes):
            self._draw_view()

    @property
    def shown(self) -> Shown | None:
        """The example on show; None without a result."""
        return None if self.result is None else shown(self.result, self._search)

    def _draw_example(self, result: FeatureGameResult) -> None:
        example = shown(result, self._search)
        self.example.show_example(example.example, example.changed, caption(result, example))
        self.save.setEnabled(example.found_class >= 0)
        self._write(result, example)

    def _write(self, result: FeatureGameResult, example: Shown) -> None:
        pixel = self.store.selection.pixel
        words = pixel_words(result, example, pixel)
        for cell in (self.keypoints, self.saliency, self.example):
            cell.mark(pixel if words else None)
        text = " ".join(part for part in (words, severities(example.severity)) if part)
        self.figures.set_words(text or "Click a circle or a changed pixel to read about it.")

    def _draw_view(self) -> None:
        """Only the view that is open is drawn."""
        result: FeatureGameResult | None = self.result
        if result is None:
            return
        draws: dict[QWidget | None, Callable[[FeatureGameResult], None]] = {
            self.severity: self.severity.show_result,
            self.classes: self._draw_classes,
            self._searches: self._draw_searches,
            self._moves: self._draw_tree,
            self.turned: self.turned.show_result,
            self._proof: self._draw_evidence,
        }
        if draw := draws.get(self.views.stack.currentWidget()):
            draw(result)

    def _draw_classes(self, result: FeatureGameResult) -> None:
        example = shown(result, self._search)
        self.classes.show_confidences(result.confidence, example.confidence, result.labels, found=example.found_class >= 0)

    def _draw_searches(self, result: FeatureGameResult) -> None:
        self.searches.show_columns(_search_columns(result))
        players = {outcome.player for outcome in result.outcomes}
        self.players.setVisible(len(players) > 1)
        if len(players) > 1:
            self.players.show_outcomes(list(result.outcomes), result.norm)

    def _draw_tree(self, result: FeatureGameResult) -> None:
        self.tree.show_tree(result.tree, result.keypoints)
        known = len(result.tree.parent) - 1
        self.tree.setVisible(known > 0)
        if known < 1:
            words = "The tree is empty so far: before it is walked, the search tries single pixels and repairs what it finds."
        else:
            words = f"{known:,} of {result.tree.nodes - 1:,} moves, the most visited first; a reward of 1 is the best example so far."
        self.tree_words.setText(words)

    def _draw_evidence(self, result: FeatureGameResult) -> None:
        self.evidence.setText("\n\n".join(evidence_words(result)))

    # --- pointing ------------------------------------------------------------------------------------------

    def _point(self, column: int, row: int) -> None:
        self.store.select(self.store.selection.but(pixel=(column, row)), origin=self)
        if self.result is not None:
            self._write(self.result, shown(self.result, self._search))

    def _selected(self, selection: Any, origin: object) -> None:
        if origin is not self and self.result is not None:
            self._write(self.result, shown(self.result, self._search))

    def _show_search(self, row: int) -> None:
        self._search = row
        if self.result is not None:
            self._draw_example(self.result)
            self.send.refresh()

    # --- out -----------------------------------------------------------------------------------------------

    def ask_save(self) -> None:
        """Asks where the pictures of the example go."""
        result, example = self.result, self.shown
        if result is None or example is None or example.found_class < 0:
            return
        name = f"{Path(result.input_name).stem.replace(' ', '-')}-example.png"
        chosen, _ = QFileDialog.getSaveFileName(self, "Save example", name, "PNG (*.png)")
        if chosen:
            self.save_to(Path(chosen))

    def save_to(self, path: Path) -> None:
        """Writes the example on show, the difference and the changed pixels."""
        result, example = self.result, self.shown
        if result is None or example is None:
            return
        file = path if path.suffix.lower() == ".png" else path.with_name(f"{path.name}.png")
        self.store.background.run(
            lambda: save_example(result, example, file),
            lambda files: self.store.say("info", f"Saved {', '.join(made.name for made in files)} in {file.parent}."),
        )

    def table(self) -> dict[str, np.ndarray]:
        """One row per search."""
        result: FeatureGameResult | None = self.result
        return {} if result is None else {name: np.asarray(values) for name, values in _search_columns(result).items()}

    def pictures(self) -> dict[str, QWidget]:
        """The row of pictures, the curves, the bars, the players, the turned views."""
        parts = {"pictures": self._row, "severity": self.severity, "classes": self.classes}
        return {**parts, "players": self.players, "turned": self.turned}

    def offers(self) -> Sequence[Offer]:
        """The example on show, and the image itself."""
        result: FeatureGameResult | None = self.result
        example = self.shown
        if result is None or example is None:
            return ()
        offers = [Offer(f"The image, {result.input_name}", (result.input_name,), places=(0,))]
        if example.found_class >= 0:
            name = f"{result.input_name}, {count(len(example.changed), 'pixel')} changed"
            offers.insert(0, Offer("The adversarial example", (name,), example.example[None], places=(0,)))
        return offers


def _search_columns(result: FeatureGameResult) -> dict[str, Sequence[Any]]:
    outcomes = result.outcomes
    columns: dict[str, Sequence[Any]] = {"Player II": [o.player for o in outcomes]}
    if any(o.target >= 0 for o in outcomes):
        columns["Target"] = [result.labels[o.target] if o.target >= 0 else "any" for o in outcomes]
    return columns | {
        "Becomes": [result.labels[o.found_class] if o.found_class >= 0 else "none found" for o in outcomes],
        "Pixels": [o.severity.l0_pixels for o in outcomes],
        "Values": [o.severity.l0_dims for o in outcomes],
        "L1": [o.severity.l1 for o in outcomes],
        "L2": [o.severity.l2 for o in outcomes],
        "L∞": [o.severity.linf for o in outcomes],
        "Calls": [o.model_calls for o in outcomes],
        "Seconds": [o.seconds for o in outcomes],
        "Iterations": [o.iterations for o in outcomes],
        "Ended because": [o.ended or "still going on" for o in outcomes],
    }
