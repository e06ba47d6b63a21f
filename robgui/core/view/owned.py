"""Views of several models with one of them in front: its map first, its line strong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from robgui.core.view.views import Curves, View


def in_front(views: Sequence[View], place: int) -> list[View]:
    """The views of a run of several models, for a reader who asks about one of them.

    Args:
        views: As the analysis gives them.
        place: Which of the models of the request is in question.
    """
    found = [_strong(view, place) if isinstance(view, Curves) else view for view in views]
    places = [at for at, view in enumerate(found) if view.model is not None]
    # Pictures of all models stay where they are.
    ordered = sorted((found[at] for at in places), key=lambda view: view.model != place)
    for at, view in zip(places, ordered, strict=True):
        found[at] = view
    return found


def first_of(views: Sequence[View], place: int) -> View | None:
    """The picture of one of the models; None where there is only that of another."""
    first = next(iter(in_front(views, place)), None)
    if first is None or first.model not in (None, place):
        return None
    return first


def _strong(view: Curves, place: int) -> Curves:
    if all(line.model != place for line in view.lines):
        return view
    lines = [
        line if line.model is None else replace(line, strong=line.model == place)
        for line in view.lines
    ]
    return replace(view, lines=tuple(lines))
