"""Settings as text: what is written can be read, what cannot be read is said."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from robgui.core import params_text
from robgui.core.analysis import Params
from robgui.core.errors import ParamsError


class Kinds(Params):
    whole: int = 0
    real: float = 0.0
    word: Literal["a", "b"] = "a"
    switch: bool = False
    reals: tuple[float, ...] = ()
    maybe: int | None = None
    text: str = Field("")


def read(name: str, text: str) -> object:
    return params_text.read(name, Kinds.model_fields[name], text)


@given(st.floats(-1e6, 1e6).map(lambda x: float(f"{x:.10g}")), st.integers(-(2**60), 2**60), st.booleans(), st.none() | st.integers(0, 99))
def test_what_is_written_is_read_back(real, whole, switch, maybe):
    for name, value in (("real", real), ("whole", whole), ("switch", switch), ("maybe", maybe), ("reals", (real, 1.5))):
        assert read(name, params_text.write(value)) == value


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("whole", "1e4", 10_000),
        ("whole", "10_000", 10_000),
        ("reals", "0:1:3", (0.0, 0.5, 1.0)),
        ("reals", "0.1,0.2 , .3", (0.1, 0.2, 0.3)),
        ("reals", "", ()),
        ("maybe", "none", None),
        ("switch", "Yes", True),
        ("text", " a b ", "a b"),
    ],
)
def test_the_ways_people_type(name, text, value):
    assert read(name, text) == value


@pytest.mark.parametrize(("name", "text"), [("whole", "1.5"), ("whole", "x"), ("real", "1,5x"), ("reals", "a,b"), ("switch", "perhaps")])
def test_what_is_no_value_is_said_with_the_field(name, text):
    with pytest.raises(ParamsError, match=name):
        read(name, text)


def test_choices_are_the_words_of_a_literal():
    assert params_text.choices(Kinds.model_fields["word"]) == ("a", "b")
    assert params_text.choices(Kinds.model_fields["whole"]) == ()
