"""The generic panel: any analysis drawn from its views, live, stopped and reopened."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QLabel

from robgui.core.execution import registry
from robgui.core.execution.request import build_request
from robgui.core.execution.step import Step
from robgui.core.verdict import Status, Verdict
from robgui.core.view.ink import status_ink
from robgui.gui.app.theme import theme
from robgui.gui.forms.run_pane import RunPane
from robgui.gui.panels.generic import GenericPanel, names_at
from robgui.gui.widgets.views import BarsView, CurvesView, ViewBoard
from tests.gui import sample_views as samples
from tests.gui.sampled import SampledParams, SampledResult


@pytest.fixture
def panel(qtbot, store, sampled):
    made, pane = GenericPanel(store, sampled), RunPane(store)
    for widget in (made, pane):
        qtbot.addWidget(widget)
    pane.show_analysis(sampled.name)
    made.resize(800, 900)
    with qtbot.waitExposed(made):
        made.show()
    made.pane = pane
    return made


@pytest.fixture
def drawn(qtbot, store, panel):
    store.set_scope((3, 5))
    panel.pane.run.click()
    qtbot.waitUntil(lambda: bool(store.history.runs) and store.history.runs[0].state.ended)
    qtbot.waitUntil(lambda: panel.run_id is not None and not panel.stale)
    qtbot.waitUntil(lambda: panel.complete and panel.board.complete)
    return panel


def test_an_empty_panel_says_what_to_do_in_the_words_of_the_record(panel):
    words = [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]
    assert "Press Run & see." in words and "Sampled <b>views</b>" in words


def test_every_view_of_a_result_is_drawn_the_first_large_and_the_others_behind_tabs(drawn):
    board = drawn.board
    assert board.widgets[0].view.title == "Confidence" and len(board.widgets) == 8
    assert isinstance(board.widgets[0], CurvesView) and board.widgets[0].isVisible()
    titles = [board.bar.tabText(i) for i in range(board.bar.count())]
    assert titles == [
        "Distance",
        "Safe regions",
        "Safe share",
        "Pairs",
        "Moves",
        "Growing",
        "Inputs on offer",
    ]
    for place in range(board.bar.count()):
        board.bar.setCurrentIndex(place)
        assert board.widgets[place + 1].isVisible()
        assert board.stack.currentWidget() is board.widgets[place + 1]


def test_a_low_panel_has_one_view_at_a_time_and_all_of_them_behind_tabs(qtbot, drawn):
    drawn.resize(700, 420)
    qtbot.waitUntil(lambda: drawn.board.bar.count() == 8)
    assert drawn.board.bar.tabText(0) == "Confidence" and drawn.board.widgets[0].isVisible()
    drawn.resize(800, 800)
    qtbot.waitUntil(lambda: drawn.board.bar.count() == 7)


def test_the_verdict_has_sign_word_and_colour_and_is_plain_text(drawn):
    line = drawn.verdict
    assert (
        line.status.text() == "✓ Holds"
        and line.sentence.text() == "Only 2 of 2,000 inputs: All is <i>well</i> at 1.00."
    )
    assert "<b>Nothing</b>" in line.text() and line.rest.text().startswith(
        "On 2 inputs. <b>Nothing</b>"
    )
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in line.findChildren(QLabel))
    for dark in (False, True):
        theme.apply(dark)
        shown = line.status.palette().windowText().color().name().upper()
        assert shown == status_ink(Status.HOLDS).colour(dark)
    theme.apply(False)


def test_what_a_verdict_rests_on_is_cut_between_sentences_with_a_button_for_the_whole(drawn):
    line = drawn.verdict
    parts = [line.verdict.scope, *line.verdict.because]
    wholes = [" ".join(parts[:many]) for many in range(1, len(parts))]
    assert line.more.isVisible() and line.rest.text() in wholes
    assert line.more.text() == "Why?" != drawn.board.bar.more.text()
    line.more.click()
    assert (
        line.rest.text().endswith("Reason 19 is as good as any other.")
        and line.more.text() == "Less"
    )


def test_the_next_result_changes_the_widgets_in_place(qtbot, store, drawn):
    before = list(drawn.board.widgets)
    drawn.board.bar.setCurrentIndex(3)
    drawn.show_result(drawn.request, replace(drawn.result, share=0.5), None)
    assert drawn.board.widgets == before and drawn.board.bar.currentIndex() == 3
    np.testing.assert_allclose(before[0].lines[0].y[0], 0.5)


def test_a_view_of_another_kind_takes_the_place_of_the_old_one(drawn):
    drawn.board.show_views([samples.bars(), samples.matrix()])
    assert isinstance(drawn.board.widgets[0], BarsView) and len(drawn.board.widgets) == 2
    assert drawn.board.title.text() == "Safe share" and drawn.board.bar.tabText(0) == "Distance"


def test_a_picture_that_is_called_like_an_input_on_offer_points_at_it(qtbot, store, drawn):
    pictures = drawn.board.widgets[-1]
    pictures.chosen.emit(0)
    assert store.selection.input == 5, "number 1 of the inputs 3 and 5"
    pictures.chosen.emit(1)
    assert store.selection.input == 5, "nobody knows which one that is"


def test_what_was_clicked_is_called_by_its_row_its_caption_or_its_cell():
    assert names_at(samples.table(), 2) == ["pair 2"]
    assert names_at(samples.images(), 1) == ["input 1"]
    assert names_at(samples.matrix(), (0, 2)) == ["cat", "cow"]
    assert names_at(samples.curves(), 0.5) == []


def test_the_offers_of_the_record_can_be_sent(drawn):
    assert drawn.send.isVisible()
    assert [offer.title for offer in drawn.offers()] == ["Both"]


def test_a_stored_run_is_drawn_again_with_the_verdict_it_was_stored_with(qtbot, store, drawn):
    run = store.history.runs[0]
    drawn.clear()
    assert drawn.params is None
    with qtbot.waitSignal(store.history.result_shown):
        store.history.show_run(run)
    assert drawn.verdict.verdict == run.verdict and drawn.result.share == 1
    assert drawn.params == SampledParams()


def test_a_run_of_the_first_edition_shows_its_words_with_an_unknown_status(qtbot, store, drawn):
    old = replace(
        store.history.runs[0],
        verdict=Verdict(Status.UNKNOWN, "Nearest change at 0.3. Eight calls."),
    )
    store.history.result_shown.emit(old, drawn.result)
    assert drawn.verdict.status.text() == "? Cannot tell"
    assert drawn.verdict.sentence.text() == "Nearest change at 0.3. Eight calls."


def test_views_that_cannot_be_made_are_one_message_and_the_verdict_stays(qtbot, store, drawn):
    said = []
    store.said.connect(lambda level, sentence, details: said.append((level, sentence, details)))

    def broken(result, params):
        raise KeyError("no such field")

    drawn.analysis = replace(drawn.analysis, views=broken)
    for _ in range(3):
        drawn.draw(drawn.result)
    assert len(said) == 1 and said[0][0] == "error"
    assert "cannot be shown: KeyError" in said[0][1] and "Traceback" in said[0][2]
    assert drawn.verdict.status.text() == "✓ Holds"


def test_an_old_run_with_settings_that_are_no_more_is_a_sentence_and_the_picture_stays(
    store, drawn
):
    said = []
    store.said.connect(lambda level, sentence, details: said.append((level, sentence)))
    run = store.history.runs[0]
    old = replace(run, id="old", request=run.request.model_copy(update={"params": {"depth": 3}}))
    before = drawn.request
    store.history.result_shown.emit(old, drawn.result)
    assert (
        said and said[0][0] == "error" and "cannot be drawn" in said[0][1] and "depth" in said[0][1]
    )
    assert drawn.request is before


class Painting(QObject):
    """Notes in which turn a plot is painted first."""

    def __init__(self, turns):
        super().__init__()
        self.turns = turns

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            self.turns[-1].append("paint")
            watched.removeEventFilter(self)
        return False


VIEWS = (samples.curves(), samples.bars(), samples.curves(), samples.matrix())


@pytest.fixture
def board(qtbot):
    board = ViewBoard()
    qtbot.addWidget(board)
    board.resize(800, 900)
    return board


def test_what_is_behind_a_tab_is_drawn_when_it_comes_on_show(board):
    board.show()
    first, second = samples.table(), replace(samples.table(), note="Another")
    board.show_views([samples.curves(), samples.bars(), first])
    hidden = board.widgets[2]
    drawn = []
    hidden.draw = drawn.append
    board.show_views([samples.curves(), samples.bars(), second])
    assert (hidden.view, drawn) == (second, [])
    board.bar.setCurrentIndex(1)
    assert drawn == [second]
    board.show_views([samples.curves(), samples.bars(), first])
    assert drawn == [second, first]


def test_what_is_behind_a_tab_is_not_made_before_somebody_looks(board):
    board.show()
    board.show_views(VIEWS)
    assert [widget.built for widget in board.widgets] == [True, True, False, False]
    board.bar.setCurrentIndex(2)
    assert [widget.built for widget in board.widgets] == [True, True, False, True]


def test_a_board_that_nobody_sees_makes_nothing(board):
    board.show_views(VIEWS, live=True)
    assert not any(widget.built for widget in board.widgets)
    board.show_views(VIEWS)
    board.show()
    assert [widget.built for widget in board.widgets] == [True, True, False, False]


def test_while_a_run_goes_on_every_turn_of_the_event_loop_makes_fills_or_paints_one_picture(
    qtbot, board, monkeypatch
):
    """Two of these, or two pictures, hold the window up for longer than a frame."""
    turns = [[]]
    for kind in (CurvesView, BarsView):
        for name in ("build", "draw"):
            plain = getattr(kind, name)

            def noted(self, *args, name=name, plain=plain):
                turns[-1].append(name)
                return plain(self, *args)

            monkeypatch.setattr(kind, name, noted)
    beat = QTimer(interval=1)
    beat.timeout.connect(lambda: turns.append([]) if turns[-1] else None)
    beat.start()
    painting = Painting(turns)
    board.made.connect(lambda widget: widget.plot.viewport().installEventFilter(painting))
    board.show()
    board.show_views(VIEWS, live=True)
    assert len(board.widgets) == 1 and turns == [[]], "the picture comes first, but not at once"
    qtbot.waitUntil(lambda: board.complete and len(board.widgets) == 4)
    qtbot.waitUntil(lambda: sum(map(len, turns)) == 6)
    assert [turn for turn in turns if turn] == [["build"], ["draw"], ["paint"]] * 2


def test_the_words_are_those_of_the_picture_though_the_next_step_is_long_in_coming(
    qtbot, store, sampled, monkeypatch
):
    drawn, goes_on = threading.Event(), threading.Event()

    def halting(classifier, dataset, params: SampledParams) -> Iterator[Step[SampledResult]]:
        for share, wait in ((0.25, drawn), (0.75, goes_on)):
            yield Step(1, 2, SampledResult(share, np.full((8, 8, 3), 9, np.uint8)))
            wait.wait(20)

    slow = replace(sampled, name="halting_views", engine=halting)
    registry.register(slow)
    try:
        store.analyses = registry.analyses()
        panel = GenericPanel(store, slow)
        qtbot.addWidget(panel)
        with qtbot.waitExposed(panel):
            panel.show()
        model, data = store.library.model, store.library.dataset
        monkeypatch.setattr("robgui.gui.panels.panel.WORDS_SECONDS", 60)  # not due with a Step
        store.submit(build_request(slow, [model], data, {}, indices=(0,)))
        qtbot.waitUntil(lambda: "at 0.25" in panel.verdict.text())
        drawn.set()
        qtbot.waitUntil(lambda: panel.result.share == 0.75)
        qtbot.waitUntil(lambda: "at 0.75" in panel.verdict.text())
        assert panel.live, "no Step has come since"
    finally:
        goes_on.set()
        qtbot.waitUntil(lambda: not store.runner.busy)
        registry.unregister(slow.name)
