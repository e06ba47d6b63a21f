"""The last particle in the generic panel: level, estimate, failure, table, and what can be sent
on.
"""

from __future__ import annotations

import numpy as np

from robgui.gui.state.selection import Selection

QUICK = {"replicas": 2, "attack_steps": 0, "importance": 0}


def views(panel):
    return {widget.view.title: widget.view for widget in panel.board.widgets}


def test_a_validated_input_shows_its_climb_and_its_estimate_below_the_critical_line(bench, run):
    panel, pane = bench("last_particle")
    result = run(panel, pane, eps=0.005, samples=200, proof=False, **QUICK)
    assert (
        result.validated
        and "validated" in panel.verdict.text()
        and "No failure among 200 plain samples" in panel.verdict.text()
    )
    climb, chance = views(panel)["Climbing towards failure"], views(panel)["Failure probability"]
    np.testing.assert_allclose(climb.lines[0].y, result.levels)
    assert climb.lines[0].y.max() <= 0 and climb.levels[0].at == 0
    assert chance.lines[0].y[-1] < chance.levels[0].at == 1e-10


def test_a_failure_is_shown_beside_its_input_and_can_be_sent_to_zonnscan(qtbot, store, bench, run):
    panel, pane = bench("last_particle")
    store.select(Selection(input=10))
    result = run(panel, pane, eps=0.3, samples=0, truth="predicted", **QUICK)
    assert not result.validated and result.failure is not None
    pictures = views(panel)["Inputs that fail"]
    assert pictures.pairs and [picture.right for picture in pictures.pictures] == [True, False]
    offer = panel.offers()[0]
    assert offer.title == "The failing input"
    with qtbot.waitSignal(store.sending.arrived):
        store.sending.send(offer, "zonnscan", panel.request, panel.run_id)
    np.testing.assert_allclose(store.library.dataset.array()[-1], result.failure, atol=1e-6)


def test_the_table_holds_every_input_once_at_each_noise(store, bench, run):
    panel, pane = bench("last_particle_table")
    store.set_scope(tuple(range(6)))
    result = run(panel, pane, radii=(0.001, 0.3), most=4, critical=1e-3, samples=100, **QUICK)
    bars = views(panel)["How the inputs stand"]
    assert bars.names == ("0.001", "0.3") and bars.stacked
    assert (sum(row.values for row in bars.series) == len(result.names)).all()
