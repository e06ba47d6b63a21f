"""The feature game panel: features, where the search looks, before and after in a row.

All other views below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QSplitter, QVBoxLayout, QWidget

from robgui.core.view import Table, View
from robgui.gui.app.theme import set_heading
from robgui.gui.panels.feature_game.saving import save_example
from robgui.gui.panels.generic import GenericPanel
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.views import view_widget

if TYPE_CHECKING:
    from robgui.analyses.feature_game import FeatureGameResult
    from robgui.core.execution.request import Request
    from robgui.core.offer import Offer
    from robgui.gui.widgets.views import ViewWidget

#: Titles of the views that stand in the row of pictures, left to right; before and after has two
#: titles.
ROW = (("Features of the image",), ("Where the search looks",), ("Before and after", "The image"))


class FeatureGamePanel(GenericPanel):
    """The game on one image, live; a row of the searches shows the example of that search."""

    def build(self) -> QWidget:
        """Three pictures on top, the other views below."""
        self._search: int | None = None
        self._game: Request | None = None
        self.cells: list[ViewWidget | None] = [None] * len(ROW)
        self._places = [QVBoxLayout() for _ in ROW]
        self._headings = [
            set_heading(Label(textFormat=Qt.TextFormat.PlainText), "section") for _ in ROW
        ]
        self.save = QPushButton(
            "Save example …",
            toolTip="Writes the example, the difference and the changed pixels as PNG files",
        )
        self.save.clicked.connect(self.ask_save)
        row = QWidget()
        across = QHBoxLayout(row)
        across.setContentsMargins(0, 0, 0, 0)
        for place, heading, stretch in zip(self._places, self._headings, (2, 2, 3), strict=True):
            place.addWidget(heading)
            across.addLayout(place, stretch)
        split = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        split.addWidget(row)
        split.addWidget(self._below())
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        return split

    def _below(self) -> QWidget:
        box = QWidget()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.save, 0, Qt.AlignmentFlag.AlignRight)
        layout.addWidget(super().build(), 1)
        return box

    def clear(self) -> None:
        """Back to the empty state."""
        super().clear()
        self._search = self._game = None

    @property
    def shown(self) -> FeatureGameResult:
        """The result with the example of the search that was pointed at, else with the best."""
        from robgui.analyses.feature_game import example_of

        result: FeatureGameResult = self.result
        if self._search is None or not 0 <= self._search < len(result.outcomes):
            return result
        one = result.outcomes[self._search]
        return replace(
            result,
            best=example_of(result.input, one),
            changed=one.changed,
            severity=one.severity,
            found_class=one.found_class,
            found_confidence=one.confidence,
        )

    def views(self) -> Sequence[View]:
        """The views of the example on show."""
        return self.analysis.views(self.shown, self.params)

    def draw(self, result: FeatureGameResult) -> None:
        """The pictures in the row, the others below."""
        if self.request is not self._game:
            self._game, self._search = self.request, None
        rest = []
        for view in self.views():
            place = next((at for at, titles in enumerate(ROW) if view.title in titles), None)
            if place is None:
                rest.append(view)
            else:
                self._draw_cell(place, view)
        self.board.show_views(rest)
        self.save.setEnabled(self.shown.found_class >= 0)

    def _draw_cell(self, place: int, view: View) -> None:
        cell = self.cells[place]
        if cell is None:
            cell = self.cells[place] = view_widget(view)
            self._places[place].addWidget(cell, 1)
        else:
            cell.show_view(view)
        self._headings[place].setText(view.title)

    def _point(self, view: View, what: Any) -> None:
        if isinstance(view, Table) and view.title == "Searches":
            self._search = int(what)
            self.draw(self.result)
            self.send.refresh()

    def offers(self) -> Sequence[Offer]:
        """The example on show, and the image itself."""
        return () if self.result is None else self.analysis.offers(self.shown, self.params)

    def ask_save(self) -> None:
        """Asks where the pictures of the example go."""
        if self.result is None or self.shown.found_class < 0:
            return
        name = f"{Path(self.result.input_name).stem.replace(' ', '-')}-example.png"
        chosen, _ = QFileDialog.getSaveFileName(self, "Save example", name, "PNG (*.png)")
        if chosen:
            self.save_to(Path(chosen))

    def save_to(self, path: Path) -> None:
        """Writes the example on show, the difference and the changed pixels."""
        if self.result is None:
            return
        shown = self.shown
        file = path if path.suffix.lower() == ".png" else path.with_name(f"{path.name}.png")
        self.store.background.run(
            lambda: save_example(shown, file),
            lambda files: self.store.say(
                "info", f"Saved {', '.join(made.name for made in files)} in {file.parent}."
            ),
        )
