"""In a low window the pictures of a game take turns below one row of tabs."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QPushButton, QWidget

from robgui.gui.panels.feature_game.turns import Turns

TITLES = ("Features of the image", "Where the search looks", "Before and after")


@pytest.mark.parametrize("width", [900, 560, 420])
def test_beside_the_explanation_too_the_tabs_keep_to_one_row(qtbot, width):
    turns = Turns(TITLES, (1, 1, 1), QWidget(), QPushButton("Save example …"))
    qtbot.addWidget(turns)
    turns.resize(width, 400)
    turns.show()
    tabs = [*turns.switch.tabs, turns.switch.more]
    assert turns.switch.isVisible()
    assert len({tab.y() for tab in tabs if tab.isVisible()}) == 1
    assert turns.switch.more.isVisible() == any(not tab.isVisible() for tab in tabs[:-1])
