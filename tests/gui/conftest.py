"""The assembled window on a workspace of its own."""

from __future__ import annotations

import pytest

from robgui.gui.app.theme import theme


@pytest.fixture
def window(qtbot, tmp_path):
    from robgui.gui.app.app import (
        application,
        leave,
        open_window,
    )  # a widget's test needs no window

    application()
    made = open_window(tmp_path / "w.robgui")
    made.resize(1600, 1000)  # roomy: nothing is folded
    made.show()
    qtbot.waitExposed(made)
    qtbot.waitUntil(
        lambda: bool(made.store.analyses) and made.store.history.workspace is not None,
    )
    made.panel("")  # All of them are made now, not turn by turn.
    yield made
    theme.apply(False)
    made.close()
    assert leave(made, 0) == 0
    made.deleteLater()
