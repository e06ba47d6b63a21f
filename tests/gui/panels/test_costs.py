"""The cost of a run in the window: live, and a run that is cut says so."""

from __future__ import annotations


def test_the_cost_follows_the_settings(bench):
    _, pane = bench("semantic_map")
    assert "2,200 calls" in pane.budget.cost.text()  # of two models
    pane.form().set_values({"step": {"rotation": 30.0, "scale": 20.0}})
    assert "33 calls" in pane.budget.cost.text()


def test_a_budget_fills_the_time_limit_and_a_cut_run_says_so(bench, run):
    panel, pane = bench("last_particle")
    pane.budget.limit.activated.emit(1)
    assert pane.form().values().max_seconds == 10
    assert pane.budget.limit.currentText() == "Quick, 10 s"
    run(panel, pane, max_seconds=0.01)
    assert "Cut at its time limit of 10 ms." in panel.verdict.text()
