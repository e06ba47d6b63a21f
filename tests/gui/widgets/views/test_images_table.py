"""Images, Table, Tree and Film: signs beside colours, numbers that are whole, clicks that name
what was hit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from robgui.core.verdict import Status
from robgui.core.view import Column, Images, Ink, Picture, Table
from robgui.core.view.ink import status_ink
from robgui.gui.widgets.views import ViewBoard, view_widget
from robgui.gui.widgets.views.images import LEAST
from robgui.gui.widgets.views.picture_cell import frame_shape, words_of
from tests.gui import sample_views as samples


def cell(widget, row):
    return widget.list.visualRect(widget.model.index(row))


def test_a_picture_says_in_words_whether_it_is_right():
    words = [words_of(picture) for picture in samples.images().pictures]
    assert words[:3] == ["input 0, Shirt", "input 1, Shirt (right)", "input 2, Shirt (wrong)"]


def test_a_click_gives_the_number_of_the_picture(qtbot, shown):
    widget = shown(samples.images())
    with qtbot.waitSignal(widget.chosen) as chosen:
        qtbot.mouseClick(
            widget.list.viewport(), Qt.MouseButton.LeftButton, pos=cell(widget, 2).center()
        )
    assert chosen.args == [2]


def test_the_two_pictures_of_a_pair_are_told_apart_by_a_click(qtbot, shown):
    widget = shown(samples.images(pairs=True))
    assert widget.model.rowCount() == 2
    box = cell(widget, 1)
    for shift, number in ((-0.25, 2), (0.25, 3)):
        place = box.center() + QPoint(round(shift * box.width()), -20)
        with qtbot.waitSignal(widget.chosen) as chosen:
            qtbot.mouseClick(widget.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert chosen.args == [number]


def test_the_keyboard_chooses_a_picture_too(qtbot, shown):
    widget = shown(samples.images())
    widget.list.setFocus()
    widget.list.setCurrentIndex(widget.model.index(1))
    with qtbot.waitSignal(widget.chosen) as chosen:
        qtbot.keyClick(widget.list, Qt.Key.Key_Return)
    assert chosen.args == [1]


def test_pictures_are_read_out_and_drawn_as_large_as_the_room_allows(qtbot, shown):
    small, large = shown(samples.images(), 420, 200), shown(samples.images(), 900, 500)
    assert large.model.side > small.model.side
    place = cell(large, 1).center()
    said = []
    large.pointed.connect(said.append)
    large.point(large.list.indexAt(place), place)
    assert said == ["input 1, Shirt (right)"]


def test_a_wide_picture_leaves_no_empty_square_around_it():
    wide = Images("w", (Picture(np.zeros((30, 40, 3), np.uint8)),))
    assert frame_shape(wide) == (1.0, 0.75)
    assert frame_shape(
        replace(wide, pictures=(*wide.pictures, Picture(np.zeros((40, 20, 3), np.uint8))))
    ) == (1.0, 1.0)


def test_the_pixels_of_a_picture_are_shown_as_they_are(shown):
    widget = shown(Images("i", (samples.picture(200),)))
    box = cell(widget, 0)
    image = widget.list.viewport().grab().toImage()
    assert image.pixelColor(box.left() + 20, box.top() + 20).red() == 200


def cells(widget, row):
    model = widget.sheet.model()
    return [model.index(row, column).data() for column in range(model.columnCount())]


def test_cells_read_as_their_columns_say_and_a_status_has_sign_word_and_colour(shown):
    widget = shown(samples.table())
    assert cells(widget, 0) == ["pair 0", "0.5", "91.2 %", "✗ Failure found"]
    assert cells(widget, 1)[1] == "" and cells(widget, 2)[3] == ""
    ink = widget.sheet.model().index(0, 3).data(Qt.ItemDataRole.ForegroundRole)
    assert ink.name().upper() == status_ink(Status.FAILS).colour() == Ink("fails").colour()


def test_a_number_is_never_clipped_not_even_when_it_grows(shown):
    widget = shown(samples.table(), 300, 200)
    longer = Table(
        "Pairs",
        (
            *samples.table().columns[:1],
            Column("Distance", (123456789.5,) * 4, "number"),
            *samples.table().columns[2:],
        ),
    )
    widget.show_view(longer)
    sheet = widget.sheet
    needed = sheet.fontMetrics().horizontalAdvance("123,456,790")
    assert sheet.columnWidth(1) >= needed + 4


def test_rows_are_sorted_with_the_unknown_last_both_ways_and_named_as_they_were_given(qtbot, shown):
    widget = shown(samples.table())
    for order, names in (
        (Qt.SortOrder.AscendingOrder, ["pair 2", "pair 0", "pair 3", "pair 1"]),
        (Qt.SortOrder.DescendingOrder, ["pair 3", "pair 0", "pair 2", "pair 1"]),
    ):
        widget.sheet.sortByColumn(1, order)
        assert [cells(widget, row)[0] for row in range(4)] == names
    with qtbot.waitSignal(widget.chosen) as chosen:
        widget.sheet.selectRow(0)
    assert chosen.args == [3]


def test_the_children_of_a_node_share_its_height_by_their_weights(shown):
    page = shown(samples.tree(), 600, 300).page
    boxes = dict(page.boxes)
    assert set(boxes) == {0, 1, 2, 3}
    assert boxes[1].height() == pytest.approx(0.7 * boxes[0].height())
    assert boxes[2].top() == pytest.approx(boxes[1].bottom())
    assert boxes[3].left() == pytest.approx(boxes[1].right()) and boxes[
        3
    ].height() == pytest.approx(boxes[1].height() * 4 / 7)


def test_a_node_is_read_out_and_clicked(qtbot, shown):
    widget = shown(samples.tree(), 600, 300)
    box = dict(widget.page.boxes)[3]
    assert widget.words(3) == "left again: severity 1, visits 4, on the best line"
    with qtbot.waitSignal(widget.chosen) as chosen:
        qtbot.mouseClick(widget.page, Qt.MouseButton.LeftButton, pos=box.center().toPoint())
    assert chosen.args == [3]


def test_a_film_names_its_step_and_follows_the_newest_until_it_is_moved(qtbot, shown):
    widget = shown(samples.film())
    assert widget.timeline.words.text() == "step 3 of 3"
    widget.timeline.slider.setValue(0)
    assert widget.timeline.words.text() == "step 1 of 3"
    np.testing.assert_array_equal(widget.screened.view.lines[0].y, samples.curves(0.2).lines[0].y)
    longer = replace(
        samples.film(),
        frames=(*samples.film().frames, samples.curves()),
        steps=("a", "b", "c", "d"),
    )
    widget.show_view(longer)
    assert widget.timeline.words.text() == "a", "the user looks at the first"
    widget.timeline.play.click()
    qtbot.waitUntil(lambda: not widget.timeline.play.isChecked())
    assert widget.timeline.words.text() == "d"


def test_the_axes_of_a_film_stand_still_while_its_lines_move(shown):
    loose = [
        replace(frame, y=replace(frame.y, low=np.nan, high=np.nan))
        for frame in samples.film().frames
    ]
    widget = shown(replace(samples.film(), frames=tuple(loose)))
    ranges = []
    for place in range(3):
        widget.timeline.slider.setValue(place)
        ranges.append(widget.axes.box.viewRange())
    assert ranges[0] == ranges[1] == ranges[2]


def test_strips_of_one_height_keep_one_size_of_pixel_and_leave_no_empty_room(shown):
    strips = [Picture(np.zeros((28, 28 * many, 3), np.uint8), f"{many} inputs") for many in (6, 1)]
    widget = shown(Images("Inputs", tuple(strips)), 640, 300)
    model = widget.model
    sizes = [model.pictures(row)[0][1].size() for row in (0, 1)]
    assert sizes[0].height() == sizes[1].height() == model.frame.height()
    assert model.frame.height() < model.frame.width() / 4


def test_a_pair_is_as_large_as_its_room_and_stands_in_the_middle(qtbot, shown):
    two = replace(samples.images(pairs=True), pictures=samples.images(pairs=True).pictures[:2])
    widget = shown(two, 1040, 520)
    assert widget.model.side >= 400
    place = widget.list.viewport().geometry().center().x()
    assert abs(place - widget.list.rect().center().x()) <= 8
    assert not widget.list.verticalScrollBar().isVisible()
    assert cell(widget, 0).top() == 0, "it stands on top, not below an empty row"


def test_many_pictures_that_fit_stand_in_the_middle_too(shown):
    picture = samples.images().pictures[0]
    widget = shown(Images("i", (picture,) * 8), 1000, 500)
    first, last = (cell(widget, row) for row in (0, 7))
    viewport = widget.list.viewport()
    top = viewport.mapTo(widget, first.topLeft()).y()
    below = widget.height() - viewport.mapTo(widget, last.bottomLeft()).y()
    assert last.top() > first.top(), "two rows are larger than one"
    assert abs(top - below) < 40


def test_a_picture_too_small_for_its_words_has_none(shown):
    two = replace(samples.images(pairs=True), pictures=samples.images(pairs=True).pictures[:2])
    assert not shown(two, 100, 80, mini=True).model.worded
    assert shown(two, 400, 200, mini=True).model.worded


def test_pictures_that_fit_are_never_cut_off_by_a_column_that_is_a_pixel_too_wide(qtbot):
    pixels = np.zeros((28, 28, 3), np.uint8)
    pictures = tuple(Picture(pixels, "still: T-shirt/top", "Dress", right=False) for _ in range(12))
    made = view_widget(Images("Twelve", pictures, note="One line."))
    qtbot.addWidget(made)
    made.resize(700, 420)
    made.show()
    cut = []
    for width in range(700, 900):
        made.resize(width, 420)
        QApplication.processEvents()
        if made.model.side > LEAST and made.list.verticalScrollBar().maximum():
            cut.append(width)
    assert not cut


def test_pictures_of_a_run_at_work_are_drawn_as_they_come(qtbot):
    board = ViewBoard()
    qtbot.addWidget(board)
    board.resize(600, 400)
    with qtbot.waitExposed(board):
        board.show()
    grey, white = (np.full((8, 8, 3), value, np.uint8) for value in (90, 255))
    board.show_views((Images("Pictures", (Picture(grey, "a"),)),))
    board.show_views((Images("Pictures", (Picture(white, "a"), Picture(grey, "b"))),))
    widget = board.widgets[0]
    assert widget.model.rowCount() == 2, "the newest are on show, not the first"
    assert widget.model.pictures(0)[0][1].toImage().pixelColor(2, 2).red() == 255


def test_a_row_that_is_asked_for_is_as_high_as_the_room_and_not_cut(shown):
    eight = replace(samples.images(), pictures=samples.images().pictures[:1] * 8, columns=8)
    high, low = shown(eight, 1200), shown(eight, 1200, 190)
    assert low.model.cell.height() <= low.list.height()
    assert low.model.side < high.model.side


def test_what_is_to_be_explained_of_pictures_is_the_first_and_the_first_wrong_one(shown):
    first, *_ = samples.images().pictures
    view = replace(samples.images(), pictures=(first, replace(first, chip="cow", right=False)))
    words = [one.words for one in shown(view).callouts()]
    assert len(words) == 2 and "cow (wrong)" in words[1]


def test_pictures_that_are_made_when_they_come_on_show_take_the_room_at_once(qtbot, shown):
    board = ViewBoard()
    qtbot.addWidget(board)
    board.resize(900, 500)  # low: one view at a time
    with qtbot.waitExposed(board):
        board.show()
    board.show_views([samples.images(), samples.table(), samples.images(pairs=True)])
    for place in (0, 2):
        board.bar.setCurrentIndex(place)
        qtbot.wait(20)
        late = board.widgets[place]
        early = shown(late.view, late.width(), late.height())
        assert late.model.cell == early.model.cell
