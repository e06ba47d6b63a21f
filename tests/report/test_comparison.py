"""Two results over the same axes can be subtracted; others say why not."""

from __future__ import annotations

import numpy as np

from robgui.report.comparison import Bars, Curves, Matrix, difference


def curves(x, **lines):
    return Curves("radius", "value", np.asarray(x, float), {name: np.asarray(line, float) for name, line in lines.items()})


def test_curves_over_the_same_axis_are_subtracted_line_by_line():
    found = difference(curves([0, 1], index=[0.25, 0.5]), curves([0, 1], index=[0.5, 0.25]))
    assert isinstance(found, Curves)
    np.testing.assert_allclose(found.lines["index"], [0.25, -0.25])


def test_curves_over_different_radii_say_so():
    assert "same radius" in difference(curves([0, 1], index=[0, 0]), curves([0, 2], index=[0, 0]))


def test_the_levels_of_a_matrix_of_differences_are_symmetric_about_zero():
    first = Matrix("x", "y", "score", np.zeros((2, 2)), (0, 0, 1, 1), (0, 1))
    second = Matrix("x", "y", "score", np.array([[0.1, np.nan], [-0.4, 0.2]]), (0, 0, 1, 1), (0, 1))
    found = difference(first, second)
    assert isinstance(found, Matrix) and found.levels == (-0.4, 0.4)


def test_bars_are_subtracted_where_both_have_them():
    found = difference(Bars("pixels", {"a": 1, "b": 2}), Bars("pixels", {"b": 5}))
    assert isinstance(found, Bars) and found.values == {"b": 3}


def test_unlike_kinds_cannot_be_subtracted():
    assert "different kinds" in difference(Bars("pixels", {"a": 1}), curves([0], index=[1]))
