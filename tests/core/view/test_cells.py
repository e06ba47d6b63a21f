"""The cells of a table read as their column says."""

from __future__ import annotations

import math

import pytest

from robgui.core.verdict import Status
from robgui.core.view import Column


@pytest.mark.parametrize(
    ("kind", "cell", "words"),
    [
        ("text", "Shirt", "Shirt"),
        ("number", 0.12345, "0.123"),
        ("number", None, ""),
        ("number", math.nan, "n/a"),
        ("share", 0.912, "91.2 %"),
        ("probability", 7.1e-7, "7.1·10⁻⁷"),
        ("count", 12345, "12,345"),
        ("count", math.nan, "n/a"),
        ("seconds", 200.0, "3 min 20 s"),
        ("text", True, "yes"),
        ("status", Status.FAILS, "✗ Failure found"),
        ("status", "holds", "✓ Holds"),
    ],
)
def test_a_cell_reads_as_its_column_says(kind, cell, words):
    assert Column("c", (cell,), kind).words(cell) == words


def test_a_status_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="fine"):
        Column("c", ("fine",), "status").words("fine")
