"""Two models of the list become one that says where they disagree."""

from __future__ import annotations

import shutil

import torch
from PySide6.QtWidgets import QFileDialog, QInputDialog
from torch import nn

from robgui import resources
from robgui.gui.state.library.opening import Opening
from tests.e2e.steps import idle

NAMES = ("fashion_mlp.pt2", "table_mlp.onnx")
OTHER = "other.pt2"


def save_another(path):
    """A network of the same inputs and classes as the first."""
    module = nn.Sequential(nn.Flatten(), nn.Linear(784, 10)).eval()
    batch = torch.export.Dim("batch", min=1, max=4096)
    shapes = ({0: batch},)
    program = torch.export.export(module, (torch.zeros(2, 1, 28, 28),), dynamic_shapes=shapes)
    torch.export.save(program, path)


def test_the_pair_is_asked_for_written_and_opened(qtbot, start, tmp_path, monkeypatch):
    save_another(tmp_path / OTHER)
    for name in NAMES:
        for file in (name, f"{name}.toml"):
            shutil.copy(resources.path("demo", file), tmp_path / file)
    window = start()
    library = window.store.library
    for name in (*NAMES, OTHER):
        library.load_model(Opening(tmp_path / name, quiet=True))
        idle(qtbot, window)
    library.use_model(next(model for model in library.models if model.name == NAMES[0]))
    asked = []

    def choose(parent, title, words, names, *rest):
        asked.extend(names)
        return names[0], True

    monkeypatch.setattr(QInputDialog, "getItem", choose)
    out = tmp_path / "both.pair"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(out), ""))
    window.actions_["pair"].trigger()
    idle(qtbot, window)
    assert asked[0] == f"1. {OTHER}" and len(asked) == 3, "a table is no partner of a picture"
    assert asked[1:] == [
        "2. itself with weights of 8 bits",
        "3. itself in 8 bits: weights, and what layers take (int8)",
    ]
    assert out.is_file()

    def ready():
        dialog = window.commands.questions.dialog
        return dialog is not None and dialog.isVisible() and dialog.use.isEnabled()

    qtbot.waitUntil(ready)
    window.commands.questions.dialog.use.click()
    qtbot.waitUntil(lambda: library.model.name == "both.pair")
    assert library.model.labels == ("agree", "disagree")


def test_one_model_alone_is_compared_with_itself_in_8_bits(qtbot, start, tmp_path, monkeypatch):
    for file in (NAMES[0], f"{NAMES[0]}.toml"):
        shutil.copy(resources.path("demo", file), tmp_path / file)
    window = start()
    library = window.store.library
    library.load_model(Opening(tmp_path / NAMES[0], quiet=True))
    idle(qtbot, window)
    monkeypatch.setattr(QInputDialog, "getItem", lambda *given: (given[3][-1], True))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (given[2], ""))
    window.actions_["pair"].trigger()
    out = tmp_path / "fashion_mlp_against_int8.pair"
    assert "bits = 8\nlayer_inputs = true\n" in out.read_text(encoding="utf-8")

    def ready():
        dialog = window.commands.questions.dialog
        return dialog is not None and dialog.isVisible() and dialog.use.isEnabled()

    qtbot.waitUntil(ready)
    window.commands.questions.dialog.use.click()
    qtbot.waitUntil(lambda: library.model.name == out.name)
    assert library.model.labels == ("agree", "disagree")


def test_without_a_model_there_is_no_pair(qtbot, start):
    window = start()
    heard = []
    window.store.said.connect(lambda level, sentence, details: heard.append(sentence))
    window.actions_["pair"].trigger()
    (sentence,) = heard
    assert sentence.startswith("A pair needs a model in use that comes from a file")
