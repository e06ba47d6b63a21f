"""A new user: starts the demo, runs a sweep, stops one, closes, reopens and finds everything."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from robgui.core.execution.run import RunState
from tests.e2e.steps import load_demo, press


def subject(panel):
    return next(
        label.text()
        for label in panel.findChildren(QLabel)
        if label.accessibleName() == "Which model on which input"
    )


def run_story(qtbot, start):
    window = start()
    load_demo(qtbot, window)
    store, panel = window.store, window.panel("zonnscan")
    assert store.library.dataset.name.startswith("fashion")
    window.run_pane.form().set_values({"samples": 256})

    press(qtbot, window.run_pane.run)
    qtbot.waitUntil(
        lambda: len(store.history.runs) == 1 and store.history.runs[0].state is RunState.DONE,
    )
    assert panel.result is not None
    assert panel.verdict.text() == store.history.runs[0].verdict.text
    assert not panel.stale
    index = panel.result.index

    store.select(store.selection.replace(input=5))
    assert panel.stale, "another input: the picture on show no longer belongs to it"

    assert subject(panel).endswith("image 0 of fashion.npz")

    window.run_pane.form().set_values({"samples": 1_000_000, "target_half_width": 0})
    press(qtbot, window.run_pane.run)
    # every picture says what it shows
    qtbot.waitUntil(lambda: subject(panel).endswith("image 5 of fashion.npz"))
    press(qtbot, window.run_pane.stop)
    qtbot.waitUntil(
        lambda: len(store.history.runs) == 2 and store.history.runs[0].state is RunState.CANCELLED,
    )
    assert store.history.runs[0].has_result, "a stopped run keeps what it had"
    start.end(window)

    again = start()
    qtbot.waitUntil(lambda: len(again.store.library.models) == 6)
    assert [run.state for run in again.store.history.runs] == [RunState.CANCELLED, RunState.DONE]
    fresh = again.panel("zonnscan")
    qtbot.waitUntil(lambda: fresh.verdict.text() == again.store.history.runs[0].verdict.text)
    assert again.current_panel is fresh, "the newest picture is there at once"
    again.store.history.show_run(again.store.history.runs[1])
    qtbot.waitUntil(lambda: fresh.verdict.text() == again.store.history.runs[1].verdict.text)
    assert again.current_panel is fresh
    assert (fresh.result.index == index).all()


def test_demo_run_stop_reopen_offscreen(qtbot, start):
    run_story(qtbot, start)


@pytest.mark.x11
def test_demo_run_stop_reopen_in_a_real_window(qtbot, start):
    assert QApplication.platformName() == "xcb"
    run_story(qtbot, start)


def test_two_windows_on_one_file_the_second_is_read_only_and_says_so(qtbot, start):
    first = start()
    second = start()
    assert not first.store.history.workspace.read_only
    assert second.store.history.workspace.read_only
    assert "read-only" in second.windowTitle()
    assert any("not kept" in sentence for sentence in second.toasts.sentences)


def test_an_unforeseen_error_becomes_a_toast_and_the_window_lives_on(qtbot, start, capsys):
    import sys

    window = start()
    try:
        raise ZeroDivisionError("nobody foresaw this")
    except ZeroDivisionError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    assert any("nobody foresaw this" in sentence for sentence in window.toasts.sentences)
    assert "Traceback" in capsys.readouterr().err
    assert window.isVisible()


def test_a_file_that_is_no_model_is_said_in_one_sentence(qtbot, start, tmp_path):
    window = start()
    bad = tmp_path / "broken.onnx"
    bad.write_bytes(b"this is no network")
    window.commands.open_path(bad)
    qtbot.waitUntil(
        lambda: any("broken.onnx" in sentence for sentence in window.toasts.sentences),
    )
    assert window.store.library.models == []
