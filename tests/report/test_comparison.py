"""Two results over the same axes can be subtracted; others say why not."""

from __future__ import annotations

import numpy as np

from robgui.core.execution.registry import analyses
from robgui.report.comparison import COMPARED, Bars, Curves, Matrix, aligned, difference


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


def test_bars_that_stand_side_by_side_have_the_same_names_in_the_same_order():
    first, second = aligned(Bars("pixels", {"a": 1, "b": 2}), Bars("pixels", {"c": 4, "b": 5}))
    assert list(first.values) == list(second.values) == ["a", "b", "c"]
    np.testing.assert_array_equal(list(second.values.values()), [np.nan, 5, 4])


def test_matrices_that_stand_side_by_side_have_the_same_colours():
    first, second = (Matrix("x", "y", "σ", np.zeros((2, 2)), (0, 0, 1, 1), levels) for levels in ((-1, 2), (-3, 1)))
    assert [part.levels for part in aligned(first, second)] == [(-3, 2), (-3, 2)]


def test_bars_without_a_common_name_say_so():
    assert "no number in common" in difference(Bars("pixels", {"a": 1}), Bars("pixels", {}))


def test_every_analysis_can_be_compared():
    ours = {name for name, known in analyses().items() if known.engine.__module__.startswith("robgui.analyses.")}
    assert set(COMPARED) == ours
