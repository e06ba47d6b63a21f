"""The assembled window, opened for as long as a test or a file of tests needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication

from robgui.gui.app.app import application, leave, open_window
from robgui.gui.app.main_window import MainWindow
from robgui.gui.app.theme import theme
from tests.patience import wait_for


@contextmanager
def opened(workspace: Path) -> Iterator[MainWindow]:
    """The window on a workspace, with all its panels."""
    application()
    made = open_window(workspace)
    made.resize(1600, 1000)  # roomy: nothing is folded
    made.show()
    until(lambda: bool(made.store.analyses) and made.store.history.workspace is not None)
    made.panel("")  # All of them are made now, not turn by turn.
    try:
        yield made
    finally:
        theme.apply(False)
        made.close()
        assert leave(made, 0) == 0
        made.deleteLater()
        # Now, not when an event loop next runs: all that is alive takes on each new look.
        QCoreApplication.sendPostedEvents(made, QEvent.Type.DeferredDelete.value)


def until(condition: Callable[[], object]) -> None:
    """Waits as ``qtbot.waitUntil`` does, for what lives longer than a test."""
    wait_for(lambda: QApplication.processEvents() or condition())
