"""The model in use and another one of the list, opened as one that says where they disagree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog, QInputDialog, QWidget

from robgui.core.errors import ModelError
from robgui.core.model.pairing import (
    SUFFIX,
    usual_place,
    usual_twin_place,
    write_pair,
    write_twin,
)

if TYPE_CHECKING:
    from robgui.core.model.card import ModelCard
    from robgui.gui.state.store import Store

#: As many as int8 has.
BITS = 8


def pair_models(store: Store, window: QWidget, opened: Callable[[Path], None]) -> None:
    """Asks for the other model and a place for the pair, writes and opens it.

    Args:
        store: Has the models.
        window: Where to ask.
        opened: Opens a file.
    """
    first = store.library.model
    if first is None or first.path is None:
        store.say("warning", "A pair needs a model in use that comes from a file; open one.")
        return
    others = partners(store.library.models, first)
    names = [f"{place}. {other.name}" for place, other in enumerate(others, 1)]
    names.append(f"{len(names) + 1}. itself with weights of {BITS} bits (int8)")
    chosen, sure = QInputDialog.getItem(
        window, "Two models as one", f"Where does {first.name} disagree with:", names, 0, False
    )
    if not sure:
        return
    number = names.index(chosen)
    other = others[number] if number < len(others) else None
    try:
        out = _saved(window, first, other)
    except ModelError as error:
        store.say("error", str(error))
        return
    if out is not None:
        opened(out)


def _saved(window: QWidget, first: ModelCard, other: ModelCard | None) -> Path | None:
    """Asks for a place and writes the pair there, without another one that with rounded weights;
    None where the user thinks better of it.
    """
    if first.path is None:
        return None
    proposed = usual_twin_place(first.path, BITS)
    if other is not None and other.path is not None:
        proposed = usual_place(first.path, other.path)
    place, _ = QFileDialog.getSaveFileName(
        window, "Save the pair", str(proposed), f"Pair of models (*{SUFFIX})"
    )
    if not place:
        return None
    out = Path(place).with_suffix(SUFFIX)
    if other is None or other.path is None:
        write_twin(out, first.path, BITS, first.settings)
    else:
        write_pair(out, first.path, other.path, (first.settings, other.settings))
    return out


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
