"""ONNX: the translation to torch equals onnxruntime, oddities of real files are handled, dangers
are refused.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from robgui.core.errors import ModelError
from robgui.core.loading import load
from tests.core.loading.makers import onnx_model, onnx_table_net, table_net

GENERATOR = np.random.default_rng(0)


def noise(*shape: int) -> np.ndarray:
    return GENERATOR.standard_normal(shape).astype(np.float32)


def numbers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def node(
    kind: str,
    inputs: list[str] | None = None,
    outputs: list[str] | None = None,
    **attributes: object,
) -> onnx.NodeProto:
    return helper.make_node(kind, inputs or ["x"], outputs or ["y"], **attributes)


#: Name -> nodes from ``x`` to ``y`` (images 2x8x8), constants, opset.
IMAGES: dict[str, tuple[list[onnx.NodeProto], dict[str, np.ndarray], int]] = {
    "Conv with uneven padding, stride and dilation": (
        [node("Conv", ["x", "w", "b"], pads=[1, 0, 2, 1], strides=[2, 1], dilations=[1, 2])],
        {"w": noise(3, 2, 3, 3), "b": noise(3)},
        17,
    ),
    "Conv in groups, same upper": (
        [node("Conv", ["x", "w"], auto_pad="SAME_UPPER", group=2, strides=[2, 2])],
        {"w": noise(4, 1, 3, 3)},
        17,
    ),
    "Conv same lower": (
        [node("Conv", ["x", "w"], auto_pad="SAME_LOWER")],
        {"w": noise(4, 2, 2, 2)},
        17,
    ),
    "MaxPool": ([node("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])], {}, 17),
    "MaxPool uneven": (
        [node("MaxPool", kernel_shape=[2, 2], strides=[2, 2], pads=[0, 0, 1, 1])],
        {},
        17,
    ),
    "MaxPool rounded up": (
        [node("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)],
        {},
        17,
    ),
    "AveragePool": (
        [node("AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])],
        {},
        17,
    ),
    "AveragePool with padding counted": (
        [node("AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)],
        {},
        17,
    ),
    "AveragePool uneven": ([node("AveragePool", kernel_shape=[3, 3], pads=[0, 0, 1, 1])], {}, 17),
    "GlobalAveragePool": ([node("GlobalAveragePool")], {}, 17),
    "GlobalMaxPool": ([node("GlobalMaxPool")], {}, 17),
    "BatchNormalization": (
        [node("BatchNormalization", ["x", "s", "b", "m", "v"], epsilon=1e-3)],
        {"s": noise(2), "b": noise(2), "m": noise(2), "v": np.abs(noise(2)) + 0.5},
        17,
    ),
    "InstanceNormalization": (
        [node("InstanceNormalization", ["x", "s", "b"])],
        {"s": noise(2), "b": noise(2)},
        17,
    ),
    "LayerNormalization": (
        [node("LayerNormalization", ["x", "s", "b"])],
        {"s": noise(8), "b": noise(8)},
        17,
    ),
    "LRN": ([node("LRN", size=3, alpha=0.1)], {}, 17),
    "Transpose": ([node("Transpose", perm=[0, 2, 3, 1])], {}, 17),
    "Pad with a constant": (
        [node("Pad", ["x", "p", "c"])],
        {"p": numbers(0, 0, 1, 2, 0, 0, 0, 1), "c": np.float32(0.5)},
        17,
    ),
    "Pad by reflection": (
        [node("Pad", ["x", "p"], mode="reflect")],
        {"p": numbers(0, 0, 1, 2, 0, 0, 0, 1)},
        17,
    ),
    "Pad by the edge": (
        [node("Pad", ["x", "p"], mode="edge")],
        {"p": numbers(0, 0, 1, 2, 0, 0, 0, 1)},
        17,
    ),
    "Pad of old": ([node("Pad", pads=[0, 0, 1, 1, 0, 0, 1, 1], value=2.0)], {}, 10),
    "Slice": (
        [node("Slice", ["x", "s", "e", "a", "t"])],
        {"s": numbers(1, 7), "e": numbers(2**62, 0), "a": numbers(2, 3), "t": numbers(2, -2)},
        17,
    ),
    "Slice of old": ([node("Slice", starts=[1], ends=[-1], axes=[3])], {}, 9),
    "Gather": ([node("Gather", ["x", "i"], axis=3)], {"i": numbers(0, -1, 3)}, 17),
    "Split and Concat": (
        [node("Split", ["x", "s"], ["a", "b"], axis=2), node("Concat", ["b", "a"], axis=3 - 1)],
        {"s": numbers(3, 5)},
        17,
    ),
    "Split in equal parts": (
        [node("Split", ["x"], ["a", "b"], axis=1), node("Sub", ["a", "b"])],
        {},
        17,
    ),
    "Squeeze and Unsqueeze": (
        [node("Unsqueeze", ["x", "a"], ["u"]), node("Squeeze", ["u", "a"])],
        {"a": numbers(1)},
        17,
    ),
    "Resize to nearest": (
        [
            node(
                "Resize",
                ["x", "", "s"],
                mode="nearest",
                coordinate_transformation_mode="asymmetric",
                nearest_mode="floor",
            )
        ],
        {"s": np.array([1, 1, 2, 2], np.float32)},
        17,
    ),
    "Resize linear": (
        [
            node(
                "Resize",
                ["x", "", "", "s"],
                mode="linear",
                coordinate_transformation_mode="half_pixel",
            )
        ],
        {"s": numbers(1, 2, 12, 16)},
        17,
    ),
    "Resize linear with aligned corners": (
        [
            node(
                "Resize",
                ["x", "", "s"],
                mode="linear",
                coordinate_transformation_mode="align_corners",
            )
        ],
        {"s": np.array([1, 1, 2, 2], np.float32)},
        17,
    ),
    "ReduceMean": ([node("ReduceMean", axes=[2, 3], keepdims=0)], {}, 17),
    "ReduceSum": ([node("ReduceSum", ["x", "a"])], {"a": numbers(2)}, 17),
    "ReduceMax": ([node("ReduceMax", axes=[-1])], {}, 17),
    "ReduceL2": ([node("ReduceL2", axes=[1])], {}, 17),
    "Softmax over channels": ([node("Softmax", axis=1)], {}, 17),
    "Softmax of old": ([node("Softmax", axis=1)], {}, 11),
    "LogSoftmax": ([node("LogSoftmax", axis=-1)], {}, 17),
    "PRelu": ([node("PRelu", ["x", "s"])], {"s": noise(2, 1, 1)}, 17),
    "Clip": ([node("Clip", ["x", "l", "h"])], {"l": np.float32(-0.5), "h": np.float32(0.5)}, 17),
    "Clip of old": ([node("Clip", min=-0.5, max=0.5)], {}, 10),
    "Clip from below": ([node("Clip", ["x", "l"])], {"l": np.float32(0.1)}, 17),
    "Add, Mul, Sub, Div, Pow": (
        [
            node("Add", ["x", "c"], ["a"]),
            node("Mul", ["a", "c"], ["m"]),
            node("Sub", ["m", "x"], ["s"]),
            node("Div", ["s", "c"], ["d"]),
            node("Pow", ["d", "two"]),
        ],
        {"c": np.abs(noise(2, 1, 1)) + 0.5, "two": np.float32(2)},
        17,
    ),
    "Max, Min, Sum of several": (
        [
            node("Max", ["x", "c"], ["a"]),
            node("Min", ["x", "c"], ["b"]),
            node("Sum", ["a", "b", "x"]),
        ],
        {"c": noise(8)},
        17,
    ),
    "Where with a comparison": (
        [node("Greater", ["x", "c"], ["g"]), node("Where", ["g", "x", "c"])],
        {"c": noise(8)},
        17,
    ),
    "Cast and Not": (
        [
            node("Less", ["x", "c"], ["l"]),
            node("Not", ["l"], ["n"]),
            node("Cast", ["n"], ["f"], to=TensorProto.FLOAT),
            node("Mul", ["f", "x"]),
        ],
        {"c": noise(1)},
        17,
    ),
    "shape arithmetic": (
        [
            node("Shape", ["x"], ["shape"]),
            node("Gather", ["shape", "zero"], ["batch"]),
            node("Concat", ["batch", "rest"], ["target"], axis=0),
            node("Reshape", ["x", "target"]),
        ],
        {"zero": numbers(0), "rest": numbers(4, -1)},
        17,
    ),
    "a constant of a computed shape": (
        [
            node("Shape", ["x"], ["s"]),
            node(
                "ConstantOfShape",
                ["s"],
                ["c"],
                value=numpy_helper.from_array(np.array([2.0], np.float32)),
            ),
            node("Add", ["x", "c"]),
        ],
        {},
        17,
    ),
    "Expand": (
        [node("GlobalAveragePool", ["x"], ["g"]), node("Expand", ["g", "s"])],
        {"s": numbers(1, 2, 3, 3)},
        17,
    ),
    "Tile": ([node("Tile", ["x", "r"])], {"r": numbers(1, 2, 1, 1)}, 17),
    "Dropout": ([node("Dropout", ["x"])], {}, 17),
    "Constant": ([node("Constant", [], ["c"], value_float=2.0), node("Mul", ["x", "c"])], {}, 17),
    "MatMul over the last axis and Add": (
        [node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"])],
        {"w": noise(8, 4), "b": noise(4)},
        17,
    ),
}
for simple in (
    "Relu",
    "LeakyRelu",
    "Sigmoid",
    "Tanh",
    "HardSigmoid",
    "Elu",
    "Selu",
    "Celu",
    "Erf",
    "Neg",
    "Exp",
    "Abs",
    "Softplus",
    "Softsign",
    "HardSwish",
    "Identity",
    "Floor",
    "Ceil",
    "Sign",
    "Sin",
    "Cos",
):
    IMAGES[simple] = ([node(simple)], {}, 17)
IMAGES["Gelu"] = ([node("Gelu")], {}, 20)
IMAGES["Sqrt and Log"] = (
    [node("Exp", ["x"], ["e"]), node("Sqrt", ["e"], ["s"]), node("Log", ["s"])],
    {},
    17,
)


def image_classifier(
    tmp_path: Path, nodes: list[onnx.NodeProto], constants: dict[str, np.ndarray], opset: int
) -> Path:
    """The nodes followed by a flattening and, so that gradients and layers have something to
    show, a softmax-free head.
    """
    *body, last = [onnx.NodeProto.FromString(each.SerializeToString()) for each in nodes]
    last.output[0] = "features"
    model = onnx_model(
        [*body, last, node("Flatten", ["features"], ["y"])],
        {"x": ["n", 2, 8, 8]},
        {"y": ["n", None]},
        constants,
        opset,
    )
    onnx.save(model, tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


@pytest.mark.parametrize("name", IMAGES)
def test_an_operation_in_torch_equals_onnxruntime(tmp_path, name):
    path = image_classifier(tmp_path, *IMAGES[name])
    classifier = load(path, device="cpu", shape=(2, 8, 8), output="logits")
    assert classifier.capabilities.gradients, classifier.capabilities.reason
    x = torch.rand(5, 2, 8, 8, generator=torch.Generator().manual_seed(5)) * 2 - 1
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    expected = np.concatenate([session.run(None, {"x": each[None].numpy()})[0] for each in x])
    np.testing.assert_allclose(classifier.raw(x).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_a_matrix_product_and_its_bias_are_one_layer(tmp_path):
    weight, bias = noise(6, 3), noise(3)
    nodes = [node("MatMul", ["x", "w"], ["m"], name="head"), node("Add", ["b", "m"])]
    onnx.save(
        onnx_model(nodes, {"x": ["n", 6]}, {"y": ["n", 3]}, {"w": weight, "b": bias}),
        tmp_path / "m.onnx",
    )
    x = torch.rand(4, 6)
    scores, layers = load(tmp_path / "m.onnx", device="cpu").activations(x)
    assert list(layers) == ["head"]
    torch.testing.assert_close(
        layers["head"], x @ torch.from_numpy(weight) + torch.from_numpy(bias)
    )
    torch.testing.assert_close(scores, layers["head"])


def test_an_operation_without_translation_leaves_a_black_box_that_names_it(tmp_path):
    path = image_classifier(tmp_path, [node("Hardmax", axis=-1)], {}, 17)
    classifier = load(path, device="cpu", shape=(2, 8, 8), output="logits")
    assert not classifier.capabilities.gradients and not classifier.capabilities.activations
    assert "Hardmax" in classifier.capabilities.reason
    assert classifier.infer(torch.rand(3, 2, 8, 8)).shape == (3, 128)
    with pytest.raises(ModelError, match="Hardmax"):
        classifier.activations(torch.rand(3, 2, 8, 8))


@pytest.mark.parametrize("batch", [1, 3])
def test_a_fixed_batch_takes_any_number(tmp_path, batch):
    onnx.save(onnx_table_net(batch), tmp_path / "m.onnx")
    classifier = load(tmp_path / "m.onnx", device="cpu")
    x = torch.rand(7, 6)
    torch.testing.assert_close(classifier.infer(x), table_net()(x).detach())
    assert (
        any(f"batches of {batch}" in remark for remark in classifier.remarks)
        and classifier.capabilities.gradients
    )


def test_a_reshape_to_one_row_is_freed(tmp_path):
    nodes = [node("Reshape", ["x", "s"], ["f"]), node("MatMul", ["f", "w"])]
    model = onnx_model(
        nodes, {"x": [1, 1, 28, 28]}, {"y": [1, 10]}, {"s": numbers(1, 784), "w": noise(784, 10)}
    )
    onnx.save(model, tmp_path / "m.onnx")
    classifier = load(tmp_path / "m.onnx", device="cpu")
    assert any("any size" in remark for remark in classifier.remarks)
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    x = torch.rand(4, 1, 28, 28)
    expected = np.concatenate([session.run(None, {"x": each[None].numpy()})[0] for each in x])
    np.testing.assert_allclose(classifier.infer(x).numpy(), expected, rtol=1e-4, atol=1e-4)


def test_a_batch_that_cannot_be_freed_runs_one_by_one(tmp_path):
    # the mean over everything ties the inputs of a batch together
    nodes = [node("ReduceMean", ["x"], ["m"], keepdims=1, axes=[0, 1]), node("Sub", ["x", "m"])]
    onnx.save(onnx_model(nodes, {"x": [1, 6]}, {"y": [1, 6]}, {}), tmp_path / "m.onnx")
    classifier = load(tmp_path / "m.onnx", device="cpu")
    x = torch.rand(4, 6)
    torch.testing.assert_close(classifier.infer(x), x - x.mean(1, keepdim=True))
    assert any("cut and filled up" in remark for remark in classifier.remarks)


def test_channels_last_and_columns_are_detected(tmp_path):
    weights = {"w": noise(3 * 4 * 5, 7)}
    onnx.save(
        onnx_model(
            [node("Flatten", ["x"], ["f"]), node("MatMul", ["f", "w"])],
            {"x": ["n", 4, 5, 3]},
            {"y": ["n", 7]},
            weights,
        ),
        tmp_path / "a.onnx",
    )
    last = load(tmp_path / "a.onnx", device="cpu")
    assert (
        last.shape == (3, 4, 5)
        and last.settings.layout == "hwc"
        and "wants channels last" in last.remarks
    )
    x = torch.rand(2, 3, 4, 5)
    torch.testing.assert_close(
        last.infer(x), x.permute(0, 2, 3, 1).flatten(1) @ torch.from_numpy(weights["w"])
    )
    onnx.save(
        onnx_model(
            [node("Flatten", ["x"], ["f"]), node("MatMul", ["f", "w"])],
            {"x": ["n", 784, 1]},
            {"y": ["n", 7]},
            {"w": noise(784, 7)},
        ),
        tmp_path / "b.onnx",
    )
    column = load(tmp_path / "b.onnx", device="cpu")
    assert column.shape == (1, 28, 28) and column.settings.layout == "column"


def test_open_sides_of_an_image_are_guessed(tmp_path):
    nodes = [
        node("Conv", ["x", "w"], ["c"]),
        node("GlobalAveragePool", ["c"], ["g"]),
        node("Flatten", ["g"]),
    ]
    onnx.save(
        onnx_model(nodes, {"x": ["n", 3, "h", "w"]}, {"y": ["n", 4]}, {"w": noise(4, 3, 3, 3)}),
        tmp_path / "m.onnx",
    )
    classifier = load(tmp_path / "m.onnx", device="cpu")
    assert (
        classifier.shape == (3, 32, 32)
        and "shape 3x32x32 guessed from its input" in classifier.remarks
    )
    assert load(tmp_path / "m.onnx", device="cpu", shape=(3, 20, 24)).shape == (3, 20, 24)


def test_bytes_as_input_are_served_by_the_high_value(tmp_path):
    nodes = [
        node("Cast", ["x"], ["f"], to=TensorProto.FLOAT),
        node("Flatten", ["f"], ["g"]),
        node("MatMul", ["g", "w"]),
    ]
    model = onnx_model(nodes, {"x": ["n", 3, 4, 4]}, {"y": ["n", 2]}, {"w": noise(48, 2)})
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.UINT8
    onnx.save(model, tmp_path / "m.onnx")
    classifier = load(tmp_path / "m.onnx", device="cpu", high=(255.0,))
    x = torch.randint(0, 256, (3, 3, 4, 4)) / 255
    assert not classifier.capabilities.gradients
    expected = (x * 255).round().flatten(1) @ numpy_weights(model)
    torch.testing.assert_close(classifier.infer(x), expected, rtol=1e-4, atol=1e-2)


def numpy_weights(model: onnx.ModelProto) -> torch.Tensor:
    return torch.from_numpy(numpy_helper.to_array(model.graph.initializer[0]).copy())


def external(tmp_path: Path, location: str) -> Path:
    model = onnx_table_net()
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", location
    path = tmp_path / "folder" / "m.onnx"
    path.parent.mkdir()
    path.write_bytes(model.SerializeToString())
    return path


def test_data_beside_the_model_are_read(tmp_path):
    path = external(tmp_path, "weights.bin")
    (path.parent / "weights.bin").write_bytes(
        table_net().state_dict()["0.weight"].numpy().tobytes()
    )
    x = torch.rand(3, 6)
    torch.testing.assert_close(load(path, device="cpu").infer(x), table_net()(x).detach())


@pytest.mark.parametrize("location", ["../secret.bin", "/etc/passwd", "sub/../../secret.bin", ""])
def test_data_outside_the_folder_of_the_model_are_refused(tmp_path, location):
    (tmp_path / "secret.bin").write_bytes(bytes(1000))
    with pytest.raises(ModelError, match="outside its own folder"):
        load(external(tmp_path, location), device="cpu")


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    (tmp_path / "secret.bin").write_bytes(bytes(1000))
    path = external(tmp_path, "link.bin")
    (path.parent / "link.bin").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(ModelError, match="outside its own folder"):
        load(path, device="cpu")


def test_missing_data_are_named(tmp_path):
    with pytest.raises(ModelError, match=r"weights\.bin' is missing"):
        load(external(tmp_path, "weights.bin"), device="cpu")


def test_a_constant_of_any_size_is_refused(tmp_path):
    nodes = [
        node("ConstantOfShape", ["s"], ["c"]),
        node("ReduceSum", ["c"], ["t"]),
        node("Add", ["x", "t"]),
    ]
    onnx.save(
        onnx_model(nodes, {"x": ["n", 6]}, {"y": ["n", 6]}, {"s": numbers(10**6, 10**6)}),
        tmp_path / "m.onnx",
    )
    with pytest.raises(ModelError, match="MB of memory"):
        load(tmp_path / "m.onnx", device="cpu")


def test_two_inputs_are_refused_and_of_two_outputs_the_scores_are_taken(tmp_path):
    onnx.save(
        onnx_model([node("Add", ["x", "z"])], {"x": ["n", 6], "z": ["n", 6]}, {"y": ["n", 6]}, {}),
        tmp_path / "two.onnx",
    )
    with pytest.raises(ModelError, match="takes 2 inputs"):
        load(tmp_path / "two.onnx", device="cpu")
    model = onnx_table_net()
    model.graph.node.append(node("ArgMax", ["y"], ["label"], axis=1, keepdims=0))
    model.graph.output.insert(0, helper.make_tensor_value_info("label", TensorProto.INT64, ["n"]))
    onnx.save(model, tmp_path / "m.onnx")
    classifier = load(tmp_path / "m.onnx", device="cpu")
    assert classifier.classes == 3 and any(
        "the output 'y' of 2 is taken" in remark for remark in classifier.remarks
    )
    assert classifier.capabilities.gradients  # what only the class number needs is left out


@pytest.mark.parametrize("operation", ["Sum", "Max", "Concat"])
def test_one_of_any_number_of_inputs_that_is_left_out_is_refused_before_it_runs(
    tmp_path, operation
):
    values = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 3])
    answers = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", None])
    settings = {"axis": 1} if operation == "Concat" else {}
    node = onnx.helper.make_node(operation, ["x", "x", ""], ["y"], **settings)
    graph = onnx.helper.make_graph([node], "graph", [values], [answers])
    path = tmp_path / "gap.onnx"
    opset = [onnx.helper.make_opsetid("", 17)]
    path.write_bytes(
        onnx.helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()
    )
    with pytest.raises(ModelError, match=f"its operation {operation} lacks input 3"):
        load(path, device="cpu")
