"""The page of a method stands still: what a new user clicks is where it was seen."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect

from robgui.gui.app.main_window import FIRST_METHOD

SMALL = (1366, 768)


def place(window, widget):
    return QRect(widget.mapTo(window, QPoint()), widget.size())


def test_run_does_not_move_when_the_reason_why_it_is_grey_goes(qtbot, window):
    window.resize(*SMALL)
    window.go_to(FIRST_METHOD)
    qtbot.wait(50)
    pane = window.run_pane
    assert not pane.run.isEnabled() and pane.why.isVisible()
    before = place(window, pane.run)
    pane.why.hide()
    row = pane.strip.layout()
    row.invalidate()
    row.activate()  # as it happens before the tabs have been laid out again
    assert place(window, pane.run) == before


def test_run_pause_and_stop_are_as_high_beside_the_tabs_as_they_want_to_be(qtbot, window):
    window.resize(*SMALL)
    window.go_to(FIRST_METHOD)
    qtbot.wait(50)
    pane = window.run_pane
    assert pane.folded
    for button in (pane.run, pane.pause, pane.stop):
        assert button.height() >= button.sizeHint().height()
