"""Settings as text: what is written can be read, what cannot be read is said."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from robgui.core.errors import ParamsError
from robgui.core.execution.params import text as params_text
from robgui.core.execution.params.params import Params


class Kinds(Params):
    whole: int = 0
    real: float = 0.0
    word: Literal["a", "b"] = "a"
    switch: bool = False
    reals: tuple[float, ...] = ()
    maybe: int | None = None
    text: str = Field("")
    points: tuple[tuple[float, ...], ...] = ()
    named: dict[str, float] = {}  # noqa: RUF012 - pydantic copies defaults
    ranges: dict[str, tuple[float, float]] = {}  # noqa: RUF012


def read(name: str, text: str) -> object:
    return params_text.parse_value(name, Kinds.model_fields[name], text)


def _nested(real: float) -> tuple[tuple[str, object], ...]:
    return (
        ("points", ((real, 1.0), (2.5, real))),
        ("points", ((real,),)),
        ("named", {"a": real}),
        ("ranges", {"a": (real, 1.0), "b": (0.0, real)}),
    )


@given(
    st.floats(-1e6, 1e6) | st.floats(-1e6, 1e6).map(lambda x: float(f"{x:.10g}")),
    st.integers(-(2**60), 2**60),
    st.booleans(),
    st.none() | st.integers(0, 99),
)
def test_what_is_written_is_read_back(real, whole, switch, maybe):
    for name, value in (
        ("real", real),
        ("whole", whole),
        ("switch", switch),
        ("maybe", maybe),
        ("reals", (real, 1.5)),
        *_nested(real),
    ):
        assert read(name, params_text.format_value(value)) == value


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("whole", "1e4", 10_000),
        ("whole", "10_000", 10_000),
        ("reals", "0.3 0.25  1", (0.3, 0.25, 1.0)),
        ("reals", "0.3", (0.3,)),
        ("reals", "0:1:3", (0.0, 0.5, 1.0)),
        ("reals", "0.1,0.2 , .3", (0.1, 0.2, 0.3)),
        ("reals", "", ()),
        ("maybe", "none", None),
        ("switch", "Yes", True),
        ("text", " a b ", "a b"),
        ("points", "1, 2; 3,4;", ((1.0, 2.0), (3.0, 4.0))),
        ("points", "", ()),
        ("named", "azimuth=3, elevation = .5", {"azimuth": 3.0, "elevation": 0.5}),
        ("named", "", {}),
        ("ranges", "azimuth=0:180", {"azimuth": (0.0, 180.0)}),
    ],
)
def test_the_ways_people_type(name, text, value):
    assert read(name, text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("whole", "1.5"),
        ("whole", "x"),
        ("real", "1,5x"),
        ("reals", "a,b"),
        ("reals", "0:1:nan"),
        ("reals", "0:1:inf"),
        ("reals", "0:1:2.5"),
        ("switch", "perhaps"),
        ("named", "azimuth"),
        ("ranges", "a=1:x"),
    ],
)
def test_what_is_no_value_is_said_with_the_field(name, text):
    with pytest.raises(ParamsError, match=name):
        read(name, text)


def test_choices_are_the_words_of_a_literal():
    assert params_text.choices(Kinds.model_fields["word"]) == ("a", "b")
    assert params_text.choices(Kinds.model_fields["whole"]) == ()


def test_words_that_hold_commas_are_read_back():
    class Words(Params):
        names: tuple[str, ...] = ()

    for names in (("tench, Tinca", "hen"), ('so "called"', "b; c"), ("a", "b c")):
        assert (
            params_text.parse_value(
                "names", Words.model_fields["names"], params_text.format_value(names)
            )
            == names
        )


def test_equal_steps_are_the_numbers_a_person_would_type():
    assert read("reals", "0:0.4:9") == (0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (1 / 255, "0.00392156862745098"),
        (np.float64(8 / 255), "0.03137254901960784"),
        (1e-5, "1e-05"),
        (float("inf"), "inf"),
        ((0.5, 1 / 3), "0.5, 0.3333333333333333"),
    ],
)
def test_a_number_has_as_many_digits_as_it_takes_to_read_it_back(value, text):
    assert params_text.format_value(value) == text


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("3", [3]), ("0,4,7", [0, 4, 7]), ("10:13", [10, 11, 12]), (":2,5", [0, 1, 5]), ("4:4", [])],
)
def test_inputs_are_chosen_by_number(text, numbers):
    assert params_text.indices("--index", text) == numbers


@pytest.mark.parametrize("last", [999_999_999_999, 10**30])
def test_more_inputs_than_any_data_has_are_refused_before_they_are_listed(last):
    with pytest.raises(ParamsError, match=r"--index .* names more than"):
        params_text.indices("--index", f"5,0:{last}")
