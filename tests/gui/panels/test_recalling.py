"""What the workspace knows comes back to the pages, and what runs together can be chosen."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel

from robgui.core.execution.request import build_request
from robgui.core.model.classifier import Classifier
from robgui.gui.app.theme import theme
from robgui.gui.forms.run_pane import RunPane
from robgui.gui.panels.generic import GenericPanel
from robgui.gui.panels.stale_badge import STALE


@pytest.fixture
def done(qtbot, store, sampled):
    """A run of the small analysis on one input, made before its panel was."""
    store.set_scope((0,))
    store.submit(
        build_request(sampled, [store.library.model], store.library.dataset, {}, indices=(0,))
    )
    qtbot.waitUntil(lambda: bool(store.history.runs) and store.history.runs[0].has_result)
    qtbot.waitUntil(lambda: store.history.runs[0].state.ended)
    return store.history.runs[0]


def page(qtbot, store, sampled):
    panel, pane = GenericPanel(store, sampled), RunPane(store)
    for widget in (panel, pane):
        qtbot.addWidget(widget)
    pane.show_analysis(sampled.name)
    panel.resize(700, 500)
    with qtbot.waitExposed(panel):
        panel.show()
    return panel, pane


def test_an_empty_page_draws_the_newest_run_of_the_model_and_input_in_use(
    qtbot, store, sampled, done
):
    panel, pane = page(qtbot, store, sampled)
    qtbot.waitUntil(lambda: panel.run_id == done.id)
    assert panel.result is not None and not panel.stale
    pane.form().set_values({"height": 0.5})
    assert panel.stale, "the form is not what was run"


def test_a_page_stays_empty_where_only_other_inputs_were_run(qtbot, store, sampled, done):
    store.set_scope((7,))
    panel, _ = page(qtbot, store, sampled)
    qtbot.waitUntil(lambda: not store.busy)
    assert panel.result is None
    store.set_scope((0,))
    qtbot.waitUntil(lambda: panel.run_id == done.id)


def test_what_is_read_while_other_inputs_are_chosen_is_not_drawn(qtbot, store, sampled, done):
    store.set_scope((7,))
    panel, _ = page(qtbot, store, sampled)
    store.set_scope((0,))
    assert store.busy, "the run of this input is being read"
    store.set_scope((7,))
    qtbot.waitUntil(lambda: not store.busy)
    assert panel.result is None
    store.set_scope((0,))
    qtbot.waitUntil(lambda: panel.run_id == done.id)


def test_the_stale_banner_moves_nothing(qtbot, store, sampled, done):
    panel, pane = page(qtbot, store, sampled)
    qtbot.waitUntil(lambda: panel.run_id == done.id)
    before = panel.content.geometry()
    pane.form().set_values({"height": 0.5})
    assert panel.stale and panel.badge.text() == STALE
    qtbot.wait(50)
    assert panel.content.geometry() == before


def test_models_that_do_not_fit_are_left_out_by_name_and_others_can_be_unticked(qtbot, store):
    def few(x):
        return np.full((len(x), 3), 1 / 3, np.float32)

    odd = Classifier.from_callable(few, (1, 28, 28), ("a", "b", "c"))
    odd.name = "odd"
    store.library.add_model(store.answers.hold(odd), activate=False)
    pane = RunPane(store)
    qtbot.addWidget(pane)
    pane.show_analysis("semantic_map")
    first, second = store.library.models[:2]
    said = pane.models.text()
    assert f"Runs 2 models: {first.name}, {second.name}." in said
    assert "Left out: odd (3 classes instead of 10)." in said
    pane.fill_ticks()
    in_use, other = pane.ticks.menu().actions()
    assert in_use.isChecked() and not in_use.isEnabled() and other.isChecked()
    other.setChecked(False)
    assert [model.name for model in store.next_run.request("semantic_map").models] == [first.name]
    assert f"Runs 1 model: {first.name}." in pane.models.text()
    other.setChecked(True)
    assert len(store.next_run.request("semantic_map").models) == 2


def test_a_notice_of_a_model_is_said_once(store):
    said = []
    store.said.connect(lambda level, sentence, details: said.append(sentence))
    for _ in range(3):
        store.runner.noticed.emit("m knows no class “00”.")
    assert said == ["m knows no class “00”."]


def test_an_inspection_says_what_it_waits_for(qtbot, store, sampled, monkeypatch):
    from robgui.gui.pages.overview import Overview

    theme.apply(False)
    slow = build_request(
        "zonnscan", [store.library.model], store.library.dataset, {"samples": 4096}, indices=(0,)
    )
    store.submit(slow)
    qtbot.waitUntil(lambda: store.runner.active is not None)
    overview = Overview(store)
    qtbot.addWidget(overview)
    store.inspection.start()
    overview.refresh()
    assert "waiting for zoNNscan" in overview.left.words
    store.runner.stop_all()
    qtbot.waitUntil(lambda: not store.runner.busy)


def test_another_models_picture_gives_way_to_the_reason_why_this_one_cannot_be_looked_at(
    qtbot, store, bench, run
):
    panel, pane = bench("corruptions")
    run(panel, pane, most=4, severities=(1,))
    own, picture = store.library.model, panel.run_id
    rows = Classifier.from_callable(
        lambda x: np.full((len(x), 2), 0.5, np.float32), (5,), ("a", "b")
    )
    rows.name = "rows"
    store.library.add_model(store.answers.hold(rows))
    assert panel.result is None and panel.empty.isVisible() and not panel.stale
    said = panel.analysis.refusal(store.library.model)
    assert said.endswith("rows is a table model.")
    assert said in [label.text() for label in panel.empty.findChildren(QLabel)]
    store.library.use_model(own)
    qtbot.waitUntil(lambda: panel.run_id == picture)


def test_another_model_brings_its_own_newest_run(qtbot, store, sampled, done):
    panel, pane = page(qtbot, store, sampled)
    qtbot.waitUntil(lambda: panel.run_id == done.id)
    first, second = store.library.models
    store.library.use_model(second)
    assert panel.run_id == done.id and panel.stale, "there is none yet"
    pane.start()
    qtbot.waitUntil(lambda: panel.run_id != done.id and panel.job is None)
    its_own = panel.run_id
    qtbot.waitUntil(lambda: len(store.history.runs) == 2)
    store.library.use_model(first)
    qtbot.waitUntil(lambda: panel.run_id == done.id and not panel.stale)
    store.library.use_model(second)
    qtbot.waitUntil(lambda: panel.run_id == its_own and not panel.stale)
