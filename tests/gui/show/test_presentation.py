"""Presentation: F11, arrow keys through the story, Esc; own words; export.

The window behind it stays as it was.
"""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt

from robgui.analyses.feature_game.example import before_and_after
from robgui.core.execution.request import Request
from robgui.core.execution.run import RunState
from robgui.core.finding import Finding
from robgui.core.verdict import Status, Verdict
from robgui.gui.app.theme import theme
from robgui.gui.pages.findings.bar import FindingsBar
from robgui.gui.show.presentation import MAKING, NOTHING


@pytest.fixture
def filled(qtbot, window):
    """A run with four findings, of which the first is a pair and the last has no picture."""
    history = window.store.history
    run = history.workspace.add_run(Request(analysis="zonnscan", params={}))
    first = np.full((1, 4, 4), 0.2, np.float32)
    second = first.copy()
    second[0, 1, 2] = 0.9
    detail = {"class": "Bag", "other_class": "Shirt", "confidence_before": 0.91}
    pair = before_and_after(first, second, [(2, 1)])
    shades = [np.full((6, 9, 3), shade, np.uint8) for shade in (120, 200)]
    findings = [
        Finding("adversarial", "a.png: one pixel", 1.0, detail, pair, second),
        *(Finding("crossing", f"finding {i}", 0.5, picture=one) for i, one in enumerate(shades)),
        Finding("crossing", "unseen", 0.4),
    ]
    history.workspace.update_run(
        run.id,
        state=RunState.DONE,
        verdict=Verdict(Status.FAILS, "Three of four.", scope="On four inputs."),
        findings=findings,
    )
    with qtbot.waitSignal(history.findings_changed):
        history.refresh()
    return window


def begin(qtbot, window):
    window.actions_["present"].trigger()
    shown = window.commands.presentation
    qtbot.waitExposed(shown)
    settle(qtbot, window)
    return shown


def settle(qtbot, window):
    store = window.store
    qtbot.waitUntil(
        lambda: not (store.pictures.busy or store.busy or store.keeping.busy or store.writing.busy),
    )


def test_arrow_keys_go_through_the_story(qtbot, filled):
    shown = begin(qtbot, filled)
    assert shown.isFullScreen() and filled.actions_["present"].isChecked()
    assert shown.count.text() == "1 of 3" and shown.title.text() == "How robust is the model?"
    qtbot.keyClick(shown, Qt.Key.Key_Left)
    assert shown.count.text() == "1 of 3", "the first is an end"
    qtbot.keyClick(shown, Qt.Key.Key_Right)
    assert shown.title.text() == "One pixel"
    assert shown.pair.isVisible() and shown.pair.picture.pair.given == "Shirt"
    qtbot.keyClick(shown, Qt.Key.Key_End)
    assert shown.title.text() == "What to do" and not shown.forward.isEnabled()
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert not shown.isVisible() and not filled.actions_["present"].isChecked()


def test_only_the_starred_are_told_with_their_notes(qtbot, filled):
    history = filled.store.history
    for finding in history.findings[1:3]:
        history.set_finding(finding, starred=True, note="ask the painter")
    settle(qtbot, filled)
    shown = begin(qtbot, filled)
    assert shown.count.text() == "1 of 4"
    qtbot.mouseClick(shown.forward, Qt.MouseButton.LeftButton)
    assert shown.title.text() == "Finding 0" and "ask the painter" in shown.text.text()
    assert shown.alone.isVisible() and shown.alone.pixmap().width() > 200, "large"
    qtbot.keyClick(shown, Qt.Key.Key_F11)
    assert not shown.isVisible(), "F11 toggles"


def test_own_words_are_kept_and_can_be_taken_away(qtbot, filled):
    shown = begin(qtbot, filled)
    shown.go(1)
    shown.edit.click()
    shown.title_edit.setPlainText("A bag is no shirt")
    shown.edit.click()
    settle(qtbot, filled)
    assert shown.title.text() == "A bag is no shirt" and shown.again.isVisible()
    shown.close()
    shown = begin(qtbot, filled)
    shown.go(1)
    assert shown.title.text() == "A bag is no shirt"
    shown.again.click()
    settle(qtbot, filled)
    assert shown.title.text() == "One pixel" and not shown.again.isVisible()
    shown.close()


