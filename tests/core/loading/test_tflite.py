"""TensorFlow Lite files answer as LiteRT's interpreter does, quantised ones too."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from robgui.cli import main
from robgui.core.errors import MissingExtraError, ModelError
from robgui.core.loading import load
from robgui.core.loading.tflite_files.model import TfliteBackend

CLASSES, SIDE = 3, 4


def made(path: Path, *, quantised: bool = False) -> Path:
    """A file with one dense layer and a softmax on pictures, written with LiteRT's own schema."""
    schema = schema_of_litert()
    rng = np.random.default_rng(0)
    features = SIDE * SIDE * 3
    weights = rng.normal(size=(CLASSES, features)).astype(np.float32) / 4
    constants = [
        b"",
        weights.tobytes(),
        np.array([0.1, 0.0, -0.1], np.float32).tobytes(),
        np.array([-1, features], np.int32).tobytes(),
    ]
    kinds = schema.TensorType
    tensors = [
        ("image", (1, SIDE, SIDE, 3), kinds.FLOAT32, 0),
        ("weights", weights.shape, kinds.FLOAT32, 1),
        ("bias", (CLASSES,), kinds.FLOAT32, 2),
        ("size", (2,), kinds.INT32, 3),
        ("row", (1, features), kinds.FLOAT32, 0),
        ("logits", (1, CLASSES), kinds.FLOAT32, 0),
        ("probabilities", (1, CLASSES), kinds.FLOAT32, 0),
    ]
    steps = [
        (schema.BuiltinOperator.RESHAPE, [0, 3], [4], None),
        (schema.BuiltinOperator.FULLY_CONNECTED, [4, 1, 2], [5], schema.FullyConnectedOptionsT()),
        (schema.BuiltinOperator.SOFTMAX, [5], [6], softmax(schema)),
    ]
    if quantised:
        tensors.append(("bytes", (1, SIDE, SIDE, 3), kinds.UINT8, 0))
        steps.insert(0, (schema.BuiltinOperator.DEQUANTIZE, [7], [0], None))
    return written(path, constants, tensors, steps, 7 if quantised else 0, 6)


def made_for_any_side(path: Path) -> Path:
    """A file that averages each channel of pictures of any side: three scores."""
    schema = schema_of_litert()
    kinds = schema.TensorType
    tensors = [
        ("image", (1, SIDE, SIDE, 3), kinds.FLOAT32, 0),
        ("axes", (2,), kinds.INT32, 1),
        ("means", (1, 3), kinds.FLOAT32, 0),
    ]
    steps = [(schema.BuiltinOperator.MEAN, [0, 1], [2], schema.ReducerOptionsT())]
    return written(path, [b"", np.array([1, 2], np.int32).tobytes()], tensors, steps, 0, 2)


def schema_of_litert():
    pytest.importorskip("ai_edge_litert.interpreter")
    pytest.importorskip("flatbuffers")
    return pytest.importorskip("ai_edge_litert.schema_py_generated")


def written(path: Path, constants, tensors, steps, given: int, told: int) -> Path:
    """A file of these tensors and operations, from one tensor to another."""
    import flatbuffers

    schema = schema_of_litert()
    model = schema.ModelT()
    model.version = 3
    model.buffers = []
    for content in constants:
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(content, np.uint8) if content else None
        model.buffers.append(buffer)
    model.operatorCodes = [code(schema, step[0]) for step in steps]
    graph = schema.SubGraphT()
    graph.tensors = [tensor(schema, *each) for each in tensors]
    graph.inputs, graph.outputs = [given], [told]
    graph.operators = [operator(schema, place, *step) for place, step in enumerate(steps)]
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))
    return path


def softmax(schema):
    options = schema.SoftmaxOptionsT()
    options.beta = 1.0
    return options


def code(schema, builtin):
    found = schema.OperatorCodeT()
    found.builtinCode = found.deprecatedBuiltinCode = builtin
    found.version = 1
    return found


def tensor(schema, name, shape, kind, buffer):
    found = schema.TensorT()
    found.name, found.shape, found.type, found.buffer = name, list(shape), kind, buffer
    if name == "bytes":  # 0 … 255 stand for -1 … 0.992
        found.quantization = schema.QuantizationParametersT()
        found.quantization.scale, found.quantization.zeroPoint = [1 / 128], [128]
    return found


