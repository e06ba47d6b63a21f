"""The headline of a page says whose result it is where that is not the model in use."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.core.model.card import ModelCard
    from robgui.core.verdict import Verdict


def place_in_use(request: Request | None, model: ModelCard | None) -> int | None:
    """Which of several models of a request is the one in use; None if there is none."""
    if request is None or model is None or len(request.models) < 2:
        return None
    return request.place_of(model.fingerprint)


def part_in_use(said: Verdict, request: Request | None, model: ModelCard | None) -> Verdict:
    """What a run of several models says of the one in use, by name; else the whole verdict.

    What it says about all of them together, for example that they disagree, stays.
    """
    place = place_in_use(request, model)
    if place is None or request is None or place >= len(said.models) or said.about is None:
        return said
    own = said.models[place]
    return replace(
        own,
        sentence=f"{request.models[place].name}: {own.sentence}",
        scope=said.scope or own.scope,
        because=said.because or own.because,
    )


def owned(said: Verdict, request: Request, model: ModelCard | None) -> Verdict:
    """A verdict as the page of a model says it: that of another model begins with its name."""
    if model is None or not request.models or request.place_of(model.fingerprint) is not None:
        return said
    names = [one.name for one in request.models]
    if model.name in names:
        other = "the one in use"
    else:
        other = model.name
    return replace(said, sentence=f"About {', '.join(names)}, not {other}: {said.sentence}")
