"""Background work: delivered on the GUI thread, newest wins, errors become sentences."""

from __future__ import annotations

import threading
import time

import pytest

from robgui.core.errors import DataError
from robgui.gui.state.background import Background


@pytest.fixture
def background(qtbot):
    made = Background(1)
    yield made
    assert made.shutdown()


def test_work_happens_elsewhere_and_the_answer_comes_here(background, qtbot):
    here, seen = threading.get_ident(), []
    background.run(threading.get_ident, lambda there: seen.append((there, threading.get_ident())))
    qtbot.waitUntil(lambda: bool(seen))
    there, answered = seen[0]
    assert there != here
    assert answered == here


def test_only_the_newest_work_under_a_key_is_delivered(background, qtbot):
    done, begun = [], []

    def work(i: int) -> int:
        begun.append(i)
        time.sleep(0.02)
        return i

    for i in range(20):
        background.run(lambda i=i: work(i), done.append, key="picture")
    qtbot.waitUntil(lambda: not background.busy)
    assert done == [19]
    assert len(begun) < 20, "work that is no longer wanted is not begun"


def test_a_known_error_is_its_own_sentence_and_an_unknown_one_keeps_its_traceback(
    background, qtbot
):
    said = []
    background.failed.connect(lambda sentence, details: said.append((sentence, details)))

    def known() -> None:
        raise DataError("cats.csv: row 3 has no label.")

    background.run(known)
    background.run(lambda: 1 / 0)
    qtbot.waitUntil(lambda: len(said) == 2)
    assert said[0] == ("cats.csv: row 3 has no label.", "")
    assert "ZeroDivisionError" in said[1][0]
    assert "Traceback" in said[1][1]
