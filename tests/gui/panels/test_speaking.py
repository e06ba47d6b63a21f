"""What was found stays told: a run that was stopped or a first look does not speak over it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from robgui.core.execution.request import build_request
from robgui.core.execution.run import RunState
from robgui.core.finding import Finding
from robgui.core.verdict import Quantity, Status, Verdict
from robgui.gui.pages.findings.known import SeenInput, answers
from robgui.gui.pages.overview import Overview
from robgui.gui.pages.overview_tiles import how_many_done
from robgui.gui.pages.scoreboard import BEFORE, Scoreboard
from tests.gui import sample_views as samples

FOUND = Verdict(Status.FAILS, "2 pixels turn “Coat” into “Shirt”.")
NONE = Verdict(Status.UNKNOWN, "None found with 1 call.")
SEEN = Finding("adversarial", "input 0: 2 pixels", 0.9, {"class": "Coat", "other_class": "Shirt"})


def keep(qtbot, store, analysis, verdict, findings=(), state=RunState.DONE, **params):
    """Keeps a run of the first input that has ended."""
    library, workspace = store.library, store.history.workspace
    request = build_request(analysis, [library.model], library.dataset, params, indices=(0,))
    run = workspace.add_run(request)
    workspace.update_run(run.id, state=state, verdict=verdict, findings=findings)
    with qtbot.waitSignal(store.history.findings_changed):
        store.history.refresh()
    # As if the results were in the file too.
    store.history.runs = [replace(one, has_result=True) for one in store.history.runs]
    return run


@pytest.fixture
def overview(qtbot, store):
    made = Overview(store)
    qtbot.addWidget(made)
    made.resize(900, 600)
    with qtbot.waitExposed(made):
        made.show()
    return made


def shown(label):
    """The words of a label in one line."""
    return label.text().replace("\N{NO-BREAK SPACE}", " ").replace("\n", " ")


def tile_of(overview, analysis):
    return next(t for t in overview.tiles if any(a.name == analysis for a in t.page.analyses))


def test_run_and_stop_do_not_erase_a_failure_from_card_headline_tally_and_page(
    qtbot, store, overview
):
    found = keep(qtbot, store, "feature_game", FOUND, [SEEN])
    overview.refresh()
    before = [label.text() for label in (overview.hero.status, overview.hero.reason)]
    keep(qtbot, store, "feature_game", NONE.stopped(), state=RunState.CANCELLED)
    overview.refresh()
    tile = tile_of(overview, "feature_game")
    assert tile.run.id == found.id and tile.verdict == FOUND
    assert [label.text() for label in (overview.hero.status, overview.hero.reason)] == before
    assert "1 found a failure" in shown(overview.hero.subject)
    spot = SeenInput(store.library.model.fingerprint, store.library.dataset.fingerprint, 0)
    told = {one.analysis.name: one.run for one in answers(store, spot)}
    assert told["feature_game"].id == found.id
    assert store.history.speaking_like(found.request).id == found.id


def test_run_and_stop_do_not_erase_a_failure_from_the_scoreboard(qtbot, store):
    found = keep(qtbot, store, "feature_game", FOUND, [SEEN])
    keep(qtbot, store, "feature_game", NONE.stopped(), state=RunState.CANCELLED)
    board = Scoreboard(store)
    qtbot.addWidget(board)
    board.show()
    cell = board.model().index(board.analyses.index("feature_game"), BEFORE)
    assert cell.data() == "✗ Failure found" and board.run_at(cell).id == found.id


def test_the_picture_comes_back_when_the_run_that_drew_over_it_does_not_speak(
    qtbot, store, overview
):
    keep(qtbot, store, "feature_game", NONE)
    first = store.history.runs[0]
    tile = tile_of(overview, "feature_game")
    tile.set_run(first, NONE)
    assert tile.due(first) and not tile.due(first)
    tile.show_live(FOUND, samples.curves(0.5))
    assert tile.verdict == FOUND, "graver than what is known"
    tile.set_run(first, NONE)
    assert tile.verdict == NONE and tile.due(first), "its picture is read again"


def test_a_run_under_way_does_not_speak_over_one_that_found_more(qtbot, store, overview):
    keep(qtbot, store, "feature_game", FOUND, [SEEN])
    found = store.history.runs[0]
    tile = tile_of(overview, "feature_game")
    tile.set_run(found, FOUND)
    assert tile.due(found)
    worse = replace(FOUND, sentence="19 pixels turn “Coat” into “Shirt”.")
    tile.show_live(worse, samples.curves(0.5))
    assert tile.verdict == FOUND and tile.picture is None, "its own number and picture stay"
    going = replace(found, state=RunState.RUNNING)
    tile.set_run(going, FOUND)
    tile.show_live(worse, samples.curves(0.5))
    assert tile.verdict == worse, "the run on show goes on itself"


def test_a_stopped_run_is_marked_on_its_card_and_not_counted_as_done(qtbot, store, overview):
    keep(qtbot, store, "feature_game", NONE.stopped(), state=RunState.CANCELLED)
    overview.refresh()
    tile = tile_of(overview, "feature_game")
    assert shown(tile.status) == "? Cannot tell (stopped)"
    assert "1 of them ended early" in shown(overview.hero.subject)
    jobs = [SimpleNamespace(state=RunState(state)) for state in ("done", "cancelled", "failed")]
    assert how_many_done([[job] for job in jobs]) == (
        "1 of 3 methods done, 1 stopped, 1 could not run"
    )
    keep(qtbot, store, "feature_game", FOUND)
    overview.refresh()
    assert shown(tile.status) == "✗ Failure found"


def test_a_filtered_run_does_not_speak_for_the_data_on_its_card(qtbot, store, overview):
    library, workspace = store.library, store.history.workspace
    for indices, said in ((None, NONE), ((3,), FOUND), ((3, 4), FOUND)):
        request = build_request("accuracy", [library.model], library.dataset, {}, indices=indices)
        run = workspace.add_run(request)
        workspace.update_run(run.id, state=RunState.DONE, verdict=said)
    with qtbot.waitSignal(store.history.findings_changed, timeout=10_000):
        store.history.refresh()
    store.history.runs = [replace(one, has_result=True) for one in store.history.runs]
    overview.refresh()
    tile = tile_of(overview, "accuracy")
    assert tile.run.request.indices is None and tile.verdict.status is Status.UNKNOWN


def test_a_number_of_a_filtered_part_says_so_on_its_card(qtbot, store, overview):
    library, workspace = store.library, store.history.workspace
    said = replace(NONE, number=Quantity("Accuracy", 0.0, better="high"))
    request = build_request(
        "accuracy", [library.model], library.dataset, {}, indices=(3,), how="label:Coat"
    )
    run = workspace.add_run(request)
    workspace.update_run(run.id, state=RunState.DONE, verdict=said)
    with qtbot.waitSignal(store.history.findings_changed, timeout=10_000):
        store.history.refresh()
    store.history.runs = [replace(one, has_result=True) for one in store.history.runs]
    overview.refresh()
    tile = tile_of(overview, "accuracy")
    assert shown(tile.scale).endswith("; only 1 of 2,000 inputs (label:Coat)")


def test_a_first_look_does_not_take_the_place_of_a_whole_run(qtbot, store, overview, monkeypatch):
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    model, data = store.library.model, store.library.dataset
    settings = {"samples": 1024, "radii": (0.0, 0.1)}
    store.submit(build_request("zonnscan", [model], data, settings, indices=(0,)))
    tile = tile_of(overview, "zonnscan")
    qtbot.waitUntil(lambda: tile.run is not None and tile.run.state.ended)
    whole = tile.run
    store.inspection.start()
    qtbot.waitUntil(lambda: sum(run.state is RunState.DONE for run in store.history.runs) == 2)
    assert tile.run.id == whole.id != store.history.runs[0].id
    assert shown(tile.number) == whole.verdict.number.words
    assert store.history.speaking_like(whole.request).id == whole.id


def test_a_card_weighs_what_a_run_under_way_says_as_its_page_does(
    qtbot, store, overview, monkeypatch
):
    keep(qtbot, store, "feature_game", FOUND, [SEEN])
    said = []
    tile = tile_of(overview, "zonnscan")
    monkeypatch.setattr(tile, "show_live", lambda verdict, view: said.append(verdict))
    model, data = store.library.model, store.library.dataset
    settings = {"samples": 64, "radii": (0.0, 0.001)}
    store.submit(build_request("zonnscan", [model], data, settings, indices=(0,)))
    qtbot.waitUntil(lambda: len(store.history.runs) == 2)
    qtbot.waitUntil(lambda: store.history.runs[0].state.ended)
    assert store.history.runs[0].verdict.status in (Status.UNKNOWN, Status.HOLDS)
    assert said and {one.status for one in said} == {Status.AT_RISK}


def test_a_page_goes_back_to_the_whole_run_after_a_first_look_and_after_run_and_stop(
    qtbot, store, bench, run, monkeypatch
):
    panel, pane = bench("zonnscan")
    monkeypatch.setattr(store, "analyses", {"zonnscan": store.analyses["zonnscan"]})
    run(panel, pane, samples=1024, radii=(0.0, 0.1))
    whole = panel.run_id
    store.inspection.start()
    qtbot.waitUntil(lambda: panel.run_id != whole)
    qtbot.waitUntil(lambda: panel.run_id == whole and panel.job is None)
    assert not panel.stale, "it shows what Run would give"
    run(panel, pane)
    again = panel.run_id
    assert again != whole, "of two whole runs the newer is on show"
    store.history.workspace.update_run(again, state=RunState.CANCELLED)
    store.history.refresh()
    qtbot.waitUntil(lambda: panel.run_id == whole)
