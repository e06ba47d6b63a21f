"""Compare: two runs side by side with linked axes and their difference.

A scoreboard over models.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication
from torch import nn

from robgui.core.execution.request import Reference, Request, build_request
from robgui.core.execution.run import Run, RunState
from robgui.core.model.accuracy import note
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Quantity, Status, Verdict
from robgui.core.view import Axis, Bars, Series, Table
from robgui.core.view.ink import status_ink
from robgui.gui.app.theme import theme
from robgui.gui.pages.compare import Compare
from robgui.gui.pages.compare_columns import NOTHING_IN_COMMON, SAME, Columns, matching
from robgui.gui.pages.compare_runs import NOTHING_RUN, NOTHING_YET, most_useful
from robgui.gui.pages.scoreboard import BEFORE
from robgui.gui.pages.scoreboard_cells import NOT_RUN, ScoreCell, rank_of
from tests.gui import sample_views as samples

#: What the analysis of the fixture is called.
SAMPLED = "Sampled <b>views</b>"


@pytest.fixture
def two_runs(qtbot, store, sampled):
    """The same analysis with two models, whose curves differ in height."""
    for model, height in zip(store.library.models, (0.5, 1.0), strict=True):
        params = {"height": height}
        before = len(store.history.runs)
        store.submit(
            build_request(sampled.name, [model], store.library.dataset, params, indices=(0,))
        )
        qtbot.waitUntil(lambda n=before: sum(r.state.ended for r in store.history.runs) > n)
    return store.history.runs[1], store.history.runs[0]


@pytest.fixture
def page(qtbot, store, two_runs):
    made = Compare(store)
    qtbot.addWidget(made)
    made.resize(1100, 900)
    with qtbot.waitExposed(made):
        made.show()
    qtbot.waitUntil(lambda: bool(made.shown))
    return made


def widgets(page):
    return [slot.widget for slot in page.columns.slots]


def test_two_runs_stand_beside_each_other_with_linked_axes_and_their_difference(
    qtbot, page, two_runs
):
    page.show_pair(*two_runs)
    qtbot.waitUntil(lambda: page.shown == tuple(run.id for run in two_runs))
    left, right, change = widgets(page)
    np.testing.assert_allclose(change.view.lines[0].y, right.view.lines[0].y - left.view.lines[0].y)
    assert change.view.lines[0].y.any()
    assert left.plot.box.viewRange()[1] == pytest.approx(right.plot.box.viewRange()[1])
    left.plot.box.setXRange(0.1, 0.2, padding=0)
    for other in (right, change):
        assert other.plot.box.viewRange()[0] == pytest.approx([0.1, 0.2], abs=0.01)


def test_two_models_that_answered_the_same_are_compared_before_anything_else():
    def of(name, model, indices):
        made = Reference(kind="model", name=model, fingerprint=model * 16)
        data = Reference(kind="dataset", name="d", fingerprint="d" * 16)
        request = Request(analysis="zonnscan", models=(made,), dataset=data, indices=indices)
        return Run(name, request, RunState.DONE, 0.0, has_result=True)

    runs = [of("new", "a", (7,)), of("b", "b", (0,)), of("a", "a", (0,)), of("old", "a", (3,))]
    first, second = most_useful(runs)
    assert (first.id, second.id) == ("a", "b")
    first, second = most_useful([runs[0], runs[3]])
    assert (first.id, second.id) == ("old", "new"), "one model on two inputs"
    assert most_useful(runs[:1]) is None


def test_what_a_picture_says_of_its_order_is_told_of_that_picture_alone(qtbot):
    columns = Columns()
    qtbot.addWidget(columns)
    values = Axis("share", low=0.0, high=1.0)
    note = "The weakest class comes first."
    left, right = (
        Bars("Classes", values, names, (Series("right", np.array([0.1, 0.9])),), note=note)
        for names in (("frog", "car"), ("car", "frog"))
    )
    columns.show_pair((left, right), alike=False)
    shown = [slot.widget.view for slot in columns.slots]
    assert {view.names for view in shown} == {("frog", "car")}
    np.testing.assert_allclose(shown[2].series[0].values, [0.8, -0.8])
    assert columns.note.text() == f"First: {note} Second: the same order as in the first."
    columns.show_pair((left, left), alike=False)
    assert columns.note.text() == note


def test_every_view_that_both_runs_have_stands_behind_a_tab(qtbot, page):
    titles = [page.tabs.tabText(i) for i in range(page.tabs.count())]
    assert titles[:3] == ["Confidence", "Distance", "Safe regions"] and len(titles) == 8
    for place in range(len(titles)):
        page.tabs.setCurrentIndex(place)
        first, second, change = page.columns.slots
        assert first.widget.view.title == titles[place] == second.widget.view.title
        subtracts = titles[place] in ("Confidence", "Distance", "Safe share")
        assert change.words.isHidden() == subtracts


def test_the_verdict_of_each_run_stands_above_its_picture_with_its_status(page, two_runs):
    page.show_pair(*two_runs)
    first, second = page.verdicts
    assert first.status.text() == "! At risk" and second.status.text() == "✓ Holds"
    assert second.sentence.text().endswith(": All is <i>well</i> at 1.00.")
    assert not second.rest.isVisible()


def row_of(board, title):
    """The row of the scoreboard that is called ``title``."""
    rows = range(board.rowCount())
    return next(row for row in rows if board.index(row, 0).data() == title)


def test_the_scoreboard_has_a_row_per_question_and_a_column_per_model(page):
    board = page.scoreboard.model()
    titles = [board.headerData(c, Qt.Orientation.Horizontal) for c in range(5)]
    assert titles == ["Analysis", "Measured", "On", "fashion_mlp\n.pt2", "fashion_rnn.pt"]
    row = row_of(board, SAMPLED)
    assert [board.index(row, c).data() for c in (3, 4)] == ["! 0.5", "✓ 1 · other settings"]
    for dark in (False, True):
        theme.apply(dark)
        inks = [
            board.index(row, c).data(Qt.ItemDataRole.ForegroundRole).name().upper() for c in (3, 4)
        ]
        assert inks == [
            status_ink(status).colour(dark) for status in (Status.AT_RISK, Status.HOLDS)
        ]
    theme.apply(False)
    grounds = [board.index(row, c).data(Qt.ItemDataRole.BackgroundRole) for c in (3, 4)]
    assert grounds[0].name() == status_ink(Status.AT_RISK).colour(False).lower()
    assert grounds[1] is None, "what cannot be compared has no ground"
    tip = board.index(row, 3).data(Qt.ItemDataRole.ToolTipRole)
    assert "At risk. Only 1 of 2,000 inputs: All is &lt;i&gt;well" in tip


def test_the_scoreboard_begins_with_how_often_each_model_is_right_where_that_is_known(store, page):
    model, dataset = store.library.models[0], store.library.dataset
    note(model.content, dataset.fingerprint, 1828, 2000, model.settings)
    page.scoreboard.refresh()
    board = page.scoreboard.model()
    first = [board.index(0, column).data() for column in range(4)]
    assert first == ["Right answers", "Inputs that are right", dataset.name, "91.4 % of 2,000"]
    said = []
    store.said.connect(lambda level, sentence, details: said.append(sentence))
    page.scoreboard.clicked.emit(board.index(0, BEFORE))
    assert not said, "no run tells it, so there is nothing to compare"


def test_a_column_of_the_scoreboard_sorts_the_worst_first_and_other_questions_last():
    def cell(status, value, unlike=""):
        number = Quantity("share", value, better="high")
        return ScoreCell(Verdict(status, "So it is.", number), "fashion.npz 0", unlike)

    worst = cell(Status.FAILS, 0.9)
    risky, riskier = cell(Status.AT_RISK, 0.8), cell(Status.AT_RISK, 0.2)
    other = cell(Status.FAILS, 0.1, unlike="other inputs")
    cells = [other, cell(Status.HOLDS, 1.0), risky, riskier, worst]
    assert sorted(cells, key=rank_of) == [worst, riskier, risky, cells[1], other]


def test_a_model_whose_file_lies_elsewhere_now_has_one_column(store, page):
    first = store.history.runs[0]
    (used,) = first.request.models
    moved = first.request.model_copy(
        update={"models": (used.model_copy(update={"path": "/elsewhere/" + used.name}),)}
    )
    store.history.runs = [replace(first, request=moved), *store.history.runs]
    names = page.scoreboard.names()
    page.scoreboard.refresh()
    assert page.scoreboard.names() == names


def test_a_model_without_a_run_says_so(qtbot, store, page):
    store.history.runs = [
        run for run in store.history.runs if run.request.models[0].name == "fashion_mlp.pt2"
    ]
    page.scoreboard.refresh()
    board = page.scoreboard.model()
    empty = board.index(row_of(board, SAMPLED), BEFORE + 1)
    assert empty.data() == NOT_RUN
    said = []
    store.said.connect(lambda level, sentence, details: said.append(sentence))
    page.scoreboard.clicked.emit(empty)
    assert said == ["Sampled <b>views</b> has not been run with this model yet."]


def test_in_a_small_window_the_pictures_are_large_enough_to_read(qtbot, page):
    page.resize(960, 500)
    first, *_ = page.columns.slots
    qtbot.waitUntil(lambda: first.widget.plot.height() >= 150)
    for slot in page.columns.slots:
        assert slot.widget.plot.height() >= 150
        assert not slot.widget.legend.geometry().intersects(slot.widget.plot.geometry())
    assert page.columns.note.text() == samples.curves().note and not first.widget.view.note


def test_a_small_window_shows_the_scoreboard_in_turn_and_a_click_brings_the_pictures_back(
    qtbot, page
):
    page.resize(900, 480)
    board = page.scoreboard
    assert page.columns.isVisible() and not board.isVisible()
    page.switch.setCurrentIndex(1)
    assert board.isVisible() and not page.columns.isVisible()
    board.clicked.emit(board.model().index(row_of(board.model(), SAMPLED), 2))
    assert page.columns.isVisible() and not board.isVisible()
    page.resize(1100, 900)
    assert page.columns.isVisible() and board.isVisible()


def test_three_rows_of_the_scoreboard_are_seen_in_a_small_window(qtbot, page):
    page.resize(900, 480)
    page.switch.setCurrentIndex(1)
    board = page.scoreboard
    rows = 3 * board.verticalHeader().defaultSectionSize()
    qtbot.waitUntil(lambda: board.viewport().height() >= rows)


def test_the_names_of_runs_begin_with_their_time(store, page):
    newest, oldest = store.history.runs
    begun = time.strftime("%H:%M:%S", time.localtime(oldest.created))
    assert page.first.currentText() == f"{begun} {store.subjects.words(oldest.request)}"
    assert page.second.currentText().startswith(
        time.strftime("%H:%M:%S", time.localtime(newest.created))
    )


def test_two_runs_that_are_the_same_ask_for_a_second_model_instead_of_a_flat_line(
    qtbot, store, page
):
    newest, oldest = store.history.runs
    page.show_pair(newest, newest)
    qtbot.waitUntil(lambda: page.shown == (newest.id, newest.id))
    change = page.columns.slots[2]
    assert not change.words.isHidden() and change.words.text() == SAME
    page.show_pair(oldest, newest)
    qtbot.waitUntil(change.words.isHidden)


@pytest.mark.parametrize("name", samples.ALL)
def test_pictures_that_are_replaced_leave_no_widget_behind(qtbot, name):
    columns = Columns()
    qtbot.addWidget(columns)
    columns.resize(900, 300)
    columns.show()

    def count(*kinds):
        for kind in kinds:
            columns.show_pair((samples.ALL[kind], samples.ALL[kind]), alike=False)
        for _ in range(3):
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            QApplication.processEvents()
        return len(QApplication.allWidgets())

    other = "table" if name != "table" else "tree"
    first = count(name, other)
    assert max(count(name, other) for _ in range(4)) <= first


def test_results_with_nothing_in_common_say_so(qtbot):
    assert matching([samples.curves()], [Table("t", ())]) == []
    renamed = replace(samples.curves(), title="Confidence around input 7")
    ((_, second),) = matching([samples.curves()], [renamed])
    assert second is renamed, "the picture of an analysis may be called after its input"
    columns = Columns()
    qtbot.addWidget(columns)
    columns.show_pair(None, alike=False)
    assert columns.slots[0].words.text() == NOTHING_IN_COMMON


@pytest.fixture
def again(qtbot, store, two_runs):
    """Repeats the newest of the two runs, so that the newest two are alike."""
    store.submit(store.history.runs[0].request)
    qtbot.waitUntil(lambda: sum(r.has_result and r.state.ended for r in store.history.runs) == 3)


def test_it_starts_with_the_two_newest_runs_that_differ(qtbot, store, again):
    made = Compare(store)
    qtbot.addWidget(made)
    made.show()
    newest, _, oldest = store.history.runs
    assert (made.first.currentData(), made.second.currentData()) == (oldest.id, newest.id)


def test_a_run_is_not_laid_beside_itself_when_its_partner_is_deleted_or_it_has_no_result(
    qtbot, store, again
):
    made = Compare(store)
    qtbot.addWidget(made)
    made.show()
    newest, middle, oldest = store.history.runs
    made.show_pair(newest, oldest)
    made.show_pair(replace(oldest, id="failed", has_result=False))
    assert made.first.currentData() != made.second.currentData()
    made.show_pair(middle, newest)
    store.history.runs = [middle, oldest]
    made.refresh()
    assert (made.first.currentData(), made.second.currentData()) == (middle.id, oldest.id)


def test_it_starts_with_an_analysis_that_has_two_runs(qtbot, store, two_runs):
    run = store.history.runs[0]
    store.analyses = {name: store.analyses[name] for name in ("srvr", "sampled_views")}
    other = run.request.model_copy(update={"analysis": "srvr"})
    store.history.runs = [replace(run, id="alone", request=other), *store.history.runs]
    made = Compare(store)
    qtbot.addWidget(made)
    made.show()
    assert (
        made.analysis.currentData() == "sampled_views"
        and made.first.currentData() != made.second.currentData()
    )


def opened(qtbot, store, height=600):
    made = Compare(store)
    qtbot.addWidget(made)
    made.resize(1100, height)
    made.show()
    return made


def of(run, name, **changes):
    """A run like ``run``, whose request is changed."""
    return replace(run, id=name, request=run.request.model_copy(update=changes))


def test_it_opens_on_what_can_be_compared_though_an_analysis_before_it_has_two_runs(
    qtbot, store, two_runs
):
    run, other = two_runs
    store.analyses = {name: store.analyses[name] for name in ("srvr", "sampled_views")}
    apart = [
        of(other, "b", analysis="srvr", indices=(1,), params={}),
        of(run, "a", analysis="srvr", indices=(0,), params={}),
    ]
    store.history.runs = [*apart, *store.history.runs]
    made = opened(qtbot, store)
    assert made.analysis.currentData() == "sampled_views" and made.empty.isHidden()
    qtbot.waitUntil(lambda: made.shown == (run.id, other.id), timeout=10_000)


def test_two_models_that_were_asked_the_same_come_before_newer_runs_that_say_less(
    qtbot, store, two_runs
):
    run, other = two_runs
    same = of(other, "same", params=run.request.params)
    settings = of(other, "settings", params={"height": 0.7})
    store.history.runs = [of(other, "again"), settings, other, same, run]
    made = opened(qtbot, store)
    assert (made.first.currentData(), made.second.currentData()) == (run.id, "same")


def test_one_run_of_each_analysis_opens_on_the_scoreboard(qtbot, store, two_runs):
    store.history.runs = store.history.runs[:1]
    made = opened(qtbot, store)
    assert made.scoreboard.isVisible() and made.switch.tabText(made.switch.currentIndex()) == (
        "All models"
    )
    made.switch.setCurrentIndex(0)
    assert made.empty.text() == NOTHING_YET and made.empty.isVisible()
    store.history.runs_changed.emit()
    assert made.switch.currentIndex() == 0, "what the user asks for stays"


def test_a_page_on_which_nothing_has_run_says_what_to_do(qtbot, store):
    made = opened(qtbot, store)
    assert made.empty.isVisible() and made.empty.text() == NOTHING_RUN


def test_a_comparison_that_becomes_possible_takes_the_place_of_the_scoreboard(
    qtbot, store, two_runs
):
    both = store.history.runs
    store.history.runs = both[:1]
    made = opened(qtbot, store)
    store.history.runs = both
    store.history.runs_changed.emit()
    qtbot.waitUntil(lambda: len(made.shown) == 2, timeout=10_000)
    assert made.columns.isVisible()


def test_models_that_ran_together_each_have_a_row_with_their_own_number(qtbot, store):
    first, second = store.library.models
    params = {"axes": ("rotation",), "step": {"rotation": 15.0}}
    store.submit(
        build_request("semantic_map", [first, second], store.library.dataset, params, indices=(0,))
    )
    qtbot.waitUntil(lambda: bool(store.history.runs) and store.history.runs[0].state.ended)
    made = Compare(store)
    qtbot.addWidget(made)
    made.resize(1100, 900)  # low, the scoreboard would be behind its tab
    made.show()
    board = made.scoreboard.model()
    run = store.history.runs[0]
    assert run.verdict is not None and len(run.verdict.models) == 2
    row = row_of(board, store.analyses["semantic_map"].title)
    for place, said in enumerate(run.verdict.models):
        words = board.index(row, BEFORE + place).data()
        assert words.startswith(f"{said.status.sign} {said.number.words}")
    assert board.index(row, BEFORE).data() != board.index(row, BEFORE + 1).data()
    for column in range(BEFORE + 2):
        assert made.scoreboard.run_at(board.index(row, column)).id == run.id


def test_a_double_click_on_what_was_not_run_leads_to_its_form(qtbot, store, page):
    store.history.runs = [
        run for run in store.history.runs if run.request.models[0].name == "fashion_mlp.pt2"
    ]
    page.scoreboard.refresh()
    with qtbot.waitSignal(page.wants) as asked:
        board = page.scoreboard.model()
        page.scoreboard.activated.emit(board.index(row_of(board, SAMPLED), BEFORE + 1))
    assert asked.args == ["sampled_views"]
    assert store.library.model.name == "fashion_rnn.pt"


def test_run_missing_asks_every_open_model_the_question_of_the_row(qtbot, store, page, sampled):
    question = store.history.runs[1].request  # of the first model
    strange = Classifier.from_module(nn.Linear(5, 2), (5,), name="for tables")
    store.library.add_model(store.answers.hold(strange), activate=False)
    said = []
    store.said.connect(lambda level, sentence, _: said.append((level, sentence)))
    page.board.run_missing.click()
    qtbot.waitUntil(lambda: not store.runner.busy and not store.keeping.busy)
    qtbot.waitUntil(lambda: len(store.history.runs) == 3)
    asked = store.history.runs[0].request
    assert asked.params["height"] == question.params["height"]
    assert asked.indices == question.indices and asked.models[0].name == "fashion_rnn.pt"
    ((level, sentence),) = said
    assert level == "info" and sentence.startswith("1 run queued. Skipped: for tables (")
    page.board.run_missing.click()
    qtbot.wait(100)
    assert len(store.history.runs) == 3 and "queued" not in said[-1][1]
