"""Drawings are made once in a process."""

from __future__ import annotations

from robgui.report.kept import Kept
from robgui.report.pictures import Figures
from robgui.report.report_content import chapters_of
from tests.gui import sample_views as samples
from tests.report.small import model, run


def test_the_next_report_of_the_same_runs_draws_nothing(monkeypatch, workspace):
    for seed in range(3):
        run(workspace, [model(seed=seed)])
    chapters = chapters_of(workspace, workspace.runs())
    first = [Figures(workspace).shown(one) for one in chapters]
    monkeypatch.setattr("robgui.report.pictures.draw_view", None)  # whoever draws now fails
    assert [Figures(workspace).shown(one) for one in chapters] == first


def test_another_number_look_or_size_is_another_drawing_and_old_ones_are_let_go():
    view = samples.curves(0.5)
    keys = {
        Kept.key(view, dark=False, large=True),
        Kept.key(view, dark=True, large=True),
        Kept.key(view, dark=False, large=False),
        Kept.key(samples.curves(0.25), dark=False, large=True),
    }
    assert len(keys) == 4
    kept = Kept(most=10)
    kept.put(b"a", b"1234")
    kept.put(b"b", b"1234")
    assert kept.get(b"a") == b"1234"
    kept.put(b"c", b"1234")
    assert kept.get(b"b") is None and kept.get(b"a") and kept.get(b"c")
