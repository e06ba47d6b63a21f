"""A failure that one run has seen reaches every place that speaks of the same model and input."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from robgui.core.execution.request import build_request
from robgui.core.execution.run import RunState
from robgui.core.finding import Finding
from robgui.core.verdict import Quantity, Status, Verdict
from robgui.core.view.ink import status_ink
from robgui.gui.docks.runs_items import RESULT, RunsModel
from robgui.gui.pages.compare import Compare
from robgui.gui.pages.compare_columns import NO_DIFFERENCE
from robgui.gui.pages.overview import Overview
from robgui.gui.pages.scoreboard import BEFORE, Scoreboard
from robgui.gui.panels.generic import GenericPanel
from robgui.report.report_content import chapter

FAILED = Verdict(Status.FAILS, "A change turns it.")
HOLDS = Verdict(Status.HOLDS, "Noise does not change it.")
SEEN = Finding(
    "adversarial",
    "input 0: 9 pixels turn “Coat” into “Shirt”",
    0.9,
    {"class": "Coat", "other_class": "Shirt"},
)


def keep(qtbot, store, analysis, verdict, findings=(), index=0, model=0, **params):
    """Keeps a run of the workspace that has ended."""
    chosen = store.library.models[model]
    request = build_request(analysis, [chosen], store.library.dataset, params, indices=(index,))
    workspace = store.history.workspace
    run = workspace.add_run(request)
    workspace.update_run(run.id, state=RunState.DONE, verdict=verdict, findings=findings)
    with qtbot.waitSignal(store.history.findings_changed):
        store.history.refresh()
    return next(one for one in store.history.runs if one.id == run.id)


def with_results(store):
    """The runs as if their results were in the file too."""
    store.history.runs = [replace(run, has_result=True) for run in store.history.runs]


@pytest.fixture
def held(qtbot, store):
    return keep(qtbot, store, "last_particle", HOLDS)


def test_the_tile_the_scoreboard_and_the_list_of_runs_tell_of_a_failure_another_run_has_seen(
    qtbot, store, held
):
    with_results(store)
    overview, board, runs = Overview(store), Scoreboard(store), RunsModel(store)
    for widget in (overview, board):
        qtbot.addWidget(widget)
        widget.show()
    tile = next(t for t in overview.tiles if t.page.analyses[0].name == "last_particle")
    row = board.analyses.index("last_particle")
    assert tile.status.text() == "✓ Holds"
    assert board.model().index(row, BEFORE).data().startswith("✓")
    keep(qtbot, store, "feature_game", Verdict(Status.FAILS, "9 pixels."), [SEEN])
    with_results(store)
    overview.refresh()
    board.refresh()
    runs.sync()
    assert tile.status.text() == "! At risk" and "9 pixels turn" in tile.sentence.text()
    row = board.analyses.index("last_particle")
    assert board.model().index(row, BEFORE).data().startswith("!")
    row = next(i for i, run in enumerate(runs.rows) if run.id == held.id)
    assert runs.index(row, RESULT).data().startswith("! Noise does not change it. But Feature")
    assert chapter(store.history.workspace, replace(held, has_result=True)).verdict.status is (
        Status.AT_RISK
    )
    qtbot.waitUntil(lambda: not store.pictures.busy)  # the overview waits for one


def test_the_words_of_a_panel_follow_what_other_runs_see_and_forget(qtbot, store, sampled):
    panel = GenericPanel(store, sampled)
    qtbot.addWidget(panel)
    panel.show()
    store.set_scope((0,))
    store.submit(
        build_request(sampled, [store.library.model], store.library.dataset, {}, indices=(0,))
    )
    qtbot.waitUntil(lambda: panel.run_id is not None and panel.job is None)
    assert panel.verdict.verdict.status is Status.HOLDS
    seen = keep(qtbot, store, "feature_game", Verdict(Status.FAILS, "9 pixels."), [SEEN])
    assert panel.verdict.verdict.status is Status.AT_RISK
    assert "9 pixels turn “Coat” into “Shirt”" in panel.verdict.sentence.text()
    with qtbot.waitSignal(store.history.findings_changed):
        store.history.delete_run(seen)
    assert panel.verdict.verdict.status is Status.HOLDS


def test_a_failure_is_known_again_when_the_workspace_is_opened_again(qtbot, store, held):
    keep(qtbot, store, "feature_game", Verdict(Status.FAILS, "9 pixels."), [SEEN])
    path = store.history.workspace.path
    with qtbot.waitSignal(store.history.opened):
        store.open_workspace(path.with_name("other.robgui"))
    assert store.history.shown(held) is held.verdict
    qtbot.waitUntil(lambda: not store.keeping.busy)
    with qtbot.waitSignal(store.history.opened):
        store.open_workspace(path)
    assert store.history.shown(held).status is Status.AT_RISK


def test_a_run_of_another_input_does_not_stand_in_for_the_worst_known(qtbot, store):
    near, far = (
        replace(FAILED, number=Quantity("Nearest change", value, better="high"))
        for value in (0.0265, 0.2)
    )
    keep(qtbot, store, "zonnscan", HOLDS, index=7)
    keep(qtbot, store, "zonnscan", near, index=0, model=1)
    keep(qtbot, store, "zonnscan", far, index=3, model=1)
    with_results(store)
    board = Scoreboard(store)
    qtbot.addWidget(board)
    board.show()
    row = board.analyses.index("zonnscan")
    cells = [board.model().index(row, column) for column in (BEFORE, BEFORE + 1)]
    assert cells[1].data() == "✗ 0.0265 · other inputs: image 0 of fashion.npz"
    inks = [cell.data(Qt.ItemDataRole.ForegroundRole).name().upper() for cell in cells]
    assert inks[1] == status_ink(Status.FAILS).colour(False), "a failure is not paler for that"
    keep(qtbot, store, "zonnscan", HOLDS, index=3)
    with_results(store)
    board.refresh()
    row = board.analyses.index("zonnscan")
    cells = [board.model().index(row, column).data() for column in (BEFORE, BEFORE + 1)]
    assert cells == ["✓ Holds", "✗ 0.2"], "what both have answered is compared"


def test_a_cell_that_answers_another_question_than_its_row_is_marked(qtbot, store):
    keep(qtbot, store, "last_particle", HOLDS, index=0)
    keep(qtbot, store, "last_particle", HOLDS, index=3, model=1)
    with_results(store)
    board = Scoreboard(store)
    qtbot.addWidget(board)
    board.show()
    row = board.analyses.index("last_particle")
    cells = [board.model().index(row, column).data() for column in (BEFORE, BEFORE + 1)]
    assert cells == ["✓ Holds", "✓ Holds · other inputs: image 3 of fashion.npz"]
    keep(qtbot, store, "last_particle", HOLDS, index=0, model=1)
    keep(qtbot, store, "last_particle", HOLDS, index=3, model=1)
    with_results(store)
    board.refresh()
    row = board.analyses.index("last_particle")  # the accuracy may have come to stand above it
    cells = [board.model().index(row, column).data() for column in (BEFORE, BEFORE + 1)]
    assert cells[1] == "✓ Holds", "a run of the same question goes before"


def test_nothing_unlike_is_compared_unasked_and_its_difference_is_refused(qtbot, store, sampled):
    data = store.library.dataset
    for model, index in ((0, 0), (1, 3)):
        chosen = store.library.models[model]
        store.submit(build_request(sampled, [chosen], data, {}, indices=(index,)))
    qtbot.waitUntil(lambda: sum(run.state.ended for run in store.history.runs) == 2)
    page = Compare(store)
    qtbot.addWidget(page)
    page.show()
    assert page.first.currentIndex() == -1 and not page.columns.isVisible()
    assert "No two runs can be compared" in page.empty.text()
    page.show_pair(*store.history.runs)
    qtbot.waitUntil(lambda: bool(page.shown))
    words = page.columns.slots[2].words.text()
    assert "different models and other inputs (3, 0) at once" in words and NO_DIFFERENCE in words


def test_a_failure_that_an_earlier_run_has_seen_too_is_one_of_the_run_on_show(
    qtbot, store, sampled
):
    panel = GenericPanel(store, sampled)
    qtbot.addWidget(panel)
    runs = [
        keep(qtbot, store, "feature_game", Verdict(Status.FAILS, "9 pixels."), [SEEN])
        for _ in range(2)
    ]
    for run in runs:
        panel.run_id = run.id
        panel.found.refresh()
        assert not panel.found.isHidden() and panel.found.text() == "See the failure"


def test_the_button_counts_findings_and_says_what_they_are(qtbot, store, sampled):
    panel = GenericPanel(store, sampled)
    qtbot.addWidget(panel)
    found = [
        Finding("class", "“a” is right in 0 of 30.", 1.0, {"class": "a", "other_class": "b"}),
        Finding("wrong input", "one", 0.5, {"class": "a", "other_class": "b", "place": 3}),
        Finding("wrong input", "two", 0.5, {"class": "b", "other_class": "a", "place": 4}),
    ]
    run = keep(qtbot, store, "deepinspect", Verdict(Status.FAILS, "32 inputs are wrong."), found)
    panel.run_id = run.id
    panel.found.refresh()
    assert panel.found.text() == "See 3 findings", "32 inputs fail, and 3 are not the failures"
    assert "1 of kind “class”, 2 of kind “wrong input”" in panel.found.toolTip()
