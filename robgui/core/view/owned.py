"""Views of several models with one of them in front: its map first, its line strong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from robgui.core.view.views import Curves, View


def in_front(views: Sequence[View], names: Sequence[str], place: int) -> list[View]:
    """The views of a run of several models, for a reader who asks about one of them.

    Args:
        views: As the analysis gives them.
        names: What the models are called.
        place: Which of them is in question.
    """
    if len(names) < 2 or not 0 <= place < len(names):
        return list(views)
    own = names[place]
    found = [_strong(view, names, own) if isinstance(view, Curves) else view for view in views]
    places = [at for at, view in enumerate(found) if owner(view.title, names)]
    # Pictures of all models stay where they are.
    ordered = sorted((found[at] for at in places), key=lambda view: owner(view.title, names) != own)
    for at, view in zip(places, ordered, strict=True):
        found[at] = view
    return found


def first_of(views: Sequence[View], names: Sequence[str], place: int) -> View | None:
    """The picture of one of the models; None where there is only that of another."""
    first = next(iter(in_front(views, names, place)), None)
    if first is None or len(names) < 2:
        return first
    if owner(first.title, names) not in ("", *names[place : place + 1]):
        return None
    return first


def owner(words: str, names: Sequence[str]) -> str:
    """The model that words name; of names within each other the longest, empty for none."""
    return max((name for name in names if name and name in words), key=len, default="")


def _strong(view: Curves, names: Sequence[str], own: str) -> Curves:
    owners = [owner(line.name, names) for line in view.lines]
    if own not in owners:
        return view
    lines = [
        replace(line, strong=mine == own) if mine else line
        for line, mine in zip(view.lines, owners, strict=True)
    ]
    return replace(view, lines=tuple(lines))
