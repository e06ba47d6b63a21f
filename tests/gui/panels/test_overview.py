"""The overview: one click runs every analysis that applies and fills one tile per method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt

from robgui.core.dataset import from_arrays
from robgui.core.errors import DataError
from robgui.core.execution import registry
from robgui.core.execution.request import build_request
from robgui.core.finding import Finding
from robgui.core.verdict import Status, Verdict
from robgui.core.view.ink import status_ink
from robgui.gui.app.theme import theme
from robgui.gui.pages.overview import Overview
from robgui.gui.pages.overview_hero import overall
from robgui.gui.pages.overview_lead import shows
from robgui.gui.panels.stale_badge import FIRST_LOOK, STALE
from robgui.gui.widgets.views import CurvesView

#: What a tile says once its run is known.
STATUSES = {f"{status.sign} {status.words}" for status in Status}
GRID = {"axes": ("rotation",), "step": {"rotation": 15.0}}


def shown_number(tile):
    """The number of a tile in one line."""
    return tile.number.text().replace("\N{NO-BREAK SPACE}", " ").replace("\n", " ")


@pytest.fixture
def overview(qtbot, store):
    made = Overview(store)
    qtbot.addWidget(made)
    made.resize(900, 600)
    with qtbot.waitExposed(made):
        made.show()
    return made


def tile_of(overview, analysis: str):
    """The tile whose method begins with this analysis."""
    return next(tile for tile in overview.tiles if tile.page.analyses[0].name == analysis)


def kept(qtbot, store):
    """Waits until what a card has shown live is in the workspace."""
    qtbot.waitUntil(
        lambda: bool(store.history.runs) and all(run.state.ended for run in store.history.runs),
    )


def test_one_click_inspects_everything_and_the_tiles_say_what_was_found(
    qtbot, store, overview, monkeypatch
):
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    tile = tile_of(overview, "zonnscan")
    assert tile.status.text() == "Not run yet"
    qtbot.mouseClick(overview.inspect, Qt.MouseButton.LeftButton)
    assert store.inspection.running and not overview.inspect.isEnabled()
    qtbot.waitUntil(lambda: not store.inspection.running)
    qtbot.waitUntil(lambda: tile.status.text() in STATUSES)
    kept(qtbot, store)
    said = store.history.runs[0].verdict
    assert shown_number(tile) == said.number.words
    assert tile.scale.text().startswith(said.number.name), "a number says what it is"
    assert tile.sentence.text().replace("\N{NO-BREAK SPACE}", " ") == said.sentence
    qtbot.waitUntil(lambda: tile.picture is not None and tile.picture.isVisible())
    assert isinstance(tile.picture, CurvesView) and tile.picture.mini
    with qtbot.waitSignal(overview.wants_run) as asked:
        tile.open.click()
    assert asked.args[0].id == store.history.runs[0].id
    for dark in (True, False):
        theme.apply(dark)
        shown = tile.status.palette().windowText().color().name().upper()
        assert shown == status_ink(said.status).colour(dark)


def test_a_panel_says_that_its_picture_is_from_the_inspection_and_not_that_it_is_stale(
    qtbot, store, bench, monkeypatch
):
    panel, pane = bench("zonnscan")
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    store.inspection.start()
    qtbot.waitUntil(lambda: not store.inspection.running and panel.stale)
    assert panel.badge.text() == FIRST_LOOK
    pane.form().set_values({"samples": 64})
    assert panel.badge.text() == FIRST_LOOK, "it is still the short look"
    store.select(store.selection.replace(input=5))
    assert panel.stale and panel.badge.text() == STALE, "another input"


def test_a_run_of_the_users_own_is_stale_after_a_change_although_there_was_an_inspection(
    qtbot, store, bench, run, monkeypatch
):
    panel, pane = bench("zonnscan")
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    store.inspection.start()
    qtbot.waitUntil(lambda: not store.inspection.running and panel.stale)
    run(panel, pane, samples=64, radii=(0.0, 0.1))
    pane.form().set_values({"samples": 32})
    assert panel.stale and panel.badge.text() == STALE


def test_a_tile_of_one_input_follows_the_choice_of_the_input(qtbot, store, overview, monkeypatch):
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    store.inspection.start()
    tile = tile_of(overview, "zonnscan")
    qtbot.waitUntil(lambda: tile.status.text() in STATUSES)
    store.select(store.selection.replace(input=5))
    assert tile.status.text() == "Not run yet" and tile.picture is None
    store.select(store.selection.replace(input=0))
    qtbot.waitUntil(lambda: tile.status.text() in STATUSES)


def test_while_it_is_inspected_the_overview_says_so_and_counts_methods_as_the_cards_do(
    qtbot, store, overview
):
    assert overview.hero.status.text() == "Not inspected yet"
    store.inspection.start()
    qtbot.waitUntil(lambda: "methods done" in overview.left.words, timeout=30_000)
    assert f" of {methods_asked(store, overview)} methods" in overview.left.words
    heading = overview.hero.status.text()
    assert heading != "Not inspected yet" and "Press" not in overview.hero.reason.text()
    store.inspection.stop()
    qtbot.waitUntil(lambda: not store.inspection.running, timeout=60_000)


def methods_asked(store, overview):
    """How many cards have a run under way."""
    asked = {job.request.analysis for job in store.inspection.jobs}
    return sum(any(one.name in asked for one in tile.page.analyses) for tile in overview.tiles)


def test_stopping_an_inspection_ends_all_its_runs_and_keeps_what_they_found(qtbot, store, overview):
    store.inspection.start()
    qtbot.waitUntil(lambda: any(job.newest is not None for job in store.inspection.jobs))
    overview.stop.click()
    qtbot.waitUntil(lambda: not store.inspection.running and overview.inspect.isEnabled())


def test_an_analysis_of_many_inputs_is_shown_only_below_the_data_it_was_run_on(
    qtbot, store, overview, monkeypatch
):
    monkeypatch.setattr(store, "analyses", {"deepinspect": store.analyses["deepinspect"]})
    tile = tile_of(overview, "deepinspect")
    own = store.library.dataset
    store.inspection.start()
    qtbot.waitUntil(lambda: tile.status.text() in STATUSES)
    kept(qtbot, store)
    other = from_arrays(np.full((4, 28, 28), 0.5, np.float32), name="other")
    store.library.add_dataset(other)
    store.library.use_dataset(other)
    assert (
        "other" in overview.hero.subject.text()
        and tile.status.text() == "Not run yet"
        and not tile.number.text()
    )
    store.library.use_dataset(own)
    qtbot.waitUntil(lambda: tile.status.text() in STATUSES)


def test_a_tile_says_why_its_analysis_failed_in_the_inspection(
    qtbot, store, overview, monkeypatch, request
):
    def engine(*_):
        raise DataError("The <b>disk</b> is full.")

    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    registry.register(replace(store.analyses["zonnscan"], engine=engine))
    request.addfinalizer(lambda: registry.unregister("zonnscan"))
    tile = tile_of(overview, "zonnscan")
    store.inspection.start()
    qtbot.waitUntil(
        lambda: (
            (tile.status.text(), tile.sentence.text())
            == ("Could not run", "The <b>disk</b> is full.")
        ),
    )
    assert (
        tile.status.palette().windowText().color().name().upper()
        == status_ink(Status.AT_RISK).colour()
    )
    assert tile.open.isEnabled()
    assert tile.sentence.width() > 0.8 * tile.width(), "the reason has the whole width"
    qtbot.waitUntil(lambda: bool(store.history.runs) and store.history.runs[0].state.ended)
    store.select(store.selection.replace(input=5))
    assert tile.status.text() == "Not run yet", "it failed for another input"


def test_a_run_of_several_models_counts_for_each_of_them_with_its_own_number(
    qtbot, store, overview, monkeypatch
):
    monkeypatch.setattr(store, "analyses", {"semantic_map": store.analyses["semantic_map"]})
    tile = next(
        tile
        for tile in overview.tiles
        if any(one.name == "semantic_map" for one in tile.page.analyses)
    )
    first, second = store.library.models
    request = build_request(
        "semantic_map", [first, second], store.library.dataset, GRID, indices=(0,)
    )
    store.submit(request)
    qtbot.waitUntil(lambda: tile.status.text() in STATUSES)
    kept(qtbot, store)
    own = store.history.runs[0].verdict.models
    assert own[0].number.words != own[1].number.words, "else this test shows nothing"
    for place, model in ((1, second), (0, first)):
        store.library.use_model(model)

        def told(place=place):
            return own[place].number.words in shown_number(tile)

        qtbot.waitUntil(told)


def test_a_run_of_the_first_edition_shows_its_words_with_an_unknown_status(
    qtbot, store, overview, monkeypatch
):
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    store.inspection.start()
    tile = tile_of(overview, "zonnscan")
    qtbot.waitUntil(lambda: not store.inspection.running and tile.status.text() in STATUSES)
    kept(qtbot, store)
    old = replace(
        store.history.runs[0], id="old", verdict=Verdict(Status.UNKNOWN, "Nearest change at 0.3.")
    )
    tile.set_run(old, old.verdict)
    assert (
        tile.status.text() == "? Cannot tell" and tile.sentence.text() == "Nearest change at 0.3."
    )
    assert not tile.number.isVisible()


def test_a_failure_that_one_analysis_of_a_method_has_seen_outweighs_what_a_newer_one_says(
    qtbot, store, overview
):
    model, data = store.library.model, store.library.dataset
    tile = tile_of(overview, "deepinspect")
    for name in ("deepinspect", "deepinspect_coverage"):
        strict = {"most_wrong": 0.05} if name == "deepinspect" else {}
        store.submit(build_request(name, [model], data, strict, indices=range(300)))
    qtbot.waitUntil(lambda: sum(run.state.ended for run in store.history.runs) == 2)
    newest, older = store.history.runs
    assert (newest.verdict.status, older.verdict.status) == (Status.UNKNOWN, Status.FAILS), (
        "else this test shows nothing"
    )
    assert tile.verdict == older.verdict


def test_the_hero_says_the_worst_with_its_reason_and_counts_what_was_not_asked():
    fails = Verdict(Status.FAILS, "Two pixels turn red into green.")
    holds = Verdict(Status.HOLDS, "Noise hardly ever does.")
    said = overall([holds, fails], 6, fails)
    assert said.status is Status.FAILS and said.reason == fails.sentence
    assert said.tally == (
        "Of 6 methods: 1 found a failure, 1 found nothing against it; 4 not asked yet."
    )
    assert overall([], 6, None).status is None, "nothing asked is no green tick"
    begun = Verdict(Status.UNKNOWN, "It has only begun.")
    assert overall([begun], 6, begun, at_work=True).status is None, "not known yet is no verdict"
    assert overall([begun], 6, begun).status is Status.UNKNOWN
    assert overall([fails], 6, fails, at_work=True).tally.startswith("So far, of 6 methods:")
    tried = overall([holds, fails], 4, fails, failed=1)
    assert tried.tally.endswith("; 1 could not answer; 1 not asked yet."), "it was asked"


def test_the_hero_shows_no_failure_of_other_classes_than_its_sentence_names():
    classes = ("bar", "ring", "triangle")
    wrong = "bar/004.png: the model says “ring”, but the label says “bar”."
    turned = Finding("crossing", "", 0.9, {"class": "ring", "other_class": "triangle"})
    mistake = Finding("mistake", "", 0.5, {"class": "bar", "other_class": "ring"})
    assert not shows(turned, wrong, classes) and shows(mistake, wrong, classes)
    assert shows(turned, "Snow lowers the accuracy to 40 %.", classes), "it names no class"


def test_the_hero_leads_to_the_findings_and_asks_the_other_methods(
    qtbot, store, overview, monkeypatch
):
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    assert list(overview.hero.next) == ["inspect_everything"]
    assert overview.hero.status.text() == "Not inspected yet"
    overview.hero.next["inspect_everything"].click()
    assert store.inspection.running and not overview.hero.next
    qtbot.waitUntil(lambda: not store.inspection.running)
    kept(qtbot, store)
    tile = tile_of(overview, "zonnscan")
    qtbot.waitUntil(lambda: tile.run is not None)
    assert overview.hero.reason.text().replace("\N{NO-BREAK SPACE}", " ") == tile.verdict.sentence
    if store.history.findings:
        assert next(iter(overview.hero.next)) == "findings"


def test_the_hero_of_a_table_is_drawn_on_the_ground_of_the_look(qtbot, store, overview):
    values = np.random.default_rng(0).random((6, 4)).astype(np.float32)
    try:
        theme.apply(True)
        store.library.add_dataset(from_arrays(values, name="rows"))
        overview.refresh()
        qtbot.waitUntil(lambda: not overview.hero.alone.pixmap().isNull(), timeout=10_000)
        qtbot.waitUntil(lambda: not store.pictures.busy, timeout=10_000)
        image = overview.hero.alone.pixmap().toImage()
        seen = {
            image.pixelColor(x, y).getRgb()[:3]
            for x in range(0, image.width(), 3)
            for y in range(0, image.height(), 3)
        }
        assert theme.ground in seen and (255, 255, 255) not in seen
    finally:
        theme.apply(False)


def test_a_card_moves_while_its_method_runs_and_speaks_of_what_is_computed(
    qtbot, store, overview, monkeypatch
):
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    tile, seen = overview.tiles[0], []
    shown = tile.show_live
    monkeypatch.setattr(
        tile, "show_live", lambda said, view: (seen.append(said), shown(said, view))
    )
    store.inspection.start()
    assert not tile.progress.isHidden()
    qtbot.waitUntil(lambda: not store.inspection.running)
    kept(qtbot, store)
    assert seen, "its words and picture were shown before it ended"
    qtbot.waitUntil(tile.progress.isHidden)


def test_what_a_run_has_answered_is_not_asked_again_unless_wanted(
    qtbot, store, overview, monkeypatch
):
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    offers = []
    store.offered.connect(lambda *offer: offers.append(offer))
    store.inspection.start()
    assert len(store.inspection.jobs) == 1 and not offers
    qtbot.waitUntil(lambda: not store.inspection.running)
    kept(qtbot, store)
    store.inspection.start()
    assert not store.inspection.jobs and store.inspection.skipped == 1
    (sentence, words, deed) = offers[0]
    assert sentence == "Everything is already answered for this model and input."
    assert words == "Ask again"
    deed()
    assert len(store.inspection.jobs) == 1
    store.inspection.stop()
    qtbot.waitUntil(lambda: not store.inspection.running)


def test_tiles_are_wider_than_high_however_large_the_window_is(qtbot, store, overview):
    for width, height in ((1050, 690), (1600, 950), (2230, 1350)):
        overview.resize(width, height)
        qtbot.waitUntil(lambda: width - 100 < overview.hero.width() <= width)  # noqa: B023
        for tile in overview.tiles:
            assert 1 < tile.width() / tile.height() < 4, (width, height)
    # A picture that is still being read would arrive at a page that is gone.
    qtbot.waitUntil(lambda: not store.pictures.busy)
