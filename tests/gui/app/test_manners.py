"""The window behaves as others of the system do: its look, its size, its keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

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
