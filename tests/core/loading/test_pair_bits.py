"""A model against itself with its weights in fewer bits: where they disagree is known."""

from __future__ import annotations

import shutil
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

from robgui import resources
from robgui.cli import main
from robgui.core.dataset import open_dataset
from robgui.core.errors import ModelError
from robgui.core.loading import load
from robgui.core.loading.quantised import round_inputs, rounded, rounded_inputs
from robgui.core.model.classifier import Classifier

DEMO = ("fashion_mlp.pt2", "fashion_rnn.pt", "table_mlp.onnx", "table_forest.skops")


def by_hand(weights: np.ndarray, bits: int) -> np.ndarray:
    """The rounding once more, in exact fractions: halves to the even neighbour."""
    exact = [[Fraction(float(w)) for w in row] for row in weights]
    step = max(abs(w) for row in exact for w in row) / (2 ** (bits - 1) - 1)
    return np.array([[float(round(w / step) * step) for w in row] for row in exact])


def save_linear(path, weight, bias):
    """Class 1 where weight·x is above -bias."""
    layer = nn.Linear(2, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[0.0, 0.0], weight]))
        layer.bias.copy_(torch.tensor([0.0, bias]))
    batch = torch.export.Dim("batch", min=1, max=4096)
    program = torch.export.export(
        nn.Sequential(layer).eval(), (torch.zeros(2, 2),), dynamic_shapes=({0: batch},)
    )
    torch.export.save(program, path)
    path.with_name(f"{path.name}.toml").write_text('kind = "table"\nshape = [2]\n')


def twins(path, bits, *words):
    out = path.with_name(f"{bits}.pair")
    assert main(["pair", str(path), "--bits", str(bits), *words, "--out", str(out)]) == 0
    return load(out, device="cpu")


def test_a_linear_model_disagrees_exactly_between_its_own_line_and_the_rounded_one(tmp_path):
    """Three bits have a step of 1/3: x - 0.3 y > 0.2 becomes x - y/3 > 0.2, which turns 1/60 of
    the square.
    """
    save_linear(tmp_path / "line.pt2", [1.0, -0.3], -0.2)
    model = twins(tmp_path / "line.pt2", 3)
    side = (np.arange(400) + 0.37) / 400  # no point lies on either line
    x, y = (part.ravel() for part in np.meshgrid(side, side))
    points = torch.from_numpy(np.stack([x, y], 1).astype(np.float32))
    found = model.infer(points).argmax(1).numpy() == 1
    known = (x - 0.3 * y > 0.2) & ~(x - y / 3 > 0.2)
    assert np.array_equal(found, known)
    assert found.mean() == pytest.approx(1 / 60, abs=2e-3)
    assert model.capabilities.gradients


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
def test_weights_are_rounded_as_by_hand(bits):
    weights = np.random.default_rng(bits).normal(size=(20, 30)).astype(np.float32)
    weights[0, 0], weights[0, 1] = 0.0, -np.abs(weights).max()  # the largest one stays
    ours = rounded(torch.from_numpy(weights), bits).numpy()
    np.testing.assert_allclose(ours, by_hand(weights, bits), rtol=1e-6, atol=1e-9)
    assert len(np.unique(ours)) <= 2**bits - 1
    assert ours[0, 0] == 0 and ours[0, 1] == pytest.approx(weights[0, 1])


def test_a_step_that_is_no_number_changes_nothing():
    for weights in (torch.zeros(2, 3), torch.full((2, 3), torch.nan)):
        assert torch.equal(rounded(weights, 8).isnan(), weights.isnan())


def test_eight_bits_are_those_of_onnxruntime(tmp_path):
    onnx = pytest.importorskip("onnx")
    quantization = pytest.importorskip("onnxruntime.quantization")
    from onnx import TensorProto, helper, numpy_helper

    weights = np.random.default_rng(1).normal(size=(12, 5)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 12])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 5])],
        [numpy_helper.from_array(weights, "w")],
    )
    opset = [helper.make_opsetid("", 17)]
    path, out = tmp_path / "one.onnx", tmp_path / "int8.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), path)
    quantization.quantize_dynamic(path, out, weight_type=quantization.QuantType.QInt8)
    held = {one.name: numpy_helper.to_array(one) for one in onnx.load(out).graph.initializer}
    theirs = held["w_quantized"].astype(np.float64) * float(held["w_scale"])
    assert held["w_zero_point"] == 0
    np.testing.assert_allclose(rounded(torch.from_numpy(weights), 8), theirs, atol=1e-6)


def test_every_format_with_weights_is_rounded_and_a_forest_is_refused(tmp_path):
    for name in DEMO:
        for file in (name, f"{name}.toml"):
            shutil.copy(resources.path("demo", file), tmp_path / file)
    answers = {}
    for name, data in zip(DEMO[:3], ("fashion.npz", "fashion.npz", "table.csv"), strict=True):
        held = open_dataset(resources.path("demo", data))
        for bits in (4, 16):
            model = twins(tmp_path / name, bits)
            x = model.tensor(model.encode(held.array(range(200), model.shape)))
            answers[name, bits] = float((model.infer(x).argmax(1) == 1).float().mean())
    for name in DEMO[:3]:
        assert answers[name, 16] <= 0.01, "sixteen bits hold nearly everything"
    assert answers["fashion_mlp.pt2", 4] > 0, "four do not"
    with pytest.raises(ModelError, match="has no weights that can be rounded here"):
        twins(tmp_path / DEMO[3], 8)


