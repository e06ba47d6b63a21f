"""Boxes and Bars: where they stand, what they say, what a click gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robgui.core.view import Axis, Bars, Box, Boxes, Ink, Mark, Series, Spot
from robgui.gui.widgets.views.bars import joined, spread
from tests.gui import sample_views as samples


def test_boxes_lie_where_the_view_says_with_the_ink_of_each(shown):
    widget = shown(samples.boxes())
    lines = [item for item in widget.rims[1::2] if not item.path().isEmpty()]
    rects = [item.path().boundingRect().getRect() for item in lines]
    assert rects == [pytest.approx((-90, 0.75, 180, 1.0)), pytest.approx((-10, 1.0, 20, 0.2))]
    assert [item.pen().color().name().upper() for item in lines] == [
        Ink("series", i).colour() for i in (0, 1)
    ]


def test_the_read_out_of_boxes_has_the_sides_and_the_map_behind(shown, hover):
    widget = shown(samples.boxes())
    words = hover(widget, widget.heat.plot, -60, 0.8)
    assert words.startswith("large: rotation -90 ° to 90 °, scale 0.75 to 1.75")
    assert words.endswith("red, how surely 100 %")
    assert hover(widget, widget.heat.plot, 0, 1.1).startswith("start; small:")


def test_a_click_gives_the_smallest_box_at_its_place(shown, click):
    widget = shown(samples.boxes())
    assert click(widget, widget.heat.plot, 5, 1.1) == 1
    assert click(widget, widget.heat.plot, 60, 1.1) == 0


def test_names_of_boxes_never_cover_each_other(shown):
    many = tuple(Box(i, 0.9, 30, 0.5, f"a region {i}", Ink("series", 0)) for i in range(8))
    widget = shown(replace(samples.boxes(), boxes=many))
    shown_names = [item for item in widget.names if item.isVisible()]
    places = [item.sceneBoundingRect().adjusted(1, 1, -1, -1) for item in shown_names]
    assert 0 < len(places) < 8
    assert not any(a.intersects(b) for i, a in enumerate(places) for b in places[i + 1 :])


def test_one_name_for_all_boxes_of_an_ink_stands_in_the_legend_and_not_over_the_picture(shown):
    alike = tuple(replace(box, name="grown", ink=Ink("holds")) for box in samples.boxes().boxes)
    widget = shown(replace(samples.boxes(), boxes=alike))
    assert widget.legend.keys[0].words == "grown"
    assert not any(item.toPlainText() for item in widget.names)


def test_boxes_of_one_dimension_stand_in_lanes_with_names(shown, hover):
    view = Boxes(
        "r", Axis("rotation", "°", -90, 90), Axis(""), (Box(-30, 1.2, 60, 0.6),), lanes=("a", "b")
    )
    widget = shown(view)
    left = widget.heat.plot.axis("left")
    assert left.tickStrings(left.tickValues(0, 2, 300)[0][1], 1, 1) == ["a", "b"]
    assert hover(widget, widget.heat.plot, 0, 1.5) == "rotation -30 ° to 30 °"


def test_bars_side_by_side_do_not_touch_the_next_group_and_stacked_ones_stand_on_each_other():
    beside = spread(samples.bars())
    assert beside[0].left[0] + beside[0].width[0] == pytest.approx(beside[1].left[0])
    assert beside[1].left[0] + beside[1].width[0] < beside[0].left[1]
    stacked = spread(samples.bars(stacked=True))
    np.testing.assert_allclose(stacked[1].foot, [0.4, 0.2])
    assert stacked[1].top[0] == pytest.approx(0.5) and np.isnan(stacked[1].top[1])


def test_the_read_out_of_bars_has_every_series_with_its_interval(shown, hover):
    widget = shown(samples.bars())
    assert (
        hover(widget, widget.plot, 0.3, 0.1) == "cnn: slow 40.0 % (30.0 % to 50.0 %), fast 10.0 %"
    )
    assert hover(widget, widget.plot, 1.3, 0.1) == "mlp: slow 20.0 % (10.0 % to 30.0 %)"


def test_a_click_gives_series_and_place_above_a_short_bar_too(shown, click):
    widget = shown(samples.bars())
    assert click(widget, widget.plot, 0.7, 0.4) == (1, 0)
    assert click(widget, widget.plot, 1.3, 0.05) == (0, 1)


def test_a_histogram_has_its_edges_and_reads_out_a_bin(shown, hover):
    widget = shown(samples.histogram())
    drawn = [0, 0.25, 0.75]  # nothing is drawn for a bin of nothing
    np.testing.assert_allclose(widget.bars[0].opts["x0"], drawn)
    assert hover(widget, widget.plot, 0.3, 0.5) == "uncertainty 0.25 to 0.5: 1"
    assert [flag.words for flag in widget.flags.written] == ["best threshold"]


def test_numbers_stand_above_bars_only_where_they_fit(shown):
    wide = shown(samples.bars(), 800)
    assert [item.toPlainText() for item in wide.numbers if item.isVisible()] == [
        "40.0 %",
        "20.0 %",
        "10.0 %",
    ]
    narrow = shown(samples.bars(), 220)
    assert not any(item.isVisible() for item in narrow.numbers)


def test_bars_below_zero_are_on_show_too(shown):
    view = Bars("d", Axis("difference"), ("a", "b"), (Series("", np.array([-0.5, 0.25])),))
    low, high = shown(view).plot.box.viewRange()[1]
    assert low < -0.5 and high > 0.25


def test_signs_are_explained_in_the_legend_once_for_each_kind(shown):
    signs = [Spot(0.1 * n, 0.5, f"start {n}", Ink("text"), "circle") for n in (1, 2)]
    signs.append(Spot(0.5, 0.5, "trap: score 0.1, seen as “Bag”", Ink("fails"), "cross"))
    keys = shown(replace(samples.boxes(), spots=tuple(signs))).legend.keys
    assert [(key.words, key.line) for key in keys if key.symbol] == [
        ("start", False),
        ("trap", False),
    ]


def test_a_number_above_a_bar_is_whole_or_not_shown(shown):
    row = Series("s", np.array([0.0, 0.001]), Ink("fails"), np.zeros(2), np.array([0.01, 0.0099]))
    level = Mark(0.01, "allowed")
    view = Bars("b", Axis("lost", kind="share", low=0), ("a", "b"), (row,), levels=(level,))
    for height in (400, 160, 110):
        widget = shown(view, 260, height)
        room = widget.plot.box.sceneBoundingRect().adjusted(0, -4, 0, 4)
        for item in widget.numbers:
            if item.isVisible() and item.toPlainText():
                assert room.contains(item.mapRectToScene(item.boundingRect())), height


def test_a_bar_that_reaches_the_end_of_its_scale_has_its_number_too(shown):
    scale = Axis("share", kind="share", low=0, high=1)
    values = np.array([0.0, 0.83, 1.0])
    row = Series("recognised", values, Ink("series"), values - 0.1 * (values > 0), values)
    widget = shown(Bars("b", scale, ("triangle", "circle", "square"), (row,)))
    assert [item.toPlainText() for item in widget.numbers if item.isVisible()] == [
        "0 %",
        "83.0 %",
        "100 %",
    ]


def test_a_number_stands_on_the_end_of_its_interval_on_a_logarithmic_axis(shown):
    row = Series("s", np.array([1e-4]), Ink("fails"), np.array([1e-5]), np.array([1e-3]))
    view = Bars("b", Axis("chance", log=True, low=1e-6, high=1), ("a",), (row,))
    assert shown(view, 600).numbers[0].pos().y() == pytest.approx(-3)


def test_without_a_single_bar_no_numbers_stand_where_names_would(shown):
    none = np.zeros(0)
    view = Bars("b", Axis("share", kind="share"), (), (Series("", none),), x=Axis("slice"))
    widget = shown(view)
    bottom = widget.plot.axis("bottom")
    ((spacing, places),) = bottom.tickValues(0, 1, 800)
    assert not any(bottom.tickStrings(places, 1, spacing))


def test_equal_neighbours_of_a_stacked_histogram_are_one_area_without_seams(shown):
    rows = (Series("kept", np.array([3.0, 3, 1, 1])), Series("lost", np.array([0.0, 0, 2, 2])))
    edges = np.array([0, 0.1, 0.2, 0.3, 0.5])
    view = Bars("Parts", Axis("inputs", kind="count"), (), rows, stacked=True, edges=edges)
    kept, lost = (joined(one) for one in spread(view))
    assert kept.left.tolist() == [0, 0.2] and kept.width.tolist() == pytest.approx([0.2, 0.3])
    assert (lost.foot.tolist(), lost.top.tolist()) == ([3, 1], [3, 3])
    widget = shown(view)
    assert len(widget.bars[0].opts["x0"]) == 2 and len(widget.bars[1].opts["x0"]) == 1
    assert widget.read(0.15, 1) == "0.1 to 0.2: kept 3, lost 0"
