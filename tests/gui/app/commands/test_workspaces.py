"""The File menu treats workspaces as any program treats its documents."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog

from robgui import resources
from robgui.core.workspace import Workspace
from robgui.gui.app.app import application, leave, open_window
from robgui.gui.app.settings import Settings, load_settings, save_settings
from robgui.gui.state.library.opening import Opening


def idle(qtbot, window):
    store = window.store
    qtbot.waitUntil(lambda: not (store.busy or store.keeping.busy or store.pictures.busy))


@pytest.fixture
def answer(monkeypatch):
    """What the user types into the next file dialog."""

    def say(path: Path | str) -> None:
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(path), ""))

    return say


def start(qtbot):
    application()
    window = open_window()
    window.show()
    qtbot.waitUntil(lambda: window.store.history.workspace is not None)
    idle(qtbot, window)
    return window


def quit_(window):
    window.close()
    assert leave(window, 0) == 0
    window.deleteLater()


def test_the_usual_keys_begin_open_and_save(window):
    keys = {
        name: window.actions_[name].shortcut().toString()
        for name in ("new_workspace", "open", "save", "save_workspace")
    }
    assert keys == {
        "new_workspace": "Ctrl+N",
        "open": "Ctrl+O",
        "save": "Ctrl+S",
        "save_workspace": "Ctrl+Shift+S",
    }
    used = [
        action.shortcut().toString()
        for name in window.actions_.entries
        if not (action := window.actions_[name]).shortcut().isEmpty()
    ]
    assert len(used) == len(set(used)), "no key does two things"


def test_after_save_as_a_restart_opens_the_saved_one_and_the_first_is_recent_work(
    qtbot, tmp_path, answer
):
    window = start(qtbot)
    assert window.store.history.workspace.path == Workspace.default_path()
    answer(tmp_path / "study")
    window.actions_["save"].trigger()  # work without a name of its own is given one
    qtbot.waitUntil(lambda: window.store.history.workspace.path == tmp_path / "study.robgui")
    assert load_settings().last_workspace == tmp_path / "study.robgui", "even after a crash"
    quit_(window)
    again = start(qtbot)
    assert again.store.history.workspace.path == tmp_path / "study.robgui"
    assert again.windowTitle().startswith("study")
    again.commands.workspaces.recent.aboutToShow.emit()
    shown = [action.text().split()[0] for action in again.commands.workspaces.recent.actions()]
    assert shown == ["study", "workspace"]
    again.commands.workspaces.recent.actions()[1].trigger()
    qtbot.waitUntil(lambda: again.store.history.workspace.path == Workspace.default_path())
    quit_(again)
    assert load_settings().workspaces[0] == str(Workspace.default_path())


def test_save_in_a_named_workspace_says_that_nothing_needs_saving(window, tmp_path):
    window.actions_["save"].trigger()
    assert any("as it happens" in sentence for sentence in window.toasts.sentences)


def test_a_new_workspace_begins_without_models_and_data_and_the_old_one_keeps_them(
    window, qtbot, tmp_path, answer
):
    np.savez(tmp_path / "data.npz", images=np.zeros((4, 28, 28), np.uint8), labels=np.arange(4))
    library, before = window.store.library, window.store.history.workspace.path
    library.load_dataset(tmp_path / "data.npz")
    model = resources.path("demo", "fashion_cnn.safetensors")
    library.load_model(Opening(model, quiet=True, use=True))
    idle(qtbot, window)
    answer(tmp_path / "fresh.robgui")
    window.actions_["new_workspace"].trigger()
    qtbot.waitUntil(lambda: window.store.history.workspace.path.name == "fresh.robgui")
    idle(qtbot, window)
    workspace = window.store.history.workspace
    assert not workspace.runs() and workspace.files.in_use() == (None, None)
    assert not library.models and not library.datasets
    assert library.model is None and library.dataset is None
    with Workspace.open(before) as old:
        assert [each.name for each in old.files.in_use()] == [model.name, "data.npz"]


def test_the_first_file_of_the_users_own_takes_the_place_of_the_demo(window, qtbot, tmp_path):
    np.savez(tmp_path / "mine.npz", images=np.zeros((4, 28, 28), np.uint8), labels=np.arange(4))
    library, offers = window.store.library, []
    window.store.offered.connect(lambda *offer: offers.append(offer))
    library.load_dataset(resources.path("demo", "fashion.npz"))
    library.load_model(Opening(resources.path("demo", "fashion_mlp.pt2"), quiet=True, use=True))
    idle(qtbot, window)
    window.commands.open_path(tmp_path / "mine.npz")
    qtbot.waitUntil(lambda: bool(offers))
    idle(qtbot, window)
    assert [data.name for data in library.datasets] == ["mine.npz"]
    assert not library.models and library.model is None, "no network of the demo was chosen"
    files = window.store.history.workspace.files
    assert [one.name for one in files.references("dataset")] == ["mine.npz"]
    assert not files.references("model"), "nor will it be after the next start"
    assert "demo were closed" in offers[0][0]
    offers[0][2]()
    qtbot.waitUntil(lambda: bool(library.models))
    idle(qtbot, window)
    assert len(library.datasets) == 2 and library.dataset.name == "mine.npz"


def test_a_model_for_the_data_of_the_demo_keeps_them_until_own_data_come(window, qtbot, tmp_path):
    np.savez(tmp_path / "mine.npz", images=np.zeros((4, 28, 28), np.uint8), labels=np.arange(4))
    shutil.copy(resources.path("demo", "fashion_mlp.pt2"), tmp_path / "mine.pt2")
    library = window.store.library
    library.model_opened.connect(lambda _, model: library.add_model(model))
    library.load_dataset(resources.path("demo", "fashion.npz"))
    library.load_model(Opening(resources.path("demo", "fashion_cnn.safetensors"), quiet=True))
    idle(qtbot, window)
    window.commands.open_path(tmp_path / "mine.pt2")
    qtbot.waitUntil(lambda: len(library.models) == 2)
    assert library.model.name == "mine.pt2" and library.dataset.name == "fashion.npz"
    window.commands.questions.dialog.close()
    window.commands.open_path(tmp_path / "mine.npz")
    qtbot.waitUntil(lambda: library.dataset.name == "mine.npz")
    assert [model.name for model in library.models] == ["mine.pt2"]


def test_files_of_the_users_own_stay_when_another_comes(window, qtbot, tmp_path):
    for name in ("one.npz", "two.npz"):
        np.savez(tmp_path / name, images=np.zeros((4, 28, 28), np.uint8), labels=np.arange(4))
    library = window.store.library
    for path in (tmp_path / "one.npz", resources.path("demo", "fashion.npz"), tmp_path / "two.npz"):
        before = len(library.datasets)
        window.commands.open_path(path)
        qtbot.waitUntil(lambda before=before: len(library.datasets) > before)
    assert [data.name for data in library.datasets] == ["one.npz", "fashion.npz", "two.npz"]


def test_a_new_workspace_never_replaces_a_file_that_is_there(window, tmp_path, answer):
    there = tmp_path / "there.robgui"
    there.write_bytes(b"precious")
    answer(there)
    window.actions_["new_workspace"].trigger()
    assert there.read_bytes() == b"precious"
    assert any("exists already" in sentence for sentence in window.toasts.sentences)


def test_a_last_workspace_that_is_gone_is_said_and_the_own_one_opened(qtbot, tmp_path):
    save_settings(Settings(workspaces=(str(tmp_path / "gone.robgui"),)))
    window = start(qtbot)
    assert window.store.history.workspace.path == Workspace.default_path()
    assert any("no longer there" in sentence for sentence in window.toasts.sentences)
    quit_(window)


def take(qtbot, window, path: Path) -> None:
    window.store.open_workspace(path)
    qtbot.waitUntil(lambda: window.store.history.workspace.path == path, timeout=20_000)
    idle(qtbot, window)


def names(library) -> tuple[list[str], list[str], str | None, str | None]:
    used = (None if one is None else one.name for one in (library.model, library.dataset))
    return [m.name for m in library.models], [d.name for d in library.datasets], *used


def test_another_workspace_shows_its_own_models_and_data_and_no_others(window, qtbot, tmp_path):
    for name in ("mine", "theirs"):
        images = np.full((4, 28, 28), len(name), np.uint8)
        np.savez(tmp_path / f"{name}.npz", images=images, labels=np.arange(4))
    store, first = window.store, window.store.history.workspace.path
    store.library.load_dataset(tmp_path / "mine.npz")
    model = resources.path("demo", "fashion_cnn.safetensors")
    store.library.load_model(Opening(model, quiet=True, use=True))
    idle(qtbot, window)
    mine = names(store.library)
    assert mine == ([model.name], ["mine.npz"], model.name, "mine.npz")
    take(qtbot, window, tmp_path / "other.robgui")
    assert names(store.library) == ([], [], None, None), "nothing was opened in it yet"
    assert store.selection.input is None
    store.library.load_dataset(tmp_path / "theirs.npz")
    idle(qtbot, window)
    take(qtbot, window, first)
    assert names(store.library) == mine
    take(qtbot, window, tmp_path / "other.robgui")
    assert names(store.library) == ([], ["theirs.npz"], None, "theirs.npz")


def test_what_a_workspace_was_still_loading_does_not_come_into_the_next(window, qtbot, tmp_path):
    store = window.store
    model = resources.path("demo", "fashion_cnn.safetensors")
    store.library.load_model(Opening(model, quiet=True, use=True))
    store.library.load_dataset(resources.path("demo", "fashion.npz"), quiet=True)
    take(qtbot, window, tmp_path / "other.robgui")
    assert names(store.library) == ([], [], None, None)


def test_a_copy_of_a_workspace_goes_on_with_its_models_and_data(window, qtbot, tmp_path):
    store = window.store
    np.savez(tmp_path / "mine.npz", images=np.zeros((4, 28, 28), np.uint8), labels=np.arange(4))
    store.library.load_dataset(tmp_path / "mine.npz")
    idle(qtbot, window)
    before = store.library.dataset
    store.history.save_as(tmp_path / "copy.robgui")
    qtbot.waitUntil(
        lambda: store.history.workspace.path == tmp_path / "copy.robgui", timeout=20_000
    )
    idle(qtbot, window)
    assert store.library.dataset is before, "nothing is read again"