def test_another_number_of_bits_is_another_model_and_the_file_itself_stays(tmp_path):
    path = tmp_path / "line.pt2"
    save_linear(path, [1.0, -0.3], -0.2)
    before = path.read_bytes()
    assert twins(path, 3).content != twins(path, 4).content
    assert path.read_bytes() == before


@pytest.mark.parametrize("bits", ["1", "17", "8.0", "'8'", "true", "-8"])
def test_a_number_of_bits_that_is_none_is_refused(tmp_path, bits):
    save_linear(tmp_path / "line.pt2", [1.0, -0.3], -0.2)
    path = tmp_path / "a.pair"
    path.write_text(f"# robgui: two models as one\nfirst = 'line.pt2'\nbits = {bits}\n")
    with pytest.raises(ModelError, match="whole number from 2 to 16"):
        load(path, device="cpu")


INNER = "--layer-inputs"


def test_layer_inputs_of_a_linear_model_are_rounded_in_closed_form(tmp_path):
    """Two bits have three steps: an input (x, y) of which the larger is m has the step m/3."""
    save_linear(tmp_path / "line.pt2", [1.0, -1.0], -0.1)
    model = twins(tmp_path / "line.pt2", 2, INNER)
    points = np.random.default_rng(0).random((5000, 2)).astype(np.float32)
    x, y = points.astype(np.float64).T
    step = np.maximum(x, y) / 3
    own = x - y > 0.1
    known = step * np.rint(x / step) - step * np.rint(y / step) > 0.1
    clear = (np.abs(x - y - 0.1) > 1e-5) & (np.abs(x / step % 1 - 0.5) > 1e-4)
    clear &= np.abs(y / step % 1 - 0.5) > 1e-4
    found = model.infer(torch.from_numpy(points)).argmax(1).numpy() == 1
    assert np.array_equal(found[clear], (own != known)[clear]) and found[clear].mean() > 0.01


def test_layer_inputs_are_those_of_onnxs_dynamic_quantisation():
    onnxruntime = pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    names = ("q", "s", "z")
    kinds = (TensorProto.UINT8, TensorProto.FLOAT, TensorProto.UINT8)
    graph = helper.make_graph(
        [helper.make_node("DynamicQuantizeLinear", ["x"], list(names))],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info(*one, None) for one in zip(names, kinds, strict=True)],
    )
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=9)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    generator = np.random.default_rng(2)
    for shift in (-3.0, 0.0, 3.0):  # all below zero, on both sides, all above
        x = (generator.normal(size=(4, 3, 5, 5)) + shift).astype(np.float32)
        ours = rounded_inputs(torch.from_numpy(x), 8).numpy()
        for row, mine in zip(x, ours, strict=True):  # each input by itself
            q, s, z = session.run(None, {"x": row})
            theirs = (q.astype(np.float64) - float(z)) * float(s)
            np.testing.assert_allclose(mine, theirs, atol=1e-5)


def test_a_gradient_passes_what_is_rounded_and_a_batch_changes_nothing():
    x = torch.randn(6, 7, requires_grad=True)
    rounded_inputs(x, 4).sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x))
    alone = torch.cat([rounded_inputs(row[None], 4) for row in x])
    assert torch.equal(alone, rounded_inputs(x, 4))
    assert torch.equal(rounded_inputs(torch.zeros(2, 3), 8), torch.zeros(2, 3))


def test_every_layer_that_can_be_got_at_is_rounded_inside_and_else_that_is_said(tmp_path):
    for name in DEMO:
        for file in (name, f"{name}.toml"):
            shutil.copy(resources.path("demo", file), tmp_path / file)
    for name, layers in (("fashion_mlp.pt2", 3), ("table_mlp.onnx", 3)):
        model = twins(tmp_path / name, 8, INNER)
        assert any(f"what {layers} layers take in 8 bits" in one for one in model.remarks)
        assert model.content != twins(tmp_path / name, 8).content
    with pytest.raises(ModelError, match="layers whose inputs cannot be rounded here"):
        twins(tmp_path / "fashion_rnn.pt", 8, INNER)


def test_attention_takes_its_layers_without_calling_them_and_is_refused():
    attention = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    net = nn.Sequential(nn.Unflatten(1, (4, 8)), attention, nn.Flatten(), nn.Linear(32, 3)).eval()
    model = Classifier.from_module(net, (32,), name="attention")
    with pytest.raises(ModelError, match="layers whose inputs cannot be rounded here"):
        round_inputs(model, 8)


@pytest.mark.parametrize(
    "words", [[], ["OTHER", "--bits", "8"], ["--bits", "1"], ["OTHER", INNER], [INNER]]
)
def test_the_command_takes_another_model_or_a_number_of_bits(tmp_path, capsys, words):
    path = tmp_path / "line.pt2"
    save_linear(path, [1.0, -0.3], -0.2)
    given = [str(path) if word == "OTHER" else word for word in words]
    assert main(["pair", str(path), *given]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) >= 1
