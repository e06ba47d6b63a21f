"""Networks of other libraries: a description cannot ask for more than its weights hold, and an
interpreter is given nothing that its faster library would believe.
"""

from __future__ import annotations

import importlib.util
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from robgui.core.errors import ModelError
from robgui.core.loading import load
from robgui.core.loading.tflite_files.model import TfliteBackend
from tests.fuzz.kinds import networks
from tests.security.attacks import refused


@pytest.fixture
def folder(tmp_path) -> Path:
    pytest.importorskip("transformers")
    networks.make_folders(tmp_path)
    return tmp_path / "convnext"


@pytest.mark.parametrize(
    "asked", [{"patch_size": 32_767}, {"hidden_sizes": [2**20, 8]}, {"hidden_sizes": [8, 100_000]}]
)
def test_a_description_of_hugging_face_cannot_ask_for_gigabytes(folder, asked):
    described = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**described, **asked}))
    assert "asks for a network of" in refused(folder, ModelError)


@pytest.fixture
def keras_file(tmp_path) -> Path:
    if importlib.util.find_spec("keras") is None:
        pytest.skip("needs Keras")
    networks.make_keras(tmp_path)
    return tmp_path / "plain" / "main.keras"


def _described_anew(path: Path, change: Any) -> Path:
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    described = json.loads(parts["config.json"])
    change({layer["class_name"]: layer for layer in described["config"]["layers"]})
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**parts, "config.json": json.dumps(described)}.items():
            archive.writestr(name, content)
    return path


def test_a_description_of_keras_cannot_ask_for_gigabytes(keras_file):
    def wider(layers: dict[str, Any]) -> None:
        layers["Dense"]["config"]["units"] = 2**31

    assert "asks for" in refused(_described_anew(keras_file, wider), ModelError)


def test_a_shape_that_a_description_of_keras_invents_takes_no_memory(keras_file):
    def invented(layers: dict[str, Any]) -> None:
        layers["Dense"]["build_config"]["input_shape"][1] = 2**31

    sentence = refused(_described_anew(keras_file, invented), ModelError)
    assert "allocate" not in sentence and "memory" not in sentence


@pytest.fixture
def lite(tmp_path) -> Path:
    pytest.importorskip("ai_edge_litert")
    networks.make_lite(tmp_path)
    return tmp_path / "many" / "main.tflite"


def _packed_anew(path: Path, change: Any) -> Path:
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromPackedBuf(path.read_bytes())
    change(schema, model)
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))
    return path


def test_an_operation_with_too_few_inputs_never_reaches_the_faster_library(lite, monkeypatch):
    """It reads the third and fourth of two inputs, and sometimes that ends the process."""
    from robgui.core.loading.tflite_files import model as tflite_model

    made: list[bool] = []
    real = tflite_model.interpreter_of

    def watched(content: bytes, *, plain: bool = False) -> Any:
        interpreter = real(content, plain=plain)
        made.append(plain)
        return interpreter

    def exchanged(schema: Any, model: Any) -> None:
        codes = schema.BuiltinOperator
        (mean,) = [each for each in model.operatorCodes if each.builtinCode == codes.MEAN]
        mean.builtinCode = mean.deprecatedBuiltinCode = codes.STRIDED_SLICE

    monkeypatch.setattr(tflite_model, "interpreter_of", watched)
    assert "STRIDED_SLICE" in refused(_packed_anew(lite, exchanged), ModelError)
    assert made[1:] and all(made[1:]), "only the first look at its inputs is not a plain one"


@pytest.mark.parametrize("place", [0, 5, -1])
def test_a_tensor_that_two_operations_write_never_reaches_the_interpreter(lite, place):
    """It gives one of them the memory of another tensor."""

    def confused(schema: Any, model: Any) -> None:
        operations = model.subgraphs[0].operators
        operations[place].outputs = operations[place - 1].outputs

    assert "writes one again" in refused(_packed_anew(lite, confused), ModelError)


def test_a_tflite_file_cannot_ask_for_gigabytes(lite):
    def larger(schema: Any, model: Any) -> None:
        (size,) = [each for each in model.subgraphs[0].tensors if each.name == b"size"]
        content = np.array([14_000, 14_000], np.int32).tobytes()
        model.buffers[size.buffer].data = np.frombuffer(content, np.uint8)

    refused(_packed_anew(lite, larger), ModelError)
    with pytest.raises(ModelError, match="MB of memory"):
        TfliteBackend(lite.read_bytes(), 0)(torch.rand(1, 8, 8, 3))


def test_honest_networks_of_every_library_are_loaded(tmp_path):
    for kind in networks.kinds():
        home = tmp_path / kind.name
        home.mkdir()
        kind.make(home)
        for own in sorted(home.iterdir()):
            path = kind.main(own, random.Random(0))
            assert load(own if kind.name == "folder" else path, device="cpu").classes > 1