def operator(schema, place, builtin, inputs, outputs, options):
    found = schema.OperatorT()
    found.opcodeIndex, found.inputs, found.outputs = place, inputs, outputs
    if options is not None:
        name = type(options).__name__.removesuffix("T")
        found.builtinOptionsType = getattr(schema.BuiltinOptions, name)
        found.builtinOptions = options
    return found


def theirs(path: Path, values: np.ndarray) -> np.ndarray:
    """What LiteRT itself answers, one input after the other."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=str(path))
    interpreter.allocate_tensors()
    given, told = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    answers = []
    for value in values:
        interpreter.set_tensor(given["index"], value[None])
        interpreter.invoke()
        answers.append(interpreter.get_tensor(told["index"])[0])
    return np.array(answers)


def pictures() -> np.ndarray:
    return np.random.default_rng(1).random((5, SIDE, SIDE, 3), dtype=np.float32)


def test_a_tflite_file_answers_as_litert_does(tmp_path):
    path = made(tmp_path / "m.tflite")
    model = load(path, device="cpu")
    ours = model.probs(np.moveaxis(pictures(), 3, 1)).numpy()
    np.testing.assert_allclose(ours, theirs(path, pictures()), atol=1e-5)
    assert model.shape == (3, SIDE, SIDE) and model.settings.layout == "hwc"
    assert not model.capabilities.gradients and "TensorFlow Lite" in model.capabilities.reason


def test_a_quantised_one_gets_exactly_the_bytes_of_the_picture(tmp_path):
    path = made(tmp_path / "m.tflite", quantised=True)
    model = load(path, device="cpu")
    stored = (pictures() * 255).round().astype(np.uint8)
    ours = model.probs(np.moveaxis(stored, 3, 1) / np.float32(255)).numpy()
    np.testing.assert_allclose(ours, theirs(path, stored), atol=1e-5)
    assert model.settings.low == (-1.0,) and model.settings.high == pytest.approx((127 / 128,))


def test_class_names_packed_behind_the_model_are_taken_where_they_are_as_many(tmp_path):
    path = made(tmp_path / "m.tflite")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("other.txt", "one\ntwo\n")
        archive.writestr("labels.txt", "cat\ndog\nowl\n")
    assert load(path, device="cpu").labels == ("cat", "dog", "owl")


def test_names_packed_as_a_bomb_are_refused(tmp_path):
    path = made(tmp_path / "m.tflite")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labels.txt", bytes(400_000_000))
    with pytest.raises(ModelError, match="far larger"):
        load(path, device="cpu")


def test_a_damaged_one_is_one_sentence(tmp_path):
    whole = made(tmp_path / "m.tflite").read_bytes()
    for place, content in enumerate((whole[:200], whole[:8] + bytes(600), whole[:-400])):
        path = tmp_path / f"{place}.tflite"
        path.write_bytes(content)
        with pytest.raises(ModelError) as caught:
            load(path, device="cpu")
        assert path.name in str(caught.value) and "\n" not in str(caught.value)


def test_without_litert_one_sentence_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "m.tflite").write_bytes(bytes(4) + b"TFL3" + bytes(600))
    monkeypatch.setitem(sys.modules, "ai_edge_litert", None)
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    with pytest.raises(MissingExtraError, match=r"robgui\[tflite\]"):
        load(tmp_path / "m.tflite", device="cpu")


def test_a_tflite_file_opens_in_the_process_that_models_live_in(tmp_path, capsys):
    path = made(tmp_path / "m.tflite")
    assert main(["inspect", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["shape"] == [3, SIDE, SIDE]


def test_shapes_may_change_and_change_back_between_batches_of_one_size(tmp_path):
    backend = TfliteBackend(made_for_any_side(tmp_path / "m.tflite").read_bytes(), 0)
    small, large = (
        np.random.default_rng(2).random((2, side, side, 3), dtype=np.float32)
        for side in (SIDE, 2 * SIDE)
    )
    first = backend(torch.from_numpy(small)).numpy()
    between = backend(torch.from_numpy(large)).numpy()
    again = backend(torch.from_numpy(small)).numpy()
    assert first.shape == between.shape == (2, 3)
    np.testing.assert_array_equal(again, first)
    np.testing.assert_allclose(first, small.mean((1, 2)), atol=1e-5)
    np.testing.assert_allclose(between, large.mean((1, 2)), atol=1e-5)
