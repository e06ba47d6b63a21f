"""The overview: one click runs every analysis that applies and fills one tile per method."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from robgui.core.headline import STATUS_WORDS
from robgui.gui.overview import Overview
from robgui.gui.panels.panel import FIRST_LOOK, STALE
from robgui.gui.theme import theme


@pytest.fixture
def overview(qtbot, store):
    made = Overview(store)
    qtbot.addWidget(made)
    made.resize(900, 600)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_one_click_inspects_everything_and_the_tiles_say_what_was_found(qtbot, store, overview, monkeypatch):
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    tile = overview._tiles[0]
    assert tile._words.text() == "Not run yet"
    qtbot.mouseClick(overview.inspect, Qt.MouseButton.LeftButton)
    assert store.inspection.running and not overview.inspect.isEnabled()
    qtbot.waitUntil(lambda: not store.inspection.running, timeout=60_000)
    qtbot.waitUntil(lambda: tile._words.text() in STATUS_WORDS.values(), timeout=30_000)
    assert "Nearest change of class" in tile._headline.text()
    assert tile._verdict.text() == store.history.runs[0].verdict
    assert not tile._picture.isNull()
    with qtbot.waitSignal(overview.wants_run) as asked:
        tile.open.click()
    assert asked.args[0].id == store.history.runs[0].id
    theme.apply(True)
    qtbot.waitUntil(lambda: tile._shown == (store.history.runs[0].id, True), timeout=30_000)
    theme.apply(False)


def test_a_panel_says_that_its_picture_is_from_the_inspection_and_not_that_it_is_stale(qtbot, store, bench, monkeypatch):
    panel, pane = bench("zonnscan")
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    store.inspection.start()
    qtbot.waitUntil(lambda: not store.inspection.running and panel.stale, timeout=60_000)
    assert panel._stale.text() == FIRST_LOOK
    pane.form().set_values({"samples": 64})
    assert panel._stale.text() == FIRST_LOOK, "it is still the short look"
    store.select(store.selection.but(input=5))
    assert panel.stale and panel._stale.text() == STALE, "another input"


def test_a_run_of_the_users_own_is_stale_after_a_change_although_there_was_an_inspection(qtbot, store, bench, run, monkeypatch):
    panel, pane = bench("zonnscan")
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    store.inspection.start()
    qtbot.waitUntil(lambda: not store.inspection.running and panel.stale, timeout=60_000)
    run(panel, pane, samples=64, radii=(0.0, 0.1))
    pane.form().set_values({"samples": 32})
    assert panel.stale and panel._stale.text() == STALE


def test_a_tile_of_one_input_follows_the_choice_of_the_input(qtbot, store, overview, monkeypatch):
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    store.inspection.start()
    tile = overview._tiles[0]
    qtbot.waitUntil(lambda: tile._words.text() in STATUS_WORDS.values(), timeout=60_000)
    store.select(store.selection.but(input=5))
    assert tile._words.text() == "Not run yet"
    store.select(store.selection.but(input=0))
    qtbot.waitUntil(lambda: tile._words.text() in STATUS_WORDS.values(), timeout=30_000)


def test_stopping_an_inspection_ends_all_its_runs_and_keeps_what_they_found(qtbot, store, overview):
    store.inspection.start()
    qtbot.waitUntil(lambda: any(job.step is not None for job in store.inspection.jobs), timeout=30_000)
    overview.stop.click()
    qtbot.waitUntil(lambda: not store.inspection.running and overview.inspect.isEnabled(), timeout=30_000)
