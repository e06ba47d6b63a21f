"""The guided tour, started from the welcome page and pressed through to its end, on the real
demo.
"""

from __future__ import annotations

import time

import pytest

from robgui.core.execution.run import RunState
from robgui.gui.show.guide import shown_methods
from tests.e2e.steps import press


@pytest.fixture
def window(start, tmp_path):
    made = start()
    made.guide.report = tmp_path / "tour.html"
    return made


def arrive(qtbot, guide):
    qtbot.waitUntil(lambda: not guide.waiting and guide.card.next.text() != "Skip")


@pytest.mark.slow  # runs the whole tour
def test_the_tour_ends_within_three_minutes_and_leaves_runs_findings_and_a_report(qtbot, window):
    guide, store = window.guide, window.store
    began = time.process_time()
    press(qtbot, window.welcome.button("guide"))
    seen = []
    while guide.active:
        arrive(qtbot, guide)
        seen.append((guide.card.count.text(), window.pages.currentIndex()))
        assert not guide.card.problem.text()
        if guide.at == len(guide.chapters) - 3:
            assert store.selection.finding is not None and window.findings.isVisible(), (
                "a finding is pointed at"
            )
        else:
            assert window.runs_dock.isHidden(), "the picture gets the room"
        press(qtbot, guide.card.next)
    assert time.process_time() - began < 180, (
        "seconds of work; a machine that does nothing else takes no longer"
    )
    assert [count for count, _ in seen] == [f"{i} of 11" for i in range(1, 12)]
    assert len({page for _, page in seen}) >= 6, "the window moves along"
    runs = store.history.runs
    demos = {known.name: known.demo for _, known in shown_methods()}
    assert {run.request.analysis for run in runs} == set(demos) and len(demos) == 6, (
        "one of each method"
    )
    for run in runs:
        assert (
            run.state is RunState.DONE
            and run.request.models[0].name == demos[run.request.analysis].model
        )
    assert "DeepInspect" in guide.report.read_text(encoding="utf-8")
    assert not guide.card.isVisible()
    window.show_panel("zonnscan")
    assert not window.runs_dock.isHidden(), "beside a method the window is as it was"


def test_every_step_can_be_skipped_and_gone_back_to_at_once(qtbot, window):
    guide = window.guide
    window.actions_["guide"].trigger()
    assert guide.card.next.text() == "Skip" and not guide.card.back.isEnabled()
    for _ in range(3):
        press(qtbot, guide.card.next)
    assert guide.at == 3
    assert "cannot run here" in guide.card.problem.text(), (
        "nothing is loaded yet, and the card says so"
    )
    press(qtbot, guide.card.back)
    assert guide.at == 2
    press(qtbot, guide.card.close_)
    assert not guide.active and not guide.card.isVisible()
    qtbot.waitUntil(lambda: not (window.store.busy or window.store.keeping.busy))


def test_a_small_window_does_not_grow(qtbot, window):
    window.resize(1100, 700)
    window.actions_["guide"].trigger()
    for _ in window.guide.chapters[1:]:
        press(qtbot, window.guide.card.next)
        qtbot.wait(20)
        assert window.minimumSizeHint().height() <= 700, window.guide.card.title.text()
    press(qtbot, window.guide.card.close_)
    qtbot.waitUntil(lambda: not (window.store.busy or window.store.keeping.busy))
