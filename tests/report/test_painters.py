"""Processes that draw give what one process draws, in its order, whatever happens to them."""

from __future__ import annotations

import os
import signal

import pytest

from robgui.report import painters
from robgui.report.kept import KEPT, Kept
from robgui.report.painters import Job, Painters
from robgui.report.pictures import Figures, png_of
from robgui.report.report_content import chapters_of
from tests.gui import sample_views as samples
from tests.report.small import model, run

NAMES = ("curves", "matrix", "bars", "images", "curves", "bars")


@pytest.fixture(autouse=True)
def nothing_is_kept():
    KEPT.clear()


def test_several_processes_draw_what_one_draws_and_in_its_order():
    jobs = [Job(samples.ALL[name], dark=place % 2 == 1) for place, name in enumerate(NAMES)]
    with Painters(2) as several:
        drawn = list(several.paint(jobs))
        assert len(several._started) == 2
    KEPT.clear()
    assert drawn == [png_of(job.view, dark=job.dark) for job in jobs]
    assert all(process.returncode is not None for process in several._started), "all are gone"


def test_what_a_process_cannot_draw_any_more_is_drawn_here():
    job = Job(samples.ALL["bars"])
    with Painters(1) as one:
        drawing = one.paint([job] * 6)
        first = next(drawing)
        os.kill(one._started[0].pid, signal.SIGKILL)
        KEPT.clear()
        assert [first, *drawing] == [png_of(job.view)] * 6


def test_a_view_that_cannot_be_drawn_is_told_as_by_one_process():
    with Painters(1) as one, pytest.raises(TypeError):
        list(one.paint([Job("no view")]))


def test_few_drawings_and_few_cores_need_no_processes(monkeypatch):
    monkeypatch.setattr(painters, "one_process", lambda: False)
    monkeypatch.setattr(painters, "cores", lambda: 8)
    assert Painters.worth(painters.WORTH - 1) == 0
    assert Painters.worth(160) == 7, "one core is left for the window"
    assert Painters.worth(36) == 3
    monkeypatch.setattr(painters, "cores", lambda: 2)
    assert Painters.worth(160) == 0
    monkeypatch.setattr(painters, "cores", lambda: 8)
    monkeypatch.setattr(painters, "one_process", lambda: True)
    assert Painters.worth(160) == 0


def test_a_report_of_many_runs_is_the_same_with_processes(monkeypatch, workspace):
    for seed in range(3):
        run(workspace, [model(seed=seed)])
    chapters = chapters_of(workspace, workspace.runs())
    alone, several = Figures(workspace), Figures(workspace)
    monkeypatch.setattr(Painters, "worth", staticmethod(lambda drawings: 2))
    several.draw_ahead(chapters, tables=True)
    KEPT.clear()
    for one in chapters:
        assert several.shown(one) == alone.shown(one) and several.problem(one) == ""
        pairs = zip(several.pixels(one), alone.pixels(one), strict=True)
        assert all((first == second).all() for first, second in pairs)


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
