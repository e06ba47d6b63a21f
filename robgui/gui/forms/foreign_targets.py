"""Targets of another model: a class that was aimed at there may be no class of the one in use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from robgui.analyses.choosing import names_target

if TYPE_CHECKING:
    from robgui.core.model.card import ModelCard
    from robgui.gui.forms.forms import ParamsForm


def drop_foreign_targets(forms: Iterable[ParamsForm], model: ModelCard | None) -> None:
    """Empties every target that names no class of ``model``; Run would refuse it."""
    if model is None:
        return
    for form in forms:
        # values() is None while a form is not valid; then it says itself what is wrong.
        target = getattr(form.values(), "target", "")
        if isinstance(target, str) and not names_target(target, model.labels):
            form.set_values({"target": ""})
