"""The pages of the methods after a workspace has been opened again: results and badges as before."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from robgui import resources
from robgui.core.workspace import Workspace
from robgui.gui.app.app import application, leave, open_window
from robgui.gui.panels.panel import Panel
from robgui.gui.panels.stale_badge import FIRST_LOOK
from tests.gui.state.test_reopening import opened
from tests.gui.state.test_restoring import idle

#: An analysis of one input, and two of many, whose first look is short in one way each.
LOOKED_AT = ("zonnscan", "tolerance", "deepinspect")


@contextmanager
def window_on(qtbot, folder, at_ready=lambda window: None):
    application()
    window = open_window(folder / "w.robgui")
    window.store.ready.connect(lambda: at_ready(window))
    window.show()
    store = window.store
    qtbot.waitUntil(lambda: bool(store.analyses) and store.history.workspace is not None)
    idle(qtbot, store)
    yield window
    window.close()
    assert leave(window, 0) == 0
    window.deleteLater()


def page_of(window, analysis):
    """Clicks in the rail and on the tab, as a user does."""
    panel = window.panel(analysis)
    for number in range(window.pages.count()):
        tabs = window.pages.widget(number)
        if hasattr(tabs, "indexOf") and tabs.indexOf(panel) >= 0:
            window.go_to(number)
            tabs.setCurrentWidget(panel)
    return panel


@pytest.fixture
def looked(qtbot, tmp_path):
    """A workspace with the first looks of an inspection, at another input than the first."""
    with window_on(qtbot, tmp_path) as window:
        store = window.store
        opened(qtbot, store, resources.path("demo"), "fashion_mlp.pt2", "fashion.npz")
        store.select(store.selection.replace(input=4))
        for name in LOOKED_AT:
            store.submit(store.inspection.first_look(name))
        qtbot.waitUntil(lambda: not store.runner.busy)
        idle(qtbot, store)
        return {name: badge(qtbot, window, name) for name in LOOKED_AT}


def badge(qtbot, window, name):
    panel = page_of(window, name)
    qtbot.waitUntil(lambda: panel.result is not None)
    idle(qtbot, window.store)
    return panel.badge.text() if panel.stale else ""


def test_every_page_shows_its_stored_result_and_the_same_badge_as_before(qtbot, tmp_path, looked):
    assert looked == dict.fromkeys(LOOKED_AT, FIRST_LOOK)
    with window_on(qtbot, tmp_path) as window:
        store = window.store
        qtbot.waitUntil(lambda: store.library.predictions.measured is not None)
        idle(qtbot, store)
        assert {name: badge(qtbot, window, name) for name in LOOKED_AT} == looked
        for run in store.history.runs:
            store.history.show_run(run)
            idle(qtbot, store)
            assert window.panel(run.request.analysis).run_id == run.id
            assert badge(qtbot, window, run.request.analysis) == FIRST_LOOK


def test_a_result_that_comes_before_its_panel_is_made_is_drawn(qtbot, tmp_path, looked):
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        late = next(run for run in workspace.runs() if run.request.analysis == LOOKED_AT[-1])
        result = workspace.result(late.id)

    def come(window):
        made = {panel.analysis.name for panel in window.findChildren(Panel)}
        assert late.request.analysis not in made
        window.store.history.run_taken.emit(late, False)
        window.store.history.result_shown.emit(late, result)
        come.drawn = window.panel(late.request.analysis).run_id

    with window_on(qtbot, tmp_path, at_ready=come):
        assert come.drawn == late.id
