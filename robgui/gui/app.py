"""Starts the window: on screen first, torch after."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QTimer, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from robgui.gui.background import unexpected
from robgui.gui.main_window import MainWindow
from robgui.gui.settings import load_settings, save_settings
from robgui.gui.store import Store
from robgui.gui.theme import theme


def main(files: Sequence[str] = ()) -> int:
    """Opens the window, with ``files`` if any; returns the exit code."""
    app = application()
    window = open_window(files=files)
    window.show()
    seconds = os.environ.get("ROBGUI_QUIT_AFTER")
    if seconds:
        QTimer.singleShot(round(float(seconds) * 1000), window.close)
    code = app.exec()
    return leave(window, code)


def application() -> QApplication:
    """The one QApplication, with the user's look."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    qInstallMessageHandler(_qt_message)
    app.setApplicationName("robgui")
    app.setDesktopFileName("robgui")
    settings = load_settings()
    theme.base_points = max(9.0, app.font().pointSizeF())
    font = app.font()
    font.setPointSizeF(max(9.0, theme.base_points * settings.font_scale))
    app.setFont(font)
    theme.apply(settings.dark)
    return app


def _qt_message(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    """What Qt has to say goes where everything else goes: into the log."""
    if "propagateSizeHints" in text:  # the offscreen platform says so at every resize
        return
    level = {QtMsgType.QtDebugMsg: logging.DEBUG, QtMsgType.QtInfoMsg: logging.INFO}.get(kind, logging.WARNING)
    logging.getLogger("robgui.qt").log(level, text)


def open_window(workspace: Path | None = None, files: Sequence[str] = ()) -> MainWindow:
    """The window on its workspace; torch is imported and files are opened once it is on screen."""
    store = Store()
    window = MainWindow(store, load_settings())
    _catch_everything(store)
    opened = [Path(file) for file in files]
    chosen = workspace or next((path for path in opened if path.suffix == ".robgui"), None)

    def begin() -> None:
        store.warm_up()
        store.open_workspace(chosen)
        for path in opened:
            if path.suffix != ".robgui":
                window.commands.open_path(path)

    window.on_screen.connect(begin)
    return window


def leave(window: MainWindow, code: int) -> int:
    """Stops every thread and closes the workspace; a model that will not let go cannot hold the program up."""
    save_settings(window.settings)
    sys.excepthook = sys.__excepthook__
    if window.commands.batch is not None:
        window.commands.batch.shutdown()
    if not window.store.shutdown():
        logging.getLogger("robgui").warning("The model did not let go in time; its last step is lost, everything before it is kept.")
        os._exit(code)
    return code


def _catch_everything(store: Store) -> None:
    """An error nobody foresaw becomes a toast with details instead of an abort."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            QApplication.quit()
            return
        details = "".join(traceback.format_exception(kind, error, trace))
        sys.stderr.write(details)
        store.say("error", unexpected(error), details)

    sys.excepthook = hook
