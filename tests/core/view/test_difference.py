"""Two views side by side: the same ranges and places; the second less the first, or why not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robgui.core.view import (
    Axis,
    Bars,
    Curves,
    Ink,
    Line,
    Matrix,
    Series,
    Table,
    aligned,
    difference,
    is_zero,
)

AT = np.array([0.0, 0.5, 1.0])


def curves(*heights, y=Axis("score")):
    return Curves("c", Axis("radius"), y, AT, (Line("a", np.array(heights, float)),))


def bars(**values):
    return Bars(
        "b", Axis("share"), tuple(values), (Series("s", np.array(list(values.values()), float)),)
    )


def matrix(value, levels=(0.0, 1.0)):
    return Matrix(
        "m", Axis("x"), Axis("y"), np.full((2, 2), float(value)), Axis("score"), levels, worst="low"
    )


def test_curves_side_by_side_have_axes_that_hold_both():
    first, second = aligned(curves(0, 1, 2), curves(-3, 0, 1))
    assert first.y == second.y and (first.y.low, first.y.high) == (-3, 2)
    stated = Axis("score", low=0, high=1)
    first, second = aligned(curves(0, 1, 2, y=stated), curves(0, 0, 0, y=stated))
    assert (first.y.low, first.y.high) == (0, 1), "what the views say holds"


def test_bars_side_by_side_have_the_same_names_and_the_same_axis_from_zero():
    first, second = aligned(bars(cat=1, dog=2), bars(dog=5, cow=3))
    assert first.names == second.names == ("cat", "dog", "cow")
    np.testing.assert_array_equal(second.series[0].values, [np.nan, 5, 3])
    assert (first.value.low, first.value.high) == (second.value.low, second.value.high) == (0, 5)


def test_a_row_of_bars_has_the_same_place_and_ink_on_both_sides():
    """The place gives the hatching, so a row that one side lacks is empty there."""

    def counted(**rows):
        series = [
            Series(name, np.array([value, value]), Ink("series", place))
            for place, (name, value) in enumerate(rows.items())
        ]
        axis = Axis("inputs")
        return Bars("b", axis, ("small", "large"), tuple(series), stacked=True)

    first, second = aligned(
        counted(fails=3.0, open=9.0), counted(fails=2.0, certified=4.0, open=6.0)
    )
    assert [row.name for row in first.series] == ["fails", "open", "certified"]
    assert [row.name for row in second.series] == ["fails", "open", "certified"]
    assert [row.ink for row in first.series] == [row.ink for row in second.series]
    assert np.isnan(first.series[2].values).all() and (second.series[1].values == 6).all()
    alone = aligned(counted(a=1.0), counted(b=1.0))
    assert [len(view.series) for view in alone] == [1, 1], "nothing in common, nothing added"


def test_matrices_side_by_side_have_the_same_colours():
    first, second = aligned(matrix(0, (0, 1)), matrix(0, (-1, 0.5)))
    assert first.levels == second.levels == (-1, 1)


def test_the_difference_is_the_second_less_the_first_around_zero():
    change = difference(curves(0, 1, 2), curves(1, 1, 0))
    np.testing.assert_array_equal(change.lines[0].y, [1, 0, -2])
    assert (change.y.low, change.y.high) == (-2, 2)
    change = difference(matrix(0.25), matrix(1))
    assert (
        change.worst == "middle"
        and change.levels == (-0.75, 0.75)
        and (change.values == 0.75).all()
    )
    change = difference(bars(cat=1, dog=2), bars(dog=5, cow=3))
    assert change.names == ("dog",) and change.series[0].values.tolist() == [3]


@pytest.mark.parametrize(
    "view", [curves(1, 2, 3), matrix(1), bars(cat=2)], ids=["curves", "matrix", "bars"]
)
def test_the_difference_of_a_view_from_itself_is_nothing(view):
    assert is_zero(difference(view, view))


def test_views_over_other_axes_have_no_difference_but_a_sentence():
    other = replace(curves(1, 2, 3), at=2 * AT)
    assert "same radius" in difference(curves(1, 2, 3), other)
    assert "by eye" in difference(Table("t", ()), Table("t", ()))


def test_bars_over_powers_of_ten_differ_by_powers_of_ten():
    axis = Axis("failure probability", kind="probability", log=True)
    rare, often = (replace(bars(test=p, critical=1e-10), value=axis) for p in (1e-7, 1e-4))
    change = difference(rare, often)
    np.testing.assert_allclose(change.series[0].values, [3.0, 0.0])
    assert change.value.unit == "powers of ten" and not change.value.log


def test_matrices_of_the_same_classes_in_another_order_are_brought_into_one():
    names = ("Coat", "Shirt", "Bag")
    values = np.arange(9.0).reshape(3, 3)
    first = replace(matrix(0), values=values, rows=names[::-1], columns=names)
    turn = [2, 0, 1]
    other = tuple(names[i] for i in turn)
    rows = [names[::-1].index(name) for name in other]
    second = replace(first, values=values[np.ix_(rows, turn)] + 1, rows=other, columns=other)
    _, shown = aligned(first, second)
    assert (shown.rows, shown.columns) == (first.rows, first.columns)
    np.testing.assert_allclose(shown.values, values + 1)
    np.testing.assert_allclose(difference(first, second).values, 1.0)
    stranger = replace(second, rows=("Coat", "Shirt", "Sandal"))
    assert isinstance(difference(first, stranger), str)


def test_curves_with_more_places_where_they_bend_are_compared_at_those_both_have():
    at = np.array([0.0, 0.2, 0.5, 1.0])
    more = Curves("c", Axis("radius"), Axis("score"), at, (Line("a", at**2),))
    less = replace(more, at=at[[0, 2, 3]], lines=(Line("a", np.array([0.0, 0.5, 1.0])),))
    for first, second, sign in ((less, more, 1), (more, less, -1)):
        change = difference(first, second)
        np.testing.assert_allclose(change.at, [0, 0.5, 1])
        np.testing.assert_allclose(change.lines[0].y, sign * np.array([0, -0.25, 0]))
        assert "3 places that both runs have" in change.note


def test_stacked_histograms_differ_by_a_line_for_each_part():
    edges = np.linspace(0, 1, 4)

    def parts(kept: list[float]) -> Bars:
        rows = (Series("kept", np.array(kept)), Series("lost", 6 - np.array(kept)))
        return Bars("Parts", Axis("inputs", kind="count"), (), rows, stacked=True, edges=edges)

    found = difference(parts([6, 4, 2]), parts([6, 5, 5]))
    assert isinstance(found, Curves) and found.at.tolist() == edges[1:].tolist()
    assert {line.name: line.y.tolist() for line in found.lines} == {
        "kept": [0, 1, 3],
        "lost": [0, -1, -3],
    }
