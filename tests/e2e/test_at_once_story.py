"""A person wants two runs at once: says so in the preferences and sees both compute."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from robgui.core.execution.run import RunState
from robgui.gui.app import preferences
from robgui.gui.app.settings import load_settings
from tests.e2e.steps import idle, load_demo, press


@pytest.mark.slow  # tests/gui/state/test_at_once.py has the mechanism
def test_two_runs_at_once_from_the_preferences_to_the_status_bar(
    qtbot, processes, start, monkeypatch
):
    window = start()
    store = window.store
    qtbot.waitUntil(lambda: bool(store.library.devices))
    load_demo(qtbot, window)
    shown = []

    def choose(dialog):
        shown.append((dialog.processes.where.text(), dialog.processes.much.text()))
        dialog.processes.at_once.setValue(2)
        dialog.processes.memory.setValue(3.0)
        shown.append((dialog.processes.where.text(), dialog.processes.much.text()))
        return True

    monkeypatch.setattr(preferences.Preferences, "exec", choose)
    window.actions_["preferences"].trigger()
    assert "One run computes at a time" in shown[0][0]
    assert "2 on the processor with 1 of 1 thread each" in shown[1][0]
    assert "3.0 GB each" in shown[1][1]
    assert (load_settings().runs_at_once, load_settings().memory_gb) == (2, 3.0)
    qtbot.waitUntil(
        lambda: len(store.runner.doings) == 2 and not any(d.words for d in store.runner.doings),
    )

    window.show_panel("zonnscan")
    window.run_pane.form().set_values({"samples": 1_000_000, "target_half_width": 0})
    for index in range(2):
        store.select(store.selection.replace(input=index))
        assert window.run_pane.run.text() == "Run"
        press(qtbot, window.run_pane.run)
        idle(qtbot, window)
    assert window.run_pane.run.text() == "Queue"
    one, two = store.runner.executions
    qtbot.waitUntil(lambda: one.newest is not None and two.newest is not None)
    assert (one.state, two.state) == (RunState.RUNNING,) * 2
    words = r"1: zoNNscan .+ · 2: zoNNscan .+|1: zoNNscan .*…"
    qtbot.waitUntil(lambda: bool(re.match(words, window.status.runs.text())))
    tip = window.status.runs.toolTip()
    assert all(f"process {pid}" in tip for pid in store.runner.pids)
    assert "memory" in window.status.memory.text()
    limits = [Path(f"/proc/{pid}/limits").read_text() for pid in store.runner.pids]
    most = [int(re.search(r"Max address space +(\d+)", text)[1]) for text in limits]
    assert all(3e9 < one < 12e9 for one in most), "what it had already, and 3 GB"
    assert window.panel("zonnscan").job is two, "the picture is of the run that Stop means"

    press(qtbot, window.run_pane.stop)
    qtbot.waitUntil(lambda: two.state is RunState.CANCELLED)
    assert one.state is RunState.RUNNING, "Stop ends the one on show only"
    qtbot.waitUntil(lambda: window.run_pane.run.text() == "Run")
