"""The lists below the picture: their buttons bring them to the front, and they can be closed."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QAbstractButton, QApplication, QToolButton

from robgui.gui.app.main_window import FIRST_METHOD
from robgui.gui.app.room import in_front
from robgui.gui.docks.runs_items import COLUMNS
from robgui.gui.widgets.elided import beginning


@pytest.fixture
def roomy(qtbot, window):
    window.go_to(FIRST_METHOD)
    qtbot.waitUntil(lambda: in_front(window.runs_dock), timeout=10_000)
    return window


def button(window, text):
    return next(one for one in window.status.findChildren(QToolButton) if one.text() == text)


def test_the_log_comes_to_the_front_and_goes_when_it_is_seen(qtbot, roomy):
    log = button(roomy, "Log")
    assert not in_front(roomy.log_dock) and not log.isChecked()
    log.click()
    qtbot.waitUntil(lambda: in_front(roomy.log_dock) and log.isChecked(), timeout=10_000)
    assert not in_front(roomy.runs_dock)
    qtbot.waitUntil(lambda: not button(roomy, "Runs").isChecked(), timeout=10_000)
    log.click()
    assert roomy.log_dock.isHidden() and not log.isChecked()


def test_a_list_has_a_button_that_closes_it(qtbot, roomy):
    close = roomy.runs_dock.findChild(QAbstractButton, "qt_dockwidget_closebutton")
    assert close.isVisible() and not close.icon().isNull() and close.height() >= 10
    qtbot.mouseClick(close, Qt.MouseButton.LeftButton)
    assert roomy.runs_dock.isHidden()


def test_the_hour_is_called_what_it_is():
    assert "Queued" in COLUMNS and "Started" not in COLUMNS


def test_a_long_name_is_cut_in_its_middle_and_not_left_out(qapp):
    metrics = QFontMetrics(QApplication.font())
    said = "! In automobile/aquatic_creature_08028.png “automobile” rests most on the middle."
    shown = beginning(said, metrics, metrics.averageCharWidth() * 30)
    assert shown.startswith("! In auto") and shown.endswith("…")
    assert metrics.horizontalAdvance(shown) <= metrics.averageCharWidth() * 30
