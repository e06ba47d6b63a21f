"""What stands in a cell of a matrix: two digits, and in a large one nothing for no failure."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robgui.core.view import Axis, Matrix
from robgui.core.view.cells import cell_number


def matrix(scale: Axis, worst: str = "high", side: int = 10) -> Matrix:
    x = Axis("x")
    return Matrix("m", x, x, np.zeros((side, side)), scale, (0.0, 1.0), worst=worst)


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, ""), (0.0004, "<0.1 %"), (0.025, "2.5 %"), (0.12, "12 %"), (1.0, "100 %")],
)
def test_a_share_of_failures_has_two_digits_and_no_zero(value, words):
    assert cell_number(matrix(Axis("wrong", kind="share")), value) == words


@pytest.mark.parametrize(
    ("value", "words"), [(-0.3182, "-0.32"), (1.117, "1.1"), (-2.17, "-2.2"), (math.nan, "")]
)
def test_a_number_has_two_digits_and_no_unit(value, words):
    scale = Axis("distance", "standard deviations")
    assert cell_number(matrix(scale, "low"), value) == words


def test_where_nothing_is_not_the_best_it_is_written():
    assert cell_number(matrix(Axis("distance"), "low"), 0.0) == "0"
    assert cell_number(matrix(Axis("kept", kind="share"), "low"), 0.0) == "0 %"


def test_among_few_cells_no_failure_is_written_and_does_not_look_like_missing_data():
    assert cell_number(matrix(Axis("wrong", kind="share"), side=3), 0.0) == "0 %"
    assert cell_number(matrix(Axis("wrong", kind="share"), side=3), math.nan) == ""
