"""Matrix: one image with the levels of the view, the worst furthest from the ground, names, read-out and click."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtGui import QColor

from robgui.core.view import Axis, Ink, Matrix
from robgui.gui.app.theme import theme
from robgui.gui.widgets.heat import lookup
from robgui.gui.widgets.views.matrix import cell_words, class_keys
from tests.gui import sample_views as samples


def colour_at(widget, x, y):
    plot = widget.heat.plot
    scene = plot.box.mapViewToScene(QPointF(x, y))
    place = plot.mapTo(widget, plot.mapFromScene(scene))
    return widget.grab().toImage().pixelColor(place)


@pytest.mark.parametrize(("worst", "worst_x"), [("low", 0.5), ("high", 2.5)])
def test_the_worst_cell_is_furthest_from_the_ground(shown, worst, worst_x):
    view = replace(
        samples.matrix(worst), values=np.array([[0.0, 0.5, 1.0]]), rows=("cat",), spots=()
    )
    widget = shown(view)
    for dark, furthest in ((True, max), (False, min)):
        theme.apply(dark)
        colours = {x: colour_at(widget, x, 0.85).lightness() for x in (0.5, 1.5, 2.5)}
        assert furthest(colours, key=colours.get) == worst_x


def test_levels_are_those_of_the_view_and_not_of_its_values(shown):
    widget = shown(replace(samples.matrix(), values=np.full((2, 3), 0.5)))
    assert tuple(widget.heat.image.getLevels()) == (0.0, 1.0)
    assert widget.heat.bar.words() == ["0", "0.5", "1"]


def test_a_difference_has_its_own_colours_around_zero_in_both_themes(shown):
    view = replace(
        samples.matrix(), values=np.zeros((2, 3)), levels=(-1.0, 1.0), worst="middle", spots=()
    )
    widget = shown(view)
    for dark, ground in ((False, "#f2f2f2"), (True, "#30363f")):
        theme.apply(dark)
        middle = colour_at(widget, 1.5, 1.0).name()
        assert middle == ground or abs(int(middle[1:3], 16) - int(ground[1:3], 16)) < 6
    assert (lookup("diverging", dark=True) != lookup("diverging")).any()


def test_a_class_has_its_hue_and_there_is_a_legend_instead_of_a_bar(shown):
    widget = shown(samples.classes())
    assert colour_at(widget, -90, 0.8).name().upper() == Ink("series", 0, "red").colour()
    words = [key.words for key in widget.legend.keys]
    hues = ["green", "red", "intensity: how surely"]
    assert words == [*hues, "not computed"], "the most frequent first"
    assert not widget.heat.bar.isVisible()


def test_names_stand_on_the_axes_and_numbers_where_there_are_none(shown):
    widget = shown(samples.matrix())
    bottom = widget.heat.plot.axis("bottom")
    places = bottom.tickValues(0, 3, 300)[0][1]
    assert bottom.tickStrings(places, 1, 1) == ["cat", "dog", "cow"]
    plain = shown(samples.classes())
    bottom = plain.heat.plot.axis("bottom")
    step, places = bottom.tickValues(-180, 180, 300)[0]
    assert step in (30, 45, 60, 90) and 0 in places


def test_rows_are_named_as_far_as_they_fit_and_never_under_nine_points(shown):
    names = tuple(f"class {number}" for number in range(10))
    view = replace(samples.matrix(), values=np.eye(10), rows=names, columns=names, spots=())
    axis = {high: shown(view, 560, high).heat.plot.axis("left") for high in (225, 600)}
    named = {}
    for high, one in axis.items():
        (_, places), *_ = one.tickValues(*one.range, one.size().height())
        named[high] = len(places)
        assert one.font().pointSizeF() >= 9
    assert axis[225].size().height() < 10 * 16, "too low for the usual font"
    assert named == {225: 5, 600: 10}


def test_the_read_out_names_the_cell_and_the_sign_on_it(shown, hover):
    widget = shown(samples.matrix())
    assert hover(widget, widget.heat.plot, 2.5, 1.5) == "class dog, taken for cow: distance 1"
    assert hover(widget, widget.heat.plot, 0.5, 0.5).endswith("distance 0; a failure")
    numbers = shown(samples.classes())
    words = hover(numbers, numbers.heat.plot, -90, 0.8)
    assert words == "scale 0.875, rotation -90 °: red, how surely 100 %"
    assert hover(numbers, numbers.heat.plot, 90, 1.8).endswith("not computed")


def test_a_click_gives_row_and_column(shown, click):
    widget = shown(samples.matrix())
    assert click(widget, widget.heat.plot, 2.5, 0.5) == (0, 2)
    placed = shown(samples.classes())
    assert click(placed, placed.heat.plot, -90, 1.8) == (1, 0)


def test_a_thousand_classes_are_one_image_with_as_many_names_as_fit(shown):
    names = tuple(f"class {i}" for i in range(1000))
    view = Matrix(
        "m",
        Axis("a"),
        Axis("b"),
        np.random.default_rng(0).random((1000, 1000)),
        Axis("v"),
        (0, 1),
        rows=names,
        columns=names,
    )
    widget = shown(view)
    assert widget.heat.image.image.shape == (1000, 1000)
    left = widget.heat.plot.axis("left")
    assert len(left.tickValues(0, 1000, 300)[0][1]) < 30


def test_a_class_that_meets_itself_is_left_empty_and_not_hatched(shown):
    names = ("cat", "dog")
    view = replace(
        samples.matrix(),
        values=np.array([[0.1, np.nan], [np.nan, 0.2]]),
        rows=names[::-1],
        columns=names,
        spots=(),
        unknown="right answers",
    )
    widget = shown(view)
    assert _tints(widget, 1.5, 0.15) == {QColor(theme.colours.surface).rgb()}
    assert not class_keys(view)
    assert class_keys(replace(view, unknown="not computed"))


def test_a_small_matrix_has_its_numbers_in_its_cells_where_they_fit(shown):
    widget = shown(replace(samples.matrix(), spots=()), 640, 400)
    assert [number.words for number in widget.numbers.numbers][:2] == ["0", "0.2"]
    assert widget.numbers.isVisible()
    widget.resize(120, 60)
    assert not widget.numbers.isVisible()


def test_each_number_is_written_in_the_middle_of_its_cell(shown):
    values = np.array([[np.nan, 0.8], [np.nan, np.nan]])
    widget = shown(Matrix("m", Axis("a"), Axis("b"), values, Axis("v"), (0, 1)), 640, 400)
    box = widget.heat.plot.box
    corner, far = (box.mapViewToScene(QPointF(*place)) for place in ((1, 0), (2, 1)))
    widget.numbers.hide()
    bare = widget.heat.plot.grab().toImage()
    widget.numbers.show()
    written = widget.heat.plot.grab().toImage()
    found = [
        (x, y)
        for x in range(written.width())
        for y in range(written.height())
        if written.pixel(x, y) != bare.pixel(x, y)
    ]
    middle = np.mean([np.min(found, axis=0), np.max(found, axis=0)], axis=0)
    assert np.allclose(middle, [(corner.x() + far.x()) / 2, (corner.y() + far.y()) / 2], atol=2)


def test_a_map_of_classes_has_no_numbers(shown):
    widget = shown(samples.classes())
    assert not widget.numbers.isVisible()


def test_a_cell_that_was_not_computed_says_so_when_read_out_and_in_the_legend():
    view = Matrix(
        "map",
        Axis("x"),
        Axis("y"),
        np.array([[0.9, 0.8]]),
        Axis("confidence"),
        (0, 1),
        classes=np.array([[0, 0]]),
        class_names=("cat",),
        guessed=np.array([[False, True]]),
    )
    assert "not computed" not in cell_words(view, 0.5, 0.5)
    assert "not computed, a coarser cell has cat" in cell_words(view, 1.5, 0.5)
    assert class_keys(view)[-1].words.startswith("not computed")
    assert len(class_keys(replace(view, guessed=None))) == len(class_keys(view)) - 1


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_cells_of_which_nothing_is_known_are_hatched_and_the_legend_says_why(shown, dark):
    theme.apply(dark)
    values = np.array([[0.0, np.nan], [1.0, 0.5]])
    plain = Matrix("map", Axis("x"), Axis("y"), values, Axis("score"), (0, 1), worst="low")
    coarser = np.array([[False, False], [True, False]])
    view = replace(plain, guessed=coarser)
    widget = shown(view)
    assert [key.words for key in class_keys(plain)] == ["not computed"]
    assert len(class_keys(view)) == 2
    empty, known, guessed = (
        _tints(widget, *place) for place in ((1.5, 0.15), (1.5, 1.15), (0.5, 1.15))
    )
    assert len(known) == 1
    assert len(empty) > 1
    assert len(guessed) > 1


def _tints(widget, x, y):
    """The colours around a place, which are one where a cell is filled."""
    plot = widget.heat.plot
    middle = plot.mapFromScene(plot.box.mapViewToScene(QPointF(x, y)))
    image = plot.grab().toImage()
    around = range(-8, 8)
    return {image.pixel(middle + QPoint(across, down)) for across in around for down in around}
