"""The window behaves as others of the system do: its look, its size, its keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication

from robgui.gui.app import theme as themes
from robgui.gui.app.app import application, leave, open_window
from robgui.gui.app.preferences import Preferences
from robgui.gui.app.theme import theme

KEYS = QKeySequence.StandardKey


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


def test_what_every_program_has_has_the_keys_of_the_system_and_no_two_actions_share_theirs(window):
    usual = {
        "new_workspace": KEYS.New,
        "open": KEYS.Open,
        "undo": KEYS.Undo,
        "redo": KEYS.Redo,
        "find_inputs": KEYS.Find,
        "back": KEYS.Back,
        "forward": KEYS.Forward,
        "larger": KEYS.ZoomIn,
        "smaller": KEYS.ZoomOut,
        "help": KEYS.HelpContents,
    }
    for name, wanted in usual.items():
        assert window.actions_[name].shortcut() == QKeySequence(wanted), name
    keys = [action.shortcut().toString() for action in window.actions()]
    used = [one for one in keys if one]
    assert len(used) == len(set(used))
    assert all(not window.actions_[name].shortcut().isEmpty() for name in ("preferences", "quit"))


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


def test_no_toast_stands_over_content_or_a_control(window, qtbot):
    window.show_panel("zonnscan")
    window.toasts.show("error", "Something went wrong and here is why. " * 6, details="more")
    for size in ((1280, 690), (1600, 1000)):
        window.resize(*size)
        qtbot.wait(20)
        toast = window.toasts.current
        at = toast.geometry()
        docks = (window.gallery_dock, window.form_dock)
        for other in (window.pages, window.chooser, window.run_pane.run, *docks):
            place = QRect(other.mapTo(window, QPoint()), other.size())
            assert not other.isVisible() or not place.intersects(at), (size, other)
        assert window.rect().contains(at), size
