"""Games that are played in parts and merged are the games of the whole, bit for bit but for the
time they took.
"""

from __future__ import annotations

import argparse

import numpy as np
import pytest

import robgui
from robgui.analyses.feature_game import FeatureGameBatchParams
from robgui.cli.options import add_params, values_of
from robgui.core.dataset import Dataset, from_arrays
from robgui.core.execution.registry import find
from robgui.core.model.classifier import Classifier
from tests.analyses.feature_game.games import image, small_cnn
from tests.parts import assert_same, whole_and_merged


def images(count: int) -> Dataset:
    return from_arrays(
        np.stack([image(seed=seed) for seed in range(count)]), labels=np.arange(count) % 4
    )


def check(classifier: Classifier, data: Dataset, parts: int, **params: object) -> None:
    whole, merged = whole_and_merged("feature_game_batch", classifier, data, parts, **params)
    assert_same(whole, merged, but=("seconds",))
    assert np.array_equal(np.isnan(whole.result.seconds), np.isnan(merged.result.seconds))


@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("batch", [0, 7])
def test_merged_is_whole(parts: int, batch: int) -> None:
    check(
        small_cnn(seed=2),
        images(7),
        parts,
        max_calls=150,
        batch=batch,
        norm="l2" if batch else "l0",
    )


def test_a_seeded_choice_of_images_is_made_before_the_split() -> None:
    check(small_cnn(seed=2), images(9), 3, max_calls=100, images=5, seed=3)


def test_a_part_whose_images_all_have_the_target_class_is_merged_too() -> None:
    classifier, one = small_cnn(seed=2), image(seed=0)
    target = int(classifier.infer(one[None]).argmax())
    other = next(
        x
        for seed in range(1, 30)
        if int(classifier.infer((x := image(seed=seed))[None]).argmax()) != target
    )
    check(
        classifier,
        from_arrays(np.stack([one, one, other, other])),
        2,
        target=str(target),
        max_calls=100,
    )
    check(classifier, from_arrays(np.stack([one, one])), 2, target=str(target), max_calls=100)


def test_units_are_the_images_that_are_played() -> None:
    units = find("feature_game_batch").shards.units
    assert [units(FeatureGameBatchParams(images=inputs), 9) for inputs in (0, 5, 20)] == [9, 5, 9]


def test_the_number_of_images_can_be_given_in_python_and_its_old_name_in_stored_files() -> None:
    data = images(3)
    result = robgui.run("feature_game_batch", small_cnn(seed=2), data, images=1, max_calls=60)
    assert len(result.played) == 1
    params = find("feature_game_batch").params
    assert params.parse({"inputs": 7}) == params.parse({"images": 7})
    for words in (["--inputs", "7"], ["--set", "inputs=7"], ["--images", "7"]):
        parser = argparse.ArgumentParser()
        parser.add_argument("--set", action="append", default=[])
        add_params(parser, params, ())
        assert values_of(parser.parse_args(words), params) == {"images": 7}
        assert "--inputs" not in parser.format_help()
