"""What settings of several analyses have in common: presets, the choice of a class and of some inputs."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.analyses.choosing import chosen_places, class_of
from robgui.analyses.presets import with_preset
from robgui.core.errors import ParamsError
from robgui.core.execution.analysis import Params

LABELS = ("Tabby, tabby cat", "tiger cat", "3", "4")


class _Settings(Params):
    preset: str = "default"
    samples: int = 10
    radius: float = 0.5


def test_a_preset_fills_in_what_the_user_has_left_at_its_default():
    presets = {"paper": {"samples": 1000, "radius": 0.25}}
    assert with_preset(_Settings, {"preset": "paper", "radius": 0.1}, presets) == {"preset": "paper", "samples": 1000, "radius": 0.1}
    assert with_preset(_Settings, {"preset": "paper", "samples": 10}, presets)["samples"] == 1000
    assert with_preset(_Settings, {"samples": 7}, presets) == {"samples": 7}
    assert with_preset(_Settings, "no settings", presets) == "no settings"


@pytest.mark.parametrize(("text", "number"), [("tabby, tabby cat", 0), (" TABBY CAT ", 0), ("tiger cat", 1), ("3", 2), ("1", 1)])
def test_a_class_is_known_by_its_name_by_one_of_its_names_and_by_its_number(text: str, number: int):
    assert class_of(text, LABELS) == number


@pytest.mark.parametrize(("text", "hint"), [("tiger cast", "did you mean tiger cat"), ("9", "from 0 to 3"), ("zebra", "from 0 to 3")])
def test_a_class_that_does_not_exist_is_named_with_a_hint(text: str, hint: str):
    with pytest.raises(ParamsError, match=f"target = '{text}' is none of the 4 classes; .*{hint}"):
        class_of(text, LABELS)


def test_chosen_places_rise_are_different_and_depend_on_the_seed_alone():
    places = chosen_places(100, 10, seed=3)
    assert len(places) == 10 and (np.diff(places) > 0).all() and places.max() < 100
    assert np.array_equal(places, chosen_places(100, 10, seed=3)) and not np.array_equal(places, chosen_places(100, 10, seed=4))
    assert np.array_equal(chosen_places(5, 0, seed=0), np.arange(5)) and np.array_equal(chosen_places(5, 9, seed=0), np.arange(5))
