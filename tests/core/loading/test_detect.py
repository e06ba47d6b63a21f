"""Shape, kind, layout and output of a model are found by looking, and what was guessed is said."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
import torch
from torch import nn

from robgui.core.errors import ModelError
from robgui.core.loading import load
from robgui.core.loading.detect import guesses_from_input, guesses_from_layer
from robgui.core.loading.raw import FirstLayer
from robgui.core.model.classifier import Classifier
from tests.core.loading.makers import image_net, onnx_model, save_exported, save_script


def script(tmp_path, net: nn.Module):
    return save_script(net.eval(), tmp_path / "m.pt")


def test_the_shape_of_a_convolutional_network_is_guessed_and_said(tmp_path):
    classifier = load(script(tmp_path, image_net()), device="cpu")
    assert classifier.shape == (1, 28, 28)
    assert "shape 1x28x28 guessed from its first layer" in classifier.remarks


def test_a_shape_that_cannot_be_told_is_asked_for(tmp_path):
    with pytest.raises(ModelError, match="give the shape"):
        load(
            script(tmp_path, nn.Sequential(nn.Conv2d(5, 2, 3), nn.Flatten(), nn.Linear(17, 2))),
            device="cpu",
        )
    with pytest.raises(ModelError, match="give it as shape"):
        load(script(tmp_path, nn.ReLU()), device="cpu")


def test_a_wrong_shape_is_said_with_the_reason_of_the_model(tmp_path):
    with pytest.raises(ModelError, match="does not work on an input of shape 1x9x9"):
        load(script(tmp_path, image_net()), device="cpu", shape=(1, 9, 9))


def test_a_network_on_rows_of_784_is_an_image_network(tmp_path):
    flattening = load(
        script(tmp_path, nn.Sequential(nn.Flatten(), nn.Linear(784, 10))), device="cpu"
    )
    assert (flattening.shape, flattening.settings.layout) == ((1, 28, 28), "chw")
    rows = load(script(tmp_path, nn.Linear(784, 10)), device="cpu")
    assert (rows.shape, rows.settings.layout) == (
        (1, 28, 28),
        "flat",
    ) and "wants one row per image" in rows.remarks
    table = load(script(tmp_path, nn.Linear(784, 10)), device="cpu", kind="table")
    assert table.shape == (784,)


def test_probabilities_are_told_from_logits(tmp_path):
    classifier = load(script(tmp_path, nn.Sequential(nn.Linear(6, 3), nn.Softmax(1))), device="cpu")
    assert (
        classifier.settings.output == "probabilities"
        and "its outputs are probabilities" in classifier.remarks
    )
    x = torch.rand(4, 6)
    torch.testing.assert_close(classifier.probs(x).sum(1), torch.ones(4))
    chosen = load(
        script(tmp_path, nn.Sequential(nn.Linear(6, 3), nn.Softmax(1))),
        device="cpu",
        output="logits",
    )
    assert chosen.settings.output == "logits"


def sigmoid_net() -> nn.Module:
    """Four labels of six features, each right in about half of the inputs."""
    generator = torch.Generator("cpu").manual_seed(0)
    net = nn.Linear(6, 4)
    net.weight.data = 6 * torch.randn((4, 6), generator=generator)
    net.bias.data = -net.weight.data.sum(1) / 2
    return nn.Sequential(net, nn.Sigmoid()).eval()


def save_sigmoid(kind: str, folder: Path) -> Path:
    net = sigmoid_net()
    if kind == "script":
        return save_script(net, folder / "m.pt", torch.rand(2, 6))
    if kind == "exported":
        return save_exported(net, folder / "m.pt2", torch.rand(2, 6))
    weight, bias = (value.detach().numpy() for value in net[0].parameters())
    model = onnx_model(
        [
            onnx.helper.make_node("Gemm", ["x", "w", "b"], ["z"], transB=1),
            onnx.helper.make_node("Sigmoid", ["z"], ["y"]),
        ],
        {"x": ["n", 6]},
        {"y": ["n", 4]},
        {"w": weight, "b": bias},
    )
    onnx.save(model, folder / "m.onnx")
    return folder / "m.onnx"


@pytest.mark.parametrize("kind", ["script", "exported", "onnx"])
@pytest.mark.parametrize("told", [{}, {"multi_label": True}])
def test_a_sigmoid_at_the_end_is_recognised_and_each_output_is_a_probability(tmp_path, kind, told):
    classifier = load(save_sigmoid(kind, tmp_path), device="cpu", **told)
    assert (classifier.settings.output, classifier.settings.multi_label) == ("probabilities", True)
    assert any("last operation is a sigmoid" in remark for remark in classifier.remarks)
    x = torch.rand((200, 6), generator=torch.Generator("cpu").manual_seed(1))
    wanted = sigmoid_net()(x)
    torch.testing.assert_close(classifier.probs(x), wanted, atol=1e-5, rtol=1e-4)
    assert torch.equal(classifier.infer(x) > 0, wanted > 0.5)  # read as logits all would be above 0


def test_what_the_user_says_of_a_sigmoid_wins(tmp_path):
    path = save_sigmoid("script", tmp_path)
    one = load(path, device="cpu", multi_label=False)
    assert (one.settings.output, one.settings.multi_label) == ("probabilities", False)
    assert load(path, device="cpu", output="logits").settings.output == "logits"


def test_without_a_graph_the_values_tell_that_several_labels_are_probabilities():
    net = sigmoid_net()
    kinds = [
        Classifier.from_callable(part, (6,), multi_label=True).settings for part in (net[:1], net)
    ]
    assert [settings.output for settings in kinds] == ["logits", "probabilities"]


def test_several_labels_with_logits_stay_logits(tmp_path):
    net = nn.Linear(6, 4)
    net.bias.data.fill_(0.5)
    classifier = load(script(tmp_path, net), device="cpu", multi_label=True)
    assert classifier.settings.output == "logits"
    assert "its outputs are logits" in classifier.remarks


def test_a_model_that_answers_with_nan_is_refused(tmp_path):
    net = nn.Linear(6, 3)
    net.weight.data.fill_(float("nan"))
    with pytest.raises(ModelError, match=r"m\.pt.*not finite"):
        load(script(tmp_path, net), device="cpu")


def test_a_model_that_raises_is_one_sentence(tmp_path):
    class Raises(nn.Module):
        def forward(self, x):
            raise ValueError("out of order")
            return x

    with pytest.raises(ModelError, match=r"m\.pt.*out of order"):
        load(script(tmp_path, Raises()), device="cpu", shape=(6,))


def test_a_wrong_number_of_labels_is_said(folder):
    with pytest.raises(ModelError, match="3 classes but has 2 labels"):
        load(folder / "table.pt2", device="cpu", labels=("a", "b"))


def test_an_unknown_setting_is_said(folder):
    with pytest.raises(ModelError, match="no setting 'means'"):
        load(folder / "table.pt2", device="cpu", means=(1,))


def test_a_network_that_is_no_classifier_is_refused(tmp_path):
    path = save_exported(nn.Conv2d(1, 2, 3), tmp_path / "m.pt2", torch.rand(2, 1, 28, 28))
    with pytest.raises(ModelError, match="not one row of class scores"):
        load(path, device="cpu")


@pytest.mark.parametrize(
    ("sizes", "first"),
    [
        ((6,), {"kind": "table", "shape": (6,)}),
        ((3072,), {"kind": "image", "shape": (3, 32, 32), "layout": "flat"}),
        ((784, 1), {"kind": "image", "shape": (1, 28, 28), "layout": "column"}),
        ((50, 9), {"kind": "sequence", "shape": (50, 9)}),
        ((3, 20, 30), {"kind": "image", "shape": (3, 20, 30), "layout": "chw"}),
        ((20, 30, 3), {"kind": "image", "shape": (3, 20, 30), "layout": "hwc"}),
        ((3, None, None), {"kind": "image", "shape": (3, 32, 32), "layout": "chw"}),
    ],
)
def test_a_declared_input_tells_kind_shape_and_layout(sizes, first):
    assert guesses_from_input(sizes)[0] == first


def test_a_network_for_large_images_is_tried_with_large_images_first():
    assert guesses_from_layer(FirstLayer(conv=True, size=3, large=True))[0]["shape"] == (
        3,
        224,
        224,
    )
    assert guesses_from_layer(FirstLayer(conv=True, size=3))[0]["shape"] == (3, 32, 32)


class Several(nn.Module):
    """Answers with features and scores, as a tuple or by name."""

    def __init__(self, named: bool) -> None:
        super().__init__()
        self.named = named
        self.body, self.head = nn.Linear(6, 5), nn.Linear(5, 3)

    def forward(self, x):
        features = self.body(x)
        return (
            {"features": features, "logits": self.head(features)}
            if self.named
            else (features, self.head(features))
        )


@pytest.mark.parametrize("named", [True, False])
def test_of_several_outputs_the_likeliest_or_the_named_one_holds_the_scores(tmp_path, named):
    net = Several(named).eval()
    exported = save_exported(net, tmp_path / "m.pt2", torch.rand(2, 6))
    traced = tmp_path / "m.pt"
    torch.jit.trace(net, torch.rand(2, 6), strict=False).save(traced)
    for path in (exported, traced):
        plain = load(path, device="cpu")
        assert plain.classes == (3 if named else 5)
        assert any("of 2 is taken for the scores" in remark for remark in plain.remarks)
        other = load(path, device="cpu", scores="features" if named else "1")
        assert other.classes == (5 if named else 3)
        assert other.fingerprint != plain.fingerprint
        scores, _ = other.activations(torch.rand(4, 6))
        assert scores.shape == (4, other.classes)
        with pytest.raises(
            ModelError, match=r"no output 'nothing' .* outputs are: (features, logits|0, 1)\."
        ):
            load(path, device="cpu", scores="nothing")


def test_a_network_in_memory_and_a_function_may_answer_with_a_dict():
    net = Several(named=True)
    assert Classifier.from_module(net, (6,)).classes == 3
    assert Classifier.from_module(net, (6,), scores="features").classes == 5
    assert Classifier.from_callable(lambda x: {"logits": x[:, :4]}, (6,)).capabilities.gradients


def test_a_model_that_answers_with_something_else_is_not_asked_for_its_shape(tmp_path):
    class Words(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Conv2d(3, 4, 3)

        def forward(self, x):
            return {"maps": self.layer(x)}

    path = tmp_path / "m.pt"
    torch.jit.trace(Words().eval(), torch.rand(2, 3, 32, 32), strict=False).save(path)
    with pytest.raises(ModelError, match=r"not one row of class scores per input\.$"):
        load(path, device="cpu")
