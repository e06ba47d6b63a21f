"""Populations, corner cases and watermark: analyses of many inputs in the panel that draws any
views.
"""

from __future__ import annotations

import numpy as np

from robgui.core.view import Images
from robgui.gui.panels.generic import GenericPanel

QUICK = {"samples": 32, "target_half_width": 0.05}


def place_of(panel, kind):
    return next(
        place for place, widget in enumerate(panel.board.widgets) if isinstance(widget.view, kind)
    )


def test_an_empty_tab_says_what_to_do(bench):
    for analysis in ("zonnscan_populations", "zonnscan_corner_cases", "zonnscan_watermark"):
        panel, _ = bench(analysis)
        assert type(panel) is GenericPanel, analysis
        assert not panel.empty.isHidden() and panel.views() == (), analysis


def test_the_two_sets_are_drawn_and_a_row_leads_to_the_gallery(store, bench, run):
    panel, pane = bench("zonnscan_populations")
    store.set_scope(tuple(range(100, 400)))
    result = run(panel, pane, most=30, radius=0.1, **QUICK)
    assert [row.values.size for row in panel.board.widgets[0].view.series] == [25, 25] and len(
        result.index
    ) == 60
    widget = panel.board.widgets[place_of(panel, Images)]
    assert len(widget.view.pictures) == len(result.notable) > 0
    widget.chosen.emit(0)
    assert store.selection.input == 100 + result.numbers[result.notable[0]]


def test_findings_of_a_population_lead_back_to_their_pictures(qtbot, store, bench, run):
    panel, pane = bench("zonnscan_populations")
    store.set_scope(tuple(range(200)))
    result = run(panel, pane, radius=0.1, **QUICK)
    qtbot.waitUntil(lambda: len(store.history.findings) == len(result.notable))
    assert 0 < len(store.history.findings) <= 10 and all(
        f.has_picture for f in store.history.findings
    )


def test_corner_cases_show_every_models_answer_and_lead_to_the_gallery(store, bench, run):
    panel, pane = bench("zonnscan_corner_cases")
    store.set_scope(tuple(range(300)))
    result = run(panel, pane, most=10, **QUICK)
    shown = panel.board.widgets[0]
    assert (
        len(shown.view.pictures) == min(60, len(result.numbers))
        and " / " in shown.view.pictures[0].chip
    )
    shown.chosen.emit(1)
    assert store.selection.input == result.numbers[1]


def test_one_model_has_no_corner_cases_and_the_form_says_what_to_do(store, bench):
    _, pane = bench("zonnscan_corner_cases")
    assert pane.run.isEnabled()
    store.library.remove_model(store.library.models[1])
    assert not pane.run.isEnabled() and "needs two models" in pane.obstacle.text()


def answers(store, count):
    """What the model in use says of the first inputs."""
    x = store.library.dataset.array(range(count))
    return store.answers.ask("scores", model=store.library.model, x=x).probabilities


def test_a_watermarked_copy_is_told_apart_and_the_model_stays_as_it_was(store, bench, run):
    panel, pane = bench("zonnscan_watermark")
    model = store.library.model
    before, fingerprint = answers(store, 50), model.fingerprint
    result = run(panel, pane, size=10, most=200, runs=2, samples=16)
    assert result.back == 5 and (result.answers[1] == result.classes).all()
    widget = panel.board.widgets[place_of(panel, Images)]
    assert len(widget.view.pictures) == 10 and " → " in widget.view.pictures[0].chip
    assert np.array_equal(answers(store, 50), before) and model.fingerprint == fingerprint
    assert len(store.history.runs[0].request.models) == 1
    widget.chosen.emit(2)
    assert store.selection.input == result.numbers[2]


def test_two_loaded_models_are_compared_without_making_anything(store, bench, run):
    panel, pane = bench("zonnscan_watermark")
    result = run(panel, pane, mode="compare", size=8, runs=1, samples=16)
    assert result.models == ("fashion_mlp.pt2", "fashion_rnn.pt") and result.rounds == 0
    store.library.remove_model(store.library.models[1])
    assert not pane.run.isEnabled() and "needs two models" in pane.obstacle.text()


def test_stopping_a_watermark_keeps_what_there_is_and_leaves_the_model_alone(qtbot, store, bench):
    panel, pane = bench("zonnscan_watermark")
    before = answers(store, 20)
    pane.form().set_values({"size": 20, "runs": 1000, "samples": 256})
    pane.run.click()
    qtbot.waitUntil(lambda: panel.result is not None)
    pane.stop.click()
    qtbot.waitUntil(lambda: bool(store.history.runs) and store.history.runs[0].state.ended)
    assert store.history.runs[0].state == "cancelled" and store.history.runs[0].has_result
    assert np.array_equal(answers(store, 20), before)
