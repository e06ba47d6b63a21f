"""What is wrong with settings: the words for a form and for the command line."""

from __future__ import annotations

from typing import Literal

import pytest
from pydantic import Field, ValidationError, field_validator, model_validator

from robgui.core.errors import ParamsError
from robgui.core.execution.params.params import Params
from robgui.core.execution.params.problems import did_you_mean, titled


class Kinds(Params):
    eps: float = Field(0.1, gt=0, title="Size of the noise")
    sizes: tuple[float, ...] = Field((0.1,), min_length=1, title="Sizes")
    methods: tuple[Literal["a", "b"], ...] = Field(("a",), title="Methods")
    plain_name: int = Field(1, le=3)

    @field_validator("sizes")
    @classmethod
    def _not_negative(cls, sizes: tuple[float, ...]) -> tuple[float, ...]:
        if min(sizes) < 0:
            raise ValueError("a size must not be negative")
        return sizes

    @model_validator(mode="after")
    def _fits(self) -> Kinds:
        if self.eps > 5:
            raise ValueError(f"eps = {self.eps:g} must not exceed five plain sizes")
        return self


@pytest.mark.parametrize(
    ("values", "field", "words"),
    [
        ({"eps": -3.0}, "eps", "Size of the noise is -3: it should be greater than 0."),
        ({"sizes": (-1.0,)}, "sizes", "Sizes: a size must not be negative."),
        ({"sizes": ()}, "sizes", "Sizes is empty; give at least one."),
        ({"methods": ("c",)}, "methods", "Methods holds c: it should be 'a' or 'b'."),
        ({"plain_name": 4}, "plain_name", "Plain name is 4: it should be less than or equal to 3."),
        ({"eps": 6.0}, "", "Size of the noise = 6 must not exceed five plain sizes."),
    ],
)
def test_a_form_is_told_by_title_which_field_is_wrong(values, field, words):
    with pytest.raises(ValidationError) as caught:
        Kinds.model_validate(values)
    assert titled(Kinds.model_fields, caught.value) == {field: words}


def test_a_program_is_told_by_name_and_gets_the_nearest_name_for_an_unknown_one():
    with pytest.raises(ParamsError, match=r"^eps = -3\.0: should be greater than 0\.$"):
        Kinds.parse({"eps": -3.0})
    with pytest.raises(
        ParamsError,
        match=r"^there is no setting 'size'; did you mean sizes\? The settings are: seed, batch",
    ):
        Kinds.parse({"size": 1})


def test_nothing_is_offered_when_nothing_is_alike():
    assert did_you_mean("xyz", ["samples", "radii"], "choose one.") == "choose one."
