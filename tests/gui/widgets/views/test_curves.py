"""Curves: data and inks as given, a legend beside the data, a read-out of every line at the
pointer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from robgui.core.view import Axis, Curves, Ink, Line, Mark
from robgui.gui.app.theme import theme
from robgui.report.drawing import draw_view, pixels
from tests.gui import sample_views as samples


def test_lines_have_the_data_of_the_view_and_the_colours_of_their_inks_in_both_themes(shown):
    widget = shown(samples.curves())
    for dark in (False, True):
        theme.apply(dark)
        for item, line in zip(widget.lines, samples.curves().lines, strict=True):
            np.testing.assert_allclose(item.curve.getData()[1], line.y)
            assert item.curve.opts["pen"].color().name().upper() == line.ink.colour(dark)


def test_the_legend_has_what_is_read_and_never_lies_over_the_plot(shown):
    for width in (900, 360):
        widget = shown(samples.curves(), width)
        words = [key.words for key in widget.legend.keys]
        assert words == ["Shirt", "Coat", "asked for"], "Bag is quiet"
        assert not widget.legend.geometry().intersects(widget.plot.geometry())
        assert widget.legend.isVisible() and widget.plot.height() > 120


def test_upright_lines_are_named_above_the_data_where_they_stand(shown):
    widget = shown(samples.curves())
    (flag,) = widget.flags.written
    box = widget.plot.box
    assert flag.words == "class changes"
    assert flag.at == pytest.approx(box.mapViewToScene(QPointF(flag.mark.at, 0)).x())
    assert box.sceneBoundingRect().top() > widget.plot.fontMetrics().height()
    box.setXRange(flag.mark.at + 0.1, flag.mark.at + 0.2)
    assert not widget.flags.written, "its line is out of view"


def test_names_of_upright_lines_that_stand_close_take_rows_of_their_own(shown):
    marks = tuple(Mark(at, f"a long name of line {at}") for at in (0.40, 0.41, 0.42))
    widget = shown(replace(samples.curves(), marks=marks))
    assert sorted(flag.row for flag in widget.flags.written) == [0, 1, 2]
    widget.show_view(replace(samples.curves(), marks=()))
    assert widget.flags.written == []


def test_a_mini_picture_names_no_upright_line(shown):
    assert shown(samples.curves(), mini=True).flags.written == []


def test_the_read_out_names_the_place_and_the_values_with_their_band(shown, hover):
    widget = shown(samples.curves())
    words = hover(widget, widget.plot, 0.42, 0.9)
    assert words == "radius 0.4: Shirt 60.0 % (55.0 % to 65.0 %), Coat 40.0 %"


def test_a_line_that_is_grey_is_read_out_and_darkened_while_it_is_pointed_at(shown, hover):
    widget = shown(samples.curves())
    words = hover(widget, widget.plot, 0.8, 0.08)
    assert words.startswith("radius 0.8: Bag 8.0 %")
    pen = widget.lines[2].curve.opts["pen"]
    assert pen.color().name().upper() == Ink("text").colour()
    widget.tell("")
    assert widget.lines[2].curve.opts["pen"].color().name().upper() == Ink("other").colour()


def test_a_click_gives_its_place_on_the_horizontal_axis(shown, click):
    widget = shown(samples.curves())
    assert click(widget, widget.plot, 0.3, 0.5) == pytest.approx(0.3, abs=0.01)


def test_the_range_is_that_of_the_axis_and_the_users_zoom_stays_while_it_is_the_same(shown):
    widget = shown(samples.curves())
    low, high = widget.plot.box.viewRange()[1]
    assert low == pytest.approx(0, abs=0.05) and high == pytest.approx(1, abs=0.05)
    widget.plot.box.setRange(xRange=(0.2, 0.4), yRange=(0.1, 0.2), padding=0)
    widget.show_view(samples.curves(0.5))
    assert widget.plot.box.viewRange()[0] == pytest.approx([0.2, 0.4], abs=0.01)


def test_zooming_out_shows_no_share_above_one_and_no_size_below_zero(shown):
    at = np.linspace(0, 0.25, 20)
    widget = shown(
        Curves(
            "Kept",
            Axis("change", low=0, high=0.25),
            Axis("share", kind="share", low=0, high=1),
            at,
            (Line("proven", 1 - at, Ink("holds")),),
        )
    )
    widget.plot.box.scaleBy((5, 5))
    (left, _), (bottom, top) = widget.plot.box.viewRange()
    assert left >= -0.02 and bottom >= -0.05 and top <= 1.05


def test_powers_of_ten_stand_at_equal_distances_and_are_read_out_as_values(shown, hover):
    x = np.arange(4.0)
    view = Curves(
        "p",
        Axis("round"),
        Axis("p", kind="probability", log=True),
        x,
        (Line("p", 10.0 ** -(2 * x)),),
    )
    widget = shown(view)
    np.testing.assert_allclose(widget.lines[0].curve.getData()[1], [0, -2, -4, -6])
    assert hover(widget, widget.plot, 2, -4) == "round 2: p 10⁻⁴"


def test_a_line_breaks_where_nothing_is_known_and_so_does_its_band(shown):
    y = np.array([0.1, np.nan, 0.3, 0.4, 0.5])
    view = replace(
        samples.curves(),
        at=np.arange(5.0),
        lines=(Line("a", y, low=y - 0.1, high=y + 0.1),),
        marks=(),
    )
    widget = shown(view)
    assert len(widget.lines[0].band.path().toSubpathPolygons()) == 1, "a single point has no area"
    assert np.isnan(widget.lines[0].curve.getData()[1][1])


def test_fewer_lines_hide_the_others_and_more_bring_them_back(shown):
    widget = shown(samples.curves())
    widget.show_view(replace(samples.curves(), lines=samples.curves().lines[:1]))
    assert [item.curve.isVisible() for item in widget.lines] == [True, False, False]
    assert widget.legend.keys[0].words == "Shirt" and len(widget.legend.keys) == 2
    widget.show_view(samples.curves())
    assert all(item.curve.isVisible() for item in widget.lines)


def test_a_mark_without_a_place_is_neither_drawn_nor_in_the_legend(shown):
    view = replace(samples.curves(), marks=(Mark(float("nan"), "not found"),))
    widget = shown(view)
    assert "not found" not in [key.words for key in widget.legend.keys]
    assert not widget.marks[90][0].isVisible()


@pytest.mark.parametrize("size", [(640, 400), (640, 220), (300, 170)])
def test_the_titles_of_both_axes_stay_within_the_plot_in_the_middle_of_their_axis(shown, size):
    long = "confidence, share, uncertainty, and some more words that take room"
    view = replace(samples.curves(), y=Axis(long, "0 to 1"), x=Axis(long, "of its range"))
    widget = shown(view, *size)
    widget.resize(size[0] - 40, size[1] - 10)  # a title is put anew when its axis shrinks
    ground = widget.plot.rect().toRectF()
    for side in ("left", "bottom"):
        axis = widget.plot.axis(side)
        title = axis.label.mapRectToScene(axis.label.boundingRect())
        assert ground.adjusted(-8, -8, 8, 8).contains(title), side
        middle = axis.mapRectToScene(axis.rect()).center()
        off = title.center() - middle
        assert abs(off.y() if side == "left" else off.x()) <= 2


def test_the_title_of_an_axis_that_needs_two_lines_keeps_its_unit(shown):
    view = replace(samples.curves(), y=Axis("confidence, share, uncertainty", "0 to 1"))
    widget = shown(view, 640, 260)
    axis = widget.plot.axis("left")
    assert axis.label.toPlainText().split() == view.y.title.split()


def test_a_dashed_line_lies_above_a_solid_one_so_that_both_are_seen(shown):
    at, same = np.linspace(0, 1, 5), np.full(5, 0.5)
    solid, dashed = Ink("class"), Ink("rival")
    assert (solid.dash, dashed.dash) == ("solid", "dashed")
    lines = (Line("first", same, solid), Line("second", same, dashed))
    view = Curves("Two", Axis("x", low=0, high=1), Axis("y", low=0, high=1), at, lines)
    widget = shown(view)
    first, second = widget.lines
    assert second.curve.zValue() > first.curve.zValue()
    colours = {
        channel
        for row in pixels(draw_view(view), 600)[..., :3]
        for channel in map(tuple, row.tolist())
    }
    for ink in (solid, dashed):
        red, green, blue = (int(ink.colour(False)[place : place + 2], 16) for place in (1, 3, 5))
        assert (red, green, blue) in colours, "and in a file"
