"""The model in use and another one of the list, opened as one that says where they disagree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QInputDialog, QWidget

from robgui.core.errors import ModelError
from robgui.core.model.pairing import (
    SUFFIX,
    usual_place,
    usual_twin_place,
    write_pair,
    write_twin,
)
from robgui.gui.widgets.save_dialog import ask_file

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
    try:
        choices = [*_others(store.library.models, first, first.path), *_twins(first, first.path)]
        # Numbered: two models may share a name, and the dialog gives back words only.
        names = [f"{place}. {one.name}" for place, one in enumerate(choices, 1)]
        words = "Where does the model in use disagree with:"
        chosen, sure = QInputDialog.getItem(window, "Two models as one", words, names, 0, False)
        if sure:
            out = _saved(window, choices[names.index(chosen)])
        else:
            out = None
    except ModelError as error:
        store.say("error", str(error))
        return
    if out is not None:
        opened(out)


@dataclass(frozen=True)
class _Choice:
    """A partner that a model can have.

    Attributes:
        name: What to call it.
        place: Where the pair usually lies.
        write: Writes the pair there, or elsewhere.
    """

    name: str
    place: Callable[[], Path]
    write: Callable[[Path], None]


def _others(models: list[ModelCard], first: ModelCard, path: Path) -> Iterator[_Choice]:
    """The other models of the list that suit."""
    for other in partners(models, first):
        if other.path is not None:
            settings = (first.settings, other.settings)
            yield _Choice(
                other.name,
                partial(usual_place, path, other.path),
                partial(write_pair, first=path, second=other.path, settings=settings),
            )


def _twins(first: ModelCard, path: Path) -> Iterator[_Choice]:
    """The model itself in fewer bits."""
    for inner, name in (
        (False, f"itself with weights of {BITS} bits"),
        (True, f"itself in {BITS} bits: weights, and what layers take (int8)"),
    ):
        write = partial(write_twin, first=path, bits=BITS, settings=first.settings, inner=inner)
        yield _Choice(name, partial(usual_twin_place, path, BITS, inner=inner), write)


def _saved(window: QWidget, choice: _Choice) -> Path | None:
    """Asks for a place and writes the pair there; None if the user thinks better of it."""
    pairs = f"Pair of models (*{SUFFIX})"
    out = ask_file(window, "Save the pair", str(choice.place()), pairs, ending=SUFFIX)
    if out is not None:
        choice.write(out)
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
