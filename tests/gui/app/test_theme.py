"""The look is worked out where it changes, and only there."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QStyle,
    QStyleOptionButton,
    QWidget,
)

from robgui.gui.app import theme as themes
from robgui.gui.app.app import application
from robgui.gui.app.theme import icon, pixmap, theme


@pytest.fixture
def repaints(qtbot):
    """Notes each time the program takes on a look."""
    theme.apply(False)
    seen = []
    note = lambda: seen.append(theme.dark)  # noqa: E731 - the same one is taken off again
    theme.changed.connect(note)
    font = QApplication.font()
    yield seen
    theme.changed.disconnect(note)
    QApplication.setFont(font)
    theme.apply(False)


def test_a_look_that_is_on_show_already_repaints_nothing(repaints):
    theme.apply(False)
    assert repaints == []
    theme.apply(True)
    theme.apply(True)
    assert repaints == [True]


def test_larger_text_in_the_same_look_repaints_everything(repaints):
    font = QApplication.font()
    font.setPointSizeF(font.pointSizeF() * 1.5)
    QApplication.setFont(font)
    theme.apply(False)
    assert repaints == [False]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("tight", [False, True])
@pytest.mark.parametrize("role", ["", "primary", "link"])
def test_a_button_needs_no_more_room_while_it_has_the_focus(qtbot, role, tight, dark):
    application()
    theme.apply(dark)
    around = QWidget()
    qtbot.addWidget(around)
    row = QHBoxLayout(around)
    button, other = QPushButton("Queue"), QPushButton("Other")
    for one in (button, other):
        one.setIcon(icon("run"))
        one.setProperty("role", role)
        one.setProperty("tight", tight)
        row.addWidget(one, 0, Qt.AlignmentFlag.AlignLeft)
    with qtbot.waitActive(around):
        around.show()
        around.activateWindow()
    other.setFocus()
    before = room_for_words(button)
    button.setFocus()
    assert button.hasFocus() and room_for_words(button) == before
    assert button.width() >= button.sizeHint().width()
    theme.apply(False)


def room_for_words(button):
    """Pixels within frame and padding; Qt's size hint leaves the focus out."""
    option = QStyleOptionButton()
    button.initStyleOption(option)
    inside = QStyle.SubElement.SE_PushButtonContents
    return button.style().subElementRect(inside, option, button).size()


def test_an_icon_has_as_many_pixels_as_a_fine_screen_shows(qtbot, monkeypatch):
    application()
    plain = pixmap("run", 24)
    monkeypatch.setattr(themes, "sharpness", lambda: 2.0)
    fine = pixmap("run", 24)
    assert (plain.width(), fine.width()) == (24, 48)
    assert plain.deviceIndependentSize() == fine.deviceIndependentSize()


@pytest.mark.parametrize("dark", [False, True])
def test_the_chosen_entry_of_an_opened_list_can_be_read(qtbot, dark):
    theme.apply(dark)
    box = QComboBox()
    box.addItems(["All kinds", "corruption"])
    qtbot.addWidget(box)
    box.show()
    box.showPopup()
    qtbot.waitUntil(box.view().isVisible)
    rows = box.view()
    picture = rows.viewport().grab(rows.visualRect(rows.model().index(0, 0))).toImage()
    shades = [
        QColor(picture.pixel(x, y)).lightnessF()
        for x in range(picture.width())
        for y in range(picture.height())
    ]
    assert max(shades) - min(shades) > 0.4
    box.hidePopup()
    theme.apply(False)
