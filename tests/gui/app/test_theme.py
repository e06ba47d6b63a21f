"""The look is worked out where it changes, and only there."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from robgui.gui.app.theme import theme


@pytest.fixture
def repaints(qtbot):
    """Notes each time the program takes on a look."""
    theme.apply(False)
    seen = []
    note = lambda: seen.append(theme.dark)  # noqa: E731 - the same one is taken off again
    theme.changed.connect(note)
    font = QApplication.font()
    yield seen
    theme.changed.disconnect(note)
    QApplication.setFont(font)
    theme.apply(False)


def test_a_look_that_is_on_show_already_repaints_nothing(repaints):
    theme.apply(False)
    assert repaints == []
    theme.apply(True)
    theme.apply(True)
    assert repaints == [True]


def test_larger_text_in_the_same_look_repaints_everything(repaints):
    font = QApplication.font()
    font.setPointSizeF(font.pointSizeF() * 1.5)
    QApplication.setFont(font)
    theme.apply(False)
    assert repaints == [False]
