"""Compare: two runs side by side with linked axes and their difference; a scoreboard over models."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QLabel

from robgui.core.execution.request import build_request
from robgui.core.text.words import percent
from robgui.gui.app.theme import theme
from robgui.gui.pages.compare import SAME, Compare
from robgui.gui.widgets.plots import Plot
from robgui.report.comparison import COMPARED, Bars, Curves, Matrix

QUICK = {"samples": 64, "radii": (0.0, 0.1, 0.3)}


@pytest.fixture
def two_runs(qtbot, store, bench, run):
    panel, pane = bench("zonnscan")
    first = run(panel, pane, **QUICK)
    store.library.use_model(store.library.models[1])
    qtbot.waitUntil(lambda: not store.background.busy, timeout=30_000)
    second = run(panel, pane, **QUICK)
    qtbot.waitUntil(lambda: sum(r.has_result and r.state.ended for r in store.history.runs) == 2, timeout=10_000)
    return first, second


@pytest.fixture
def page(qtbot, store, two_runs):
    made = Compare(store)
    qtbot.addWidget(made)
    made.resize(1000, 640)
    with qtbot.waitExposed(made):
        made.show()
    return made


def plots(page):
    return [p for p in page._pictures.findChildren(Plot) if p.isVisible()]


def test_two_runs_stand_beside_each_other_with_linked_axes_and_their_difference(qtbot, store, page, two_runs):
    first, second = two_runs
    newest, oldest = store.history.runs
    page.show_pair(oldest, newest)
    qtbot.waitUntil(lambda: page.shown == (oldest.id, newest.id) and len(plots(page)) == 3, timeout=10_000)
    left, right, change = plots(page)
    lines = [item for item in change.getPlotItem().items if isinstance(item, pg.PlotCurveItem)]
    np.testing.assert_allclose(lines[0].getData()[1], second.index - first.index)
    left.setXRange(0.1, 0.2, padding=0)
    assert right.viewRange()[0] == pytest.approx([0.1, 0.2], abs=0.01)
    theme.apply(True)
    qtbot.waitUntil(lambda: len(plots(page)) == 3, timeout=5_000)
    theme.apply(False)


def test_the_scoreboard_has_a_row_per_model_and_the_newest_headline_of_each(qtbot, store, page):
    board = page.scoreboard.model()
    cells = lambda: [[board.index(row, c).data() for c in range(board.columnCount())] for row in range(board.rowCount())]  # noqa: E731
    qtbot.waitUntil(lambda: all("radius" in row[1] for row in cells()), timeout=10_000)
    assert [row[0] for row in cells()] == ["fashion_mlp.pt2", "fashion_rnn.pt"]


def test_three_rows_of_the_scoreboard_are_seen_in_a_small_window(qtbot, store, page):
    page.resize(900, 480)
    board = page.scoreboard
    qtbot.waitUntil(lambda: board.viewport().height() >= 3 * board.verticalHeader().defaultSectionSize(), timeout=5_000)


def test_the_names_of_runs_begin_with_their_time(store, page):
    newest, oldest = store.history.runs
    assert (
        page.first.currentText()
        == page.first.toolTip()
        == f"{time.strftime('%H:%M:%S', time.localtime(oldest.created))} " + store.subject(oldest.request)
    )
    assert page.second.currentText().startswith(time.strftime("%H:%M:%S", time.localtime(newest.created)))


def test_two_runs_that_are_the_same_ask_for_a_second_model_instead_of_a_flat_line(qtbot, store, page):
    newest, oldest = store.history.runs
    page.show_pair(newest, newest)
    qtbot.waitUntil(lambda: page.shown == (newest.id, newest.id) and len(plots(page)) == 2, timeout=10_000)
    words = [label.text() for label in page._pictures.findChildren(QLabel) if label.isVisible()]
    assert SAME in words and "Run a second model to compare" in SAME
    page.show_pair(oldest, newest)
    qtbot.waitUntil(lambda: len(plots(page)) == 3, timeout=10_000)


@pytest.mark.parametrize(
    "part",
    [
        Curves("x", "y", np.linspace(0, 1, 5), {"a": np.linspace(0, 1, 5)}),
        Bars("count", {"a": 1.0, "b": 2.0}),
        Matrix("x", "y", "value", np.eye(3), (0, 0, 3, 3), (0, 1), ("p", "q", "r")),
    ],
)
def test_pictures_that_are_replaced_leave_no_widget_behind(qtbot, store, page, part):
    names = ("First: a", "Second: b", "Second less first")

    def count():
        page._show(("1", "2"), names, (part, part), alike=False)
        for _ in range(3):
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            QApplication.processEvents()
        return len(QApplication.allWidgets())

    first = count()
    assert max(count() for _ in range(5)) <= first


@pytest.fixture
def again(qtbot, store, two_runs):
    """Repeats the newest of the two runs, so that the newest two are alike."""
    store.submit(store.history.runs[0].request)
    qtbot.waitUntil(lambda: sum(r.has_result and r.state.ended for r in store.history.runs) == 3, timeout=30_000)


def test_it_starts_with_the_two_newest_runs_that_differ(qtbot, store, again):
    made = Compare(store)
    qtbot.addWidget(made)
    newest, _, oldest = store.history.runs
    assert (made.first.currentData(), made.second.currentData()) == (oldest.id, newest.id)


def test_a_run_is_not_laid_beside_itself_when_its_partner_is_deleted_or_it_has_no_result(qtbot, store, again):
    made = Compare(store)
    qtbot.addWidget(made)
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
    names = [name for name in store.analyses if name in COMPARED]
    store.analyses = {name: store.analyses[name] for name in (names[-1], "zonnscan")}
    store.history.runs = [replace(run, id="alone", request=run.request.model_copy(update={"analysis": names[-1]})), *store.history.runs]
    made = Compare(store)
    qtbot.addWidget(made)
    assert made.analysis.currentData() == "zonnscan" and made.first.currentData() != made.second.currentData()


def test_models_that_ran_together_each_have_a_row_with_their_own_number(qtbot, store):
    first, second = store.library.models
    params = {"axes": ("rotation",), "step": {"rotation": 15.0}}
    store.submit(build_request("semantic_map", [first, second], store.library.dataset, params, indices=(0,)))
    qtbot.waitUntil(lambda: bool(store.history.runs) and store.history.runs[0].state.ended, timeout=60_000)
    made = Compare(store)
    qtbot.addWidget(made)
    board = made.scoreboard.model()
    cells = lambda: [board.index(row, 1).data() for row in range(2)]  # noqa: E731
    qtbot.waitUntil(lambda: all("%" in cell for cell in cells()), timeout=10_000)
    result = store.history.workspace.result(store.history.runs[0].id)
    for place, cell in enumerate(cells()):
        share = (result.tops[place] == result.target[:, None, None]).mean()
        assert cell.startswith(percent(float(share)))
    assert cells()[0] != cells()[1]
    assert made.scoreboard.run_at(board.index(1, 0)).id == store.history.runs[0].id
