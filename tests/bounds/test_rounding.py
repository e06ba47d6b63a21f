"""Bounds hold for what a model computes in single precision, not only for what it means."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from robgui import resources
from robgui.bounds import certify
from robgui.bounds.bounds import Bounds, bounds_of
from robgui.bounds.recording import record
from robgui.bounds.rounding import SINGLE, gamma, told_apart
from robgui.core.dataset import align, open_dataset
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from tests.bounds.raw_units import search


def _bounds(classifier: Classifier, low: Tensor, high: Tensor, weights: Tensor) -> Bounds:
    network = record(classifier.raw, classifier.shape, classifier.device)
    steps = bounds_of(network, low, high, weights)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def _score_bounds(classifier: Classifier, x: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds ``(n, scores)`` of the scores at points."""
    rows = torch.eye(classifier.classes).expand(len(x), -1, -1)
    both = _bounds(classifier, x, x, torch.cat([rows, -rows], 1)).lower.numpy()
    return both[:, : classifier.classes], -both[:, classifier.classes :]


def test_the_error_of_one_linear_layer_is_gamma_times_the_sizes_of_its_products() -> None:
    torch.manual_seed(0)
    classifier = Classifier.from_module(nn.Linear(50, 2), (50,), output="logits")
    x = torch.rand((1, 50))
    low, high = _score_bounds(classifier, x)
    layer = classifier.backend.module
    weight, bias = layer.weight.double(), layer.bias.double()
    exact = (x.double() @ weight.T + bias).numpy()
    size = (x.double() @ weight.abs().T + bias.abs()).numpy()
    np.testing.assert_allclose(exact - low, gamma(54) * size, rtol=1e-6)
    np.testing.assert_allclose(high - exact, gamma(54) * size, rtol=1e-6)


def test_gamma_is_the_bound_of_repeated_rounding() -> None:
    assert gamma(1) == pytest.approx(SINGLE, rel=1e-6)
    total = np.float32(0)
    for _ in range(1000):
        total = np.float32(total + np.float32(0.1))
    exact = 1000 * float(np.float32(0.1))
    assert 0 < abs(float(total) - exact) <= gamma(1000) * exact
    share = 1_000_000 * SINGLE
    assert gamma(1_000_000) == pytest.approx(share / (1 - share), rel=1e-12)


@pytest.mark.parametrize(
    ("layer", "products"),
    [
        (nn.Conv1d(3, 2, 7), 21),
        (nn.Conv2d(3, 2, (2, 5)), 30),
        (nn.Conv2d(4, 2, 3, groups=2), 18),
        (nn.ConvTranspose2d(4, 6, 3, groups=2), 18),
        (nn.AvgPool2d((2, 3)), 6),
    ],
)
def test_an_operation_rounds_for_every_product_that_it_adds_up(
    layer: nn.Module, products: int
) -> None:
    channels = getattr(layer, "in_channels", 2)
    shape = (channels, *(8 for _ in range(1 if isinstance(layer, nn.Conv1d) else 2)))
    network = record(nn.Sequential(layer, nn.Flatten()), shape, torch.device("cpu"))
    assert products < network.operations[0].roundings <= products + 8


MODELS = (
    ("fashion_mlp.pt2", "fashion.npz"),
    ("fashion_cnn.safetensors", "fashion.npz"),
    ("traffic_cnn.pt2", "traffic"),
    ("table_mlp.onnx", "table.csv"),
)


@pytest.mark.parametrize(("model", "data"), MODELS)
def test_the_bundled_networks_answer_within_narrow_bounds_at_a_point(model: str, data: str) -> None:
    classifier = load(resources.path("demo", model), device="cpu")
    dataset = align(classifier, open_dataset(resources.path("demo", data)))
    x = classifier.tensor(classifier.encode(dataset.array(range(4), classifier.shape)))
    low, high = _score_bounds(classifier, x)
    scores = classifier.raw(x).double().numpy()
    assert (low <= scores).all() and (scores <= high).all()
    assert (high - low).max() < 0.01 * np.abs(scores).max()


@pytest.mark.parametrize("seed", range(4))
def test_features_in_raw_units_keep_their_class_at_the_largest_certified_radius(seed: int) -> None:
    certified, changed = search(seed, 60)
    assert certified > 50 and changed == 0


class Shifted(nn.Module):
    """Normalises features around 10,000, so that most digits cancel."""

    def __init__(self, by_hand: bool) -> None:
        super().__init__()
        self.by_hand = by_hand
        self.norm = nn.BatchNorm1d(3)
        self.norm.running_mean.fill_(10000.0)
        self.norm.running_var.fill_(0.01)
        self.last = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        y = x + 9999.5
        y = (y - self.norm.running_mean) * 10.0 if self.by_hand else self.norm(y)
        return self.last(nn.functional.leaky_relu(y, 0.1))


