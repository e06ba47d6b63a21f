"""The model in use and another one of the list, opened as one that says where they disagree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog, QInputDialog, QWidget

from robgui.core.errors import ModelError
from robgui.core.model.pairing import SUFFIX, usual_place, write_pair

if TYPE_CHECKING:
    from robgui.core.model.card import ModelCard
    from robgui.gui.state.store import Store


def pair_models(store: Store, window: QWidget, opened: Callable[[Path], None]) -> None:
    """Asks for the other model and a place for the pair, writes and opens it.

    Args:
        store: Has the models.
        window: Where to ask.
        opened: Opens a file.
    """
    first = store.library.model
    others = partners(store.library.models, first)
    if first is None or first.path is None or not others:
        store.say(
            "warning",
            "A pair needs two models of the same inputs and classes in the list, both from files;"
            " open another one.",
        )
        return
    names = [f"{place}. {other.name}" for place, other in enumerate(others, 1)]
    chosen, sure = QInputDialog.getItem(
        window, "Two models as one", f"Where does {first.name} disagree with:", names, 0, False
    )
    other = others[names.index(chosen)] if sure else None
    if other is None or other.path is None:
        return
    try:
        proposed = usual_place(first.path, other.path)
        place, _ = QFileDialog.getSaveFileName(
            window, "Save the pair", str(proposed), f"Pair of models (*{SUFFIX})"
        )
        if not place:
            return
        out = Path(place).with_suffix(SUFFIX)
        write_pair(out, first.path, other.path, (first.settings, other.settings))
    except ModelError as error:
        store.say("error", str(error))
        return
    opened(out)


def partners(models: list[ModelCard], first: ModelCard | None) -> list[ModelCard]:
    """The models that a pair with ``first`` can be made of."""
    if first is None:
        return []
    return [
        other
        for other in models
        if other is not first
        and other.path is not None
        and (other.kind, other.shape, len(other.labels))
        == (first.kind, first.shape, len(first.labels))
    ]
