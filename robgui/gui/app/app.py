"""Starts the window: on screen first, everything else afterwards."""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import (
    QEvent,
    QMessageLogContext,
    QObject,
    QTimer,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from robgui.core.errors import sentence
from robgui.gui.app.garbage import Garbage
from robgui.gui.app.main_window import MainWindow
from robgui.gui.app.settings import load_settings, save_settings
from robgui.gui.app.theme import is_dark, theme
from robgui.gui.show.drawn_ahead import DrawnAhead
from robgui.gui.state.store import Store
from robgui.gui.widgets.inks import class_lists


class Application(QApplication):
    """The program as the desktop sees it.

    macOS does not name a file that was double-clicked on the command line: it sends an event to the
    program, which may have been running for hours.

    Signals:
        file_asked: The desktop asks for a file to be opened; its path.
    """

    file_asked = Signal(str)

    def event(self, event: QEvent) -> bool:
        """Takes the request to open a file; everything else is Qt's."""
        # macOS sends a double click on a file as an event, not on the command line.
        if isinstance(event, QFileOpenEvent) and event.file():
            self.file_asked.emit(event.file())
            return True
        return super().event(event)


class PendingFiles(QObject):
    """Files to open: they wait for the window to appear, then open at once."""

    def __init__(self, window: MainWindow, workspace: Path | None, files: Sequence[Path]) -> None:
        super().__init__(window)
        self._window = window
        self._workspace = workspace
        self._waiting: list[Path] | None = list(files)

    def open(self, file: str) -> None:
        """Opens ``file``, now or as soon as the window is on screen."""
        if self._waiting is None:
            self._window.commands.open_path(Path(file))
        else:
            self._waiting.append(Path(file))

    def begin(self) -> None:
        """Starts the processes and opens what waits.

        One workspace (by default the one that was open last), then models and data.
        """
        files, self._waiting = self._waiting or [], None
        store = self._window.store
        store.warm_up()
        asked = self._workspace or next((path for path in files if path.suffix == ".robgui"), None)
        store.open_workspace(asked or self._last_workspace())
        for path in files:
            if path.suffix != ".robgui":
                self._window.commands.open_path(path)

    def _last_workspace(self) -> Path | None:
        settings = self._window.settings
        if settings.workspaces and settings.last_workspace is None:
            self._window.store.say(
                "warning",
                f"{settings.workspaces[0]}, where you worked last, is no longer there; your own"
                " workspace was opened.",
            )
        return settings.last_workspace


def main(files: Sequence[str] = ()) -> int:
    """Opens the window, with ``files`` if any; returns the exit code."""
    # An error in native code ends the process without a word otherwise. Started from a desktop
    # there may be no terminal to write to.
    if sys.stderr is not None:
        faulthandler.enable()
    app = application()
    window = open_window(files=files)
    window.show()
    # After the window is shown: it collects between events, when no Qt call is under way.
    Garbage(app)
    ahead = DrawnAhead(window.store)
    # A finished package is tried out this way: the window opens and closes by itself.
    seconds = os.environ.get("ROBGUI_QUIT_AFTER")
    if seconds:
        QTimer.singleShot(round(float(seconds) * 1000), window.close)
    code = app.exec()
    ahead.close()
    return leave(window, code)


def application() -> QApplication:
    """The one QApplication, with the user's look."""
    # Only the name of the program: Qt would take options such as -style out of the others.
    app = QApplication.instance() or Application(sys.argv[:1])
    assert isinstance(app, QApplication)
    qInstallMessageHandler(_qt_message)
    app.setApplicationName("robgui")
    # Wayland finds the icon of a window by its desktop file.
    app.setDesktopFileName("robgui")
    settings = load_settings()
    # A font that is measured in pixels has no points; Qt says -1.
    theme.base_points = max(9.0, app.font().pointSizeF())
    font = app.font()
    font.setPointSizeF(max(9.0, theme.base_points * settings.font_scale))
    app.setFont(font)
    theme.apply(is_dark(settings.look))
    return app


def _qt_message(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    """Sends Qt's messages where everything else goes: into the log."""
    if "propagateSizeHints" in text:  # The offscreen platform says this at every resize.
        return
    level = {QtMsgType.QtDebugMsg: logging.DEBUG, QtMsgType.QtInfoMsg: logging.INFO}.get(
        kind, logging.WARNING
    )
    logging.getLogger("robgui.qt").log(level, text)


def open_window(workspace: Path | None = None, files: Sequence[str] = ()) -> MainWindow:
    """The window on its workspace; once it is on screen, processes start and files are opened."""
    store, settings = Store(), load_settings()
    # Not by set_limits, which arranges processes before the window is on screen.
    store.processes.memory, store.processes.at_once = settings.memory, settings.runs_at_once
    window = MainWindow(store, settings)
    _catch_everything(store)
    store.library.models_changed.connect(lambda: _colour_classes(window))
    asked = PendingFiles(window, workspace, [Path(file) for file in files])
    window.on_screen.connect(asked.begin)
    app = QApplication.instance()
    if isinstance(app, Application):
        app.file_asked.connect(asked.open)
    return window


def _colour_classes(window: MainWindow) -> None:
    """Lets every chip have the colours of its model; that of the model in use goes before."""
    library = window.store.library
    ordered = sorted(library.models, key=lambda model: model is not library.model)
    if class_lists.set(model.labels for model in ordered):
        window.update()


def leave(window: MainWindow, code: int) -> int:
    """Stops every thread and closes the workspace.

    A model that hangs cannot hold the program up.
    """
    save_settings(window.settings)
    # The hook speaks through the store, whose threads are about to end.
    sys.excepthook = sys.__excepthook__
    if window.commands.batch is not None:
        window.commands.batch.shutdown()
    if not window.store.shutdown():
        logging.getLogger("robgui").warning(
            "The model did not let go in time; its last step is lost, everything before it is kept."
        )
        # A thread that never returns would keep the interpreter from ending.
        os._exit(code)
    return code


def _catch_everything(store: Store) -> None:
    """Turns an unforeseen error into a toast with details instead of an abort."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            # Ctrl+C in the terminal is a wish to leave, no error.
            QApplication.quit()
            return
        details = "".join(traceback.format_exception(kind, error, trace))
        # Also to the terminal: the window that should show it may be what is broken.
        sys.stderr.write(details)
        store.say("error", f"{sentence(error)} See the log for details.", details)

    sys.excepthook = hook
