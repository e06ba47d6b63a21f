"""What was in use, and what the user said of a model, is there again after a restart."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from robgui.core import trust
from robgui.core.dataset import align, batches
from robgui.core.errors import TrustError
from robgui.core.execution.request import Reference, build_request
from robgui.core.loading import load
from robgui.core.model.settings import side_file
from robgui.core.workspace import Workspace
from robgui.gui.app.app import application, leave, open_window
from robgui.gui.model.model_dialog import ModelDialog
from robgui.gui.pages.scoreboard import Scoreboard
from robgui.gui.state.library.opening import Opening
from robgui.gui.state.store import Store

LABELS = ("dark", "middle", "bright")


def idle(qtbot, store):
    qtbot.waitUntil(
        lambda: not (store.busy or store.keeping.busy or store.pictures.busy),
    )


def confirming() -> Store:
    """A store whose user uses every model that they open."""
    made = Store()
    made.library.model_opened.connect(lambda opening, model: made.library.add_model(model))
    return made


@pytest.fixture
def start(qtbot, tmp_path):
    """Opens the program on a workspace, as often as wanted; one that is open is closed first."""
    stores: list[Store] = []

    def begin(name: str = "w.robgui") -> Store:
        while stores:
            assert stores.pop().shutdown()
        made = confirming()
        made.warm_up()
        made.open_workspace(tmp_path / name)
        stores.append(made)
        idle(qtbot, made)
        return made

    yield begin
    while stores:
        assert stores.pop().shutdown()


def save_onnx(path: Path, seed: int = 0) -> Path:
    """A network of three classes that tells dark from bright pictures, if it is given (x - 0.5)
    / 0.1.
    """
    rng = np.random.default_rng(seed)
    weight = np.outer(np.full(16, 1 / 16), [-10.0, 0.0, 10.0]) + rng.normal(0, 1e-3, (16, 3))
    nodes = [
        helper.make_node("Flatten", ["x"], ["flat"]),
        helper.make_node("Gemm", ["flat", "w", "b"], ["scores"]),
    ]
    stored = [
        numpy_helper.from_array(weight.astype(np.float32), "w"),
        numpy_helper.from_array(np.array([0, 12, 0], np.float32), "b"),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1, 4, 4])]
    outputs = [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", 3])]
    model = helper.make_model(
        helper.make_graph(nodes, "net", inputs, outputs, stored),
        opset_imports=[helper.make_opsetid("", 17)],
    )
    model.ir_version = 9
    onnx.save(model, path)
    return path


def save_data(path: Path, names=LABELS, seed: int = 0, many: int = 60) -> Path:
    rng = np.random.default_rng(seed)
    labels = np.arange(many) % 3
    noise = rng.integers(-20, 20, (many, 4, 4))
    images = (40 + 85 * labels[:, None, None] + noise).astype(np.uint8)
    np.savez(path, images=images, labels=labels, **({"names": np.array(names)} if names else {}))
    return path


def accuracy(store: Store) -> float:
    model, dataset = store.library.model, store.library.dataset
    fitting = align(model, dataset)
    right = [
        store.answers.ask("scores", model=model, x=x).probabilities.argmax(1)
        == fitting.labels[indices]
        for indices, x in batches(model, fitting)
    ]
    return float(np.concatenate(right).mean())


def correct(qtbot, store: Store, **values) -> None:
    """What a user does: opens the dialog, types, presses Use model."""
    dialog = ModelDialog(store, store.library.model)
    qtbot.addWidget(dialog)
    dialog.form.show_values(values)
    qtbot.waitUntil(lambda: dialog.candidate is not None)
    dialog.use.click()
    idle(qtbot, store)


@pytest.mark.parametrize("side", [False, True])
def test_corrected_settings_survive_a_restart_with_the_same_accuracy_and_the_same_model_in_use(
    start, qtbot, tmp_path, side
):
    model, data = save_onnx(tmp_path / "net.onnx"), save_data(tmp_path / "data.npz")
    if side:
        side_file(model).write_text("mean = [0.1]\n")
    store = start()
    store.library.load_dataset(data)
    store.library.load_model(Opening(model))
    idle(qtbot, store)
    wrong = accuracy(store)
    correct(qtbot, store, mean=(0.5,), std=(0.1,), labels=LABELS)
    before, right = store.library.model, accuracy(store)
    assert right > 0.9 > wrong
    store = start()
    again = store.library.model
    assert (
        again is not None
        and again.settings == before.settings
        and again.fingerprint == before.fingerprint
    )
    assert store.library.dataset.path == data and accuracy(store) == right
    assert [m.name for m in store.library.models] == ["net.onnx"]


def test_what_was_said_of_a_model_is_known_in_every_workspace_and_for_every_copy(
    start, qtbot, tmp_path
):
    store = start("one.robgui")
    store.library.load_model(Opening(save_onnx(tmp_path / "net.onnx")))
    idle(qtbot, store)
    correct(qtbot, store, mean=(0.5,), std=(0.1,), labels=LABELS)
    store = start("two.robgui")
    (tmp_path / "copy").mkdir()
    store.library.load_model(Opening(save_onnx(tmp_path / "copy" / "renamed.onnx")))
    idle(qtbot, store)
    assert store.library.model.settings.std == (0.1,) and store.library.model.labels == LABELS


def test_a_side_file_edited_by_hand_afterwards_wins(start, qtbot, tmp_path):
    path = save_onnx(tmp_path / "net.onnx")
    store = start()
    store.library.load_model(Opening(path))
    idle(qtbot, store)
    correct(qtbot, store, mean=(0.5,), std=(0.1,))
    side_file(path).write_text("mean = [0.25]\n")
    store = start()
    assert (store.library.model.settings.mean, store.library.model.settings.std) == (
        (0.25,),
        (0.1,),
    )


def test_loading_the_others_does_not_change_which_pair_is_in_use(start, qtbot, tmp_path):
    store = start()
    files = {
        name: save_onnx(tmp_path / f"{name}.onnx", seed)
        for seed, name in enumerate(("first", "second", "third"))
    }
    data = {
        name: save_data(tmp_path / f"{name}.npz", seed=seed)
        for seed, name in enumerate(("one", "two", "three"))
    }
    for path in data.values():
        store.library.load_dataset(path)
    for path in files.values():
        store.library.load_model(Opening(path))
    idle(qtbot, store)
    store.library.use_model(next(m for m in store.library.models if m.path == files["second"]))
    store.library.use_dataset(next(d for d in store.library.datasets if d.path == data["one"]))
    idle(qtbot, store)
    for _ in range(2):
        store = start()
        assert (
            store.library.model.path == files["second"]
            and store.library.dataset.path == data["one"]
        )
        assert len(store.library.models) == len(store.library.datasets) == 3


def test_what_the_user_opens_while_a_workspace_is_restored_stays_in_use(start, qtbot, tmp_path):
    old, new, data = (
        save_onnx(tmp_path / "old.onnx", 1),
        save_onnx(tmp_path / "new.onnx", 2),
        save_data(tmp_path / "data.npz"),
    )
    store = start()
    store.library.load_dataset(data)
    store.library.load_model(Opening(old))
    idle(qtbot, store)
    start("elsewhere.robgui")
    again = confirming()
    again.open_workspace(tmp_path / "w.robgui")
    again.library.load_model(Opening(new))  # named on the command line, say
    idle(qtbot, again)
    assert again.library.model.path == new and {m.path for m in again.library.models} == {old, new}
    assert again.shutdown()


def test_the_picture_of_the_newest_run_does_not_change_which_pair_is_in_use(qtbot, tmp_path):
    first, second, data = (
        save_onnx(tmp_path / "first.onnx", 1),
        save_onnx(tmp_path / "second.onnx", 2),
        save_data(tmp_path / "data.npz"),
    )
    with session(qtbot, tmp_path) as store:
        store.library.load_dataset(data)
        for path in (first, second):
            store.library.load_model(Opening(path, quiet=True))
        idle(qtbot, store)
        store.library.use_model(next(m for m in store.library.models if m.path == second))
        idle(qtbot, store)
        store.next_run.set_params(
            "zonnscan",
            store.analyses["zonnscan"].params.parse({"samples": 16, "radii": (0.0, 0.1)}),
        )
        store.submit(store.next_run.request("zonnscan"))
        qtbot.waitUntil(lambda: not store.runner.busy)
        store.library.use_model(next(m for m in store.library.models if m.path == first))
        idle(qtbot, store)
    with session(qtbot, tmp_path) as store:
        assert store.library.model.path == first


@contextmanager
def session(qtbot, folder):
    """The whole window on one workspace, from start to end."""
    application()
    window = open_window(folder / "w.robgui")
    window.show()
    qtbot.waitUntil(
        lambda: bool(window.store.analyses) and window.store.history.workspace is not None,
    )
    idle(qtbot, window.store)
    yield window.store
    window.close()
    assert leave(window, 0) == 0
    window.deleteLater()


def test_a_workspace_that_does_not_tell_opens_with_the_pair_of_its_newest_run_as_it_was_used_last(
    start, qtbot, tmp_path
):
    """The records of an older version: the model as guessed, used last, and as corrected, in the
    newest run.
    """
    model, data = save_onnx(tmp_path / "net.onnx"), save_data(tmp_path / "data.npz")
    store = start()
    store.library.load_dataset(data)
    store.library.load_model(Opening(model))
    idle(qtbot, store)
    guessed = store.library.model
    corrected = guessed.with_settings(guessed.settings.change(mean=(0.5,), std=(0.1,)))
    store.library.add_model(corrected)
    idle(qtbot, store)
    workspace = store.history.workspace
    request = store_request(store)
    workspace.add_run(request)
    options = guessed.settings.model_dump(mode="json")
    workspace.files.remember(
        Reference(
            kind="model", name="net.onnx", path=str(model), fingerprint="0" * 16, options=options
        )
    )
    with workspace.database.transaction() as connection:
        connection.execute("DELETE FROM settings")
    store = start()
    assert store.library.model.settings.std == (0.1,)
    assert [m.name for m in store.library.models] == ["net.onnx"]


def store_request(store: Store):

    return build_request("zonnscan", [store.library.model], store.library.dataset, {}, indices=[0])


def test_the_scoreboard_lists_a_model_once_though_it_ran_with_two_settings(start, qtbot, tmp_path):
    model, data = save_onnx(tmp_path / "net.onnx"), save_data(tmp_path / "data.npz")
    store = start()
    store.library.load_dataset(data)
    store.library.load_model(Opening(model))
    idle(qtbot, store)
    store.history.workspace.add_run(store_request(store))
    correct(qtbot, store, mean=(0.5,), std=(0.1,), labels=LABELS)
    store.history.workspace.add_run(store_request(store))
    store.history.refresh()
    idle(qtbot, store)
    board = Scoreboard(store)
    qtbot.addWidget(board)
    board.show()
    assert board.names() == ["net.onnx"]


NETS = """
from torch import nn
with open({marker!r}, "a") as trace:
    trace.write("x")

