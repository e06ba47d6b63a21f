"""A figure dropped on the window leads to its run: the user is asked, and nothing starts alone."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QMessageBox

import robgui
from robgui.cli import main
from robgui.core.execution.run import RunState
from robgui.core.workspace import Workspace
from robgui.gui.state.library.library import Opening
from tests.batch.guards import lights


@pytest.fixture
def figure(tmp_path):
    """A sweep of another workspace, saved as a picture."""
    model = lights.write_model(tmp_path / "old.onnx", 0.6)
    data = lights.write_data(tmp_path / "data", [10, 130, 250])
    files = ["--model", str(model), "--data", str(data), "--index", "1"]
    words = ["--samples", "48", "--radii", "0,0.2", "--workspace", str(tmp_path / "other.robgui")]
    assert main(["run", "zonnscan", *files, *words, "--out", str(tmp_path / "out.json")]) == 0
    with Workspace.open(tmp_path / "other.robgui") as workspace:
        return robgui.Exhibit.of_run(workspace, workspace.runs()[0].id).save(tmp_path / "a.png")


def answering(monkeypatch, word: str) -> list[tuple[list[str], str]]:
    """Presses the button called ``word``; tells which buttons and which words there were."""
    asked = []

    def press(box: QMessageBox) -> int:
        texts = [button.text().replace("&", "") for button in box.buttons()]
        asked.append((texts, f"{box.text()} {box.informativeText()}"))
        next(b for b in box.buttons() if b.text().replace("&", "") == word).click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", press)
    return asked


def drop(qtbot, window, path, asked):
    window.commands.open_path(path)
    qtbot.waitUntil(lambda: bool(asked))


def test_a_figure_of_unknown_files_names_them_and_loads_nothing(qtbot, window, figure, monkeypatch):
    asked = answering(monkeypatch, "Cancel")
    drop(qtbot, window, figure, asked)
    buttons, words = asked[0]
    assert "Set up the run" not in buttons and "Open as a picture" in buttons
    assert "open old.onnx and images.npz first" in words
    assert not window.store.library.models and not window.store.runner.busy
    assert not window.store.history.runs


def test_once_its_model_and_data_are_open_the_form_is_filled_and_run_waits(
    qtbot, window, figure, tmp_path, monkeypatch
):
    store = window.store
    store.library.load_dataset(tmp_path / "data" / "images.npz", quiet=True)
    store.library.load_model(Opening(tmp_path / "old.onnx", quiet=True))
    qtbot.waitUntil(lambda: store.library.model is not None and not store.busy)
    asked = answering(monkeypatch, "Set up the run")
    drop(qtbot, window, figure, asked)
    qtbot.waitUntil(lambda: window.current_panel is not None)
    assert window.current_panel.analysis.name == "zonnscan"
    qtbot.waitUntil(lambda: store.next_run.params["zonnscan"].samples == 48)
    assert store.next_run.params["zonnscan"].radii == (0.0, 0.2)
    assert not store.runner.busy and not store.history.runs, "nothing starts by itself"


def test_a_run_that_is_here_is_shown(qtbot, window, tmp_path, monkeypatch):
    store = window.store
    lights.write_model(tmp_path / "old.onnx", 0.6)
    store.library.load_dataset(lights.write_data(tmp_path / "data", [10, 130, 250]), quiet=True)
    store.library.load_model(Opening(tmp_path / "old.onnx", quiet=True))
    qtbot.waitUntil(lambda: store.library.model is not None and not store.busy)
    window.show_panel("zonnscan")
    store.params_offered.emit("zonnscan", {"samples": 32, "radii": (0.0, 0.1)})
    window.run_pane.run.click()
    panel = window.current_panel
    qtbot.waitUntil(lambda: any(run.state is RunState.DONE for run in store.history.runs))
    qtbot.waitUntil(lambda: panel.run_id is not None)
    from robgui.gui.show.export import save_picture

    save_picture(window.commands.saving.exported(), tmp_path / "shown.svg")
    shown = []
    store.history.result_shown.connect(lambda run, _: shown.append(run.id))
    asked = answering(monkeypatch, "Show the run")
    drop(qtbot, window, tmp_path / "shown.svg", asked)
    qtbot.waitUntil(lambda: bool(shown))
    assert shown == [store.history.runs[0].id] and len(store.history.runs) == 1
