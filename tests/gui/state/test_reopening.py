"""What is told and kept when a model comes back: its accuracy, its place, its pair."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robgui.core.workspace import Workspace
from robgui.gui.state.library.opening import Opening
from robgui.gui.state.library.predictions import SAMPLE, WHOLE
from tests.gui.state.test_restoring import correct, idle, save_data, save_onnx, session, start

__all__ = ["start"]


def opened(qtbot, store, tmp_path, model="net.onnx", data="data.npz"):
    store.library.load_dataset(tmp_path / data)
    idle(qtbot, store)
    store.library.load_model(Opening(tmp_path / model, quiet=True, use=True))
    idle(qtbot, store)
    predicted(qtbot, store)


def predicted(qtbot, store):
    qtbot.waitUntil(lambda: store.library.predictions.complete)
    idle(qtbot, store)


def test_a_fall_of_the_accuracy_is_told_with_a_way_back(start, qtbot, tmp_path):
    save_onnx(tmp_path / "net.onnx")
    save_data(tmp_path / "data.npz")
    store = start()
    offers = []
    store.offered.connect(lambda *offer: offers.append(offer))
    opened(qtbot, store, tmp_path)
    correct(qtbot, store, mean=(0.5,), std=(0.1,))
    predicted(qtbot, store)
    assert store.library.predictions.accuracy()[0] > 0.9 and not offers, "it only rose"
    correct(qtbot, store, mean=(0.0,), std=(1.0,))
    predicted(qtbot, store)
    qtbot.waitUntil(lambda: bool(offers))
    sentence, words, deed = offers[0]
    assert "net.onnx is right on" in sentence and "with other settings" in sentence
    found = []
    store.library.model_opened.connect(lambda *given: found.append(given[-1]))
    deed()
    qtbot.waitUntil(lambda: bool(found))
    assert found[0].settings.mean == (0.5,) and "earlier settings" in words


def test_a_fall_on_many_inputs_is_told_from_a_sample_of_them(start, qtbot, tmp_path):
    save_onnx(tmp_path / "net.onnx")
    save_data(tmp_path / "data.npz", many=WHOLE + 60)
    store = start()
    offers = []
    store.offered.connect(lambda *offer: offers.append(offer))
    store.library.load_dataset(tmp_path / "data.npz")
    idle(qtbot, store)
    store.library.load_model(Opening(tmp_path / "net.onnx", quiet=True, use=True))
    predictions = store.library.predictions
    for mean, std in ((0.5,), (0.1,)), ((0.0,), (1.0,)):
        idle(qtbot, store)
        qtbot.waitUntil(lambda: predictions.measured is not None)
        correct(qtbot, store, mean=mean, std=std)
    qtbot.waitUntil(lambda: bool(offers))
    assert f"of a sample of {SAMPLE} inputs of data.npz now" in offers[0][0]
    assert not predictions.complete and predictions.asked < 4 * SAMPLE, "the others are not asked"


def test_the_same_accuracy_again_is_not_told(start, qtbot, tmp_path):
    save_onnx(tmp_path / "net.onnx")
    save_data(tmp_path / "data.npz")
    told = []
    for _ in range(2):
        store = start()
        store.said.connect(lambda level, sentence, _: told.append(sentence))
        store.offered.connect(lambda sentence, *_: told.append(sentence))
        opened(qtbot, store, tmp_path)
    assert not [sentence for sentence in told if "right on" in sentence]


def test_a_moved_file_that_is_opened_is_taken_for_the_missing_one(start, qtbot, tmp_path):
    save_onnx(tmp_path / "net.onnx")
    save_data(tmp_path / "data.npz")
    store = start()
    opened(qtbot, store, tmp_path)
    correct(qtbot, store, mean=(0.5,), std=(0.1,))
    start("other.robgui")
    for name in ("net.onnx", "data.npz"):
        (tmp_path / "moved").mkdir(exist_ok=True)
        (tmp_path / name).rename(tmp_path / "moved" / name)
    again = start()
    assert len(again.history.missing) == 2
    opened(qtbot, again, tmp_path / "moved")
    assert not again.history.missing
    assert again.library.model.settings.mean == (0.5,)
    once_more = start()
    assert not once_more.history.missing
    assert once_more.library.model.path == tmp_path / "moved" / "net.onnx"
    assert once_more.library.dataset.path == tmp_path / "moved" / "data.npz"
    assert once_more.library.model.settings.mean == (0.5,)


def test_the_pair_in_use_comes_back_though_other_data_have_the_size_of_the_model(
    start, qtbot, tmp_path
):
    save_onnx(tmp_path / "net.onnx")
    save_data(tmp_path / "same_size.npz")
    labels = np.arange(30) % 3
    images = (40 + 85 * labels[:, None, None]).repeat(8, 1).repeat(8, 2).astype(np.uint8)
    np.savez(tmp_path / "larger.npz", images=images, labels=labels)
    store = start()
    opened(qtbot, store, tmp_path, data="same_size.npz")
    store.library.load_dataset(tmp_path / "larger.npz")
    idle(qtbot, store)
    assert store.library.dataset.name == "larger.npz" and store.library.model is not None
    model = store.library.model
    again = start()
    predicted(qtbot, again)
    assert again.library.dataset.name == "larger.npz"
    again.library.add_model(model, keep_data=True)  # as if it had loaded after all data
    predicted(qtbot, again)
    assert again.library.dataset.name == "larger.npz"
    assert again.library.model.name == "net.onnx"


def test_the_input_that_was_chosen_in_each_data_file_is_chosen_again(start, qtbot, tmp_path):
    save_onnx(tmp_path / "net.onnx")
    save_data(tmp_path / "other.npz", seed=1)
    save_data(tmp_path / "data.npz")
    store = start()
    opened(qtbot, store, tmp_path, data="other.npz")
    store.select(store.selection.replace(input=11))
    opened(qtbot, store, tmp_path)
    assert store.selection.input == 0, "never looked at before"
    store.select(store.selection.replace(input=7))
    store = start()
    predicted(qtbot, store)
    assert store.library.dataset.name == "data.npz" and store.selection.input == 7
    other = next(data for data in store.library.datasets if data.name == "other.npz")
    store.library.use_dataset(other)
    assert store.selection.input == 11


def test_another_workspace_does_not_learn_which_files_were_looked_at(start, qtbot, tmp_path):
    save_onnx(tmp_path / "net.onnx")
    save_data(tmp_path / "data.npz")
    save_data(tmp_path / "other.npz", seed=1)
    store = start()
    opened(qtbot, store, tmp_path)
    store.select(store.selection.replace(input=7))
    store.looked_at.keep()
    idle(qtbot, store)
    store.history.open(tmp_path / "elsewhere.robgui")
    qtbot.waitUntil(lambda: store.history.workspace.path.name == "elsewhere.robgui")
    idle(qtbot, store)
    opened(qtbot, store, tmp_path, data="other.npz")
    store.select(store.selection.replace(input=3))
    store.looked_at.keep()
    idle(qtbot, store)
    kept = store.history.workspace.files.looked_at()
    assert [Path(path).name for path in kept] == ["other.npz"]


def test_a_chosen_input_that_the_data_no_longer_have_is_forgotten(start, qtbot, tmp_path):
    save_onnx(tmp_path / "net.onnx")
    save_data(tmp_path / "data.npz")
    store = start()
    opened(qtbot, store, tmp_path)
    store.select(store.selection.replace(input=50))
    store = start()
    predicted(qtbot, store)
    assert store.selection.input == 50
    save_data(tmp_path / "data.npz", many=30)
    store = start()
    predicted(qtbot, store)
    assert len(store.library.dataset) == 30 and store.selection.input == 0


def test_the_picture_of_the_newest_run_does_not_change_the_chosen_input(qtbot, tmp_path):
    save_onnx(tmp_path / "net.onnx")
    save_data(tmp_path / "data.npz")
    with session(qtbot, tmp_path) as store:
        opened(qtbot, store, tmp_path)
        store.select(store.selection.replace(input=3))
        short = {"samples": 16, "radii": (0.0, 0.1)}
        store.next_run.set_params("zonnscan", store.analyses["zonnscan"].params.parse(short))
        store.submit(store.next_run.request("zonnscan"))
        qtbot.waitUntil(lambda: not store.runner.busy)
        store.select(store.selection.replace(input=9))
    with session(qtbot, tmp_path) as store:
        qtbot.waitUntil(lambda: store.library.dataset is not None)
        idle(qtbot, store)
        assert store.selection.input == 9


def test_a_workspace_lists_a_corrected_model_once_with_the_newest_settings(start, qtbot, tmp_path):
    save_onnx(tmp_path / "net.onnx")
    save_data(tmp_path / "data.npz")
    store = start()
    opened(qtbot, store, tmp_path)
    for mean in (0.1, 0.5):
        correct(qtbot, store, mean=(mean,), std=(0.1,))
    start("other.robgui")
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        (known,) = workspace.files.references("model")
        assert known.options["mean"] == [0.5]
        assert workspace.files.in_use()[0].options["mean"] == [0.5]
