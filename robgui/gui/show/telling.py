"""Telling: the slides of a story with their pictures, made away from the GUI thread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from robgui.core.workspace import Workspace
    from robgui.gui.state.store import Store
    from robgui.report.story import Right, Slide


@dataclass(frozen=True)
class Told:
    """A slide ready to be shown.

    Attributes:
        slide: What it says.
        picture: What it shows where it is no pair: pixels or the bytes of a file; None for nothing.
        edited: Whether its words are the user's.
    """

    slide: Slide
    picture: np.ndarray | bytes | None
    edited: bool

    def saying(self, title: str, text: str) -> Told:
        """The same in the user's words."""
        return replace(self, slide=replace(self.slide, title=title, text=text), edited=True)


def tell(workspace: Workspace, right: Right | None, dark: bool, about: str) -> list[Told]:
    """The story of a workspace, about the model in use; called on a pool thread."""
    from robgui.report.story import read_edits, story_of

    own = read_edits(workspace)
    slides = story_of(workspace, right, about)
    return [Told(slide, _picture(slide, dark), slide.key in own) for slide in slides]


def tell_right(store: Store) -> Right | None:
    """How often the model in use is right; None while not every input is predicted."""
    from robgui.report.story import Right

    library = store.library
    if library.model is None or library.dataset is None or not library.predictions.complete:
        return None
    accuracy = library.predictions.accuracy()
    if accuracy is None:
        return None
    share, inputs = accuracy
    return Right(library.model.fingerprint, library.dataset.name, share, inputs)


def _picture(slide: Slide, dark: bool) -> np.ndarray | bytes | None:
    if slide.pair is not None:  # the stage uncovers it
        return None
    if slide.view is None or slide.picture is not None:
        from robgui.report.story.painting import exhibit

        return exhibit(slide, dark=dark)
    from robgui.report.drawing import draw_view, save

    return save(draw_view(slide.view, dark=dark), "png")
