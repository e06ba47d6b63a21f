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


def test_a_run_tells_what_it_does_before_its_first_answer_and_can_be_stopped(qtbot, store, bench):
    panel, pane = bench("tolerance")
    told = []
    store.job_stepped.connect(
        lambda job: told.append(pane.progress.toolTip()) if job.newest.done == 0 else None
    )
    pane.run.click()
    qtbot.waitUntil(lambda: any("input 1 of" in words for words in told))
    assert not any("starting" in words for words in told if "input 1 of" in words)
    pane.stop.click()
    qtbot.waitUntil(lambda: not store.runner.busy)
    qtbot.waitUntil(lambda: "Stopped early." in panel.verdict.text())
