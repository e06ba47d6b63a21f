"""What a model looks at, where that is known: linear models, a patch, a quadrant."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from robgui.analyses.feature_game.attribution import ways
from robgui.analyses.feature_game.attribution.cost import attribution_calls
from robgui.analyses.feature_game.attribution.engine import attribution
from robgui.analyses.feature_game.attribution.params import AttributionParams, square_starts
from robgui.analyses.feature_game.method import ATTRIBUTION
from robgui.core.codec import decode, encode
from robgui.core.dataset import open_dataset
from robgui.core.errors import DataError
from robgui.core.execution.budget.cost import Subject
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status

SIDE = 24
NAMES = ["dark", "bright"]


def data(tmp_path, count: int = 1, channels: int = 1, labels=None):
    x = np.random.default_rng(0).uniform(80, 255, (count, channels, SIDE, SIDE)).astype(np.uint8)
    own = {} if labels is None else {"y": np.array(labels), "names": np.array(NAMES)}
    np.savez(tmp_path / "x.npz", x=x, **own)
    return open_dataset(tmp_path / "x.npz")


def last(model, inputs, **settings):
    params = AttributionParams(**settings)
    steps = list(attribution(model, inputs, params))
    for step in steps:
        assert len(ATTRIBUTION.views(step.result, params)) >= 1
        assert step.result.heat.shape[0] == len(step.result.ways)
    return steps[-1].result, params


def patch_reader(x: np.ndarray) -> np.ndarray:
    """Looks at rows 4 to 8 and columns 14 to 20, and at nothing else."""
    seen = np.asarray(x)[:, 0, 4:8, 14:20].mean((1, 2))
    return np.stack([0.5 - seen, seen - 0.5], 1) * 10


def black_box() -> Classifier:
    return Classifier.from_callable(
        patch_reader, (1, SIDE, SIDE), NAMES, name="black box", output="logits"
    )


def test_covering_finds_the_patch_that_a_black_box_looks_at(tmp_path):
    result, params = last(black_box(), data(tmp_path), cover="black", patch=2)
    assert result.ways == ("covering",)
    heat = result.heat[0, 0]
    inside = np.zeros((SIDE, SIDE), dtype=bool)
    inside[3:9, 13:21] = True  # a square of two pixels reaches one further
    assert (heat[inside] > 0).sum() >= 24 and not heat[~inside].any()
    said = ATTRIBUTION.verdict(result, params)
    assert said.status is Status.UNKNOWN and "rests most on the upper right" in said.sentence
    assert any("gives no gradients" in why for why in said.because)
    assert "not whether it is right" in said.because[-1]


def test_covering_is_the_mean_loss_of_the_squares_that_hold_a_pixel(tmp_path):
    inputs, model = data(tmp_path), black_box()
    x = torch.from_numpy(inputs.array([0], (1, SIDE, SIDE))).float()
    result, _ = last(model, inputs, patch=5)
    starts = square_starts(SIDE, 5)
    own = model.probs(x)[0, 1]
    total, count = np.zeros((SIDE, SIDE)), np.zeros((SIDE, SIDE))
    for top in starts:
        for left in starts:
            covered = x.clone()
            covered[..., top : top + 5, left : left + 5] = 0.5
            total[top : top + 5, left : left + 5] += float(own - model.probs(covered)[0, 1])
            count[top : top + 5, left : left + 5] += 1
    np.testing.assert_allclose(result.heat[0, 0], total / count, atol=1e-6)
    assert count.min() >= 1, "every pixel is covered"


class Linear(nn.Module):
    """Score 1 is the weighted sum of all values, score 0 nothing."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        weights = torch.randn(channels, SIDE, SIDE, generator=torch.Generator().manual_seed(0))
        self.weights = nn.Parameter(weights / 50)

    def forward(self, x: Tensor) -> Tensor:
        score = (x * self.weights).sum((1, 2, 3)) + 3
        return torch.stack([torch.zeros_like(score), score], 1)


@pytest.mark.parametrize("channels", [1, 3])
def test_integrated_gradients_of_a_linear_model_are_weights_times_the_difference(
    tmp_path, channels
):
    pytest.importorskip("captum")
    model = Classifier.from_module(Linear(channels), (channels, SIDE, SIDE), NAMES, name="linear")
    inputs = data(tmp_path, channels=channels)
    x = inputs.array([0], (channels, SIDE, SIDE))[0]
    weights = model.backend.module.weights.detach().numpy()
    result, _ = last(model, inputs, cover="black")
    assert result.ways == ("covering", "integrated gradients") and result.target == 1
    np.testing.assert_allclose(result.heat[1, 0], (weights * x).sum(0), atol=1e-5)
    assert result.unexplained[0] < 1e-4
    assert result.missing == ("No Grad-CAM: no convolution can be seen in linear.",)
    grey, _ = last(model, inputs, cover="grey")
    np.testing.assert_allclose(grey.heat[1, 0], (weights * (x - 0.5)).sum(0), atol=1e-5)


