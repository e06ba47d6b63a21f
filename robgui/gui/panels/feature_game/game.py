"""The feature game panel: features, where the search looks, before and after in a row.

All other views below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtWidgets import QFileDialog, QPushButton, QWidget

from robgui.core.text.words import percent
from robgui.core.view import Matrix, Table, View
from robgui.gui.panels.feature_game.overlay import SaliencyOverlay
from robgui.gui.panels.feature_game.saving import save_example
from robgui.gui.panels.feature_game.turns import Turns
from robgui.gui.panels.generic import GenericPanel
from robgui.gui.widgets.views.images import ImagesView

if TYPE_CHECKING:
    from robgui.analyses.feature_game import FeatureGameResult
    from robgui.core.execution.request import Request
    from robgui.core.offer import Offer
    from robgui.gui.widgets.views import ViewWidget

#: Titles of the views that stand in the row of pictures, left to right; before and after has two
#: titles.
ROW = (("Features of the image",), ("Where the search looks",), ("Before and after", "The image"))


def pixel_words(result: FeatureGameResult, column: int, row: int) -> str:
    """``x 12, y 5: 0 → 255, heat 0.4 %``: a pixel before and after, from 0 to 255."""
    before, after = (_value(image[:, row, column]) for image in (result.input, result.best))
    if after != before:
        changed = f" → {after}"
    else:
        changed = ""
    share = percent(float(result.saliency[row, column]))
    return f"x {column}, y {row}: {before}{changed}, heat {share}"


def _value(channels: np.ndarray) -> str:
    values = [str(value) for value in np.round(255 * channels).astype(int).tolist()]
    if len(values) == 1:
        return values[0]
    return f"({', '.join(values)})"


class FeatureGamePanel(GenericPanel):
    """The game on one image, live; a row of the searches shows the example of that search."""

    def build(self) -> QWidget:
        """Three pictures on top, the other views below; in a low window they take turns."""
        self._search: int | None = None
        self._game: Request | None = None
        self.cells: dict[int, ViewWidget] = {}
        self.save = QPushButton(
            "Save example …",
            toolTip="Writes the example, the difference and the changed pixels as PNG files",
        )
        self.save.clicked.connect(self.ask_save)
        titles = [titles[0] for titles in ROW]
        self.turns = Turns(titles, (2, 2, 3), super().build(), self.save)
        return self.turns

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
        # Another game has other searches, so a row that was pointed at means nothing any more.
        if self.request is not self._game:
            self._game, self._search = self.request, None
        super().draw(result)
        self.save.setEnabled(self.shown.found_class >= 0)

    @property
    def complete(self) -> bool:
        """Whether the pictures of the row that can be seen are drawn, and the views below."""
        return super().complete and all(cell.complete for cell in self.cells.values())

    def show_views(self, views: Sequence[View]) -> None:
        """Divides them among the row and the board."""
        rest = []
        for view in views:
            place = next((at for at, titles in enumerate(ROW) if view.title in titles), None)
            if place is None:
                rest.append(view)
            else:
                self._draw_cell(place, view)
        super().show_views(rest)

    def _draw_cell(self, place: int, view: View) -> None:
        cell = self.cells.get(place)
        if cell is None:
            cell = self.cells[place] = self._made(view)
            self.turns.put(place, cell)
        if isinstance(cell, SaliencyOverlay):
            cell.lay_over(self.result.input)
        cell.keep_view(view, by_turns=self.live)
        self.turns.name(place, view.title)

    def _made(self, view: View) -> ViewWidget:
        """The widget of a picture of the row; all of them read out the pixel under the mouse."""
        if isinstance(view, Matrix):
            heat = SaliencyOverlay(later=True)
            heat.hovered.connect(lambda pixel: self._read_out(heat, pixel))
            return heat
        images = ImagesView(later=True)
        images.hovered.connect(lambda at: self._read_out(images, at and at[1:]))
        return images

    def _read_out(self, cell: Any, pixel: tuple[int, int] | None) -> None:
        if pixel is not None and self.result is not None:
            cell.tell(pixel_words(self.shown, *pixel))

    def _point(self, view: View, what: Any) -> None:
        if isinstance(view, Table) and view.title == "Searches":
            self._search = int(what)
            self.draw(self.result)
            self.send.refresh()

    def offers(self) -> Sequence[Offer]:
        """The example on show, and the image itself."""
        if self.result is None:
            return ()
        return self.analysis.offers(self.shown, self.params)

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
        if path.suffix.lower() == ".png":
            file = path
        else:
            file = path.with_name(f"{path.name}.png")
        self.store.background.run(
            lambda: save_example(shown, file),
            lambda files: self.store.say(
                "info", f"Saved {', '.join(made.name for made in files)} in {file.parent}."
            ),
        )
