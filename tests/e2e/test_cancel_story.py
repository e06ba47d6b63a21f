"""A person opens a model, looks at it, changes their mind: everything is as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from PySide6.QtCore import Qt
from torch import nn

from robgui import resources
from robgui.core.errors import ModelError, RobguiError
from robgui.core.model.remembered import recall
from tests.e2e.steps import idle, press

#: The weights of the model that is opened: more than the processes' memory changes by itself.
WEIGHTS = 250_000_000


def save_large(path: Path) -> Path:
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 80_000), nn.Linear(80_000, 10)).eval()
    batch = {"dynamic_shapes": ({0: torch.export.Dim("n")},)}
    torch.export.save(torch.export.export(net, (torch.rand(2, 1, 28, 28),), **batch), path)
    return path


def memory(store) -> int:
    """Bytes that the processes for models hold."""
    pages = [Path(f"/proc/{pid}/statm").read_text().split()[1] for pid in store.processes.pids]
    return sum(map(int, pages)) * os.sysconf("SC_PAGE_SIZE")


def all_there_is(window, folder, home) -> dict[str, object]:
    """Whatever a cancelled dialog could have changed."""
    store = window.store
    workspace = store.history.workspace
    return {
        "models": list(store.library.models),
        "in use": (store.library.model, store.library.dataset),
        "kept in use": workspace.files.in_use(),
        "references": workspace.files.references("model", every=True),
        "recent": window.settings.recent,
        "of the user": {path: path.read_bytes() for path in home.rglob("*") if path.is_file()},
        "beside the model": {path.name for path in folder.iterdir()},
    }


def open_and_look(qtbot, window, path):
    """Opens a model file; returns the dialog once it has its predictions."""
    window.commands.open_path(path)
    questions = window.commands.questions
    qtbot.waitUntil(lambda: questions.dialog is not None and questions.dialog.use.isEnabled())
    return questions.dialog


@pytest.fixture
def window(qtbot, processes, start):
    made = start()
    library = made.store.library
    qtbot.waitUntil(lambda: bool(library.devices))
    made.commands.open_path(resources.path("demo", "fashion.npz"))
    dialog = open_and_look(qtbot, made, resources.path("demo", "fashion_mlp.pt2"))
    press(qtbot, dialog.use)
    idle(qtbot, made)
    qtbot.waitUntil(lambda: library.dataset is not None)
    return made


@pytest.mark.slow  # starts workers; Escape is tried in every run
def test_cancel_in_the_dialog_of_an_opened_model_leaves_everything_as_it_was(
    qtbot, window, tmp_path, user_folders
):
    store = window.store
    (tmp_path / "new").mkdir()
    path = save_large(tmp_path / "new" / "large.pt2")
    settle(qtbot, window)
    before, held = all_there_is(window, path.parent, user_folders), memory(store)

    dialog = open_and_look(qtbot, window, path)
    settle(qtbot, window)
    assert all_there_is(window, path.parent, user_folders) == before, "nothing before it is used"
    assert memory(store) - held > WEIGHTS / 2, "the model is loaded"
    line = dialog.form.lines["mean"]
    line.selectAll()
    qtbot.keyClicks(line, "0.25")
    qtbot.waitUntil(dialog.use.isEnabled)
    tried = dialog.candidate
    press(qtbot, dialog.cancel)

    settle(qtbot, window)
    assert all_there_is(window, path.parent, user_folders) == before
    assert recall(path) == {}
    for known in (dialog_model(tried), tried.fingerprint):
        with pytest.raises(ModelError, match="no longer loaded"):
            store.answers.service.ask("trial", model=known, data="")
    assert memory(store) - held < WEIGHTS / 2, "no process holds the model any more"
    assert window.commands.questions.dialog is None

    dialog = open_and_look(qtbot, window, path)  # and it can be opened all the same
    assert dialog.form.lines["mean"].text() == "0"
    press(qtbot, dialog.use)
    settle(qtbot, window)
    assert store.library.model.name == "large.pt2"
    assert window.settings.recent[0] == str(path)


def dialog_model(tried) -> str:
    """The fingerprint of the model as it was opened."""
    return tried.with_settings(tried.settings.change(mean=(0.0,))).fingerprint


def settle(qtbot, window):
    store = window.store
    qtbot.waitUntil(lambda: not (store.busy or store.keeping.busy or store.pictures.busy))
    qtbot.wait(300)


def refusal(store, model) -> str:
    """Why a question about a model and data that nobody opened is not answered."""
    with pytest.raises(RobguiError) as refused:
        store.answers.service.ask("trial", model=model.fingerprint, data="")
    return str(refused.value)


def test_escape_in_the_dialog_of_the_model_in_use_keeps_that_model_loaded(qtbot, window):
    store = window.store
    settle(qtbot, window)
    model = store.library.model
    window.commands.check_model()
    dialog = window.commands.questions.dialog
    qtbot.waitUntil(dialog.use.isEnabled)
    line = dialog.form.lines["std"]
    line.selectAll()
    qtbot.keyClicks(line, "2")
    qtbot.waitUntil(dialog.use.isEnabled)
    tried = dialog.candidate
    assert tried.settings.std == (2.0,)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    settle(qtbot, window)
    assert store.library.models == [model] and store.library.model == model
    qtbot.waitUntil(lambda: "model is no longer loaded" in refusal(store, tried))
    assert "data are no longer open" in refusal(store, model), "this one is loaded"


@pytest.mark.slow  # starts workers; Escape is tried in every run
def test_of_several_dropped_models_each_is_asked_about_in_its_turn(qtbot, window):
    store, questions = window.store, window.commands.questions
    names = ("fashion_cnn.safetensors", "fashion_rnn.pt")
    for name in names:
        window.commands.open_path(resources.path("demo", name))
    qtbot.waitUntil(lambda: questions.dialog is not None and questions.dialog.use.isEnabled())
    idle(qtbot, window)
    first = questions.dialog
    assert names[0] in first.windowTitle()
    press(qtbot, first.cancel)
    qtbot.waitUntil(
        lambda: questions.dialog not in (None, first) and questions.dialog.use.isEnabled(),
    )
    assert names[1] in questions.dialog.windowTitle()
    press(qtbot, questions.dialog.use)
    idle(qtbot, window)
    assert [model.name for model in store.library.models] == ["fashion_mlp.pt2", names[1]]
    assert not any(name.endswith(names[0]) for name in window.settings.recent)
