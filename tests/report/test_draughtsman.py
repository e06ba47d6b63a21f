"""A second process draws what the first one would have drawn."""

from __future__ import annotations

import os
import time

import pytest

from robgui.report.draughtsman import Draughtsman, WantedPicture
from robgui.report.pictures import draw_png
from tests.gui import sample_views as samples
from tests.patience import LONGEST


def _taken(second: Draughtsman, drawing: WantedPicture) -> None:
    """Waits until the process has started and takes a drawing."""
    end = time.monotonic() + LONGEST
    while not second.take(drawing):
        assert time.monotonic() < end, "it never took a drawing"
        time.sleep(0.01)


@pytest.fixture
def second():
    return Draughtsman(cores=2, idle=0.2)


def test_the_second_process_draws_the_same_picture_and_ends_when_nobody_asks(second):
    view = samples.curves(0.5)
    drawing = WantedPicture(b"key", view, False, True)
    _taken(second, drawing)
    process = second.process
    second.settle()
    assert drawing.png == draw_png(view, dark=False, large=True)
    process.wait(LONGEST)
    again = WantedPicture(b"key", view, True, False)
    _taken(second, again)
    second.settle()
    assert again.png == draw_png(view, dark=True, large=False), "it is started anew"


def test_what_a_process_that_dies_has_taken_stays_empty_and_nobody_waits(second):
    first = WantedPicture(b"key", samples.curves(0.5), False, True)
    _taken(second, first)
    second.settle()
    second.process.kill()
    second.process.wait(LONGEST)
    lost = WantedPicture(b"other", samples.curves(0.25), False, True)
    _taken(second, lost)
    second.settle()
    assert first.png and not lost.png


def test_with_one_core_or_no_interpreter_nothing_is_taken(monkeypatch, second):
    drawing = WantedPicture(b"key", samples.curves(0.5), False, True)
    assert not Draughtsman(cores=1).take(drawing)
    monkeypatch.setattr("sys.executable", os.devnull)
    assert not second.take(drawing) and not second.take(drawing)
