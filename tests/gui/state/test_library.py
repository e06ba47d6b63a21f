"""Library and history: what is loaded, what is asked, what is remembered."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from robgui import resources
from robgui.core.dataset import from_arrays
from robgui.core.model.classifier import Classifier
from robgui.core.model.remembered import recall
from robgui.gui.forms.run_pane import RunPane
from robgui.gui.model.model_dialog import ModelDialog
from robgui.gui.state.library.opening import Opening
from robgui.gui.state.library.speed import measure_speed
from robgui.gui.state.store import Store

NETS = """
from torch import nn

def tiny():
    return nn.Sequential(nn.Flatten(), nn.Linear(16, 3))
"""


@pytest.fixture
def store(qtbot, tmp_path):
    made = Store()
    made.open_workspace(tmp_path / "w.robgui")
    idle(qtbot, made)
    made.library.model_opened.connect(lambda opening, model: made.library.add_model(model))
    yield made
    assert made.shutdown()


def idle(qtbot, store):
    qtbot.waitUntil(lambda: not store.busy and not store.keeping.busy)


def weights(folder: Path) -> Path:
    """A state dict beside the Python file that builds its network."""
    torch.manual_seed(0)
    (folder / "nets.py").write_text(NETS)
    torch.save(nn.Sequential(nn.Flatten(), nn.Linear(16, 3)).state_dict(), folder / "tiny.pth")
    return folder / "tiny.pth"


def tiny(classes: int = 3, shape: tuple[int, ...] = (1, 4, 4), name: str = "tiny") -> Classifier:
    torch.manual_seed(classes)
    return Classifier.from_module(
        nn.Sequential(nn.Flatten(), nn.Linear(16, classes)), shape, name=name
    )


def test_weights_alone_ask_for_their_network_and_then_for_trust_and_nothing_said_is_lost(
    store, qtbot, tmp_path
):
    path = weights(tmp_path)
    asked = []
    store.library.details_needed.connect(
        lambda opening, sentence: asked.append(("details", opening, sentence))
    )
    store.library.trust_needed.connect(
        lambda opening, error: asked.append(("trust", opening, error))
    )
    store.library.load_model(Opening(path, settings={"labels": ("a", "b", "c")}))
    idle(qtbot, store)
    kind, opening, sentence = asked.pop()
    assert kind == "details" and "architecture" in sentence
    store.library.load_model(
        opening.replace(
            settings={**opening.settings, "architecture": "nets.py:tiny", "shape": (1, 4, 4)}
        )
    )
    idle(qtbot, store)
    kind, opening, error = asked.pop()
    assert kind == "trust" and "nets.py" in str(error)
    assert store.library.models == []
    store.library.model_opened.disconnect()
    store.library.model_opened.connect(lambda *opened: asked.append(opened))
    store.library.load_model(opening.replace(trusted=error.code.digest))
    idle(qtbot, store)
    opening, model = asked.pop()
    assert store.library.models == [] and recall(path) == {}
    dialog = ModelDialog(store, model, said=bool(opening.settings))
    qtbot.addWidget(dialog)
    qtbot.waitUntil(dialog.use.isEnabled)
    dialog.use.click()
    idle(qtbot, store)
    assert store.library.model.labels == ("a", "b", "c")
    assert store.library.model.ran == error.code.digest
    assert recall(path)["labels"] == ("a", "b", "c")


def test_choosing_a_model_of_another_kind_brings_its_data_along(store, qtbot):
    images = from_arrays(np.zeros((4, 1, 4, 4), np.float32), name="images")
    rows = from_arrays(np.zeros((4, 16), np.float32), name="rows", kind="table")
    store.library.add_dataset(images)
    store.library.add_dataset(rows)
    first, second = tiny(name="for images"), tiny(shape=(16,), name="for rows")
    store.library.add_model(store.answers.hold(first))
    store.library.add_model(store.answers.hold(second))
    idle(qtbot, store)
    assert store.library.dataset is rows
    store.library.use_model(store.library.models[0])
    idle(qtbot, store)
    assert store.library.dataset is images
    assert store.selection.input == 0


def test_models_with_another_number_of_classes_are_not_run_together(store, qtbot):
    store.library.add_dataset(from_arrays(np.zeros((4, 1, 4, 4), np.float32), name="images"))
    for model in (tiny(3, name="three"), tiny(5, name="five"), tiny(3, name="three more")):
        store.library.add_model(store.answers.hold(model))
    store.library.use_model(store.library.models[0])
    idle(qtbot, store)
    assert [m.name for m in store.next_run.fitting_models()] == ["three", "three more"]
    store.library.use_model(store.library.models[1])
    assert [m.name for m in store.next_run.fitting_models()] == ["five"]


def test_a_model_that_does_not_fit_the_data_says_why_and_cannot_run(store, qtbot):
    said = []
    store.said.connect(lambda level, sentence, details: said.append(sentence))
    store.warm_up()
    idle(qtbot, store)
    store.library.add_dataset(from_arrays(np.zeros((4, 5, 8, 8), np.float32)))
    store.library.add_model(store.answers.hold(tiny()))
    idle(qtbot, store)
    assert "have 5" in store.library.mismatch
    assert store.next_run.obstacle("zonnscan") == store.library.mismatch
    assert store.library.mismatch in said


@pytest.mark.parametrize(
    ("shape", "reason"), [((1, 4, 4), "takes images"), ((16,), "takes 16 columns")]
)
def test_data_that_are_opened_before_their_model_are_no_error(store, qtbot, shape, reason):
    said = []
    store.said.connect(lambda level, sentence, details: said.append(sentence))
    store.warm_up()
    idle(qtbot, store)
    store.library.add_model(store.answers.hold(tiny(shape=shape, name="old")))
    store.library.add_dataset(from_arrays(np.zeros((4, 5), np.float32), name="new", kind="table"))
    idle(qtbot, store)
    told = store.library.mismatch
    assert reason in told and told.endswith("; open the model for new, or data for old.")
    assert store.next_run.obstacle("zonnscan") == told and not said


def test_labels_that_do_not_fit_are_left_out_and_nothing_counts_as_wrong(store, qtbot):
    said = []
    store.said.connect(lambda level, sentence, details: said.append(sentence))
    store.warm_up()
    idle(qtbot, store)
    store.library.add_dataset(from_arrays(np.zeros((4, 1, 4, 4), np.float32), labels=[0, 1, 2, 9]))
    store.library.add_model(store.answers.hold(tiny()))
    idle(qtbot, store)
    assert not store.library.mismatch and store.library.predictions.labels is None
    assert len([each for each in said if "nothing counts as wrong" in each]) == 1


def test_run_can_be_pressed_as_soon_as_data_fit_another_model(store, qtbot):
    store.warm_up()
    idle(qtbot, store)
    pane = RunPane(store)
    qtbot.addWidget(pane)
    pane.show_analysis("zonnscan")
    store.library.add_model(store.answers.hold(tiny(name="for images")))
    store.library.add_dataset(
        from_arrays(np.zeros((4, 5), np.float32), name="five columns", kind="table")
    )
    store.library.add_model(store.answers.hold(tiny(shape=(16,), name="for rows")))
    idle(qtbot, store)
    assert "five columns" in store.library.mismatch and not pane.run.isEnabled()
    store.library.add_dataset(from_arrays(np.zeros((4, 1, 4, 4), np.float32), name="images"))
    assert store.library.model.name == "for images" and pane.run.isEnabled()
    idle(qtbot, store)
    assert pane.run.isEnabled() and not store.library.mismatch


def test_an_image_that_cannot_be_read_does_not_replace_the_data(store, qtbot, tmp_path):
    said = []
    store.said.connect(lambda level, sentence, details: said.append((level, sentence)))
    images = from_arrays(np.zeros((4, 1, 4, 4), np.float32), name="images")
    store.library.add_dataset(images)
    (tmp_path / "broken.png").write_bytes(b"no image")
    store.library.load_dataset(tmp_path / "broken.png")
    idle(qtbot, store)
    assert store.library.dataset is images and store.library.datasets == [images]
    ((level, sentence),) = said
    assert level == "error" and "broken.png: the image cannot be read" in sentence


def test_a_removed_model_is_not_loaded_again(store, qtbot, tmp_path):
    path = tmp_path / "mlp.pt2"
    shutil.copy(resources.path("demo", "fashion_mlp.pt2"), path)
    store.library.load_model(Opening(path))
    idle(qtbot, store)
    assert len(store.history.workspace.files.references("model")) == 1
    store.library.remove_model(store.library.model)
    idle(qtbot, store)
    assert store.history.workspace.files.references("model") == []


def test_new_settings_replace_the_old_ones_in_the_workspace(store, qtbot, tmp_path):
    path = tmp_path / "mlp.pt2"
    shutil.copy(resources.path("demo", "fashion_mlp.pt2"), path)
    store.library.load_model(Opening(path))
    idle(qtbot, store)
    old = store.library.model
    store.library.add_model(
        store.answers.hold(old.with_settings(old.settings.change(mean=(0.25,))))
    )
    idle(qtbot, store)
    (remembered,) = store.history.workspace.files.references("model")
    assert remembered.options["mean"] == [0.25]
    assert len(store.library.models) == 1


def test_a_moved_file_is_said_to_be_missing_and_found_again(store, qtbot, tmp_path):
    (tmp_path / "old").mkdir()
    path = tmp_path / "old" / "mlp.pt2"
    shutil.copy(resources.path("demo", "fashion_mlp.pt2"), path)
    store.library.load_model(Opening(path))
    idle(qtbot, store)
    shutil.move(path.parent, tmp_path / "new")
    store.library.models.clear()
    store.library.model = None
    said = []
    store.said.connect(lambda level, sentence, details: said.append(sentence))
    store.open_workspace(tmp_path / "other.robgui")
    idle(qtbot, store)
    store.open_workspace(tmp_path / "w.robgui")
    idle(qtbot, store)
    assert any("is missing" in sentence for sentence in said)
    (lost,) = store.history.missing
    store.history.relink(lost, tmp_path / "new" / "mlp.pt2")
    idle(qtbot, store)
    assert store.library.model.path == tmp_path / "new" / "mlp.pt2"
    assert store.history.missing == []


def test_the_device_and_its_options_reach_every_model(store, qtbot):
    store.library.add_dataset(
        from_arrays(np.random.default_rng(0).random((4, 1, 4, 4), np.float32))
    )
    store.library.add_model(store.answers.hold(tiny(name="a")))
    store.library.add_model(store.answers.hold(tiny(name="b")))
    idle(qtbot, store)
    store.library.set_device("cpu", autocast=True)
    idle(qtbot, store)
    assert [m.precision for m in store.library.models] == [(True, False), (True, False)]
    assert store.library.autocast


def test_the_difference_half_precision_makes_is_measured_and_said(store, qtbot):
    said = []
    store.said.connect(lambda level, sentence, details: said.append(sentence))
    store.library.add_model(store.answers.hold(tiny()))
    idle(qtbot, store)
    measure_speed(store.library)
    idle(qtbot, store)
    assert any("half precision" in s and "inputs/s" in s and "largest change" in s for s in said)
    assert store.library.model.precision == (False, False)
