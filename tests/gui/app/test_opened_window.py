"""What is seen of a window that was just opened; one is enough, nothing here changes it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QSpinBox,
    QToolButton,
)

from robgui.gui.app.theme import theme
from robgui.gui.panels import pages
from tests.methods import OUR_METHODS

KEYS = QKeySequence.StandardKey


@pytest.fixture(scope="module")
def window(lasting_window):
    return lasting_window


def test_every_page_and_every_tab_has_an_empty_state_that_says_what_to_do(window):
    assert len(pages()) == len(OUR_METHODS)
    for analysis in (analysis for page in pages() for analysis in page.analyses):
        window.show_panel(analysis.name)
        panel = window.current_panel
        assert panel.analysis is analysis
        words = [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]
        assert analysis.invitation in words and len(analysis.invitation) > 40
        assert len(analysis.explanation) > 100


def test_the_window_fits_a_small_screen(window):
    for number in range(window.pages.count()):
        window.go_to(number)
        smallest = window.minimumSizeHint()
        assert smallest.width() <= 1100
        assert smallest.height() <= 700


def test_dark_and_light_and_larger_text_repaint_everything(window, qtbot):
    window.show_panel("zonnscan")
    light = window.palette().window().color().lightness()
    window.actions_["dark"].trigger()
    assert theme.dark
    assert window.palette().window().color().lightness() < light - 100
    points = QApplication.font().pointSizeF()
    window.actions_["larger"].trigger()
    assert QApplication.font().pointSizeF() > points
    window.actions_["smaller"].trigger()
    window.actions_["dark"].trigger()
    assert not theme.dark


def test_nothing_to_export_is_said(window):
    window.show_panel("zonnscan")
    window.actions_["copy_picture"].trigger()
    assert any("no picture yet" in sentence for sentence in window.toasts.sentences)


def test_the_layout_can_be_reset_after_everything_was_moved(window, qtbot):
    window.show_panel("zonnscan")
    window.runs_dock.setFloating(True)
    window.gallery_dock.hide()
    window.actions_["reset_layout"].trigger()
    assert not window.runs_dock.isFloating()
    assert window.gallery_dock.isVisible()


def test_every_control_has_a_name_for_a_screen_reader(window):
    window.show_panel("zonnscan")
    nameless = [
        widget
        for kind in (QAbstractButton, QComboBox, QLineEdit, QSpinBox)
        for widget in window.findChildren(kind)
        if widget.isVisible()
        and not widget.accessibleName()
        and not getattr(widget, "text", str)()
        and not widget.toolTip()
        if not widget.objectName().startswith("qt_")
    ]
    assert nameless == []


def test_larger_text_covers_nothing_of_the_status_bar(window, qtbot):
    scale = window.settings.font_scale
    try:
        for factor in (1.5, 4 / 3, 0.5):
            window.commands.scale_text(factor)
            QApplication.processEvents()
            status = window.status
            places = [one.geometry() for one in (status.speed, status.memory, status.device)]
            assert all(one.right() < two.left() for one, two in pairwise(places)), factor
    finally:
        window.commands.scale_text(scale / window.settings.font_scale)


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


def test_the_page_on_show_stands_out_in_the_rail(window):
    window.show_panel("zonnscan")
    button = next(one for one in window.rail.findChildren(QToolButton) if one.isChecked())
    image = window.grab().toImage()
    chosen = button.mapTo(window, QPoint(12, 6))
    ground = window.rail.mapTo(window, QPoint(2, window.rail.height() - 3))
    assert image.pixelColor(chosen) != image.pixelColor(ground)
