"""A method and panels from other packages: shown where they work, a sentence in the log where
they do not.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QTabWidget

from robgui import resources
from robgui.core.execution import method
from robgui.gui.panels.generic import GenericPanel
from robgui.gui.state.library.library import Opening
from tests.methods import OUR_METHODS

EXAMPLE = Path(__file__).parents[2] / "sixth_method" / "robgui_brightness"
BROKEN = """
from robgui.gui.panels.panel import Panel


class Broken(Panel):
    def build(self):
        raise RuntimeError("no picture today")
"""


@pytest.fixture
def foreign(tmp_path, monkeypatch):
    """Two packages as pip leaves them: one brings a method with a panel that cannot be made, one
    nothing but errors.
    """
    site = tmp_path / "site"
    shutil.copytree(EXAMPLE, site / "robgui_brightness")
    (site / "robgui_brightness" / "panel.py").write_text(BROKEN)
    entries = {
        "robgui_brightness": (
            "[robgui.methods]\nbrightness ="
            " robgui_brightness.method:METHOD\n[robgui.panels]\nbrightness ="
            " robgui_brightness.panel:Broken\nzonnscan = robgui_brightness.panel:Broken\n"
        ),
        "robgui_nothing": "[robgui.methods]\nnothing = robgui_nothing.method:METHOD\n",
    }
    for name, words in entries.items():
        info = site / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(words)
    monkeypatch.syspath_prepend(str(site))
    method.refresh()
    yield site
    monkeypatch.undo()
    method.refresh()
    for name in [name for name in sys.modules if name.startswith("robgui_brightness")]:
        del sys.modules[name]


def test_a_foreign_method_stands_in_the_rail_and_runs_live_in_the_generic_panel(
    qtbot, foreign, window
):
    store = window.store
    assert "Brightness" in [button.text() for button in window.rail.findChildren(QAbstractButton)]
    store.library.load_dataset(resources.path("demo", "fashion.npz"), quiet=True)
    store.library.load_model(Opening(resources.path("demo", "fashion_mlp.pt2"), quiet=True))
    qtbot.waitUntil(lambda: store.library.model is not None and not store.busy)
    window.show_panel("brightness")
    panel = window.current_panel
    assert isinstance(panel, GenericPanel) and panel.analysis.name == "brightness"
    window.run_pane.run.click()
    qtbot.waitUntil(lambda: bool(store.history.runs) and store.history.runs[0].state.ended)
    qtbot.waitUntil(lambda: panel.run_id is not None)
    assert panel.board.widgets[0].view.title == "Confidence under brightness"
    qtbot.waitUntil(lambda: store.history.runs[0].verdict == panel.verdict.verdict)
    assert panel.verdict.status.text()


def test_a_panel_that_cannot_be_made_is_a_sentence_and_nobody_takes_the_place_of_ours(
    foreign, window
):
    log = window.log.text.toPlainText()
    assert (
        "The panel of Brightness (robgui_brightness.panel:Broken) cannot be made: RuntimeError: no"
        " picture today" in log
    )
    assert type(window.panel("zonnscan")).__module__ == "robgui.gui.panels.zonnscan.sweep"


def test_a_method_that_cannot_be_loaded_is_a_sentence_and_the_window_starts(foreign, window):
    log = window.log.text.toPlainText()
    assert (
        "The method nothing (robgui_nothing.method:METHOD) cannot be loaded: ModuleNotFoundError"
        in log
    )
    pages = [window.pages.widget(i) for i in range(window.pages.count())]
    assert sum(isinstance(page, QTabWidget) for page in pages) == len(OUR_METHODS) + 1, (
        "all of ours and the one that works"
    )
