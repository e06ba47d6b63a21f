from __future__ import annotations

import logging
import threading
import warnings

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from robgui.gui.app.theme import theme
from robgui.gui.docks import LogView
from robgui.gui.docks.log import LINES


@pytest.fixture
def log(qtbot, store):
    widget = LogView(store)
    qtbot.addWidget(widget)
    widget.show()
    yield widget
    widget.listener.detach()


def text(log):
    return log.text.toPlainText()


def test_what_the_store_says_arrives_with_time_and_level(log, store):
    store.say("warning", "The model is odd.", "line one\nline two")
    first, second, third = text(log).splitlines()
    assert first[2] == first[5] == ":"
    assert first[8:] == "  Warning  The model is odd."
    assert (second, third) == ("    line one", "    line two")


def test_an_error_has_a_colour_of_its_own(log, store):
    store.say("info", "Opened a model.")
    store.say("error", "It broke.", "line one")
    block = log.text.document().findBlockByNumber(1)
    colours = [each.format.foreground().color().name() for each in block.layout().formats()]
    assert colours == [theme.colours.bad.lower()]
    for number in (0, 2):
        assert not log.text.document().findBlockByNumber(number).layout().formats()


def test_logging_from_another_thread_arrives(qtbot, log):
    def work():
        try:
            raise ZeroDivisionError("by nothing")
        except ZeroDivisionError:
            logging.getLogger("robgui.test").exception("It broke")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: "It broke" in text(log))
    assert "Error    robgui.test: It broke" in text(log)
    assert "    ZeroDivisionError: by nothing" in text(log)


def test_python_warnings_arrive(qtbot, log):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = log.listener.show_warning
        warnings.warn("old and slow", UserWarning, stacklevel=1)
    qtbot.waitUntil(lambda: "Warning  old and slow" in text(log))


def test_python_shows_warnings_as_before_when_the_log_is_gone(log):
    assert warnings.showwarning == log.listener.show_warning
    log.listener.detach()
    assert warnings.showwarning != log.listener.show_warning


def test_old_lines_go(log):
    for number in range(LINES + 100):
        log.add("info", f"line {number}")
    assert log.text.blockCount() == LINES
    assert "line 99\n" not in text(log)


def test_copy_all_and_clear(qtbot, log, store):
    store.say("info", "Hello.")
    qtbot.mouseClick(log.copy_all, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text().endswith("Hello.")
    qtbot.mouseClick(log.clear, Qt.MouseButton.LeftButton)
    assert text(log) == ""
