"""The settings of other models, for a model that is fed in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from robgui.core.model.preprocessing import FIELDS
from robgui.core.model.remembered import recent
from robgui.gui.state.library.alike import same_file

if TYPE_CHECKING:
    from robgui.core.model.card import ModelCard
    from robgui.core.model.settings import ModelSettings


def same_as(card: ModelCard, models: Sequence[ModelCard]) -> dict[str, dict[str, Any]]:
    """What models that are open, or were corrected lately, were given, as ``same as NAME``.

    Class names come along if there is one for each class. Reads files: not for the GUI thread.
    """
    others = [(each.name, each.settings) for each in models if not same_file(each, card)]
    known = [(name, given) for name, given in recent() if not _is_named(card, name)]
    found: dict[str, dict[str, Any]] = {}
    for name, given in (*others, *known):
        if _fits(card, given):
            # Models that are open come first, so they keep a name that both have.
            found.setdefault(f"same as {name}", _taken(card, given))
    return found


def _taken(card: ModelCard, given: ModelSettings) -> dict[str, Any]:
    values = {field: getattr(given, field) for field in FIELDS}
    return values | ({"labels": given.labels} if len(given.labels) == card.classes else {})


def _fits(card: ModelCard, given: ModelSettings) -> bool:
    """Whether a mean for each channel or column is one for each of the model's."""
    if given.kind != card.kind or not given.shape:
        return False
    # Channels come first in an image, columns last in tables and sequences.
    place = 0 if card.kind == "image" else -1
    return given.shape[place] == card.shape[place]


def _is_named(card: ModelCard, name: str) -> bool:
    return name in (card.name, card.path.name if card.path is not None else "")
