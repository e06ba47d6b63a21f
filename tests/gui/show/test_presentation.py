"""Presentation: F11, arrow keys through the starred findings, Esc.

The window behind it stays as it was.
"""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt

from robgui import manual
from robgui.analyses.feature_game.example import before_and_after
from robgui.core.execution.request import Request
from robgui.core.execution.run import RunState
from robgui.core.finding import Finding
from robgui.core.verdict import Status, Verdict
from robgui.gui.app.theme import theme
from robgui.gui.show.presentation import NOTHING
from robgui.gui.show.presentation_pictures import parts_of


@pytest.fixture
def filled(qtbot, window):
    """A run with four findings; the last has no picture."""
    history = window.store.history
    request = Request(analysis="zonnscan", params={})
    run = history.workspace.add_run(request)
    pictures = [np.full((6, 9, 3), shade, np.uint8) for shade in (40, 120, 200)]
    findings = [
        Finding("crossing", f"finding {i}", 1 - i / 10, picture=picture)
        for i, picture in enumerate([*pictures, None])
    ]
    history.workspace.update_run(
        run.id,
        state=RunState.DONE,
        verdict=Verdict(Status.FAILS, "Three of four.", scope="On four inputs."),
        findings=findings,
    )
    with qtbot.waitSignal(history.findings_changed, timeout=10_000):
        history.refresh()
    return window


def begin(qtbot, window):
    qtbot.keyClick(window, Qt.Key.Key_F11)
    shown = window.commands._presentation
    if (
        shown is None or not shown.isVisible()
    ):  # the offscreen platform has no active window, so no shortcuts
        window.actions_["present"].trigger()
        shown = window.commands._presentation
    qtbot.waitExposed(shown)
    settle(qtbot, window)
    return shown


def settle(qtbot, window):
    qtbot.waitUntil(
        lambda: (
            not window.store.pictures.busy and not (window.store.busy or window.store.keeping.busy)
        ),
        timeout=10_000,
    )


def test_arrow_keys_go_through_all_findings_when_none_is_starred(qtbot, filled):
    shown = begin(qtbot, filled)
    assert shown.isFullScreen() and filled.actions_["present"].isChecked()
    assert (shown.count.text(), shown.title.text()) == ("1 of 4", "finding 0")
    assert (
        shown.status.text() == "✗ Failure found"
        and shown.verdict.text() == "Three of four. On four inputs."
    )
    assert shown.plain.text() == manual.page("zonnscan").plain
    qtbot.keyClick(shown, Qt.Key.Key_Left)
    assert shown.count.text() == "1 of 4", "the first is an end"
    for _ in range(5):
        qtbot.keyClick(shown, Qt.Key.Key_Right)
    assert (shown.count.text(), shown.title.text()) == ("4 of 4", "finding 3")
    qtbot.keyClick(shown, Qt.Key.Key_Home)
    settle(qtbot, filled)
    assert (
        shown.title.text() == "finding 0"
        and shown.pictures.exhibits[0].picture.pixmap().width() > 200
    ), "the picture is large"
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert (
        not shown.isVisible()
        and not filled.actions_["present"].isChecked()
        and filled.runs_dock.isVisible()
    )


def test_only_the_starred_are_shown_with_their_notes(qtbot, filled):
    history = filled.store.history
    for finding in history.findings[1:3]:
        history.set_finding(finding, starred=True, note="ask the painter")
    settle(qtbot, filled)
    shown = begin(qtbot, filled)
    assert (shown.count.text(), shown.title.text(), shown.note.text()) == (
        "1 of 2",
        "finding 1",
        "Note: ask the painter",
    )
    qtbot.mouseClick(shown.forward, Qt.MouseButton.LeftButton)
    assert (shown.count.text(), shown.title.text()) == ("2 of 2", "finding 2")
    assert not shown.forward.isEnabled() and shown.back.isEnabled()
    qtbot.keyClick(shown, Qt.Key.Key_F11)
    assert not shown.isVisible(), "F11 toggles"


def test_a_pair_has_captions_and_its_difference_as_a_third_picture(qtbot, window):
    history = window.store.history
    run = history.workspace.add_run(Request(analysis="zonnscan", params={}))
    first = np.full((1, 4, 4), 0.2, np.float32)
    second = first.copy()
    second[0, 1, 2] += 10 / 255
    detail = {
        "class": "Bag",
        "other_class": "Shirt",
        "confidence_before": 0.91,
        "confidence_after": 0.62,
    }
    found = Finding(
        "adversarial", "one pixel", 1.0, detail, before_and_after(first, second, [(2, 1)]), second
    )
    history.workspace.update_run(
        run.id, state=RunState.DONE, verdict=Verdict(Status.FAILS, "Found."), findings=[found]
    )
    with qtbot.waitSignal(history.findings_changed, timeout=10_000):
        history.refresh()
    shown = begin(qtbot, window)
    exhibits = shown.pictures.exhibits
    qtbot.waitUntil(lambda: all(exhibit.isVisible() for exhibit in exhibits), timeout=10_000)
    before, after, change = (exhibit.caption.text() for exhibit in exhibits)
    assert before == "Input: “Bag”, 91.0 % sure" and after == "Changed: “Shirt”, 62.0 % sure"
    assert change == "The change, enlarged 12 times; grey: none"
    picture = parts_of(history.workspace.finding(history.findings[0].id))[2].picture
    side = len(picture) // 4
    assert np.unique(picture[side : 2 * side, 2 * side : 3 * side]) == [128 + 120], (
        "the frame around the pixel is no part of the change"
    )
    assert (picture != 128).any(2).sum() == side * side
    shown.close()


@pytest.mark.parametrize(
    ("detail", "words"),
    [
        (
            {"class": "Bag", "seen_as": "Shirt", "score": 0.25},
            "“Bag”, seen as “Shirt”; score of “Bag”: 0.25",
        ),
        ({"class": "Bag", "other_class": "Shirt", "inputs": [1, 2]}, "Inputs of “Bag” and “Shirt”"),
        (
            {"answers": {"a": "Bag", "b": "Shirt"}, "confidence": {"a": 0.5}},
            "a: “Bag”, 50.0 % sure; b: “Shirt”",
        ),
        ({"class": "Bag"}, "Input: “Bag”"),
        ({}, ""),
    ],
)
def test_a_single_picture_is_captioned_with_what_the_finding_knows(detail, words):
    (part,) = parts_of(Finding("near boundary", "t", 1.0, detail, np.zeros((9, 9, 3), np.uint8)))
    assert part.caption == words


def test_type_is_large_and_both_themes_are_readable(qtbot, filled):
    shown = begin(qtbot, filled)
    shown.setWindowState(Qt.WindowState.WindowNoState)
    shown.resize(1100, 700)
    assert (
        shown.verdict.font().pixelSize() >= 18
        and shown.title.font().pixelSize() > shown.verdict.font().pixelSize()
    )
    light = shown.palette().window().color().lightness()
    theme.apply(True)
    settle(qtbot, filled)
    assert (
        shown.palette().window().color().lightness() < light - 100
        and shown.title.text() == "finding 0"
    )
    shown.close()


def test_without_findings_it_says_what_to_do(qtbot, window):
    shown = begin(qtbot, window)
    assert (
        shown.title.text() == NOTHING
        and "Run an analysis" in shown.verdict.text()
        and shown.count.text() == "0 of 0"
    )
    qtbot.keyClick(shown, Qt.Key.Key_Right)
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert not shown.isVisible()
