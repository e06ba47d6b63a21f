"""Drawings are made once in a process."""

from __future__ import annotations

import os

import platformdirs

from robgui.report.kept import Kept
from robgui.report.pictures import Figures
from robgui.report.report_content import chapters_of
from robgui.report.shelf import Shelf
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


def test_another_process_finds_what_was_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: tmp_path / "robgui")
    png = b"\x89PNG\r\n\x1a\nrest"
    first, second, without = Kept(), Kept(), Kept()
    for one in (first, second):
        one.use_shelf()
    first.put(b"key", png)
    assert second.get(b"key") == png and without.get(b"key") is None
    (file,) = Shelf().folder.iterdir()
    assert file.stat().st_mode & 0o077 == 0, "nobody else may read it"
    file.write_bytes(b"no picture")
    third = Kept()
    third.use_shelf()
    assert third.get(b"key") is None


def test_the_shelf_lets_go_of_what_nobody_asked_for(monkeypatch, tmp_path):
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: tmp_path / "robgui")
    shelf = Shelf(most=30)
    for number in range(3):
        shelf.put(bytes([number]), b"\x89PNG\r\n\x1a\n" + bytes(4))
        os.utime(shelf.path_of(bytes([number])), (number, number))
    shelf.tidy()
    assert [shelf.get(bytes([number])) is None for number in range(3)] == [True, False, False]
