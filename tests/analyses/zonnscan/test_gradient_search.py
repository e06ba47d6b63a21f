"""The gradient attack of a sweep against boundaries whose distance is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from robgui import resources
from robgui.analyses.zonnscan import ZonnscanParams, zonnscan
from robgui.analyses.zonnscan.crossing.attack import fast_gradient
from robgui.analyses.zonnscan.words.sweep import changes, findings
from robgui.core.dataset import from_arrays, inputs, open_dataset
from robgui.core.execution.registry import find
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from tests.analyses.simple_modules import Constant
from tests.analyses.zonnscan.models import all_steps, linear, small_mlp, sweep
from tests.guards import no_deviceless_factories

#: Twenty values, all of which push towards the other class: the score at the input is -4.
WEIGHTS, X = [1.0, -2.0] * 10, np.full(20, 0.5)
BIAS = -4.0 + 5.0
ATTACK = ("attack_radius", "attack", "attack_class", "attack_calls", "attack_note")


@pytest.mark.parametrize(
    ("zone", "radius"),
    [("linf", 4 / 30), ("l2", 4 / math.sqrt(50)), ("l1", None), ("l2_clipped", 4 / math.sqrt(50))],
)
def test_the_distance_of_a_flat_boundary_is_found_where_samples_find_none(
    zone: str, radius: float | None
) -> None:
    radii = (0.5, 4.0) if zone != "linf" else (0.1, 0.4)
    result = sweep(linear(WEIGHTS, BIAS), X, zone=zone, radii=radii, samples=64)
    # the steepest values reach the end of their range, so the rest of the way costs more
    if radius is None:
        assert 2.0 < result.attack_radius < 2.4
    else:
        assert result.attack_radius == pytest.approx(radius, rel=0.01)
    assert result.attack_class == 1 and result.attack.shape == (1, 20) and not result.attack_note
    assert not result.crossing_radius <= result.attack_radius


def test_what_it_finds_has_the_class_and_the_radius_that_are_reported() -> None:
    classifier, x = small_mlp(gain=8.0), np.random.default_rng(0).random((1, 6, 6))
    result = sweep(classifier, x, samples=64)
    assert int(classifier.infer(result.attack).argmax()) == result.attack_class != result.predicted
    assert np.abs(result.attack[0] - result.input).max() == pytest.approx(
        result.attack_radius, abs=1e-6
    )
    assert result.attack.min() >= 0 and result.attack.max() <= 1
    assert result.attack_radius < result.crossing_radius


def test_in_a_box_it_moves_within_the_box_only() -> None:
    corners = np.array([[0.4, 0.1], [0.4, 0.9]])
    result = sweep(
        linear([50.0, 10.0], -27.0), corners, zone="box", radii=(0.0, 0.5, 1.0), samples=64
    )
    assert result.attack[0, 0] == pytest.approx(0.4) and result.attack[0, 1] == pytest.approx(
        0.7, abs=1e-3
    )
    assert result.attack_radius == pytest.approx(0.5, abs=1e-3)


def test_nothing_else_in_the_result_depends_on_the_attack(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.full((1, 6, 6), 0.4)
    whole = sweep(small_mlp(), x, samples=128)
    monkeypatch.setattr("robgui.analyses.zonnscan.sweep.Sweep.attack", lambda self: iter(()))
    without = sweep(small_mlp(), x, samples=128)
    assert whole.attack_calls > 0 == without.attack_calls
    for name in without.__slots__:
        if name not in ATTACK:
            np.testing.assert_array_equal(
                getattr(whole, name), getattr(without, name), err_msg=name
            )


def test_it_counts_every_input_the_model_sees() -> None:
    classifier = small_mlp()
    before = classifier.calls
    result = sweep(classifier, np.full((1, 6, 6), 0.4), samples=64)
    assert classifier.calls - before == result.model_calls + result.attack_calls
    assert 100 < result.attack_calls < 1000


def test_the_same_seed_gives_the_same_attack_and_the_batch_size_hardly_matters() -> None:
    x = np.full((1, 6, 6), 0.4)
    first, second, small = (sweep(small_mlp(), x, samples=64, batch=batch) for batch in (0, 0, 5))
    assert np.array_equal(first.attack, second.attack)
    assert small.attack_radius == pytest.approx(first.attack_radius, rel=0.02)


def test_a_black_box_is_not_attacked_and_the_result_says_why() -> None:
    def black_box(x: np.ndarray) -> np.ndarray:
        return np.stack([np.asarray(x)[:, 0], 1 - np.asarray(x)[:, 0]], 1).astype(float)

    classifier = Classifier.from_callable(black_box, (2,), output="probabilities")
    assert not classifier.capabilities.gradients
    result = sweep(classifier, [0.2, 0.5], samples=64)
    assert math.isnan(result.attack_radius) and result.attack_calls == 0 and len(result.attack) == 0
    assert "no gradients" in result.attack_note


class Rounded(nn.Module):
    """Scores that follow steps: their gradient is 0 everywhere."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        score = torch.round(x.sum(1) * 4)
        return torch.stack([score, 4.5 - score], 1)


