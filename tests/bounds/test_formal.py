"""Formal bounds: never above what any input of the ball does, and exact where they can be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from torch import Tensor, nn

from robgui import resources
from robgui.bounds import bounds, certify, certifying
from robgui.bounds.recording import record
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from tests.guards import no_deviceless_factories


def _net(
    *layers: nn.Module, shape: tuple[int, ...], seed: int = 0, gain: float = 1.0, **settings
) -> Classifier:
    torch.manual_seed(seed)
    module = nn.Sequential(*layers)
    for layer in module.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight)
            layer.weight.data *= gain
            nn.init.normal_(layer.bias, std=0.3)
        if isinstance(layer, nn.BatchNorm2d):
            nn.init.normal_(layer.running_mean, std=0.2)
            nn.init.uniform_(layer.running_var, 0.5, 2)
            nn.init.normal_(layer.weight)
            nn.init.normal_(layer.bias)
    return Classifier.from_module(module, shape, output="logits", **settings)


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.second = (
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.Conv2d(channels, channels, 3, padding=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        y = self.second(torch.relu(self.first(x)))
        y += x
        return nn.functional.relu(y, inplace=True)


class Halves(nn.Module):
    """Two branches of channels, one negated, joined again."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat(
            [
                x[:, :2],
                0.5 - 2 * x[:, 2:],
                x.mean((2, 3), keepdim=True).expand(-1, -1, *x.shape[2:]),
            ],
            1,
        )


NETWORKS = {
    "mlp": lambda: _net(
        *(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 20), nn.ReLU(), nn.Linear(20, 4)),
        shape=(6,),
        low=(-1.0,),
        high=(2.0,),
        std=(0.7,),
    ),
    "one score": lambda: _net(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1), shape=(5,)),
    "leaky and clipped": lambda: _net(
        *(
            nn.Linear(4, 12),
            nn.LeakyReLU(0.2),
            nn.Linear(12, 12),
            nn.ReLU6(),
            nn.Linear(12, 12),
            nn.Hardtanh(),
        ),
        *(nn.Linear(12, 3),),
        shape=(4,),
    ),
    "max pool": lambda: _net(
        *(
            nn.Conv2d(1, 4, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(4, 4, 3),
            nn.MaxPool2d(3, 2, 1),
            nn.ReLU(),
        ),
        *(nn.Flatten(), nn.Dropout(), nn.Linear(16, 3)),
        shape=(1, 10, 10),
        mean=(0.3,),
        std=(0.4,),
    ),
    "residual": lambda: _net(
        *(
            nn.Conv2d(3, 4, 3, stride=2, padding=1),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            Residual(4),
            nn.AvgPool2d(2),
            Residual(4),
        ),
        *(Halves(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3), nn.Softmax(1)),
        shape=(3, 8, 8),
        channels="bgr",
    ),
    "lowest wins": lambda: _net(
        nn.Linear(4, 9), nn.ReLU(), nn.Linear(9, 3), shape=(4,), lowest_wins=True
    ),
}


def _margins(
    classifier: Classifier, x: Tensor, label: int, before: nn.Module | None = None
) -> Tensor:
    """Margin of ``label`` over the best other class, before a final softmax."""
    scores = classifier.logits(x) if before is None else before(classifier.raw_input(x))
    scores = scores.double()
    others = torch.cat([scores[:, :label], scores[:, label + 1 :]], 1)
    return scores[:, label] - others.amax(1)


def _ball(x: Tensor, eps: float, count: int, corners: bool) -> Tensor:
    u = torch.rand((count, *x.shape))
    u = u.round() if corners else u
    low, high = (x - eps).clamp(0, 1), (x + eps).clamp(0, 1)
    return low + u * (high - low)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("eps", [0.01, 0.1, 0.4])
