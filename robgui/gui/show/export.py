"""Pictures, films and numbers of a result: drawn from its views, never grabbed from the screen.

PNG, SVG, PDF and the clipboard show all views with title, legend, units and provenance; GIF and MP4
are for a film; CSV and NPZ hold the numbers. Everything here takes its time and is called away from
the GUI thread.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robgui.core.errors import RobguiError
from robgui.core.view import Film, View

if TYPE_CHECKING:
    from robgui.core.experiment import Experiment
    from robgui.report.drawing import Plate

PICTURE_ENDINGS = (".png", ".svg", ".pdf")
FILM_ENDINGS = (".gif", ".mp4")
NUMBER_ENDINGS = (".csv", ".npz")
#: Pixels across a picture on the clipboard.
CLIPBOARD_WIDTH = 1800


@dataclass(frozen=True)
class Exported:
    """What is exported.

    Attributes:
        views: What the result looks like.
        title: What it is.
        subject: Of what: model and input.
        provenance: Where it comes from: version, settings, run.
        experiment: The run behind it, which a picture carries.
    """

    views: tuple[View, ...]
    title: str
    subject: str
    provenance: str
    experiment: Experiment | None = None

    @property
    def film(self) -> Film | None:
        """The first film among the views; None without one."""
        return next((view for view in self.views if isinstance(view, Film)), None)


def save_picture(exported: Exported, path: Path) -> None:
    """Writes PNG, SVG or PDF, or the film as GIF or MP4, by the ending of ``path``."""
    from robgui.report.drawing import save

    ending = path.suffix.lower()
    if ending in FILM_ENDINGS:
        _save_film(exported, path)
        return
    if ending not in PICTURE_ENDINGS:
        raise RobguiError(
            f"{path.name}: a picture is written as {', '.join(PICTURE_ENDINGS)}; choose one of"
            " these endings."
        )
    _write(path, save(_figure(exported), ending[1:], experiment=exported.experiment))


def to_pixels(exported: Exported, width: int = CLIPBOARD_WIDTH) -> np.ndarray:
    """The picture as uint8 ``(h, w, 3)``, for the clipboard."""
    from robgui.report.drawing import pixels

    return np.ascontiguousarray(pixels(_figure(exported), width)[..., :3])


def save_numbers(exported: Exported, path: Path) -> list[Path]:
    """Writes the numbers of all views into one NPZ file, or of each into a CSV file of its own.

    Returns the files.
    """
    from robgui.report.drawing import to_arrays, to_csv

    ending, views = path.suffix.lower(), _some(exported)
    if ending == ".npz":
        arrays = {
            f"{slug(view.title)}/{name}": array
            for view in views
            for name, array in to_arrays(view).items()
        }
        _save_npz(path, arrays)
        return [path]
    if ending != ".csv":
        raise RobguiError(
            f"{path.name}: numbers are written as {', '.join(NUMBER_ENDINGS)}; choose one of these"
            " endings."
        )
    # The first view has the name that was chosen; the others are called after it.
    files = [path, *(path.with_name(f"{path.stem}-{slug(view.title)}.csv") for view in views[1:])]
    for file, view in zip(files, views, strict=True):
        _write(file, to_csv(view).encode())
    return files


def slug(words: str) -> str:
    """Words as part of a file's name."""
    return re.sub(r"[^\w]+", "-", words.casefold()).strip("-") or "view"


def _figure(exported: Exported) -> Plate:
    """All views in one figure, on a light ground whatever the window looks like."""
    from robgui.report.drawing import draw

    views = _some(exported)
    return draw(
        views, title=exported.title, subject=exported.subject, provenance=exported.provenance
    )


def _some(exported: Exported) -> Sequence[View]:
    if not exported.views:
        raise RobguiError("There is no picture yet; press Run, or show a run of the history.")
    return exported.views


def _save_film(exported: Exported, path: Path) -> None:
    from robgui.report.drawing import save_film

    film = exported.film
    if film is None:
        raise RobguiError(f"{exported.title} has no animation; write it as PNG, SVG or PDF.")
    save_film(
        film, path, title=exported.title, subject=exported.subject, provenance=exported.provenance
    )


def _save_npz(path: Path, arrays: dict[str, np.ndarray]) -> None:
    try:
        # Given a path, numpy appends its own ending to one in capitals.
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
    except OSError as error:
        raise RobguiError(
            f"{path} cannot be written ({error.strerror}); choose a folder you may write to."
        ) from error


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise RobguiError(
            f"{path} cannot be written ({error.strerror}); choose a folder you may write to."
        ) from error