@pytest.mark.parametrize("module", [Rounded(), Constant([1.0, 0.0])])
def test_gradients_that_are_all_zero_are_no_evidence(module: nn.Module) -> None:
    result = sweep(Classifier.from_module(module, (3,)), [0.4, 0.4, 0.4], samples=64)
    assert math.isnan(result.attack_radius) and "gradients are 0" in result.attack_note


class Broken(torch.autograd.Function):
    """A layer whose derivative nobody has written."""

    @staticmethod
    def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class NoDerivative(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return Broken.apply(x)[:, :2]


def test_a_layer_without_a_derivative_leaves_the_sweep_whole() -> None:
    result = sweep(Classifier.from_module(NoDerivative(), (3,)), [0.4, 0.5, 0.4], samples=64)
    assert np.isfinite(result.index).all() and "cannot be computed" in result.attack_note


def test_a_multi_label_model_is_attacked_at_the_label_nearest_to_changing() -> None:
    module = nn.Linear(2, 2)
    module.weight.data, module.bias.data = (
        torch.tensor([[10.0, 0.0], [0.0, 10.0]]),
        torch.tensor([-9.0, -6.0]),
    )
    classifier = Classifier.from_module(module, (2,), multi_label=True)
    result = sweep(classifier, [0.5, 0.5], samples=64)
    assert result.attack_radius == pytest.approx(0.1, abs=1e-3)


def test_every_tensor_is_made_on_a_named_device_in_every_zone() -> None:
    classifier = small_mlp()
    for zone in ("linf", "l2", "l1"):
        with no_deviceless_factories():
            assert sweep(
                classifier, np.full((1, 6, 6), 0.4), zone=zone, samples=32, radii=(0.0, 0.5)
            ).attack_calls


def test_only_radius_zero_leaves_nothing_to_attack() -> None:
    result = sweep(small_mlp(), np.full((1, 6, 6), 0.4), radii=(0.0,))
    assert result.attack_calls == 0 and result.model_calls == 1


def test_until_it_has_ended_the_attack_says_that_it_has_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    steps = all_steps(small_mlp(), np.full((1, 6, 6), 0.4), samples=64)
    assert all(step.result.attack_note for step in steps[:-1]) and not steps[-1].result.attack_note
    assert any("gradients" in step.note for step in steps) and "gradients" not in steps[-1].note


def test_the_label_of_the_input_is_kept() -> None:
    known = find("zonnscan")
    x = from_arrays(np.full((1, 2), 0.2, dtype=np.float32), np.array([1]))
    *_, step = known.engine(linear([4.0, 1.0], -1.0), x, ZonnscanParams(samples=32))
    assert step.result.truth == 1
    assert sweep(linear([4.0, 1.0], -1.0), [0.2, 0.7], samples=32).truth == -1


@pytest.mark.parametrize("eps", [0.02, 0.1])
def test_no_adversarial_twin_is_nearer_than_the_change_of_the_verdict(eps: float) -> None:
    """The twin that the panel makes on request moves every value by eps along one gradient."""
    classifier = load(resources.path("demo", "fashion_mlp.pt2"), device="cpu")
    data = open_dataset(resources.path("demo", "fashion.npz"))
    turned = 0
    for place in range(0, 60, 5):
        x = classifier.tensor(inputs(classifier, data, [place]))
        own = classifier.infer(x).argmax(1)
        twin = classifier.infer(fast_gradient(classifier, x, own, eps)).argmax(1)
        if twin != own:
            turned += 1
            params = ZonnscanParams(samples=64)
            *_, last = zonnscan(classifier, data.subset([place]), params)
            assert changes(last.result)[0].radius <= eps, place
            assert findings(last.result, params)
    assert turned >= 2
