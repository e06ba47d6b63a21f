"""The verdict above a picture: one sentence, one line of what it rests on, nothing cut."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget

from robgui.core.verdict import Status, Verdict
from robgui.gui.panels.verdict_line import VerdictLine

SHORT = Verdict(Status.UNKNOWN, "Nothing is known yet.")
LONG = Verdict(
    Status.FAILS,
    "A sentence that is longer than a line of this width, so it takes two of them. " * 2,
    scope="On all of 2,000 inputs.",
    because=tuple(f"Reason number {place} in a few words." for place in range(12)),
)


@pytest.fixture
def page(qtbot):
    page = QWidget()
    qtbot.addWidget(page)
    return page


@pytest.fixture
def line(qtbot, page):
    layout = QVBoxLayout(page)
    made = VerdictLine()
    layout.addWidget(made)
    layout.addStretch(1)
    page.resize(700, 400)
    with qtbot.waitExposed(page):
        page.show()
    return made


def cut(label) -> bool:
    return label.height() < label.heightForWidth(label.width())


def test_other_words_are_whole_at_once_however_long_those_before_were(qtbot, line):
    for verdict in (SHORT, LONG, SHORT, LONG):
        line.show_verdict(verdict)
        line.hold_height(grow_only=False)
        qtbot.waitUntil(lambda: not cut(line.sentence) and not cut(line.rest))


def test_what_it_rests_on_is_one_line_until_more_is_asked_for(qtbot, line):
    line.show_verdict(LONG)
    assert line.rest.text().startswith(LONG.scope) and line.more.isVisible()
    assert line.rest.heightForWidth(line.rest.width()) < 2 * line.rest.fontMetrics().lineSpacing()
    line.more.click()
    assert LONG.because[-1] in line.rest.text()
    qtbot.waitUntil(lambda: not cut(line.rest))


def test_a_run_under_way_has_not_come_to_cannot_tell(qtbot):
    line = VerdictLine()
    qtbot.addWidget(line)
    unknown = Verdict(Status.UNKNOWN, "Still searching.")
    line.show_verdict(unknown, live=True)
    assert line.status.text() == "… Not known yet"
    line.show_verdict(unknown)
    assert line.status.text() == "? Cannot tell"
    line.show_verdict(Verdict(Status.FAILS, "One pixel."), live=True)
    assert line.status.text() == "✗ Failure found", "a failure that was seen stays one"
