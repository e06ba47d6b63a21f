"""New batch: a suite runs from the window into its workspace, and bad suites say so in one sentence."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget

from robgui import resources
from robgui.core.analysis import analyses
from robgui.gui.batch_window import BatchWindow
from robgui.gui.store import Store

SUITE = """
[[models]]
path = "{model}"
[[datasets]]
path = "{data}"
index = "0:2"
[[analyses]]
name = "zonnscan"
params = {{ samples = 32, radii = "0,0.1" }}
"""


@pytest.fixture
def window(qtbot, tmp_path):
    store = Store()
    store.analyses = analyses()
    with qtbot.waitSignal(store.history.opened, timeout=10_000):
        store.open_workspace(tmp_path / "test.robgui")
    parent = QWidget()
    qtbot.addWidget(parent)
    made = BatchWindow(store, parent)
    made.show()
    yield made
    made.shutdown()
    assert store.shutdown()


def test_a_suite_runs_from_the_window_and_its_runs_are_in_the_history(qtbot, window, tmp_path):
    suite = tmp_path / "suite.toml"
    demo = {"model": resources.path("demo", "fashion_mlp.pt2"), "data": resources.path("demo", "fashion.npz")}
    suite.write_text(SUITE.format(**demo))
    window.suite.setText(str(suite))
    window.start.click()
    assert not window.start.isEnabled()
    qtbot.waitUntil(window.start.isEnabled, timeout=120_000)
    assert "2 of 2 requests" in window.words.text()
    qtbot.waitUntil(lambda: len(window._store.history.runs) == 2, timeout=10_000)
    window.start.click()
    qtbot.waitUntil(window.start.isEnabled, timeout=60_000)
    assert window.entries.model().index(0, 1).data() == "done before"


def test_a_suite_that_cannot_be_read_is_refused_in_one_sentence(qtbot, window, tmp_path):
    window.suite.setText(str(tmp_path / "missing.toml"))
    window.start.click()
    qtbot.waitUntil(window.start.isEnabled, timeout=30_000)
    assert "missing.toml" in window.words.text()


@pytest.mark.parametrize(
    ("address", "words"), [("nonsense", "is no address of a Ray cluster"), ("ray://10.0.0.5:10001", "cannot stream results")]
)
def test_a_wrong_address_of_a_cluster_is_refused_in_one_sentence(qtbot, window, address, words):
    assert window.workers.isEnabled()
    window.cluster.setText(address)
    assert not window.workers.isEnabled()
    window.start.click()
    qtbot.waitUntil(lambda: window.words.property("role") == "bad", timeout=30_000)
    assert words in window.words.text() and window.start.isEnabled()
