"""Whether two requests ask the same question."""

from __future__ import annotations

import pytest

from robgui.core.execution.likeness import incomparable, same_question
from robgui.core.execution.request import Reference, Request


def asked(*models: str, **params: int) -> Request:
    made = tuple(Reference(kind="model", name=name, fingerprint=name * 16) for name in models)
    return Request(analysis="srvr", models=made, params=params)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (asked("a", "b", "c"), asked("a", "c", "b"), True),
        (asked("a", "b", "c"), asked("b", "a", "c"), False),
        (asked("a", "b", "c"), asked("a", "b"), False),
        (asked("a", "b"), asked("a", "b"), True),
        (asked("a", "b", "c"), asked("a", "c", "b", seed=3), False),
    ],
)
def test_models_beside_the_first_may_stand_in_any_order(one, other, same):
    assert same_question(one, other) is same


def test_a_part_of_the_same_inputs_with_another_model_is_told_as_such():
    data = Reference(kind="dataset", name="cars", fingerprint="d" * 16)

    def of(model: str, indices: tuple[int, ...] | None) -> Request:
        made = Reference(kind="model", name=model, fingerprint=model * 16)
        return Request(analysis="accuracy", models=(made,), dataset=data, indices=indices)

    said = incomparable(of("a", (1, 2)), of("b", None))
    assert said == (
        "They are of different models, and the first looked at 2 of the inputs of the second only:"
        " run both on the same inputs."
    )
    assert "the second looked at 1 of the inputs of the first" in incomparable(
        of("a", (1, 2)), of("b", (2,))
    )
    assert "at once" in incomparable(of("a", (1, 2)), of("b", (2, 3)))
    assert not incomparable(of("a", (1, 2)), of("b", (1, 2)))