class Quadrant(nn.Module):
    """A convolution, of which only the lower left quadrant is looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, padding=1)
        self.last = nn.Conv2d(4, 4, 3, padding=1)
        for layer in (self.first, self.last):
            nn.init.zeros_(layer.bias)
            nn.init.uniform_(layer.weight, 0.05, 0.2, generator=torch.Generator().manual_seed(1))

    def forward(self, x: Tensor) -> Tensor:
        seen = torch.relu(self.last(torch.relu(self.first(x))))
        score = seen[:, :, SIDE // 2 :, : SIDE // 2].square().mean((1, 2, 3))
        return torch.stack([torch.zeros_like(score), score], 1)


def test_grad_cam_lies_in_the_quadrant_that_the_answer_depends_on(tmp_path):
    pytest.importorskip("captum")
    model = Classifier.from_module(Quadrant(), (1, SIDE, SIDE), NAMES, name="quadrant")
    inputs = data(tmp_path)
    bright = inputs.array([0], (1, SIDE, SIDE)).copy()
    bright[..., : SIDE // 2, :] = bright[..., :, SIDE // 2 :] = 0.0
    np.savez(tmp_path / "bright.npz", x=(bright * 255).astype(np.uint8))
    result, _ = last(model, open_dataset(tmp_path / "bright.npz"), target="predicted")
    assert result.ways == ("covering", "integrated gradients", "Grad-CAM") and not result.missing
    for way in range(3):
        heat = np.abs(result.heat[way, 0])
        quadrant = heat[SIDE // 2 - 2 :, : SIDE // 2 + 2].sum()
        assert quadrant > 0.85 * heat.sum(), result.ways[way]


def test_covering_agrees_with_that_of_captum(tmp_path):
    captum = pytest.importorskip("captum.attr")
    model = Classifier.from_module(Linear(1), (1, SIDE, SIDE), NAMES, name="linear")
    x = model.tensor(data(tmp_path).array([0], (1, SIDE, SIDE)))
    cover = torch.full_like(x, 0.5)
    *_, ours = ways.covering(model, x, cover, 1, 6, 0)
    theirs = captum.Occlusion(model.probs).attribute(
        x, sliding_window_shapes=(1, 6, 6), strides=(1, 3, 3), baselines=cover, target=1
    )
    torch.testing.assert_close(ours, theirs[0, 0].to(ours), atol=1e-6, rtol=1e-4)


def test_without_captum_one_sentence_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(ways.importlib.util, "find_spec", lambda name: None)
    model = Classifier.from_module(Linear(1), (1, SIDE, SIDE), NAMES, name="linear")
    result, params = last(model, data(tmp_path))
    assert result.ways == ("covering",)
    (why,) = result.missing
    assert "pip install 'robgui[attribution]'" in why
    assert why in ATTRIBUTION.views(result, params)[0].note
    assert why in ATTRIBUTION.verdict(result, params).because


def test_two_pictures_are_explained_for_the_class_of_the_first(tmp_path):
    result, params = last(black_box(), data(tmp_path, 2), patch=4)
    pictures = ATTRIBUTION.views(result, params)[0]
    assert len(pictures.pictures) == 4 and pictures.columns == 2
    assert result.heat.shape == (1, 2, SIDE, SIDE) and result.heat[0, 1].any()
    record, arrays = encode(result)
    again = decode(type(result), record, arrays)
    np.testing.assert_array_equal(again.heat, result.heat)


def test_the_label_is_asked_about_and_must_be_there(tmp_path):
    result, _ = last(black_box(), data(tmp_path, labels=[0]), target="label")
    assert result.target == 0 and result.predicted[0] == 1
    with pytest.raises(DataError, match="has no label"):
        last(black_box(), data(tmp_path), target="label")


def test_the_calls_stay_within_their_estimate(tmp_path):
    for model in (black_box(), Classifier.from_module(Quadrant(), (1, SIDE, SIDE), NAMES)):
        result, params = last(model, data(tmp_path))
        gradients = model.capabilities.gradients
        known = attribution_calls(params, Subject(1, 1, "image", (1, SIDE, SIDE), 2, gradients))
        assert known.fewest <= result.model_calls <= known.most
