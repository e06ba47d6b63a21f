"""In a small window the settings, the inputs and the lists fold; what the user says holds."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QLabel

from robgui.gui.app.folding import BELOW, INPUTS, SETTINGS

SMALL, ROOMY = (1280, 690), (1900, 1060)


@pytest.fixture
def small(lasting_window, qtbot):
    """A small window in which nobody has folded or unfolded anything."""
    window = lasting_window
    window.resize(*ROOMY)
    window.show_panel("zonnscan")
    window.actions_["reset_layout"].trigger()
    qtbot.waitUntil(lambda: folded(window) == [])
    window.resize(*SMALL)
    qtbot.waitUntil(lambda: folded(window) == [SETTINGS, INPUTS, BELOW])
    return window


def folded(window):
    return [part for part in (SETTINGS, INPUTS, BELOW) if window.folding.folded(part)]


def test_a_small_window_folds_and_a_roomy_one_unfolds(small, qtbot):
    assert folded(small) == [SETTINGS, INPUTS, BELOW]
    assert small.form_dock.isHidden() and small.runs_dock.isHidden()
    small.resize(*ROOMY)
    qtbot.waitUntil(lambda: folded(small) == [])
    assert small.form_dock.isVisible() and not small.runs_dock.isHidden()
    assert small.gallery.filter.isVisible()


def test_folded_settings_leave_run_pause_and_stop_in_sight(small, qtbot):
    pane = small.run_pane
    place = QRect(QPoint(), small.size())
    for button in (pane.run, pane.pause, pane.stop, pane.unfold):
        assert button.isVisible()
        assert place.contains(button.mapTo(small, button.rect().bottomRight()))
    assert any(label.isVisible() and label.text() for label in pane.strip.findChildren(QLabel))
    qtbot.mouseClick(pane.unfold, Qt.MouseButton.LeftButton)
    assert small.form_dock.isVisible() and pane.form().isVisible() and pane.run.isVisible()


def test_the_buttons_follow_to_every_method_and_leave_the_other_pages(small):
    for name in ("feature_game", "pipeline_audit", "zonnscan"):
        small.show_panel(name)
        assert small.run_pane.run.isVisible(), name
    small.go_to(1)
    assert not small.run_pane.run.isVisible()


def test_what_the_user_unfolds_stays_unfolded_until_the_layout_is_reset(small, qtbot):
    small.folding.toggle(INPUTS)
    small.resize(1200, 690)
    qtbot.wait(20)
    assert small.gallery.filter.isVisible() and small.settings.folded == {INPUTS: False}
    small.actions_["reset_layout"].trigger()
    assert small.settings.folded == {} and not small.gallery.filter.isVisible()


def test_a_list_is_shown_from_the_status_bar_and_stays(small, qtbot):
    small.runs_dock.toggleViewAction().trigger()
    small.resize(1270, 690)
    qtbot.wait(20)
    assert small.runs_dock.isVisible() and small.log_dock.isHidden()


def test_find_unfolds_the_inputs(small):
    small.commands.find_inputs()
    assert small.gallery.filter.text.isVisible()


def test_what_only_folding_has_hidden_is_not_kept_as_hidden(window, qtbot):
    window.show_panel("zonnscan")
    window.resize(*SMALL)
    qtbot.waitUntil(lambda: folded(window) == [SETTINGS, INPUTS, BELOW])
    window.close()
    assert not window.runs_dock.isHidden(), "the layout that is kept is the whole one"


def test_a_window_that_grows_shows_no_list_on_the_first_page_and_then_the_runs_in_front(
    small, qtbot
):
    small.go_to(0)
    small.resize(*ROOMY)
    qtbot.wait(50)
    assert small.runs_dock.isHidden() and small.log_dock.isHidden()
    small.show_panel("zonnscan")
    qtbot.waitUntil(lambda: not small.runs_dock.visibleRegion().isEmpty())
    assert small.log_dock.visibleRegion().isEmpty(), "the log stands behind the runs"