def net():
    return nn.Sequential(nn.Flatten(), nn.Linear(16, 3))
"""


@pytest.fixture
def hostile(tmp_path):
    """A workspace of somebody else: a reference that says it is trusted, and code beside the
    weights.
    """
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "nets.py").write_text(NETS.format(marker=str(tmp_path / "executed")))
    torch.save(nn.Sequential(nn.Flatten(), nn.Linear(16, 3)).state_dict(), folder / "net.pth")
    options = {"architecture": "nets.py:net", "shape": [1, 4, 4]}
    known = Reference(
        kind="model",
        name="net.pth",
        path=str(folder / "net.pth"),
        fingerprint="ab" * 8,
        options=options,
    )
    body = known.model_dump_json().replace("{", '{"trust": true, ', 1)
    with (
        Workspace.open(tmp_path / "theirs.robgui") as workspace,
        workspace.database.transaction() as connection,
    ):
        connection.execute(
            "INSERT INTO refs VALUES (?, 'model', ?, 1e9)", (known.fingerprint, body)
        )
    return folder / "net.pth"


def test_a_workspace_cannot_say_that_its_model_is_trusted(start, qtbot, tmp_path, hostile):
    store = start("theirs.robgui")
    assert store.library.models == [] and not (tmp_path / "executed").exists()


def test_a_model_that_needs_trust_is_left_with_a_sentence_and_a_button_that_asks(
    qtbot, tmp_path, hostile
):
    offered, asked = [], []
    store = confirming()
    store.offered.connect(lambda *offer: offered.append(offer))
    store.library.trust_needed.connect(lambda opening, error: asked.append((opening, error)))
    store.open_workspace(tmp_path / "theirs.robgui")
    idle(qtbot, store)
    ((sentence, words, deed),) = offered
    assert (
        "net.pth was not opened" in sentence and "nets.py" in sentence and words == "Open net.pth …"
    )
    assert asked == []
    deed()
    idle(qtbot, store)
    ((opening, error),) = asked
    assert error.code.architecture == "nets.py:net" and store.library.models == []
    trust.trust(error.code.digest, error.code.what)
    store.library.load_model(opening)
    idle(qtbot, store)
    assert store.library.model.name == "net.pth" and (tmp_path / "executed").exists()
    assert store.shutdown()


def test_what_the_user_trusts_opens_with_its_workspace_until_its_code_changes(
    start, qtbot, tmp_path, hostile
):
    with pytest.raises(TrustError) as caught:
        load(hostile, architecture="nets.py:net", shape=(1, 4, 4))
    trust.trust(caught.value.code.digest, "")
    store = start("theirs.robgui")
    assert store.library.model.name == "net.pth"
    ran = (tmp_path / "executed").read_text()
    (hostile.parent / "nets.py").write_text(
        (hostile.parent / "nets.py").read_text() + "\n# changed\n"
    )
    store = start("theirs.robgui")
    assert store.library.models == [] and (tmp_path / "executed").read_text() == ran


def test_saving_the_settings_beside_a_trusted_model_keeps_it_trusted(
    start, qtbot, tmp_path, hostile
):
    with pytest.raises(TrustError) as caught:
        load(hostile, architecture="nets.py:net", shape=(1, 4, 4))
    trust.trust(caught.value.code.digest, "")
    store = start("theirs.robgui")
    dialog = ModelDialog(store, store.library.model)
    qtbot.addWidget(dialog)
    dialog.form.show_values({"mean": (0.5,)})
    qtbot.waitUntil(lambda: dialog.candidate is not None)
    dialog.save.click()
    idle(qtbot, store)
    assert "mean" in side_file(hostile).read_text()
    store = start("theirs.robgui")
    assert store.library.model.settings.mean == (0.5,)
