"""Workspaces: new, opened, saved under another name, and those worked with lately."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu

from robgui.gui.app.settings import save_settings
from robgui.gui.widgets.plain import in_menu, set_tip
from robgui.gui.widgets.save_dialog import ask_file

if TYPE_CHECKING:
    from robgui.gui.app.main_window import MainWindow

WORKSPACES = "Workspaces (*.robgui)"
ENDING = ".robgui"


class Workspaces:
    """What the File menu does with workspaces; the last one is open again after a restart.

    Attributes:
        recent: The menu of those worked with lately.
    """

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._store = window.store
        self.recent = QMenu("Recent work", window)
        self.recent.aboutToShow.connect(self._fill)
        self._store.history.opened.connect(lambda _: self._opened())

    def new(self) -> None:
        """Starts an empty workspace in a file of the user's choice.

        An existing file is left alone. Models and data stay with the workspace they are in.
        """
        path = self._ask("New workspace", "new.robgui", confirm=False)
        if path is None:
            return
        if path.exists():
            self._store.say(
                "warning", f"{path} exists already and was left as it is; choose another name."
            )
            return
        self._store.open_workspace(path)

    def save(self) -> None:
        """Names unnamed work; everything else is saved as it happens."""
        from robgui.core.workspace import Workspace

        workspace = self._store.history.workspace
        if workspace is None or workspace.path == Workspace.default_path():
            self.save_as()
        else:
            self._store.say("info", f"Everything is kept in {workspace.path} as it happens.")

    def save_as(self) -> None:
        """Copies the workspace to a file of the user's choice and goes on with the copy."""
        path = self._ask("Save workspace as", "workspace.robgui", confirm=True)
        if path is not None:
            self._store.history.save_as(path)

    def _ask(self, title: str, name: str, *, confirm: bool) -> Path | None:
        settings = self._window.settings
        start = str(Path(settings.last_folder) / name)
        # Qt would offer to replace the file, which a new workspace never does.
        path = ask_file(self._window, title, start, WORKSPACES, ending=ENDING, replace=confirm)
        if path is not None:
            settings.last_folder = str(path.parent)
        return path

    def _opened(self) -> None:
        workspace = self._store.history.workspace
        if workspace is not None:
            self._window.settings.add_workspace(workspace.path)
            # A crash must not lose track of where the work is.
            save_settings(self._window.settings)
            self._window.welcome.show_work(self._window.settings.workspaces)

    def _fill(self) -> None:
        """Those whose files are there, the newest first; the open one is ticked."""
        self.recent.clear()
        workspace = self._store.history.workspace
        if workspace is None:
            now = ""
        else:
            now = str(workspace.path.absolute())
        for text in self._window.settings.workspaces:
            path = Path(text)
            if not path.exists():
                continue
            action = self.recent.addAction(in_menu(f"{path.stem}    {path.parent}"))
            action.setCheckable(True)
            action.setChecked(text == now)
            set_tip(action, text)
            action.triggered.connect(partial(self._take, path))
        # An entry that says so: Qt never again opens a menu that disables itself here.
        if not self.recent.actions():
            self.recent.addAction("No other work yet").setEnabled(False)

    def _take(self, path: Path, *_: object) -> None:
        self._store.open_workspace(path)
