"""The window behaves as others of the system do: its look, its size, its keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QComboBox, QSpinBox

from robgui.gui.app import theme as themes
from robgui.gui.app.app import application, leave, open_window
from robgui.gui.app.preferences import Preferences
from robgui.gui.app.theme import theme


@pytest.fixture
def dark_system(monkeypatch):
    monkeypatch.setattr(themes, "system_is_dark", lambda: True)


def test_the_window_follows_the_system_until_the_user_says_otherwise(window, dark_system):
    assert window.settings.look == "system" and not theme.dark
    QApplication.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.dark and window.actions_["dark"].isChecked()
    window.actions_["dark"].trigger()
    assert window.settings.look == "light" and not theme.dark
    QApplication.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert not theme.dark, "the user has chosen"


def test_a_closed_window_follows_the_system_no_more(window, dark_system):
    window.close()
    QApplication.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert not theme.dark


def test_the_look_is_a_preference(window, qtbot):
    window.settings.look = "dark"
    dialog = Preferences(window.store, window, window.settings)
    qtbot.addWidget(dialog)
    assert dialog.look.currentText() == "Dark"
    dialog.restore()
    assert dialog.look.currentData() == "system"


def test_a_maximised_window_opens_maximised_again(qtbot, tmp_path):
    application()
    for begin in (True, False):
        window = open_window(tmp_path / "w.robgui")
        if begin:
            window.showMaximized()
        else:
            window.show()
        qtbot.waitExposed(window)
        qtbot.waitUntil(lambda: bool(window.store.analyses))  # noqa: B023
        assert window.isMaximized(), "again" if not begin else "at first"
        window.close()
        assert leave(window, 0) == 0
        window.deleteLater()
        QApplication.processEvents()


def test_every_entry_of_every_menu_has_an_icon_or_a_tick(window):
    bare = [
        action.text()
        for menu in window.actions_.menus.values()
        for action in menu.actions()
        if not (action.isSeparator() or action.isCheckable()) and action.icon().isNull()
    ]
    assert not bare, "words beside icons that stand without one look like another kind of thing"


def test_a_comparison_has_the_width_of_the_window_and_the_inputs_come_back(window, qtbot):
    window.resize(1366, 768)
    window.show_panel("zonnscan")
    before = window.gallery_dock.isVisible()
    window.go_to(window.pages.count() - 1)
    assert not window.gallery_dock.isVisible()
    window.show_panel("zonnscan")
    assert window.gallery_dock.isVisible() == before


@pytest.mark.parametrize("factor", [1.0, 2.0])
@pytest.mark.parametrize("kind", [QSpinBox, QComboBox])
def test_arrows_of_boxes_grow_with_the_text_and_stay_when_the_box_has_the_keyboard(
    qtbot, factor, kind
):
    application()
    usual = QApplication.font()
    try:
        font = QApplication.font()
        font.setPointSizeF(usual.pointSizeF() * factor)
        QApplication.setFont(font)
        theme.apply(False)
        box = kind()
        qtbot.addWidget(box)
        box.resize(200, box.sizeHint().height())
        with qtbot.waitExposed(box):
            box.show()
        wide = round(18 * factor)
        for focused in (False, True):
            box.setFocus() if focused else box.clearFocus()
            image = box.grab().toImage()
            arrow = QColor("#7f8794")
            dots = [
                x
                for x in range(image.width() - wide, image.width() - 2)
                if any(image.pixelColor(x, y) == arrow for y in range(3, image.height() - 3))
            ]
            assert len(dots) >= 4 * factor, f"an arrow is seen, focused: {focused}"
    finally:
        QApplication.setFont(usual)
        theme.apply(False)
