"""Of the usual ways to feed a network the one it was trained with is found on labelled pictures."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from robgui.core.dataset import inputs, open_dataset
from robgui.core.errors import DataError
from robgui.core.model.classifier import Classifier
from robgui.core.model.doubt.trying import try_ways
from robgui.core.model.preprocessing import PRESETS, presets_for
from robgui.core.model.settings import ModelSettings


class MeanColour(nn.Module):
    """Two classes by the mean of the normalised first channel, near a border only ImageNet has."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        score = x[:, 0].mean((1, 2))
        return torch.stack([-(score - 0.3) * 50, (score - 0.3) * 50], 1)


def make_photos(tmp_path, many):
    """Wide pictures whose bright sides a centre crop cuts off; labels by the cropped middle."""
    generator = np.random.default_rng(0)
    for number in range(many):
        bright = number % 2
        level = 0.485 + 0.229 * (0.3 + (0.15 if bright else -0.15))
        picture = generator.normal(level, 0.02, (64, 160, 3))
        picture[:, :40] = picture[:, -40:] = 1.0 - bright
        folder = tmp_path / f"class_{bright}"
        folder.mkdir(exist_ok=True)
        pixels = (picture.clip(0, 1) * 255).round().astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:02}.png")
    return open_dataset(tmp_path)


@pytest.fixture
def photos(tmp_path):
    return make_photos(tmp_path, 24)


def classifier(**settings) -> Classifier:
    made = Classifier.from_callable(MeanColour(), (3, 32, 32), labels=["class_0", "class_1"])
    return made.with_settings(made.settings.change(**settings))


def test_the_way_it_was_trained_with_has_the_highest_accuracy(photos):
    ways = try_ways(classifier(), photos).ways
    assert ways[0].name.startswith("ImageNet") and ways[0].accuracy == 1
    assert "squashed" not in ways[0].name
    assert {way.name for way in ways} >= {"as it is", "CLIP", "Inception", "ImageNet, BGR"}
    assert min(way.accuracy for way in ways) < 0.8
    assert all(way.counted == 24 for way in ways)


def test_ways_that_lag_behind_are_given_up_early(tmp_path):
    seen = 0

    class Counting(MeanColour):
        def forward(self, x):
            nonlocal seen
            seen += len(x)
            return super().forward(x)

    model = Classifier.from_callable(Counting(), (3, 32, 32), labels=["class_0", "class_1"])
    data, seen = make_photos(tmp_path, 110), 0
    ways = try_ways(model, data).ways
    assert ways[0].name.startswith("ImageNet") and ways[0].accuracy == 1
    assert {way.counted for way in ways} == {16, 40, 100}
    assert sum(way.counted for way in ways) < 0.45 * 100 * len(ways)
    assert seen < 1.15 * sum(way.counted for way in ways), "each input is asked once for each way"
    present = next(way for way in ways if way.name == "as it is")
    assert present.counted == 100, "the present settings are compared on everything"


def test_mean_and_std_of_the_pictures_themselves_are_tried(photos):
    ways = {way.name: way for way in try_ways(classifier(), photos).ways}
    own = ways["mean and std of these inputs"].settings
    x = inputs(classifier(), photos)
    assert own["mean"] == pytest.approx(x.mean((0, 2, 3)), abs=1e-3)
    assert own["std"] == pytest.approx(x.std((0, 2, 3)), abs=1e-3)


def test_the_settings_of_a_way_give_its_accuracy_again(photos):
    best = try_ways(classifier(), photos).ways[0]
    again = try_ways(classifier(**best.settings), photos).ways
    assert again[0].name == "as it is" and again[0].accuracy == best.accuracy


def test_what_the_model_sees_is_the_middle_of_the_picture(photos):
    whole = inputs(classifier(), photos, [0])
    middle = inputs(classifier(resize="crop"), photos, [0])
    assert whole[0, 0, :, 0].mean() == 1 and middle[0, 0].max() < 0.8


def test_every_preset_is_a_setting_of_a_model_it_is_offered_for():
    for channels in (1, 3):
        settings = ModelSettings(shape=(channels, 32, 32))
        offered = presets_for(settings)
        assert "none" in offered and len(offered) < len(PRESETS) + channels
        for values in offered.values():
            settings.change(**values)
    assert list(presets_for(ModelSettings(shape=(8,)))) == ["none", "0.5/0.5", "0–255"]


def test_data_without_labels_are_one_sentence(tmp_path):
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / "a.png")
    with pytest.raises(DataError, match="no labels"):
        try_ways(classifier(), open_dataset(tmp_path))


def test_runs_of_earlier_versions_keep_their_fingerprint():
    known = classifier()
    assert "resize" not in known.settings.identity()
    assert known.fingerprint != classifier(resize="crop").fingerprint
    assert known.fingerprint != classifier(antialias=False).fingerprint
