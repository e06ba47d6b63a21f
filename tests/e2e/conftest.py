"""The real window, on a workspace of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from robgui.gui.app.app import application, leave, open_window


@pytest.fixture
def processes(monkeypatch):
    """Models are in processes of their own, as users have them."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("looks at /proc")
    monkeypatch.delenv("ROBGUI_INLINE")


@pytest.fixture
def start(qtbot, tmp_path):
    """Opens windows on one workspace, closes one with ``start.end(window)``, or with runs under
    way with ``start.leave(window)``, and whatever is left open at the end.
    """
    windows = []

    def begin():
        application()
        window = open_window(tmp_path / "story.robgui")
        windows.append(window)
        window.resize(1600, 1000)  # roomy: nothing is folded
        window.show()
        qtbot.waitExposed(window)
        qtbot.waitUntil(
            lambda: bool(window.store.analyses) and window.store.history.workspace is not None,
        )
        return window

    def end(window):
        window.store.runner.stop_all()  # else closing asks whether to stop
        qtbot.waitUntil(lambda: not window.store.runner.busy)
        leave_as_it_is(window)

    def leave_as_it_is(window):
        windows.remove(window)
        window.commands.may_quit = lambda: True  # whoever is asked says "Stop and quit"
        window.close()
        assert leave(window, 0) == 0
        window.deleteLater()

    begin.end, begin.leave = end, leave_as_it_is
    yield begin
    while windows:
        end(windows[-1])
