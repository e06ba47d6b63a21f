"""Keras files answer as Keras does, and what is not known to be harmless needs trust."""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from robgui.cli import main
from robgui.core.errors import MissingExtraError, ModelError, TrustError
from robgui.core.identify import Format, identify
from robgui.core.loading import load
from robgui.core.loading.keras_files.parts import foreign_parts

#: Keras 3.15 saves torch tensors in a way that NumPy 2 discourages.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


@pytest.fixture(scope="module")
def keras():
    if "keras" not in sys.modules:
        os.environ["KERAS_BACKEND"] = "torch"
    pytest.importorskip("h5py")
    return pytest.importorskip("keras")


@pytest.fixture(scope="module")
def saved(keras, tmp_path_factory) -> tuple[Path, object, object]:
    """Two networks in the two formats of Keras, and the networks."""
    folder = tmp_path_factory.mktemp("keras")
    keras.utils.set_random_seed(0)
    x = keras.Input((16, 16, 3))
    y = keras.layers.Rescaling(2.0, -1.0)(x)
    y = keras.layers.Conv2D(4, 3, activation="relu")(y)
    y = keras.layers.BatchNormalization()(y)
    y = keras.ops.relu(y) + y
    y = keras.layers.Dropout(0.5)(keras.layers.GlobalAveragePooling2D()(y))
    net = keras.Model(x, keras.layers.Dense(5, activation="softmax")(y))
    net.compile("adam", "categorical_crossentropy")
    net.save(folder / "net.keras")
    plain = keras.Sequential(
        [
            keras.Input((16, 16, 3)),
            keras.layers.Conv2D(4, 3, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(5),
        ]
    )
    plain.save(folder / "net.h5")
    return folder, net, plain


def pictures() -> np.ndarray:
    return np.random.default_rng(0).random((3, 16, 16, 3), dtype=np.float32)


def described(path: Path) -> dict:
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("config.json"))


def rewritten(source: Path, target: Path, **parts: bytes) -> Path:
    """A copy with parts replaced; ``config`` and ``weights`` for short."""
    names = {"config.json": "config", "model.weights.h5": "weights"}
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, parts.get(names.get(name, ""), old.read(name)))
    return target


def refused(path: Path, error: type[ModelError], **more: object) -> str:
    with pytest.raises(error) as caught:
        load(path, device="cpu", **more)
    assert path.name in str(caught.value) and "\n" not in str(caught.value)
    return str(caught.value)


def test_a_keras_file_answers_as_keras_does(saved):
    folder, net, _ = saved
    model = load(folder / "net.keras", device="cpu")
    theirs = np.asarray(net.predict(pictures(), verbose=0))
    ours = model.probs(np.moveaxis(pictures(), 3, 1)).numpy()
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert model.shape == (3, 16, 16) and model.settings.output == "probabilities"


def test_its_gradients_and_activations_are_those_of_the_network(saved, keras):
    model = load(saved[0] / "net.keras", device="cpu")
    x = torch.from_numpy(np.moveaxis(pictures(), 3, 1).copy()).requires_grad_()
    model.logits(x)[:, 0].sum().backward()
    assert float(x.grad.abs().sum()) > 0
    _, seen = model.activations(x.detach())
    conv, dense = seen.values()
    assert conv.shape == (3, 4, 14, 14) and dense.shape == (3, 5), "channels come second"
    layer = saved[1].layers[2]
    part = keras.Model(saved[1].inputs, layer.output)
    theirs = np.moveaxis(np.asarray(part.predict(pictures(), verbose=0)), 3, 1)
    np.testing.assert_allclose(conv.numpy(), theirs, atol=1e-5)


def test_an_hdf5_file_answers_as_keras_does_and_only_with_trust(saved):
    path = saved[0] / "net.h5"
    assert identify(path).model is Format.KERAS_HDF5
    assert "HDF5" in refused(path, TrustError)
    model = load(path, trust=True, device="cpu")
    theirs = torch.tensor(saved[2].predict(pictures(), verbose=0)).softmax(1)
    np.testing.assert_allclose(
        model.probs(np.moveaxis(pictures(), 3, 1)).numpy(), theirs, atol=1e-5
    )


def test_weights_alone_are_no_model(saved, keras, tmp_path):
    saved[1].save_weights(tmp_path / "net.weights.h5")
    assert "not a model" in refused(tmp_path / "net.weights.h5", ModelError)


def test_a_lambda_is_not_run_without_trust_and_runs_with_it(keras, tmp_path):
    marker = tmp_path / "ran"
    place = str(marker)
    net = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Lambda(lambda x: (open(place, "w").close(), x)[1], output_shape=(4,)),  # noqa: PTH123
            keras.layers.Dense(3),
        ]
    )
    net.save(tmp_path / "net.keras")
    marker.unlink(missing_ok=True)
    words = refused(tmp_path / "net.keras", TrustError)
    assert "Lambda" in words and not marker.exists()
    assert load(tmp_path / "net.keras", trust=True, device="cpu").classes == 3
    assert marker.exists()


