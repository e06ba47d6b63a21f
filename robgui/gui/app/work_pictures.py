"""Pictures of workspaces for the welcome page: the worst finding of each, kept beside the settings.

A workspace is not opened to draw it: that would take its lock.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from robgui.core.regular import read_regular
from robgui.core.text.words import count
from robgui.gui.app.settings import config_path

if TYPE_CHECKING:
    from robgui.core.workspace import Workspace
    from robgui.gui.state.store import Store

#: Pixels of the longer side, and most bytes of the words.
_SIDE, _LONGEST = 320, 2000


class WorkPictures(QObject):
    """Keeps the picture of the workspace in use up to date, and what it holds in words."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._store = store
        self._kept: tuple[str, int, int] = ("", -1, -1)
        store.history.findings_changed.connect(self._keep)

    def _keep(self) -> None:
        history = self._store.history
        workspace = history.workspace
        if workspace is None or not history.runs:
            return
        groups = history.entries()
        shown = next((group.lead.id for group in groups if group.lead.has_picture), -1)
        now = (str(workspace.path), shown, len(history.runs))
        if now == self._kept:
            return
        self._kept = now
        words = f"{count(len(history.runs), 'run')}, {count(len(groups), 'finding')}"
        self._store.keeping.run(lambda: _write(workspace, shown, words), key="work picture")


def picture_path(workspace: Path) -> Path:
    """Where the picture of a workspace is kept."""
    # A path is no file name, and two workspaces in different folders may share theirs.
    name = hashlib.sha256(str(workspace.absolute()).encode()).hexdigest()[:16]
    return config_path().parent / "pictures" / f"{name}.png"


def words_of(workspace: Path) -> str:
    """What a workspace held when it was last open; empty if that is not known."""
    try:
        words = read_regular(picture_path(workspace).with_suffix(".txt"), _LONGEST)
        return words.decode("utf-8")[:200]
    except (OSError, UnicodeDecodeError):
        return ""


def _write(workspace: Workspace, finding: int, words: str) -> None:
    """Runs on a pool thread; without a writable place there is no picture."""
    from PIL import Image

    path = picture_path(workspace.path)
    if finding >= 0:
        picture = workspace.finding(finding).picture
    else:
        picture = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".txt").write_text(words, encoding="utf-8")
        if picture is None:
            path.unlink(missing_ok=True)
            return
        image = Image.fromarray(picture)
        image.thumbnail((_SIDE, _SIDE))
        image.save(path)
    except OSError:
        return