def test_no_sample_and_no_attack_goes_below_the_bound(name: str, eps: float) -> None:
    classifier = NETWORKS[name]()
    module = classifier.backend.module
    before = module[:-1] if isinstance(module[-1], nn.Softmax) else None
    torch.manual_seed(1)
    x = torch.rand((4, *classifier.shape))
    x[0], x[1] = 0.0, 1.0
    labels = classifier.infer(x).argmax(1)
    proof = certify(classifier, x, labels, eps)
    assert not proof.reason and proof.lower.shape == (4,)
    for row, label in enumerate(labels.tolist()):
        tried = torch.cat([_ball(x[row], eps, 2000, corners) for corners in (False, True)])
        values = _margins(classifier, tried, label, before)
        worst = tried[values.argsort()[:20]].clone().requires_grad_()
        for _ in range(30):
            (gradient,) = torch.autograd.grad(
                _margins(classifier, worst, label, before).sum(), worst
            )
            moved = torch.minimum(
                torch.maximum(worst - 0.1 * eps * gradient.sign(), x[row] - eps), x[row] + eps
            ).clamp(0, 1)
            worst = moved.detach().requires_grad_()
        with torch.no_grad():
            lowest = min(
                float(values.min()), float(_margins(classifier, worst, label, before).min())
            )
        assert proof.lower[row] <= lowest
        assert not (proof.certified[row] and lowest <= 0)


@pytest.mark.parametrize("name", NETWORKS)
def test_bounds_at_radius_zero_are_the_scores_themselves(name: str) -> None:
    classifier = NETWORKS[name]()
    module = classifier.backend.module
    before = module[:-1] if isinstance(module[-1], nn.Softmax) else None
    x = torch.rand((5, *classifier.shape), generator=torch.Generator().manual_seed(2))
    labels = classifier.infer(x).argmax(1)
    margins = [float(_margins(classifier, x[i : i + 1], int(labels[i]), before)) for i in range(5)]
    proof = certify(classifier, x, labels, 0.0)
    np.testing.assert_allclose(proof.lower, margins, atol=2e-4)
    assert proof.certified.all()


def test_a_linear_network_is_bounded_exactly() -> None:
    classifier = _net(
        nn.Linear(5, 7),
        nn.Linear(7, 3),
        shape=(5,),
        low=(2.0,),
        high=(-1.0,),
        mean=(0.5,),
        std=(2.0,),
    )
    x = torch.rand((20, 5), generator=torch.Generator().manual_seed(3))
    labels = classifier.infer(x).argmax(1)
    corners = torch.tensor(list(itertools.product((0.0, 1.0), repeat=5)))
    low, high = (x - 0.2).clamp(0, 1), (x + 0.2).clamp(0, 1)
    proof = certify(classifier, x, labels, 0.2)
    for row, label in enumerate(labels.tolist()):
        scores = classifier.infer(low[row] + corners * (high[row] - low[row]))
        exact = min(float((scores[:, label] - scores[:, j]).min()) for j in range(3) if j != label)
        assert proof.lower[row] == pytest.approx(exact, abs=1e-4) and proof.lower[row] < exact


def _exact_minimum(module: nn.Sequential, low: np.ndarray, high: np.ndarray, label: int) -> float:
    """The smallest margin of a network with one hidden layer: a linear programme for every
    pattern of its rectifiers.
    """
    first, last = module[0], module[2]
    W, b = first.weight.numpy().astype(float), first.bias.numpy().astype(float)
    V, c = last.weight.numpy().astype(float), last.bias.numpy().astype(float)
    found = np.inf
    for pattern in itertools.product((0.0, 1.0), repeat=len(b)):
        on = np.array(pattern)
        sign = 1 - 2 * on  # on: W x + b >= 0
        for j in range(len(c)):
            if j == label:
                continue
            w = (V[label] - V[j]) * on
            answer = linprog(
                w @ W,
                A_ub=sign[:, None] * W,
                b_ub=-sign * b,
                bounds=list(zip(low, high, strict=True)),
            )
            if answer.status == 0:
                found = min(found, answer.fun + w @ b + c[label] - c[j])
    return float(found)


@pytest.mark.parametrize("eps", [0.05, 0.3])
def test_the_bound_is_below_the_exact_minimum_over_all_activation_patterns_and_close_when_few_are_open(
    eps: float,
) -> None:
    classifier = _net(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3), shape=(3,), seed=5)
    x = torch.rand((4, 3), generator=torch.Generator().manual_seed(4))
    labels = classifier.infer(x).argmax(1)
    proof = certify(classifier, x, labels, eps)
    low, high = (x - eps).clamp(0, 1).double().numpy(), (x + eps).clamp(0, 1).double().numpy()
    gaps = []
    for row, label in enumerate(labels.tolist()):
        exact = _exact_minimum(classifier.backend.module, low[row], high[row], label)
        assert proof.lower[row] <= exact
        gaps.append(exact - proof.lower[row])
    assert eps > 0.1 or np.median(gaps) < 1e-5