def test_a_wrapped_torch_module_is_not_unpickled_without_trust(keras, tmp_path, evil):
    wrapper = keras.layers.TorchModuleWrapper(torch.nn.Linear(4, 3))
    net = keras.Sequential([keras.Input((4,)), wrapper])
    net.save(tmp_path / "net.keras")
    assert "TorchModuleWrapper" in refused(tmp_path / "net.keras", TrustError)
    trap, executed = evil
    buffer = io.BytesIO()
    torch.save(trap, buffer)
    text = json.dumps(described(tmp_path / "net.keras"))
    spoiled = json.loads(text)
    for layer in spoiled["config"]["layers"]:
        if layer["class_name"] == "TorchModuleWrapper":
            layer["config"]["module"] = buffer.getvalue().decode("latin-1")
    path = rewritten(
        tmp_path / "net.keras", tmp_path / "evil.keras", config=json.dumps(spoiled).encode()
    )
    refused(path, TrustError)
    assert not executed()


@pytest.mark.parametrize(
    "part",
    [
        {"module": "keras.layers", "class_name": "Lambda"},
        {"module": "keras.layers", "class_name": "TFSMLayer"},
        {"module": "keras.layers", "class_name": "StringLookup"},
        {"module": "keras.utils", "class_name": "get_file"},
        {"module": "os", "class_name": "function", "config": "system"},
        {"module": "builtins", "class_name": "function", "config": "__import__('os')"},
        {"module": "keras.src.ops.core", "class_name": "Map"},
        {"module": "keras.layers", "class_name": "Dense", "registered_name": "evil>Dense"},
        {"module": None, "class_name": "Mine"},
        {"module": None, "class_name": "__lambda__"},
        {"module": None, "class_name": "__typespec__"},
        {"class_name": ["Dense"]},
    ],
)
def test_a_part_that_is_not_on_the_list_is_foreign_wherever_it_stands(part):
    assert foreign_parts({"config": {"layers": [{"a": [part]}]}})
    assert not foreign_parts({"module": "keras.layers", "class_name": "Dense"})


def test_a_part_hidden_in_a_setting_of_a_layer_is_refused(saved, tmp_path):
    config = described(saved[0] / "net.keras")
    config["config"]["layers"][2]["config"]["kernel_initializer"] = {
        "module": "keras.utils",
        "class_name": "get_file",
        "config": {"origin": "http://localhost/"},
    }
    path = rewritten(
        saved[0] / "net.keras", tmp_path / "m.keras", config=json.dumps(config).encode()
    )
    assert "get_file" in refused(path, TrustError)


def test_what_only_training_needs_is_not_even_read(saved, tmp_path):
    config = described(saved[0] / "net.keras")
    config["compile_config"] = {"optimizer": {"module": "os", "class_name": "system"}}
    path = rewritten(
        saved[0] / "net.keras", tmp_path / "m.keras", config=json.dumps(config).encode()
    )
    assert load(path, device="cpu").classes == 5


@pytest.mark.parametrize("kind", ["external link", "soft link", "external data", "bomb", "text"])
def test_weights_that_lead_out_of_the_file_or_grow_are_refused(saved, tmp_path, kind):
    h5py = pytest.importorskip("h5py")
    place = tmp_path / "w.h5"
    with h5py.File(place, "w") as file:
        if kind == "external link":
            file["a"] = h5py.ExternalLink("/etc/passwd", "/")
        elif kind == "soft link":
            file["a"] = h5py.SoftLink("/b")
        elif kind == "external data":
            file.create_dataset("a", (8,), "u1", external=[("/etc/passwd", 0, 8)])
        elif kind == "bomb":
            file.create_dataset("a", (2**40,), "u1", chunks=(2**20,), compression="gzip")
        else:
            file["a"] = "text"
    path = rewritten(saved[0] / "net.keras", tmp_path / "m.keras", weights=place.read_bytes())
    assert "refused" in refused(path, ModelError)


@pytest.mark.parametrize("config", [b"no json", b"[" * 100_000, b"{}", b"[]", b'{"class_name": 3}'])
def test_a_damaged_description_is_one_sentence(saved, tmp_path, config):
    path = rewritten(saved[0] / "net.keras", tmp_path / "m.keras", config=config)
    refused(path, ModelError)


def test_without_keras_one_sentence_names_the_extra(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "m.keras", "w") as archive:
        archive.writestr("config.json", "{}")
        archive.writestr("model.weights.h5", b"")
    for name in ("keras", "h5py"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "robgui[keras]" in refused(tmp_path / "m.keras", MissingExtraError)


def test_a_keras_file_opens_in_the_process_that_models_live_in(saved, capsys):
    assert main(["inspect", str(saved[0] / "net.keras"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["shape"] == [3, 16, 16] and found["gradients"]
