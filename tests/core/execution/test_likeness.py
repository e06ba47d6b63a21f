"""Whether two requests ask the same question."""

from __future__ import annotations

import pytest

from robgui.core.execution.likeness import same_question
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
