"""One window with a run of every analysis, for all tests of how the pages look.

ROBGUI_LOOK_RUNS names a folder that keeps the runs for the next time.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from robgui.gui.app.app import leave
from robgui.gui.app.theme import theme


@pytest.fixture(scope="session")
def shown(tmp_path_factory):
    from tests.look.shown import Shown  # a test of colours needs no window

    with pytest.MonkeyPatch.context() as patch:
        kept = os.environ.get("ROBGUI_LOOK_RUNS")
        folder = Path(kept) if kept else tmp_path_factory.mktemp("shown")
        folder.mkdir(parents=True, exist_ok=True)
        patch.setenv("ROBGUI_CONFIG", str(folder / "settings.json"))
        made = Shown(folder)
        yield made
        made.window.commands.scale_text(1 / made.window.settings.font_scale)
        theme.apply(False)
        made.window.close()
        assert leave(made.window, 0) == 0
        made.window.deleteLater()
