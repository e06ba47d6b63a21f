"""A certificate is tried on the model itself, and what contradicts it takes it away."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.dlpack import from_dlpack, to_dlpack

from robgui.bounds import certificate, certify, certifying
from robgui.bounds.network import UnsupportedError
from robgui.bounds.recording import record
from robgui.bounds.trial import attack
from robgui.core.devices import FULL_PRECISION
from robgui.core.model.classifier import Classifier


class Switch(nn.Module):
    """Another answer where the first feature is above a limit, seen in a way of one's own."""

    def __init__(self, look, limit: float = 0.99) -> None:
        super().__init__()
        self.look, self.limit = look, limit
        self.last = nn.Linear(3, 2)
        self.last.weight.data = torch.tensor([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
        self.last.bias.data = torch.tensor([0.5, -0.5])

    def forward(self, x: Tensor) -> Tensor:
        return -self.last(x) if self.look(x) > self.limit else self.last(x)


LOOKS = {
    "numpy": lambda x: x.detach().numpy()[:, 0].max(),
    "asarray": lambda x: np.asarray(x.detach())[:, 0].max(),
    "tolist": lambda x: max(row[0] for row in x.tolist()),
    "data": lambda x: x.data.clone().numpy()[:, 0].max(),
    "item": lambda x: x[:, 0].max().item(),
    "float": lambda x: float(x[:, 0].max()),
    "iteration": lambda x: max(float(row[0]) for row in x),
    "copy": lambda x: __import__("copy").deepcopy(x.detach())[:, 0].max(),
}


@pytest.mark.parametrize("way", LOOKS)
def test_a_model_that_could_branch_on_values_of_the_input_is_refused(way: str) -> None:
    module = Switch(LOOKS[way], limit=1e9)
    classifier = Classifier.from_module(module, (3,), name="Mine", output="logits")
    proof = certify(classifier, torch.rand((2, 3)), torch.tensor([0, 0]), 0.01)
    assert proof.reason.startswith("Mine has no formal bounds: it ") and "values" in proof.reason
    assert len(proof.certified) == 0


def test_plain_numbers_taken_from_the_input_are_no_constants() -> None:
    def scaled(x: Tensor) -> Tensor:
        return x[:, :2] * float(from_dlpack(to_dlpack(x)).sum())

    classifier = Classifier.from_callable(scaled, (3,), output="logits")
    proof = certify(classifier, torch.rand((2, 3)), torch.tensor([0, 0]), 0.01)
    assert "values of the input" in proof.reason


def test_a_branch_that_no_record_can_see_is_found_at_points_of_the_box() -> None:
    module = Switch(lambda x: float(from_dlpack(to_dlpack(x))[:, 0].max()))
    classifier = Classifier.from_module(module, (3,), name="Mine", output="logits")
    x = torch.tensor([[0.5, 0.5, 0.5], [0.95, 0.5, 0.5]])
    labels = classifier.infer(x).argmax(1)
    assert record(classifier.raw, (3,), classifier.device).operations
    assert certify(classifier, x[:1], labels[:1], 0.01).certified.all()
    proof = certify(classifier, x, labels, 0.045)
    assert "differ by" in proof.reason and "within the radius" in proof.reason
    assert len(proof.certified) == 0


class LargeBatches(nn.Module):
    """Another answer for more than two inputs at once."""

    def forward(self, x: Tensor) -> Tensor:
        return x[:, :2] if len(x) <= 2 else x[:, 1:]


def test_a_record_that_differs_from_the_model_is_not_believed() -> None:
    classifier = Classifier.from_module(LargeBatches(), (3,), output="logits")
    proof = certify(classifier, torch.tensor([[0.9, 0.1, 0.2]]), torch.tensor([0]), 0.01)
    assert "differ by 0.8" in proof.reason


class BreaksDown(nn.Module):
    """Gives no number to more than two inputs at once."""

    def forward(self, x: Tensor) -> Tensor:
        return x[:, :2] if len(x) <= 2 else x[:, :2] * torch.nan


def test_a_model_that_breaks_down_within_the_radius_has_no_certificate_and_stops_no_run() -> None:
    classifier = Classifier.from_module(BreaksDown(), (3,), output="logits")
    proof = certify(classifier, torch.tensor([[0.9, 0.1, 0.2]]), torch.tensor([0]), 0.01)
    assert "differ by inf" in proof.reason


class Picky(nn.Module):
    """Takes two inputs at once and no more."""

    def forward(self, x: Tensor) -> Tensor:
        if len(x) > 2:
            raise ValueError("too many")
        return x[:, :2]


def test_a_model_that_raises_within_the_radius_has_no_certificate_and_stops_no_run() -> None:
    classifier = Classifier.from_module(Picky(), (3,), output="logits")
    proof = certify(classifier, torch.tensor([[0.9, 0.1, 0.2]]), torch.tensor([0]), 0.01)
    assert "it fails at an input within the radius" in proof.reason and "too many" in proof.reason


def _net(*last: nn.Module) -> Classifier:
    torch.manual_seed(0)
    layers = nn.Linear(4, 20), nn.ReLU(), nn.Linear(20, 3), *last
    for layer in layers[:3:2]:
        nn.init.normal_(layer.weight)
    return Classifier.from_module(nn.Sequential(*layers), (4,), labels=("a", "b", "c"))


def _raised(by: float):
    """Margins that are too large, as a mistake in the bounds would make them."""
    right = certificate.network_margins

    def wrong(*args):
        return (yield from right(*args)) + by

    return wrong


def test_an_attack_at_the_certified_size_refutes_a_wrong_proof(monkeypatch) -> None:
    classifier = _net(nn.Softmax(1))
    x = torch.rand((30, 4), generator=torch.Generator().manual_seed(0))
    labels = classifier.infer(x).argmax(1)
    right = certify(classifier, x, labels, 0.4)
    assert not right.reason and not right.certified.all()
    monkeypatch.setattr(certificate, "network_margins", _raised(100.0))
    proof = certify(classifier, x, labels, 0.4)
    assert "where the proof allows only “" in proof.reason and len(proof.certified) == 0


def test_a_margin_below_the_proven_one_refutes_it_though_the_class_stays(monkeypatch) -> None:
    classifier = _net()
    x = torch.rand((30, 4), generator=torch.Generator().manual_seed(0))
    labels = classifier.infer(x).argmax(1)
    monkeypatch.setattr(certificate, "network_margins", _raised(0.001))
    assert "than the proof allows" in certify(classifier, x, labels, 1e-5).reason


def test_corners_refute_a_wrong_proof_of_a_model_without_gradients(monkeypatch) -> None:
    from tests.bounds.cells import ensembles

    classifier = next(ensembles((6,), 0))
    x = torch.rand((30, 2), generator=torch.Generator().manual_seed(0))
    labels = classifier.infer(x).argmax(1)
    monkeypatch.setattr(certificate, "tree_margins", lambda *given: torch.ones(30))
    assert "where the proof allows only" in certify(classifier, x, labels, 0.2).reason


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_centre_and_two_opposite_corners_of_a_box_are_tried(share: float) -> None:
    low, high = torch.full((1, 3), 0.4), torch.full((1, 3), 0.6)
    place = (low + share * (high - low)).numpy()

    def wrong_there(x: np.ndarray) -> np.ndarray:
        there = np.abs(x - place).max(1) < 1e-3
        return np.stack([1.0 - 2 * there, np.zeros(len(x))], 1)

    classifier = Classifier.from_callable(wrong_there, (3,), output="logits")
    with pytest.raises(UnsupportedError, match="gets the class"):
        list(attack(classifier, (low, high), torch.tensor([0]), torch.zeros(1)))


def test_which_inputs_are_tried_together_does_not_matter() -> None:
    classifier = _net()
    x = torch.rand((12, 4), generator=torch.Generator().manual_seed(1))
    labels = classifier.infer(x).argmax(1)
    whole = certify(classifier, x, labels, 0.06)
    parts = [certify(classifier, x[i : i + 1], labels[i : i + 1], 0.06) for i in range(12)]
    assert whole.certified.tolist() == [each.certified.item() for each in parts]
    assert whole.certified.any() and not whole.certified.all()


def _short_cuts() -> list[object]:
    backends = torch.backends
    found: list[object] = [torch.get_float32_matmul_precision(), backends.cudnn.allow_tf32]
    found.append(backends.cuda.matmul.allow_tf32)
    for part in ("matmul", "conv", "rnn"):
        every = (backends.cuda, backends.cudnn, backends.mkldnn)
        places = (getattr(each, part, None) for each in every)
        found += [each.fp32_precision for each in places if hasattr(each, "fp32_precision")]
    return found


@pytest.mark.parametrize("precision", ["highest", "high", "medium"])
def test_tf32_and_bfloat16_are_off_inside_and_as_before_outside(precision: str) -> None:
    torch.set_float32_matmul_precision(precision)
    try:
        before = _short_cuts()
        with FULL_PRECISION, FULL_PRECISION:
            assert set(map(str, _short_cuts())) <= {"highest", "False", "ieee"}
        assert _short_cuts() == before and str(before[0]) == precision
    finally:
        torch.set_float32_matmul_precision("highest")


def test_a_proof_asks_the_model_without_tf32_and_leaves_the_settings_between_its_steps() -> None:
    seen = set()

    class Watching(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            seen.add(torch.backends.cudnn.allow_tf32)
            return super().forward(x)

    torch.manual_seed(0)
    classifier = Classifier.from_module(nn.Sequential(Watching(4, 3)), (4,), output="logits")
    x = torch.rand((3, 4))
    labels = classifier.infer(x).argmax(1)
    seen.clear()
    assert torch.backends.cudnn.allow_tf32
    for _ in certifying(classifier, x, labels, 1e-3):
        assert torch.backends.cudnn.allow_tf32
    assert seen == {False} and torch.backends.cudnn.allow_tf32