def test_the_bound_is_below_a_dense_grid_in_two_dimensions() -> None:
    classifier = _net(
        nn.Linear(2, 16),
        nn.ReLU(),
        nn.Linear(16, 16),
        nn.ReLU(),
        nn.Linear(16, 2),
        shape=(2,),
        seed=6,
    )
    side = torch.linspace(0, 1, 201)
    grid = torch.cartesian_prod(side, side)
    for row, eps in itertools.product(range(5), (0.02, 0.1, 0.3)):
        x = torch.rand(1, 2, generator=torch.Generator().manual_seed(row))
        label = classifier.infer(x).argmax(1)
        inside = grid[((grid - x).abs() <= eps).all(1)]
        lower = certify(classifier, x, label, eps).lower[0]
        assert lower <= float(_margins(classifier, inside, int(label)).min())


@pytest.mark.parametrize("name", ["mlp", "max pool", "residual"])
def test_lines_are_never_looser_than_intervals_and_mostly_tighter(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    classifier = NETWORKS[name]()
    x = torch.rand((8, *classifier.shape), generator=torch.Generator().manual_seed(7))
    labels = classifier.infer(x).argmax(1)
    lines = certify(classifier, x, labels, 0.05).lower
    monkeypatch.setattr(
        bounds.Chunk,
        "pull",
        lambda self, place, rows, owners: torch.full((len(rows),), -torch.inf, device=rows.device),
    )
    intervals = certify(classifier, x, labels, 0.05).lower
    assert (lines >= intervals - 1e-9).all() and (lines > intervals + 1e-3).mean() > 0.5


def test_chunks_and_a_small_budget_change_memory_but_not_soundness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    classifier = NETWORKS["max pool"]()
    x = torch.rand((6, *classifier.shape), generator=torch.Generator().manual_seed(8))
    labels = classifier.infer(x).argmax(1)
    whole = certify(classifier, x, labels, 0.03).lower
    monkeypatch.setattr(bounds, "HELD", 3000)
    monkeypatch.setattr(bounds, "HELD_ROWS", 1000)
    np.testing.assert_allclose(certify(classifier, x, labels, 0.03).lower, whole, rtol=1e-9)
    monkeypatch.setattr(bounds, "MOST_WORK", 20_000)
    cheaper = certify(classifier, x, labels, 0.03).lower
    assert (cheaper != whole).any()
    for row, label in enumerate(labels.tolist()):
        tried = _margins(classifier, _ball(x[row], 0.03, 2000, corners=True), label)
        assert cheaper[row] <= float(tried.min())


class WiderShortcut(nn.Module):
    """A residual block whose shortcut is halved in size and padded with empty channels."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(2, 4, 3, stride=2, padding=1), nn.Linear(64, 3)

    def forward(self, x: Tensor) -> Tensor:
        shortcut = nn.functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 1, 1, 0, 0))
        return self.second((self.first(x) + shortcut).relu().flatten(1))


def test_padded_channels_are_followed_also_when_the_padding_names_the_batch() -> None:
    torch.manual_seed(0)
    classifier = Classifier.from_module(WiderShortcut(), (2, 8, 8))
    x = torch.rand((3, 2, 8, 8))
    labels = classifier.infer(x).argmax(1)
    proof = certify(classifier, x, labels, 0.01)
    assert not proof.reason
    for row in range(3):
        tried = _margins(classifier, _ball(x[row], 0.01, 500, corners=True), int(labels[row]))
        assert proof.lower[row] <= float(tried.min())


def test_bounds_are_made_in_small_steps_so_that_a_run_can_be_stopped() -> None:
    classifier = load(resources.path("demo", "fashion_cnn.safetensors"))
    x = torch.rand((1, 1, 28, 28), generator=torch.Generator().manual_seed(0))
    steps = certifying(classifier, x, classifier.infer(x).argmax(1), 0.01)
    assert sum(1 for _ in steps) > 10


def test_a_radius_of_zero_for_a_feature_freezes_it() -> None:
    classifier = NETWORKS["mlp"]()
    x = torch.rand((3, 6), generator=torch.Generator().manual_seed(9))
    labels = classifier.infer(x).argmax(1)
    free, frozen = (
        certify(classifier, x, labels, 0.2),
        certify(classifier, x, labels, torch.tensor([0.2, 0, 0, 0.2, 0, 0])),
    )
    assert (frozen.lower > free.lower).all()


@pytest.mark.parametrize(
    "name", ["fashion_mlp.pt2", "fashion_cnn.safetensors", "traffic_cnn.pt2", "table_mlp.onnx"]
)
def test_the_bundled_networks_are_followed_in_every_format(name: str) -> None:
    classifier = load(resources.path("demo", name), device="cpu")
    x = torch.rand((3, *classifier.shape), generator=torch.Generator().manual_seed(10))
    network = record(classifier.raw, classifier.shape, classifier.device)
    torch.testing.assert_close(network(x).float(), classifier.raw(x), atol=2e-4, rtol=1e-4)


def test_a_script_and_a_function_of_tensors_are_followed_too(tmp_path) -> None:
    plain = NETWORKS["mlp"]()
    module = plain.backend.module
    x = torch.rand((3, 6), generator=torch.Generator().manual_seed(11))
    labels = plain.infer(x).argmax(1)
    expected = certify(plain, x, labels, 0.05).lower
    with pytest.warns(DeprecationWarning, match="torch.jit"):
        torch.jit.script(module).save(str(tmp_path / "net.pt"))
    script = load(
        tmp_path / "net.pt", shape=(6,), low=(-1.0,), high=(2.0,), std=(0.7,), device="cpu"
    )
    np.testing.assert_allclose(certify(script, x, labels, 0.05).lower, expected, rtol=1e-5)
    function = Classifier.from_callable(plain.logits, (6,), output="logits")
    np.testing.assert_allclose(certify(function, x, labels, 0.05).lower, expected, rtol=1e-5)


class Branching(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[:, :2] if float(x.sum()) > 1e9 else x[:, 1:3]


class Sideways(nn.Module):
    """Takes a part of its answer past torch."""

    def forward(self, x: Tensor) -> Tensor:
        return x[:, :2] + torch.from_numpy(np.sin(x.detach().numpy()))[:, :2]


class Squares(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x * x)[:, :2]


class AcrossTheBatch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x - x.mean(0, keepdim=True))[:, :2]


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), "'tanh'"),
        (nn.Sequential(nn.Linear(3, 4), nn.Sigmoid(), nn.Linear(4, 2)), "sigmoid"),
        (nn.Sequential(nn.LayerNorm(3), nn.Linear(3, 2)), "'layer_norm'"),
        (nn.Sequential(nn.Linear(3, 2), nn.Softmax(0)), "is not the last"),
        (Branching(), "values of the input"),
        (Sideways(), "values of the input"),
        (Squares(), "'mul'"),
        (AcrossTheBatch(), "batch"),
    ],
)
def test_what_cannot_be_bounded_says_why_in_one_sentence(module: nn.Module, words: str) -> None:
    classifier = Classifier.from_module(module, (3,), name="Mine", output="logits")
    proof = certify(classifier, torch.rand(2, 3), torch.tensor([0, 1]), 0.1)
    assert (
        words in proof.reason
        and proof.reason.startswith("Mine has no formal bounds: ")
        and proof.reason.endswith(".")
    )
    assert len(proof.certified) == len(proof.lower) == 0


def test_black_boxes_recurrent_and_multi_label_models_say_why() -> None:
    box = Classifier.from_callable(lambda x: np.asarray(x)[:, :2], (3,), output="logits")
    labels = Classifier.from_module(nn.Linear(3, 2), (3,), output="logits", multi_label=True)
    rnn = load(resources.path("demo", "fashion_rnn.pt"), device="cpu")
    x, y = torch.rand(2, 3), torch.tensor([0, 1])
    assert "outside torch" in certify(box, x, y, 0.1).reason
    assert "several classes" in certify(labels, x, y, 0.1).reason
    assert "'gru'" in certify(rnn, torch.rand(2, 1, 28, 28), y, 0.1).reason


def test_every_tensor_is_made_on_the_device_of_the_classifier() -> None:
    classifier = NETWORKS["max pool"]()
    x = torch.rand(
        (2, *classifier.shape), generator=torch.Generator().manual_seed(12), device="cpu"
    )
    with no_deviceless_factories():
        assert not certify(classifier, x, classifier.infer(x).argmax(1), 0.02).reason
