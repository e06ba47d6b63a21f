"""What settings of several analyses have in common: presets, the choice of a class and of some
inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pytest

from robgui.analyses.choosing import chosen_places, class_of
from robgui.core.errors import ParamsError
from robgui.core.execution.params.params import Params

LABELS = ("Tabby, tabby cat", "tiger cat", "3", "4")


class _Settings(Params):
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"samples": 1000, "radius": 0.25}
    }
    preset: str = "default"
    samples: int = 10
    radius: float = 0.5


def test_a_preset_fills_in_what_was_not_given_and_the_users_own_settings_win():
    filled = _Settings.parse({"preset": "paper", "radius": 0.1})
    assert (filled.samples, filled.radius) == (1000, 0.1)
    asked = _Settings.parse({"preset": "paper", "samples": 10})
    assert asked.samples == 10, "a value that was given wins, also when it is the default"
    assert _Settings.parse(asked.model_dump()) == asked, (
        "reading a stored request again changes nothing"
    )
    assert _Settings.parse({"samples": 7}).radius == 0.5


def test_switching_between_presets_gives_every_setting_that_any_of_them_touches():
    assert _Settings.preset_values("paper") == {"samples": 1000, "radius": 0.25}
    assert _Settings.preset_values("default") == {"samples": 10, "radius": 0.5}


@pytest.mark.parametrize(
    ("text", "number"),
    [("tabby, tabby cat", 0), (" TABBY CAT ", 0), ("tiger cat", 1), ("3", 2), ("1", 1)],
)
def test_a_class_is_known_by_its_name_by_one_of_its_names_and_by_its_number(text: str, number: int):
    assert class_of(text, LABELS) == number


@pytest.mark.parametrize(
    ("text", "hint"),
    [("tiger cast", "did you mean tiger cat"), ("9", "from 0 to 3"), ("zebra", "from 0 to 3")],
)
def test_a_class_that_does_not_exist_is_named_with_a_hint(text: str, hint: str):
    with pytest.raises(ParamsError, match=f"target = '{text}' is none of the 4 classes; .*{hint}"):
        class_of(text, LABELS)


def test_chosen_places_rise_are_different_and_depend_on_the_seed_alone():
    places = chosen_places(100, 10, seed=3)
    assert len(places) == 10 and (np.diff(places) > 0).all() and places.max() < 100
    assert np.array_equal(places, chosen_places(100, 10, seed=3)) and not np.array_equal(
        places, chosen_places(100, 10, seed=4)
    )
    assert np.array_equal(chosen_places(5, 0, seed=0), np.arange(5)) and np.array_equal(
        chosen_places(5, 9, seed=0), np.arange(5)
    )
