"""Large text on a small screen: nothing is cut, and the window fits."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QToolButton

#: A screen of 1366 × 768 without the frame of the window.
WIDE, HIGH = 1358, 728


@pytest.fixture(params=[1.5, 2.0])
def large(request, window, qtbot):
    before = window.settings.font_scale
    window.commands.scale_text(request.param / before)
    window.resize(WIDE, HIGH)
    qtbot.wait(50)
    yield window
    window.commands.scale_text(before / window.settings.font_scale)


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
