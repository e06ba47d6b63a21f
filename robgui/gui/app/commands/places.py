"""What the palette finds besides commands: the pages of all analyses, and the open models."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from robgui.gui.app.palette import CommandPalette, PaletteLine
from robgui.gui.app.theme import icon
from robgui.gui.panels import pages

if TYPE_CHECKING:
    from robgui.gui.app.main_window import MainWindow


def open_palette(window: MainWindow) -> None:
    """Everything by typing."""
    CommandPalette(window.actions_, window, places_of(window)).exec()


def places_of(window: MainWindow) -> list[PaletteLine]:
    """A line for each analysis, found by its question too, and one for each model not in use."""
    found = [
        PaletteLine(
            f"Go to {page.title}: {analysis.tab or analysis.title}",
            partial(window.show_panel, analysis.name),
            icon(page.icon),
            also=f"{analysis.title} {analysis.question}",
        )
        for page in pages()
        for analysis in page.analyses
        if window.panel(analysis.name) is not None
    ]
    library = window.store.library
    others = [model for model in library.models if model is not library.model]
    return [
        *found,
        *(
            PaletteLine(f"Use model {model.name}", partial(library.use_model, model), icon("model"))
            for model in others
        ),
    ]
