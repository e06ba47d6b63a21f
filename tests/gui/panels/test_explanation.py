"""What am I looking at? Numbers on the picture and words beside it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from robgui.gui.panels.explanation import LINE
from tests.gui import sample_views as samples


@pytest.fixture
def explained(qtbot, bench, run, sampled):
    panel, pane = bench(sampled.name)
    panel.resize(1200, 800)
    run(panel, pane)
    button = next(b for b in panel.findChildren(QPushButton) if b.text().startswith("What am I"))
    button.click()
    return panel


def test_the_picture_carries_a_number_for_each_of_the_words_beside_it(explained):
    words, numbers = explained.explanation, explained.explanation.numbers
    assert words.isVisible() and numbers.isVisible() and len(numbers.callouts) >= 3
    for place, one in enumerate(numbers.callouts, start=1):
        assert f"{place}  " in words.text.text() and numbers.rect().contains(one.place), one
    assert words.text.text().endswith("A curve."), "what the method says comes last"
    assert samples.curves(1.0).x.title in words.text.text()


def test_a_picture_that_is_not_made_yet_has_no_numbers(explained):
    board = explained.board
    board.show_views([samples.bars()], live=True)
    assert board.isVisible() and not board.widgets[0].built
    explained.explanation.refresh()
    assert not explained.explanation.numbers.callouts


def test_no_line_has_more_than_seventy_letters(explained):
    assert max(len(line) for line in explained.explanation.text.text().split("\n")) <= LINE == 70


def test_the_mouse_goes_through_the_numbers_and_they_go_when_the_words_do(explained):
    numbers = explained.explanation.numbers
    assert numbers.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    button = next(b for b in explained.findChildren(QPushButton) if b.text().startswith("What am"))
    button.click()
    assert not numbers.isVisible() and not explained.explanation.isVisible()
