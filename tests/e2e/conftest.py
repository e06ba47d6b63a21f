"""The real window, on a workspace of the test's own."""

from __future__ import annotations

import pytest

from robgui.gui.app.app import application, leave, open_window


@pytest.fixture
def start(qtbot, tmp_path):
    """Opens windows on one workspace, closes one with ``start.end(window)`` and whatever is left
    open at the end.
    """
    windows = []

    def begin():
        application()
        window = open_window(tmp_path / "story.robgui")
        windows.append(window)
        window.show()
        qtbot.waitExposed(window)
        qtbot.waitUntil(
            lambda: bool(window.store.analyses) and window.store.history.workspace is not None,
            timeout=60_000,
        )
        return window

    def end(window):
        windows.remove(window)
        window.store.runner.stop_all()  # else closing asks whether to stop
        qtbot.waitUntil(lambda: not window.store.runner.busy, timeout=60_000)
        window.close()
        assert leave(window, 0) == 0
        window.deleteLater()

    begin.end = end
    yield begin
    while windows:
        end(windows[-1])
