"""The overview: one click runs every analysis that applies and fills one tile per method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt

from robgui.analyses.semantic.maps.words import map_headline
from robgui.core.dataset import from_arrays
from robgui.core.errors import DataError
from robgui.core.execution import analysis as registry
from robgui.core.execution.request import build_request
from robgui.core.headline import STATUS_WORDS
from robgui.gui.app.theme import theme
from robgui.gui.pages.overview import Overview
from robgui.gui.panels.panel import FIRST_LOOK, STALE
from robgui.report.each import headlines

GRID = {"axes": ("rotation",), "step": {"rotation": 15.0}}


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
    qtbot.waitUntil(lambda: any(job.newest is not None for job in store.inspection.jobs), timeout=30_000)
    overview.stop.click()
    qtbot.waitUntil(lambda: not store.inspection.running and overview.inspect.isEnabled(), timeout=30_000)


def test_an_analysis_of_many_inputs_is_shown_only_below_the_data_it_was_run_on(qtbot, store, overview, monkeypatch):
    monkeypatch.setattr(store, "analyses", {"deepinspect": store.analyses["deepinspect"]})
    tile = next(tile for tile in overview._tiles if tile.page.panels[0].analysis == "deepinspect")
    own = store.library.dataset
    store.inspection.start()
    qtbot.waitUntil(lambda: tile._words.text() in STATUS_WORDS.values(), timeout=60_000)
    other = from_arrays(np.full((4, 28, 28), 0.5, np.float32), name="other")
    store.library.add_dataset(other)
    store.library.use_dataset(other)
    assert "other" in overview._subject.text() and tile._words.text() == "Not run yet" and not tile._headline.text()
    store.library.use_dataset(own)
    qtbot.waitUntil(lambda: tile._words.text() in STATUS_WORDS.values(), timeout=30_000)


def test_a_tile_says_why_its_analysis_failed_in_the_inspection(qtbot, store, overview, monkeypatch):
    def engine(*_):
        raise DataError("The <b>disk</b> is full.")

    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    monkeypatch.setitem(registry._REGISTRY, "zonnscan", replace(store.analyses["zonnscan"], engine=engine))
    tile = overview._tiles[0]
    store.inspection.start()
    qtbot.waitUntil(lambda: tile._words.text() == "Failed: The <b>disk</b> is full.", timeout=30_000)
    assert tile._status == "doubtful" and tile.open.isEnabled()
    qtbot.waitUntil(lambda: bool(store.history.runs) and store.history.runs[0].state.ended, timeout=10_000)
    store.select(store.selection.but(input=5))
    assert tile._words.text() == "Not run yet" and tile._status == "unknown", "it failed for another input"


def test_a_run_of_several_models_counts_for_each_of_them_with_its_own_number(qtbot, store, overview, monkeypatch):
    monkeypatch.setattr(store, "analyses", {"semantic_map": store.analyses["semantic_map"]})
    tile = next(tile for tile in overview._tiles if any(entry.analysis == "semantic_map" for entry in tile.page.panels))
    first, second = store.library.models
    request = build_request("semantic_map", [first, second], store.library.dataset, GRID, indices=(0,))
    store.submit(request)
    qtbot.waitUntil(lambda: tile._words.text() in STATUS_WORDS.values(), timeout=60_000)
    run = store.history.runs[0]
    qtbot.waitUntil(lambda: store.history.runs[0].state.ended, timeout=60_000)
    own = headlines(map_headline, store.history.workspace.result(run.id), 2)
    assert own[0].text != own[1].text, "else this test shows nothing"
    for place, model in ((1, second), (0, first)):
        store.library.use_model(model)
        qtbot.waitUntil(lambda place=place: own[place].text.split()[0] in tile._headline.text(), timeout=30_000)