@pytest.mark.parametrize("ending", ["pdf", "html"])
def test_the_story_is_written_to_a_file(qtbot, filled, tmp_path, ending):
    shown = begin(qtbot, filled)
    path = tmp_path / f"story.{ending}"
    shown.write(path)
    settle(qtbot, filled)
    assert path.stat().st_size > 5_000 and shown.keys.text() == f"Written: {path}"
    shown.close()


def test_type_is_large_and_both_themes_are_readable(qtbot, filled):
    shown = begin(qtbot, filled)
    shown.setWindowState(Qt.WindowState.WindowNoState)
    shown.resize(1100, 700)
    assert shown.text.font().pixelSize() >= 18
    assert shown.title.font().pixelSize() > shown.text.font().pixelSize()
    light = shown.palette().window().color().lightness()
    theme.apply(True)
    settle(qtbot, filled)
    assert shown.palette().window().color().lightness() < light - 100
    shown.close()


def test_without_findings_it_says_what_to_do(qtbot, window):
    shown = begin(qtbot, window)
    assert shown.title.text() == NOTHING and "Run an analysis" in shown.text.text()
    assert shown.count.text() == "0 of 0" and not shown.export.isEnabled()
    qtbot.keyClick(shown, Qt.Key.Key_Right)
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert not shown.isVisible()


def test_buttons_are_reached_with_tab_and_arrows_still_go_through_the_story(qtbot, filled):
    shown = begin(qtbot, filled)
    shown.forward.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(shown.forward, Qt.Key.Key_Right)
    assert shown.count.text() == "2 of 3"
    qtbot.keyClick(shown.forward, Qt.Key.Key_Left)
    assert shown.count.text() == "1 of 3"
    qtbot.keyClick(shown.forward, Qt.Key.Key_Space)
    assert shown.count.text() == "2 of 3", "a button that has the keyboard is pressed"
    shown.close()


def test_until_the_slides_are_made_nobody_reads_that_there_are_none(qtbot, filled):
    filled.actions_["present"].trigger()
    shown = filled.commands.presentation
    assert shown.title.text() == MAKING and not shown.count.text()
    settle(qtbot, filled)
    assert shown.slides and shown.title.text() not in (MAKING, NOTHING)


def test_what_is_found_meanwhile_changes_no_slide_unseen(qtbot, filled):
    shown = begin(qtbot, filled)
    history = filled.store.history
    before = [told.slide.key for told in shown.slides]
    run = history.workspace.add_run(Request(analysis="feature_game", params={}))
    history.workspace.update_run(
        run.id,
        state=RunState.DONE,
        verdict=Verdict(Status.FAILS, "Worse."),
        findings=[Finding("adversarial", "b.png: worse", 1.0)],
    )
    with qtbot.waitSignal(history.findings_changed):
        history.refresh()
    settle(qtbot, filled)
    assert [told.slide.key for told in shown.slides] == before
    shown.close()
    assert [told.slide.key for told in begin(qtbot, filled).slides] != before
    shown.close()


def test_where_a_file_was_written_is_said_until_the_next_slide(qtbot, filled, tmp_path):
    shown = begin(qtbot, filled)
    hint = shown.keys.text()
    shown.write(tmp_path / "story.html")
    settle(qtbot, filled)
    assert shown.keys.text() != hint
    qtbot.keyClick(shown, Qt.Key.Key_Right)
    assert shown.keys.text() == hint
    shown.close()


def test_the_last_slide_calls_a_button_by_its_name(qtbot, filled):
    shown = begin(qtbot, filled)
    button = filled.findChild(FindingsBar).harm.text().removesuffix(" …")
    assert f"“{button}”" in shown.slides[-1].slide.text
    shown.close()
