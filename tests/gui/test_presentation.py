"""Presentation: F11, arrow keys through the starred findings, Esc; the window behind it stays as it was."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt

from robgui import manual
from robgui.core.finding import Finding
from robgui.core.request import Request
from robgui.core.run import RunState
from robgui.gui.app import application, leave, open_window
from robgui.gui.presentation import NOTHING
from robgui.gui.theme import theme


@pytest.fixture
def window(qtbot, tmp_path):
    application()
    made = open_window(tmp_path / "w.robgui")
    made.show()
    qtbot.waitExposed(made)
    qtbot.waitUntil(lambda: bool(made.store.analyses) and made.store.history.workspace is not None, timeout=60_000)
    yield made
    theme.apply(False)
    made.close()
    assert leave(made, 0) == 0
    made.deleteLater()


@pytest.fixture
def filled(qtbot, window):
    """A run with four findings; the last has no picture."""
    history = window.store.history
    request = Request(analysis="zonnscan", params={})
    run = history.workspace.add_run(request)
    pictures = [np.full((6, 9, 3), shade, np.uint8) for shade in (40, 120, 200)]
    findings = [Finding("crossing", f"finding {i}", 1 - i / 10, picture=picture) for i, picture in enumerate([*pictures, None])]
    history.workspace.update_run(run.id, state=RunState.DONE, verdict="Three of four.", findings=findings)
    with qtbot.waitSignal(history.findings_changed, timeout=10_000):
        history.refresh()
    return window


def begin(qtbot, window):
    qtbot.keyClick(window, Qt.Key.Key_F11)
    shown = window.commands._presentation
    if shown is None or not shown.isVisible():  # the offscreen platform has no active window, so no shortcuts
        window.actions_["present"].trigger()
        shown = window.commands._presentation
    qtbot.waitExposed(shown)
    settle(qtbot, window)
    return shown


def settle(qtbot, window):
    qtbot.waitUntil(lambda: not window.store.pictures.busy and not window.store.background.busy, timeout=10_000)


def test_arrow_keys_go_through_all_findings_when_none_is_starred(qtbot, filled):
    shown = begin(qtbot, filled)
    assert shown.isFullScreen() and filled.actions_["present"].isChecked()
    assert (shown.count.text(), shown.title.text()) == ("1 of 4", "finding 0")
    assert shown.verdict.text() == "Three of four." and shown.plain.text() == manual.page("zonnscan").plain
    qtbot.keyClick(shown, Qt.Key.Key_Left)
    assert shown.count.text() == "1 of 4", "the first is an end"
    for _ in range(5):
        qtbot.keyClick(shown, Qt.Key.Key_Right)
    assert (shown.count.text(), shown.title.text()) == ("4 of 4", "finding 3")
    qtbot.keyClick(shown, Qt.Key.Key_Home)
    settle(qtbot, filled)
    assert shown.title.text() == "finding 0" and shown.picture.pixmap().width() > 200, "the picture is large"
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert not shown.isVisible() and not filled.actions_["present"].isChecked() and filled.runs_dock.isVisible()


def test_only_the_starred_are_shown_with_their_notes(qtbot, filled):
    history = filled.store.history
    for finding in history.findings[1:3]:
        history.set_finding(finding, starred=True, note="ask the painter")
    settle(qtbot, filled)
    shown = begin(qtbot, filled)
    assert (shown.count.text(), shown.title.text(), shown.note.text()) == ("1 of 2", "finding 1", "Note: ask the painter")
    qtbot.mouseClick(shown.forward, Qt.MouseButton.LeftButton)
    assert (shown.count.text(), shown.title.text()) == ("2 of 2", "finding 2")
    assert not shown.forward.isEnabled() and shown.back.isEnabled()
    qtbot.keyClick(shown, Qt.Key.Key_F11)
    assert not shown.isVisible(), "F11 toggles"


def test_type_is_large_and_both_themes_are_readable(qtbot, filled):
    shown = begin(qtbot, filled)
    shown.setWindowState(Qt.WindowState.WindowNoState)
    shown.resize(1100, 700)
    assert shown.verdict.font().pixelSize() >= 18 and shown.title.font().pixelSize() > shown.verdict.font().pixelSize()
    light = shown.palette().window().color().lightness()
    theme.apply(True)
    settle(qtbot, filled)
    assert shown.palette().window().color().lightness() < light - 100 and shown.title.text() == "finding 0"
    shown.close()


def test_without_findings_it_says_what_to_do(qtbot, window):
    shown = begin(qtbot, window)
    assert shown.title.text() == NOTHING and "Run an analysis" in shown.verdict.text() and shown.count.text() == "0 of 0"
    qtbot.keyClick(shown, Qt.Key.Key_Right)
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert not shown.isVisible()
