"""The self-test of the window runs in a process of its own, on a page and in the log."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from robgui.gui.pages.selftest_page import SelfTestPage
from robgui.gui.state.selftest import SelfTest


def test_the_window_goes_on_while_it_runs_and_its_page_is_told(qtbot):
    said, doing = [], []
    test = SelfTest(lambda *words: said.append(words), lambda *words: doing.append(words))
    test.start("cpu", only=["zonnscan_populations"])
    test.start("cpu")
    assert said == [("info", "The self-test is running already.", "")] and test.running
    qtbot.waitUntil(lambda: len(said) == 2)
    level, sentence, page = said[1]
    assert (level, sentence) == ("info", "The self-test has passed; the log has its page.")
    assert "zoNNscan populations" in page and "There is no GPU here" in page
    assert doing[0] == ("selftest", "Self-test: starting …") and doing[-1] == ("selftest", "")
    assert test.text == page


@pytest.mark.slow  # a second whole self-test
def test_its_page_shows_how_far_it_is_can_stop_it_and_copies_what_is_there(qtbot):
    said = []
    test = SelfTest(lambda *words: said.append(words), lambda *words: None)
    parent = QWidget()
    qtbot.addWidget(parent)
    page = SelfTestPage(test, parent)
    page.show()
    assert page.stop.isHidden() and not page.copy.isEnabled()
    test.start("cpu")
    assert not page.stop.isHidden()
    qtbot.waitUntil(lambda: "1/" in page.text.toPlainText())
    page.stop.click()
    qtbot.waitUntil(lambda: bool(said))
    assert said[0][:2] == ("info", "The self-test was stopped before its end.")
    page.copy.click()
    assert QApplication.clipboard().text() == page.text.toPlainText() == test.text
    assert page.stop.isHidden()


def test_closing_ends_it_and_says_nothing(qtbot):
    said = []
    test = SelfTest(lambda *words: said.append(words), lambda *words: None)
    test.start("cpu")
    assert test.running
    test.close()
    assert not test.running and said == []


def test_a_process_that_dies_is_told(qtbot):
    said = []
    test = SelfTest(lambda *words: said.append(words), lambda *words: None)
    test.start("no such device")
    qtbot.waitUntil(lambda: bool(said))
    assert said[0][0] == "error"