@pytest.mark.parametrize("by_hand", [False, True])
def test_digits_that_cancel_are_allowed_for(by_hand: bool) -> None:
    torch.manual_seed(0)
    classifier = Classifier.from_module(Shifted(by_hand), (3,), output="logits")
    x = torch.rand((200, 3))
    low, high = _score_bounds(classifier, x)
    scores = classifier.raw(x).double().numpy()
    exact = copy.deepcopy(classifier.backend.module).double()(x.double()).numpy()
    assert (low <= scores).all() and (scores <= high).all() and (high - low).max() < 1
    assert np.abs(scores - exact).max() > 1e-3


def test_a_network_that_may_overflow_is_not_certified() -> None:
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    for layer in module:
        layer.weight.data = torch.tensor([[1e20, 0.0], [0.0, 1e19]])
        layer.bias.data.zero_()
    classifier = Classifier.from_module(module, (2,), output="logits")
    proof = certify(classifier, torch.tensor([[0.1, 0.01]]), torch.tensor([0]), 0.005)
    assert not proof.certified.any() and not proof.reason


def _two_scores(last: nn.Module, scale: float, **settings) -> Classifier:
    """Scores scale·x and scale·(1 - x)."""
    layer = nn.Linear(1, 2)
    layer.weight.data = scale * torch.tensor([[1.0], [-1.0]])
    layer.bias.data = scale * torch.tensor([0.0, 1.0])
    return Classifier.from_module(nn.Sequential(layer, last), (1,), **settings)


def test_sigmoids_that_saturate_tie_and_are_not_certified_but_a_softmax_is() -> None:
    x, label = torch.tensor([[0.4]]), torch.tensor([1])
    mild, saturated, soft = (
        *(_two_scores(nn.Sigmoid(), scale, output="probabilities") for scale in (1.0, 100.0)),
        _two_scores(nn.Softmax(1), 100.0, output="probabilities"),
    )
    assert saturated.infer(x).argmax() == 0  # both are 1, and the first one wins
    assert certify(mild, x, label, 0.05).certified.all()
    assert not certify(saturated, x, label, 0.05).certified.any()
    assert certify(soft, x, label, 0.05).certified.all()


def test_scores_that_count_as_probabilities_without_a_softmax_are_refused() -> None:
    classifier = _two_scores(nn.Identity(), 1.0, output="probabilities")
    proof = certify(classifier, torch.tensor([[0.4]]), torch.tensor([1]), 0.05)
    assert "no softmax" in proof.reason


@pytest.mark.parametrize("classes", [2, 10, 1000])
def test_probabilities_told_apart_are_told_apart_in_single_precision(classes: int) -> None:
    generator = torch.Generator("cpu").manual_seed(0)
    scores = 40 * torch.rand((20_000, min(classes, 50)), generator=generator) - 20
    top = scores.amax(1, keepdim=True)
    scores[:, :1], scores[:, 1:2] = top, top + 1.01 * told_apart(classes) + 4 * SINGLE * top.abs()
    real = (scores[:, 1].double() - scores[:, 0].double()) > told_apart(classes)
    for answers in (scores.softmax(1).log(), scores.log_softmax(1)):
        assert real.float().mean() > 0.3 and (answers.argmax(1)[real] == 1).all()


def test_an_input_outside_the_range_is_certified_where_the_noise_leaves_it() -> None:
    layer = nn.Linear(1, 2)
    layer.weight.data, layer.bias.data = torch.tensor([[1.0], [-1.0]]), torch.tensor([-1.2, 1.2])
    classifier = Classifier.from_module(nn.Sequential(layer), (1,), output="logits")
    x = torch.tensor([[1.3], [1.1]])  # class 0 above 1.2, class 1 below
    proof = certify(classifier, x, torch.tensor([0, 1]), 0.05)
    assert proof.certified.tolist() == [False, True]  # the first one may also be cut off at 1


def test_a_relu6_in_place_is_followed_like_any_other() -> None:
    def net(inplace: bool) -> Classifier:
        torch.manual_seed(0)
        layers = nn.Linear(4, 30), nn.ReLU6(inplace), nn.Linear(30, 3)
        return Classifier.from_module(nn.Sequential(*layers), (4,), output="logits")

    x = torch.rand((5, 4))
    labels = net(False).infer(x).argmax(1)
    in_place, apart = (certify(net(inplace), x, labels, 0.02) for inplace in (True, False))
    assert not in_place.reason
    np.testing.assert_array_equal(in_place.lower, apart.lower)
