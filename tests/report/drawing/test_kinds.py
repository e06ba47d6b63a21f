"""What each kind of view shows: marks, levels, colours, numbers, signs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex

from robgui.core.view import (
    Axis,
    Bars,
    Column,
    Curves,
    Ink,
    Line,
    Mark,
    Matrix,
    Series,
    Table,
    Tree,
)
from robgui.core.view.flags import Flag, fly
from robgui.report.drawing import Plate, draw_view, heat, images, legend, pixels, table, tree
from robgui.report.drawing.look import Look
from robgui.report.drawing.plate import fitting
from robgui.report.drawing.rules import rules_of
from robgui.report.drawing.ticks import TickWords, limits
from tests.report.drawing import samples


def legend_of(figure: Plate) -> list[str]:
    return [text.get_text() for text in figure.texts if text.get_gid() == legend.GROUP]


def said_in(figure: Plate) -> str:
    inside = [text.get_text() for axes in figure.axes for text in axes.texts]
    return "\n".join([*(text.get_text() for text in figure.texts), *inside, *legend_of(figure)])


class TestCurves:
    def test_levels_and_lines_stand_in_the_legend_and_quiet_ones_do_not(self):
        words = legend_of(draw_view(samples.curves()))
        assert words[0] == "Shirt (seen at the input)" and "the threshold you set" in words
        assert not set(words) & set(samples.GARMENTS)

    def test_marks_are_named_above_the_data_in_rows_that_do_not_cross(self):
        flags = [
            Flag(Mark(at, name), name, at, at, at + 1.0)
            for at, name in ((1, "a"), (1.2, "b"), (4, "c"))
        ]
        rows = {flag.words: flag.row for flag in fly(flags, 0.06)}
        assert rows == {"c": 0, "b": 0, "a": 1}

    def test_a_point_on_the_edge_is_drawn_whole(self):
        dots = Line("a", np.array([0.0, 1.0]), line=False, symbol="circle")
        axis = Axis("y", low=0.0, high=1.0)
        figure = draw_view(Curves("c", axis, axis, np.array([0.0, 1.0]), (dots,)))
        (drawn,) = figure.axes[0].lines
        assert not drawn.get_clip_on()

    def test_the_title_of_an_axis_breaks_before_its_unit(self):
        words = "mean uncertainty, marked copy (0 sure, 1 unsure)"
        assert fitting(words, 2.4) == words.replace(" (", "\n(")
        assert fitting("share of inputs up to it", 1.2) == "share of\ninputs up to it"

    def test_a_band_and_a_lonely_point_are_drawn(self):
        nan = np.nan
        view = Curves(
            "c", Axis("x"), Axis("y"), np.arange(3.0), (Line("a", np.array([nan, 1.0, nan])),)
        )
        (line,) = draw_view(view).axes[0].lines
        assert line.get_marker() == "o"
        assert len(draw_view(samples.curves()).axes[0].collections) == 1

    def test_a_logarithmic_axis_ignores_what_it_cannot_show(self):
        low, high = limits(Axis("p", low=0.0, log=True), [[0.0, -1.0, 1e-6, 0.1]])
        assert 0 < low <= 1e-6 and 0.1 <= high < 1

    def test_ticks_read_as_people_write_and_differ_from_each_other(self):
        assert TickWords(Axis("s", kind="share")).format_ticks([0, 0.25, 1]) == [
            "0 %",
            "25 %",
            "100 %",
        ]
        assert TickWords(Axis("p", kind="probability")).format_ticks([1e-7, 1e-5]) == [
            "10⁻⁷",
            "10⁻⁵",
        ]
        assert TickWords(Axis("n")).format_ticks([10.001, 10.002]) == ["10.001", "10.002"]


class TestMatrix:
    @pytest.mark.parametrize(("worst", "at"), [("high", 1.0), ("low", 0.0)])
    def test_the_worst_value_is_bright_in_the_dark_and_dark_in_the_light(self, worst, at):
        for dark in (False, True):
            shade = heat.shades(worst, (0, 1), Look(dark))
            bad, good = (sum(shade.to_rgba(value)[:3]) for value in (at, 1 - at))
            assert (bad > good) == dark

    @pytest.mark.parametrize("dark", [False, True])
    def test_a_difference_is_pale_in_the_middle_and_strong_at_both_ends(self, dark):
        shade = heat.shades("middle", (-2, 2), Look(dark))
        assert to_hex(shade.to_rgba(-2)) == Ink("changed").colour(dark).lower()
        assert to_hex(shade.to_rgba(2)) == Ink("original").colour(dark).lower()

    def test_the_colour_bar_says_what_the_colours_mean_and_which_end_is_worst(self):
        bar = draw_view(samples.heat_map()).axes[0]
        assert bar.get_ylabel().replace("\n", " ") == "Score of the true class (low is worst)"

    def test_one_bad_cell_among_a_million_is_seen(self):
        values = np.zeros((1000, 1000))
        values[321, 654] = 1.0
        view = Matrix("m", Axis("x"), Axis("y"), values, Axis("s"), (0, 1), worst="high")
        worst = [round(255 * part) for part in heat.shades("high", (0, 1), Look()).to_rgba(1.0)[:3]]
        picture = pixels(draw_view(view), 1200)[:, :900, :3].astype(int)
        assert (np.abs(picture - worst).sum(-1) < 60).any()
        assert "2 × 2 cells and shows the worst" in said_in(draw_view(view))

    def test_small_matrices_say_their_numbers_and_what_is_not_computed(self):
        figure = draw_view(samples.matrix())
        assert "41 %" in said_in(figure) and legend_of(figure) == ["not computed", "worst pair"]

    def test_the_hue_is_the_class_and_the_legend_names_it(self):
        words = legend_of(draw_view(samples.class_map()))
        classes = {"red", "green", "none of the traffic lights", "not computed"}
        assert set(words) == {*classes, "intensity: Confidence"}

    def test_axes_that_count_the_same_have_the_same_scale(self):
        pixels_ = Axis("x", "pixels"), Axis("y", "pixels from below")
        view = Matrix("m", *pixels_, np.zeros((10, 10)), Axis("s"), (0, 1))
        box = next(axes for axes in draw_view(view).axes if axes.get_xlabel()).get_window_extent()
        assert box.width == pytest.approx(box.height, rel=0.01)

    def test_too_many_names_are_thinned_and_long_ones_cut_in_the_middle(self):
        axes = next(axes for axes in draw_view(samples.thousand()).axes if axes.get_xlabel())
        assert 10 < len(axes.get_yticks()) < 40
        names = [
            label.get_text()
            for label in next(
                axes for axes in draw_view(samples.odd()["matrix"]).axes if axes.get_xlabel()
            ).get_yticklabels()
        ]
        assert all("…" in name and name.endswith("room for") for name in names)


class TestBars:
    def test_long_names_lie_and_short_ones_stand(self):
        value = Axis("v")
        short = Bars("b", value, ("a", "b"), (Series("s", np.ones(2)),))
        long = Bars(
            "b",
            value,
            tuple(f"a rather long name {i}" for i in range(9)),
            (Series("s", np.ones(9)),),
        )
        assert [label.get_text() for label in draw_view(short).axes[0].get_xticklabels()] == [
            "a",
            "b",
        ]
        assert draw_view(long).axes[0].get_yticklabels()[0].get_text() == "a rather long name 0"

    def test_stacked_bars_end_at_their_sum_and_say_their_parts(self):
        figure = draw_view(samples.stacked())
        tops = {round(patch.get_y() + patch.get_height()) for patch in figure.axes[0].patches}
        assert 100 in tops and {"79", "80", "84"} <= set(said_in(figure).split("\n"))

    def test_a_bar_without_a_value_says_so(self):
        view = Bars("b", Axis("v"), ("a", "b"), (Series("s", np.array([1.0, np.nan])),))
        assert "n/a" in said_in(draw_view(view))

    def test_neighbours_differ_by_hatching_as_well_as_by_colour(self):
        hatches = [patch.get_hatch() for patch in draw_view(samples.bars()).axes[0].patches]
        assert None in hatches and "////" in hatches


class TestOthers:
    def test_pictures_of_one_height_have_pixels_of_one_size(self):
        wide, narrow = (samples.Picture(np.zeros((8, width, 3), np.uint8)) for width in (80, 8))
        shown = draw_view(samples.Images("i", (wide, narrow))).axes[0].images
        heights = [abs(image.get_extent()[3] - image.get_extent()[2]) for image in shown]
        assert heights[0] == pytest.approx(heights[1])

    def test_the_title_of_a_column_is_whole(self):
        view = Table(
            "t",
            (
                Column("Network", ("a",)),
                Column("Most often taken for another one", (1.0,), "number"),
            ),
        )
        assert "…" not in said_in(draw_view(view))
        long = Table(
            "t",
            (
                Column("Network", ("a",)),
                Column("fashion_cnn_with_a_long_name.safetensors is sure", (1.0,), "number"),
            ),
        )
        (head,) = [
            text for text in said_in(draw_view(long)).split("\n") if text.startswith("fashion")
        ]
        assert "…" in head and head.endswith("tensors")

    def test_the_two_classes_of_a_chip_are_whole_where_they_need_two_lines(self):
        picture = samples.Picture(np.zeros((8, 8, 3), np.uint8), "image 1", "Sandal / Ankle boot")
        figure = draw_view(samples.Images("i", (picture,) * 5, columns=5))
        chips = [text.get_text() for text in figure.texts if "Sandal" in text.get_text()]
        assert chips == ["Sandal /\nAnkle boot"] * 5

    def test_chips_say_right_and_wrong_by_sign_and_colour(self):
        figure = draw_view(samples.pairs())
        chips = {text.get_text(): to_hex(text.get_color()) for text in figure.texts}
        assert chips["✓ red 98 %"] == Ink("holds").colour().lower()
        assert chips["✗ green 71 %"] == Ink("fails").colour().lower()
        assert (
            list(chips).count("→") == 1
            and sum(text.get_text() == "→" for text in figure.texts) == 2
        )

    def test_more_pictures_rows_and_nodes_than_fit_are_counted(self):
        many = samples.images().pictures * 6
        assert images.note(samples.Images("i", many), True) == "48 of 60 pictures are shown."
        assert images.note(samples.Images("i", many), False) == "16 of 60 pictures are shown."
        rows = Table("t", (Column("a", (1,) * 50, "count"),))
        assert (
            table.note(rows, True) == "40 of 50 rows are shown."
            and table.note(rows, False) == "14 of 50 rows are shown."
        )
        line = Tree(
            "t",
            np.arange(-1, 199),
            ("n",) * 200,
            np.ones(200),
            np.ones(200),
            Axis("v"),
            Axis("visits"),
        )
        assert tree.note(line) == "The 60 nodes with the most visits of 200 are shown."

    def test_numbers_of_a_table_are_whole_even_where_columns_need_another_strip(self):
        figure = draw_view(samples.wide_table())
        said = [text.get_text() for text in figure.texts]
        assert said.count("1,234,567") == 16 and not any(
            "…" in word for word in said if word[0].isdigit()
        )
        assert len(table.strips(samples.wide_table(), 6.56, True)) == 2

    def test_a_status_in_a_table_has_its_sign_its_words_and_its_colour(self):
        colours = {
            text.get_text(): to_hex(text.get_color()) for text in draw_view(samples.table()).texts
        }
        assert colours["✗ Failure found"] == Ink("fails").colour().lower()

    def test_a_tree_keeps_the_best_line_however_light_it_is(self):
        count = 200
        parent = np.zeros(count, int)
        parent[0] = -1
        view = Tree(
            "t",
            parent,
            ("n",) * count,
            np.arange(count, 0, -1.0),
            np.ones(count),
            Axis("v"),
            Axis("visits"),
            (0, 199),
        )
        assert 199 in tree.shown(view) and len(tree.shown(view)) <= tree.MOST_NODES

    def test_signs_that_look_the_same_share_an_entry(self):
        assert legend_of(draw_view(samples.heat_map())) == ["trap (2)", "start"]

    def test_a_film_is_drawn_by_its_last_frame_or_the_one_that_is_asked_for(self):
        assert "The map warms up: step 6 of 6" in said_in(draw_view(samples.film()))
        assert "The map warms up: step 2 of 6" in said_in(draw_view(samples.film(), frame=1))

    def test_a_cell_of_words_that_is_a_number_is_never_cut(self):
        mixed = tuple(f"{n} of 400 ({n / 4:.1f} % to {n / 3:.1f} %)" for n in (28, 126))
        columns = [Column("Class", ("a long name of a class", "another long name of one"))]
        columns += [Column(f"Number {n}", (0.125, 0.25), "number") for n in range(7)]
        figure = draw_view(Table("t", (*columns, Column("Mixed up (95 %)", mixed))))
        words = said_in(figure).split("\n")
        assert set(mixed) <= set(words)
        assert not any(word.startswith("%") for word in words), (
            "a number and its sign stay together"
        )

    def test_the_line_that_bars_are_judged_by_is_within_the_picture(self):
        row = Series("s", np.array([0.03, 0.04]), low=np.array([0.02, 0.01]), high=np.full(2, 0.08))
        level = Mark(0.1, "enough")
        view = Bars("b", Axis("v", kind="share", low=0), ("a", "b"), (row,), levels=(level,))
        assert draw_view(view).axes[0].get_ylim()[1] > 0.1


@pytest.mark.parametrize("width", [7.0, 3.2])
def test_the_ticks_of_powers_of_ten_do_not_touch(width):
    axis = Axis("size of the noise", log=True, low=0.001, high=0.2)
    at = np.geomspace(0.001, 0.2, 7)
    figure = draw_view(Curves("c", axis, Axis("y"), at, (Line("a", at),)), width=width, large=False)
    axes = next(one for one in figure.axes if one.get_xlabel())
    figure.draw_without_rendering()
    below = [text for text in rules_of(axes).texts if text.get_position()[1] < axes.bbox.y0]
    shown = [text.get_window_extent() for text in below if text.get_text() != axes.get_xlabel()]
    shown.sort(key=lambda box: box.x0)
    assert len(shown) >= 2
    assert all(one.x1 < two.x0 for one, two in pairwise(shown))


def test_a_histogram_draws_its_intervals_and_bars_of_nothing_are_something_to_show():
    share = Axis("share", kind="share", low=0, high=1)
    low, high = np.zeros(4), np.full(4, 0.3)
    row = Series("lost", np.zeros(4), low=low, high=high)
    view = Bars("b", share, (), (row,), edges=np.linspace(0, 1, 5), x=Axis("turn"))
    figure = draw_view(view)
    axes = figure.axes[0]
    ends = [path.vertices[:, 1] for lines in axes.collections for path in lines.get_paths()]
    assert any(np.allclose(sorted(each), [0.0, 0.3]) for each in ends)
    assert not any("Nothing to show" in text.get_text() for text in axes.texts)
