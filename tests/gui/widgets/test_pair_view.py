from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF

from robgui.core.finding_pair import Pair
from robgui.core.view import Ink, class_inks
from robgui.gui.app.theme import theme
from robgui.gui.widgets.inks import class_lists
from robgui.gui.widgets.pair import PairView
from robgui.gui.widgets.pair.chips import (
    chip_words,
    class_colours,
    confusion_words,
    letters_on,
)
from robgui.gui.widgets.pair.fitted import Fitted
from robgui.gui.widgets.pair.pair_picture import Mode
from robgui.gui.widgets.pair.places import places

RED, GREEN = (200, 40, 40), (40, 200, 40)


@pytest.fixture
def view(qtbot):
    widget = PairView()
    qtbot.addWidget(widget)
    widget.resize(700, 420)
    before, after = (np.full((40, 40, 3), colour, np.uint8) for colour in (RED, GREEN))
    with qtbot.waitExposed(widget):
        widget.show()
    widget.show_pair(Pair(before, after, "red", "green", 0.97, 0.51))
    widget.picture.slide_to(0.5)
    return widget


def colour_at(view, share):
    """The colour on the screen, this share of the picture's width from its left edge."""
    main = view.picture.on_show.main[0]
    place = QPoint(round(main.left() + share * main.width()), round(main.bottom() - 20))
    return view.picture.grab().toImage().pixelColor(place).getRgb()[:3]


def test_the_slider_shows_before_left_of_it_and_after_right_of_it(qtbot, view):
    assert (colour_at(view, 0.25), colour_at(view, 0.75)) == (RED, GREEN)
    main = view.picture.on_show.main[0]
    place = QPoint(round(main.left() + 0.9 * main.width()), round(main.center().y()))
    qtbot.mousePress(view.picture, Qt.MouseButton.LeftButton, pos=place)
    assert view.picture.place == pytest.approx(0.9, abs=0.01)
    assert colour_at(view, 0.75) == RED
    qtbot.keyClick(view.picture, Qt.Key.Key_Left)
    assert view.picture.place == pytest.approx(0.88, abs=0.01)


def test_side_by_side_blink_and_difference_are_each_one_click(qtbot, view):
    qtbot.mouseClick(view.buttons[Mode.BESIDE], Qt.MouseButton.LeftButton)
    assert len(view.picture.on_show.main) == 2
    qtbot.mouseClick(view.buttons[Mode.BLINK], Qt.MouseButton.LeftButton)
    seen = {colour_at(view, 0.5)}
    qtbot.waitUntil(lambda: seen.add(colour_at(view, 0.5)) or len(seen) == 2)
    assert seen == {RED, GREEN}
    qtbot.mouseClick(view.buttons[Mode.CHANGE], Qt.MouseButton.LeftButton)
    assert colour_at(view, 0.5) not in (RED, GREEN)


def test_nothing_blinks_while_nobody_looks(qtbot, view):
    view.set_mode(Mode.BLINK)
    assert view.picture.blinks
    view.hide()
    assert not view.picture.blinks


def test_the_close_looks_lie_inside_and_cover_nothing():
    for size in ((700, 420), (300, 900), (1600, 500)):
        room = QRectF(0, 0, *size)
        found = places(room, 1.0, 1, close=True)
        every = [*found.main, *found.close]
        assert len(every) == 3 and all(room.contains(one) for one in every)
        assert not any(a.intersects(b) for a in every for b in every if a is not b)
        assert found.main[0].width() >= 0.55 * min(size)


def test_the_wrong_answer_is_the_loud_one_and_letters_are_read_on_every_colour():
    assert confusion_words("red", "green") == "red → GREEN"
    from PySide6.QtGui import QColor

    assert letters_on(QColor("#C62828")).name() == "#ffffff"
    assert letters_on(QColor("#FFB238")).name() == "#000000"


def test_a_narrow_chip_cuts_the_name_and_never_the_number(qapp):
    metrics = QFontMetricsF(QFont())
    whole = metrics.horizontalAdvance("GREEN  51 %") + 16
    seen = {chip_words(metrics, "GREEN", "51 %", whole - less) for less in range(int(whole))}
    assert chip_words(metrics, "GREEN", "51 %", whole + 1) == "GREEN  51 %"
    assert any("…" in words for words in seen)
    assert all(words.endswith("  51 %") or "%" not in words for words in seen)


def test_a_drawing_has_the_ground_of_the_present_look_and_an_image_keeps_its_white(qtbot, view):
    drawing = np.full((40, 40, 3), 255, np.uint8)
    drawing[30:, 10:14] = (0, 114, 178)
    alone = Fitted()
    qtbot.addWidget(alone)
    alone.resize(200, 200)
    try:
        for dark in (False, True):
            theme.apply(dark)
            view.show_pair(Pair(drawing, drawing[:, ::-1].copy(), drawn=True))
            view.picture.slide_to(0.5)
            assert colour_at(view, 0.05) == theme.ground
            view.show_pair(Pair(drawing, drawing[:, ::-1].copy()))
            view.picture.slide_to(0.5)
            assert colour_at(view, 0.05) == (255, 255, 255)
        alone.show_picture(drawing, drawn=True)
        for dark in (True, False):
            theme.apply(dark)
            image = alone.pixmap().toImage()
            assert image.pixelColor(5, 5).getRgb()[:3] == theme.ground, "also after a change"
    finally:
        theme.apply(False)


def test_chips_have_the_colours_that_the_pictures_of_their_model_give_to_classes():
    names = ("Coat", "Dress", "Shirt")
    pictured = [ink.colour() for ink in class_inks(("Shirt", "Coat"), names)]
    assert class_lists.set([("red", "green"), names])
    try:
        assert [one.name().upper() for one in class_colours("Shirt", "Coat")] == pictured
        back = [one.name().upper() for one in class_colours("Coat", "Shirt")]
        assert back == pictured[::-1], "the same class has the same colour on either side"
    finally:
        class_lists.set([])


def test_the_close_look_at_the_wrong_answer_is_framed_as_a_failure_and_not_in_its_class(
    qtbot, view
):
    before, after = (np.full((40, 40, 3), 90, np.uint8) for _ in range(2))
    after[20, 20] = 250
    view.show_pair(Pair(before, after, "red", "green", 0.97, 0.51))
    close = view.picture.on_show.close
    image = view.picture.grab().toImage()
    frames = [image.pixelColor(place.topLeft().toPoint()).name().upper() for place in close]
    assert frames == [Ink("original").colour(), Ink("fails").colour()]
