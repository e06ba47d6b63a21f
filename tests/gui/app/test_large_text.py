"""Large text on a small screen: nothing is cut, and the window fits."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QToolButton

from tests.gui.opened import until

#: A screen of 1366 × 768 without the frame of the window.
WIDE, HIGH = 1358, 728


@pytest.fixture(scope="module", params=[1.5, 2.0])
def large(request, lasting_window):
    window = lasting_window
    window.go_to(0)
    before = window.settings.font_scale
    window.commands.scale_text(request.param / before)
    window.resize(WIDE, HIGH)
    until(lambda: (window.width(), window.height()) == (WIDE, HIGH))
    yield window
    window.go_to(0)
    window.commands.scale_text(before / window.settings.font_scale)


@pytest.fixture(autouse=True)
def first_page(large):
    """Each test begins where a window does."""
    large.go_to(0)


def test_no_page_makes_the_window_larger_than_the_screen(qtbot, large):
    for number in range(large.pages.count()):
        large.go_to(number)
        qtbot.wait(20)
        assert large.width() <= WIDE and large.height() <= HIGH, number


def test_every_page_of_the_rail_can_be_reached(qtbot, large):
    buttons = large.rail.findChildren(QToolButton)
    for number in (len(buttons) - 1, 0):
        button = buttons[number]
        large.go_to(number)
        qtbot.waitUntil(lambda button=button: not hidden(button), timeout=10_000)
        assert button.height() >= button.sizeHint().height()


def test_all_pages_of_the_rail_are_seen_at_once(qtbot, large):
    buttons = large.rail.findChildren(QToolButton)
    qtbot.waitUntil(lambda: not any(hidden(one) for one in buttons), timeout=10_000)
    assert all(one.height() >= one.sizeHint().height() for one in buttons)
    worded = buttons[0].toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextUnderIcon
    assert worded or all(one.toolTip() for one in buttons)


def test_what_the_program_says_of_itself_does_not_widen_the_window(qtbot, large):
    status = large.status
    status.memory.setText("memory 1,276.3 MB, models 1,902.5 MB, GPU 12.3 GB of 24.0 GB")
    large.store.working.emit("Looking at all inputs of a dataset with a very long name " * 3)
    qtbot.waitUntil(lambda: status.minimumSizeHint().width() <= WIDE, timeout=10_000)
    assert large.width() <= WIDE and "GPU 12.3 GB" in status.device.toolTip()
    large.store.working.emit("")


def hidden(button):
    return button.visibleRegion().boundingRect().size() != button.size()


def test_the_buttons_of_the_overview_are_whole(qtbot, large):
    large.go_to(1)
    hero = large.overview.hero
    hero.show_next(
        {
            "findings": "See 29 of 52 findings",
            "inspect_everything": "Ask the other methods",
            "present": "Tell it as a story",
            "report": "Write a report",
        }
    )
    buttons = list(hero.next.values())
    whole = lambda: all(  # noqa: E731
        one.width() >= one.sizeHint().width() and hero.rect().contains(placed(hero, one))
        for one in buttons
    )
    qtbot.waitUntil(whole, timeout=10_000)
    places = [placed(hero, one) for one in buttons]
    assert not any(a.intersects(b) for a in places for b in places if a is not b)


def placed(around, widget):
    return QRect(widget.mapTo(around, QPoint()), widget.size())


def test_welcome_needs_no_moving_sideways(qtbot, large):
    welcome = large.welcome
    qtbot.waitUntil(lambda: not welcome.horizontalScrollBar().maximum(), timeout=10_000)
