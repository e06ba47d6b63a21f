"""The overview while methods are under way: its cards, its tally, and what was left waiting."""

from __future__ import annotations

import pytest

from robgui.core.verdict import Status, Verdict
from robgui.gui.pages.overview import Overview
from robgui.gui.pages.overview_hero import overall
from robgui.gui.pages.tile import WAITS, Tile
from robgui.gui.panels import pages


@pytest.fixture
def overview(qtbot, store):
    made = Overview(store)
    qtbot.addWidget(made)
    made.resize(900, 600)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_the_numbers_of_methods_add_up():
    fails, holds = Verdict(Status.FAILS, "It fails."), Verdict(Status.HOLDS, "It holds.")
    cut = overall([fails, holds], 9, fails, 1, to_come=3)
    assert cut.tally == (
        "So far, of 9 methods: 1 found a failure, 1 found nothing against it (1 of them ended"
        " early); 3 to come; 4 not asked yet."
    )


def test_runs_left_waiting_go_on_as_an_inspection_and_a_card_is_never_blank(
    qtbot, store, overview, monkeypatch
):
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    store.history.workspace.add_run(store.inspection.first_look("zonnscan"))
    store.history.refresh()
    qtbot.waitUntil(lambda: bool(store.left.runs))
    overview.hide()
    store.left.start_all()
    assert store.inspection.running, "its progress and its Stop are on the overview"
    tile = overview.tiles[0]
    overview.show()
    assert tile.status.text() == WAITS and not overview.stop.isHidden()
    job = store.inspection.jobs[0]
    overview.hide()
    qtbot.waitUntil(lambda: job.newest is not None)
    job.pause()
    overview.show()
    # What it says so far: while it is paused nothing else fills the card.
    qtbot.waitUntil(lambda: bool(tile.status.text() and tile.number.text()))
    job.resume()
    qtbot.waitUntil(lambda: not store.inspection.running)


def test_a_run_under_way_that_cannot_tell_yet_is_no_verdict(qtbot):
    unknown = Verdict(Status.UNKNOWN, "Nothing is known so far.")
    tile = Tile(pages()[0])
    qtbot.addWidget(tile)
    tile.set_run(None)
    tile.show_live(unknown, None)
    assert tile.status.text() == "… Not known yet" and tile.told is None
    tile.show_live(Verdict(Status.FAILS, "It fails."), None)
    assert tile.told is not None and tile.told.status is Status.FAILS
