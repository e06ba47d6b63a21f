"""An ONNX file reads no file but those beside it, and its fingerprint covers them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from robgui.core.errors import ModelError
from robgui.core.loading import load
from tests.core.loading.makers import onnx_model, onnx_table_net
from tests.security.attacks import refused


def elsewhere(tensor: TensorProto, location: str) -> TensorProto:
    """The tensor with its numbers in another file."""
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", location
    return tensor


def sparse_net(location: str) -> onnx.ModelProto:
    """A network whose weight is a sparse constant, its values in another file."""
    values = elsewhere(
        numpy_helper.from_array(np.arange(1.0, 4.0, dtype=np.float32), "w_values"), location
    )
    indices = numpy_helper.from_array(np.array([0, 4, 8], dtype=np.int64), "w_indices")
    sparse = helper.make_sparse_tensor(values, indices, [6, 3])
    nodes = [
        helper.make_node("Constant", [], ["w"], sparse_value=sparse),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    return onnx_model(nodes, {"x": ["n", 6]}, {"y": ["n", 3]}, {})


@pytest.mark.parametrize("place", ["beside the model", "in the current folder"])
def test_a_sparse_constant_reads_no_file(tmp_path, monkeypatch, place):
    """The runtime would take it from the current folder, past the check of names and past the
    fingerprint.
    """
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    folder = tmp_path if place == "beside the model" else here
    (folder / "secret.bin").write_bytes(np.array([7.0, 8.0, 9.0], dtype=np.float32).tobytes())
    onnx.save_model(sparse_net("secret.bin"), tmp_path / "m.onnx")
    refused(tmp_path / "m.onnx", ModelError)


@pytest.mark.parametrize("location", ["../secret.bin", "/etc/hostname", "link.bin", ""])
def test_a_constant_in_a_function_names_no_file_elsewhere(tmp_path, location):
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(72))
    (home / "link.bin").symlink_to(tmp_path / "secret.bin")
    weight = elsewhere(numpy_helper.from_array(np.ones((6, 3), dtype=np.float32), "w"), location)
    body = [
        helper.make_node("Constant", [], ["w"], value=weight),
        helper.make_node("MatMul", ["a", "w"], ["b"]),
    ]
    opset = [helper.make_opsetid("", 17)]
    model = onnx_model(
        [helper.make_node("F", ["x"], ["y"], domain="own")], {"x": ["n", 6]}, {"y": ["n", 3]}, {}
    )
    model.opset_import.append(helper.make_opsetid("own", 1))
    model.functions.append(helper.make_function("own", "F", ["a"], ["b"], body, opset))
    (home / "m.onnx").write_bytes(model.SerializeToString())
    assert "outside its own folder" in refused(home / "m.onnx", ModelError)


def test_a_constant_in_the_body_of_a_branch_names_no_file_elsewhere(tmp_path):
    weight = elsewhere(
        numpy_helper.from_array(np.ones((6, 3), dtype=np.float32), "w"), "../secret.bin"
    )
    value = [helper.make_tensor_value_info("b", TensorProto.FLOAT, None)]
    then = helper.make_graph(
        [helper.make_node("Identity", ["w"], ["b"])], "then", [], value, [weight]
    )
    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.array(True), "c")),
        helper.make_node("If", ["c"], ["v"], then_branch=then, else_branch=then),
        helper.make_node("MatMul", ["x", "v"], ["y"]),
    ]
    (tmp_path / "m.onnx").write_bytes(
        onnx_model(nodes, {"x": ["n", 6]}, {"y": ["n", 3]}, {}).SerializeToString()
    )
    assert "outside its own folder" in refused(tmp_path / "m.onnx", ModelError)


def test_data_beside_the_model_are_read_and_belong_to_the_fingerprint(tmp_path):
    def saved(folder: Path, factor: float) -> str:
        folder.mkdir()
        model = onnx_table_net()
        for tensor in model.graph.initializer:
            tensor.CopyFrom(
                numpy_helper.from_array(
                    numpy_helper.to_array(tensor) * np.float32(factor), tensor.name
                )
            )
        onnx.save_model(
            model,
            folder / "m.onnx",
            save_as_external_data=True,
            location="weights.bin",
            size_threshold=0,
        )
        return load(folder / "m.onnx", device="cpu").fingerprint

    assert saved(tmp_path / "one", 1.0) != saved(tmp_path / "two", 2.0)


@pytest.mark.parametrize(("times", "words"), [(2**25, "MB of memory"), (2**15, "2,097,152")])
def test_an_input_repeated_without_measure_takes_no_gigabytes(tmp_path, times, words):
    nodes = [
        helper.make_node("Tile", ["x", "r"], ["t"]),
        helper.make_node("Flatten", ["t"], ["y"]),
    ]
    repeats = np.array([1, times, 1, 1], dtype=np.int64)
    model = onnx_model(nodes, {"x": ["n", 1, 8, 8]}, {"y": ["n", 64 * times]}, {"r": repeats})
    onnx.save(model, tmp_path / "m.onnx")
    assert words in refused(tmp_path / "m.onnx", ModelError)
