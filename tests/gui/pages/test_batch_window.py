"""New batch: a suite runs from the window into its workspace, and bad suites say so in one
sentence.
"""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QWidget

from robgui import resources
from robgui.core.execution.registry import analyses
from robgui.core.execution.run import RunState
from robgui.core.finding import Finding
from robgui.gui.pages.batch_window import BatchWindow
from robgui.gui.state.store import Store

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
def store(qtbot, tmp_path):
    made = Store()
    made.analyses = analyses()
    with qtbot.waitSignal(made.history.opened):
        made.open_workspace(tmp_path / "test.robgui")
    yield made
    assert made.shutdown()


@pytest.fixture
def window(qtbot, store):
    parent = QWidget()
    qtbot.addWidget(parent)
    made = BatchWindow(store, parent)
    made.show()
    yield made
    made.shutdown()


def test_a_suite_runs_from_the_window_and_its_runs_are_in_the_history(
    qtbot, window, store, tmp_path
):
    suite = tmp_path / "suite.toml"
    demo = {
        "model": resources.path("demo", "fashion_mlp.pt2"),
        "data": resources.path("demo", "fashion.npz"),
    }
    suite.write_text(SUITE.format(**demo))
    window.suite.setText(str(suite))
    window.start.click()
    assert not window.start.isEnabled()
    qtbot.waitUntil(window.start.isEnabled)
    assert "2 of 2 requests" in window.words.text()
    qtbot.waitUntil(lambda: len(store.history.runs) == 2)
    window.start.click()
    qtbot.waitUntil(window.start.isEnabled)
    assert window.entries.model().index(0, 1).data() == "done before"


def test_a_failure_that_another_run_has_seen_stands_in_the_table_of_the_batch(
    qtbot, window, store, tmp_path
):
    demo = [resources.path("demo", name) for name in ("fashion_mlp.pt2", "fashion.npz")]
    suite = tmp_path / "suite.toml"
    text = SUITE.format(model=demo[0], data=demo[1]).replace("0:2", "6:7")
    suite.write_text(text.replace('radii = "0,0.1"', 'radii = "0,0.001", hold_radius = 0.001'))
    window.suite.setText(str(suite))
    window.start.click()
    qtbot.waitUntil(window.start.isEnabled)
    cell = lambda: window.entries.model().index(0, 3).data()  # noqa: E731
    assert cell().startswith("✓"), cell()
    history = store.history
    qtbot.waitUntil(lambda: bool(history.runs))
    done = history.runs[0]
    game = history.workspace.add_run(done.request.model_copy(update={"analysis": "feature_game"}))
    seen = Finding("adversarial", "9 pixels flip it", 0.9, {"class": "Shirt", "other_class": "Bag"})
    history.workspace.update_run(game.id, state=RunState.DONE, findings=[seen])
    history.refresh()
    qtbot.waitUntil(lambda: cell().startswith("!"))
    assert "9 pixels flip it" in cell()


def test_stop_says_so_at_once_and_then_how_far_it_came(qtbot, window, tmp_path):
    suite = tmp_path / "suite.toml"
    demo = {
        "model": resources.path("demo", "fashion_mlp.pt2"),
        "data": resources.path("demo", "fashion.npz"),
    }
    suite.write_text(
        SUITE.format(**demo)
        .replace("0:2", "0:9")
        .replace("samples = 32", "samples = 1_000_000, target_half_width = 0")
    )
    window.suite.setText(str(suite))
    window.workers.setValue(1)
    window.start.click()

    def states():
        return [
            window.entries.model().index(row, 1).data()
            for row in range(window.entries.model().rowCount())
        ]

    qtbot.waitUntil(lambda: "running" in states() or not window.busy)
    assert window.busy, window.words.text()
    window.stop.click()
    assert window.words.text().startswith("Stopping …") and not window.stop.isEnabled()
    qtbot.waitUntil(window.start.isEnabled)
    assert window.words.text() == "Stopped: 0 of 9 done; Start goes on from here."
    assert (
        states() == ["stopped", *["not run"] * 8]
        and window.progress.value() == 0
        and not window.stop.isEnabled()
    )


def test_it_opens_in_the_middle_of_its_parent_and_escape_closes_it(qtbot, window, store):
    parent = window.parentWidget()
    frame = QRect(0, 0, 400, 300)
    frame.moveCenter(parent.screen().availableGeometry().center())
    parent.setGeometry(frame)
    other = BatchWindow(store, parent)
    other.show()
    assert (other.geometry().center() - frame.center()).manhattanLength() <= 4
    qtbot.keyClick(other.suite, Qt.Key.Key_Escape)
    assert not other.isVisible()


def test_escape_does_not_close_it_while_a_batch_runs(qtbot, window, monkeypatch):
    monkeypatch.setattr(BatchWindow, "busy", True)
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert window.isVisible()


def test_a_suite_that_cannot_be_read_is_refused_in_one_sentence(qtbot, window, tmp_path):
    window.suite.setText(str(tmp_path / "missing.toml"))
    window.start.click()
    qtbot.waitUntil(window.start.isEnabled)
    assert "missing.toml" in window.words.text()


def test_a_wrong_address_of_a_cluster_is_refused_in_one_sentence(qtbot, window):
    assert window.workers.isEnabled()
    for address, words in (
        ("nonsense", "is no address of a Ray cluster"),
        ("ray://10.0.0.5:10001", "cannot stream results"),
    ):
        window.cluster.setText(address)
        assert not window.workers.isEnabled(), address
        window.start.click()
        qtbot.waitUntil(lambda: words in window.words.text())  # noqa: B023
        assert window.words.property("role") == "bad" and window.start.isEnabled(), address
