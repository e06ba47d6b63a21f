"""What a model looks at, where that is known: linear models, a patch, a quadrant."""

from __future__ import annotations

import dataclasses
import os
import sys

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from robgui import resources
from robgui.analyses.feature_game.attribution import ways
from robgui.analyses.feature_game.attribution.cost import attribution_calls
from robgui.analyses.feature_game.attribution.engine import attribution
from robgui.analyses.feature_game.attribution.params import (
    AttributionParams,
    square_side,
    square_starts,
    squares,
)
from robgui.analyses.feature_game.method import ATTRIBUTION
from robgui.core.codec import decode, encode
from robgui.core.dataset import open_dataset
from robgui.core.errors import DataError
from robgui.core.execution.budget.cost import Subject
from robgui.core.loading import load
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
    assert result.missing == ("No Grad-CAM: linear has no convolution that can be watched.",)
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
    model = Classifier.from_module(Quadrant(), (1, SIDE, SIDE), NAMES, name="quadrant")
    inputs = data(tmp_path)
    bright = inputs.array([0], (1, SIDE, SIDE)).copy()
    bright[..., : SIDE // 2, :] = bright[..., :, SIDE // 2 :] = 0.0
    np.savez(tmp_path / "bright.npz", x=(bright * 255).astype(np.uint8))
    result, _ = last(model, open_dataset(tmp_path / "bright.npz"), target="predicted")
    assert result.ways[0] == "covering" and result.ways[-1] == "Grad-CAM"
    for way, title in enumerate(result.ways):
        heat = np.abs(result.heat[way, 0])
        quadrant = heat[SIDE // 2 - 2 :, : SIDE // 2 + 2].sum()
        assert quadrant > 0.85 * heat.sum(), title


def test_grad_cam_is_the_slope_times_the_output_of_the_last_convolution(tmp_path):
    captum = pytest.importorskip("captum.attr")
    module = Quadrant()
    model = Classifier.from_module(module, (1, SIDE, SIDE), NAMES, name="quadrant")
    x = model.tensor(data(tmp_path).array([0], (1, SIDE, SIDE)))
    theirs = captum.LayerGradientXActivation(model.logits, module.last).attribute(x, target=1)
    torch.testing.assert_close(ways.grad_cam(model, x, 1), theirs[0].sum(0).detach())


def test_grad_cam_of_an_exported_file_agrees_with_covering_where_the_light_is():
    model = load(resources.path("demo", "traffic_cnn.pt2"), device="cpu")
    lights = open_dataset(resources.path("demo", "traffic"))
    for place in (141, 130, 150, 20, 30):
        result, _ = last(model, lights.subset([place]))
        seen = result.heat[result.ways.index("Grad-CAM"), 0]
        same = np.corrcoef(seen.ravel(), result.heat[0, 0].ravel())[0, 1]
        assert same > 0.3, (place, same)


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
    why = result.missing[0]
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


def corner_reader(x: np.ndarray) -> np.ndarray:
    """Looks at the lower right, and hardly at the upper left."""
    x = np.asarray(x)
    seen = x[:, 0, 18:, 18:].mean((1, 2)) + 0.01 * x[:, 0, :6, :6].mean((1, 2))
    return np.stack([0.3 - seen, seen - 0.3], 1) * 10


@pytest.fixture
def every_step(monkeypatch):
    """Each Step is due, however fast the machine is."""
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)


def test_no_place_is_named_before_every_square_was_covered(tmp_path, every_step):
    model = Classifier.from_callable(corner_reader, (1, SIDE, SIDE), NAMES, output="logits")
    params, inputs = AttributionParams(cover="black"), data(tmp_path, 2)
    steps = list(ATTRIBUTION.engine(model, inputs, params))
    total = 2 * squares((1, SIDE, SIDE), square_side((1, SIDE, SIDE), 0))
    done = [step.result.covered for step in steps]
    assert done == sorted(done) and done[0] == 0 and done[-1] == total
    assert total // 2 in done, "the last squares of a picture are fewer than go together"
    for step in steps:
        said = ATTRIBUTION.verdict(step.result, params)
        assert step.result.squares == total
        if step.result.covered < total:
            assert f"So far {step.result.covered} of {total} squares" in said.sentence
            assert said.sentence in ATTRIBUTION.views(step.result, params)[0].note
            assert "rests" not in said.sentence and not any("tenth" in why for why in said.because)
        else:
            assert said.sentence.count("rests most on the lower right") == 2


def test_ways_still_to_come_are_not_shown(tmp_path, every_step):
    model = Classifier.from_module(Quadrant(), (1, SIDE, SIDE), NAMES, name="quadrant")
    params = AttributionParams(patch=4)
    counts = []
    for step in ATTRIBUTION.engine(model, data(tmp_path, 2), params):
        pictures, *matrices = ATTRIBUTION.views(step.result, params)
        computed = sum(step.result.explained)
        assert len(matrices) == computed == len(pictures.pictures) - 2
        counts.append(computed)
    kinds = len(step.result.ways)
    assert sorted(set(counts)) == list(range(2 * kinds + 1)) and kinds >= 2


def test_a_result_stored_before_squares_were_counted_is_read_as_complete(tmp_path):
    result, params = last(black_box(), data(tmp_path), patch=4)
    record, arrays = encode(result)
    for name in ("covered", "squares", "explained"):
        del record["fields"][name]
    again = decode(type(result), record, arrays)
    assert ATTRIBUTION.verdict(again, params) == ATTRIBUTION.verdict(result, params)
    assert len(ATTRIBUTION.views(again, params)) == len(ATTRIBUTION.views(result, params))


def test_the_chance_that_is_left_belongs_to_the_place_that_is_named(tmp_path):
    result, params = last(black_box(), data(tmp_path))
    heat = np.zeros((1, 1, SIDE, SIDE), np.float32)
    heat[0, 0, 16:, 16:] = 0.1
    heat[0, 0, 0, 0] = 0.5
    made = dataclasses.replace(result, heat=heat, confidence=np.array([0.9]))
    said = ATTRIBUTION.verdict(made, params).sentence
    assert "the lower right" in said and "from 90.0 % to about 80.0 %" in said


class ChannelsLast(nn.Module):
    """A linear layer at every place, the channels at the end, before the lower left is seen."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(1, 4, 3, padding=1), nn.Linear(4, 5)
        for layer in (self.first, self.last):
            nn.init.uniform_(layer.weight, 0.05, 0.2, generator=torch.Generator().manual_seed(1))

    def forward(self, x: Tensor) -> Tensor:
        seen = torch.relu(self.last(torch.relu(self.first(x)).permute(0, 2, 3, 1)))
        score = seen[:, SIDE // 2 :, : SIDE // 2].square().mean((1, 2, 3))
        return torch.stack([torch.zeros_like(score), score], 1)


def exported(tmp_path, module: nn.Module, batch: int = 1) -> Classifier:
    program = torch.export.export(module.eval(), (torch.rand(batch, 1, SIDE, SIDE),))
    torch.export.save(program, tmp_path / "one.pt2")
    return load(tmp_path / "one.pt2", device="cpu")


@pytest.mark.parametrize("module", [ChannelsLast, Quadrant])
@pytest.mark.parametrize("form", ["module", "one at a time"])
def test_grad_cam_needs_no_order_of_the_channels_and_no_size_of_the_batch(tmp_path, module, form):
    net = module()
    plain = Classifier.from_module(net, (1, SIDE, SIDE), NAMES, name="net")
    model = plain if form == "module" else exported(tmp_path, net)
    x = plain.tensor(data(tmp_path).array([0], (1, SIDE, SIDE)))
    seen: list[Tensor] = []
    with net.last.register_forward_hook(lambda module, inputs, output: seen.append(output)):
        score = plain.logits(x.clone().requires_grad_(True))[0, 1]
    (slope,) = torch.autograd.grad(score, seen)
    channel = 3 if module is ChannelsLast else 1
    assert ways.possible(model, x)[0][-1] == "Grad-CAM"
    expected = (slope * seen[0].detach()).sum(channel)[0]
    assert expected.any()
    torch.testing.assert_close(ways.grad_cam(model, x, 1), expected)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_grad_cam_of_a_keras_model_is_its_output_times_the_weights_behind_it(tmp_path):
    if "keras" not in sys.modules:
        os.environ["KERAS_BACKEND"] = "torch"
    pytest.importorskip("h5py")
    keras = pytest.importorskip("keras")
    conv = keras.layers.Conv2D(3, 3, padding="same", activation="relu")
    dense = keras.layers.Dense(2)
    given = keras.Input((SIDE, SIDE, 1))
    keras.Model(given, dense(keras.layers.Flatten()(conv(given)))).save(tmp_path / "net.keras")
    model = load(tmp_path / "net.keras", device="cpu")
    x = model.tensor(data(tmp_path).array([0], (1, SIDE, SIDE)))
    seen = conv(x.movedim(1, -1)).detach()
    weights = dense.kernel.value.detach()[:, 1].reshape(SIDE, SIDE, 3)
    torch.testing.assert_close(
        ways.grad_cam(model, x, 1), (seen[0] * weights).sum(-1), atol=1e-5, rtol=1e-4
    )


class Aside(Quadrant):
    """Its last convolution is computed, and the answer does not depend on it."""

    def forward(self, x: Tensor) -> Tensor:
        self.last(self.first(x))
        score = self.first(x).mean((1, 2, 3))
        return torch.stack([torch.zeros_like(score), score], 1)


class Failing(Quadrant):
    """A layer that answers with something else than a tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.pair = Pair(1, 1)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(self.pair(x)[0])


class Pair(nn.Linear):
    """Gives its input, twice."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        return x, x


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (Aside, "the layers of net cannot be watched on their way to the answer."),
        (Failing, "No Grad-CAM: watching the layers of net fails: "),
    ],
)
def test_where_layers_cannot_be_watched_the_reason_is_true_and_the_rest_stays(
    tmp_path, module, reason
):
    model = Classifier.from_module(module(), (1, SIDE, SIDE), NAMES, name="net")
    result, _ = last(model, data(tmp_path), patch=8)
    assert "covering" in result.ways and "Grad-CAM" not in result.ways
    assert any(reason in why for why in result.missing)
    assert not any("gradients cannot" in why for why in result.missing)


def test_a_model_of_two_at_a_time_is_said_not_to_be_watched(tmp_path):
    model = exported(tmp_path, Quadrant(), batch=2)
    x = model.tensor(data(tmp_path).array([0], (1, SIDE, SIDE)))
    found, lacking = ways.possible(model, x)
    assert "Grad-CAM" not in found
    assert "cannot be watched on their way to the answer" in lacking[-1]
