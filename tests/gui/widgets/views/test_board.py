"""The board keeps the widgets of views that come again."""

from __future__ import annotations

from dataclasses import replace

from robgui.gui.widgets.views.board import ViewBoard
from tests.gui import sample_views as samples


def test_a_view_that_was_away_has_its_widget_again_and_another_does_not_inherit_it(qtbot):
    board = ViewBoard()
    qtbot.addWidget(board)
    first, second = samples.ALL["bars"], samples.ALL["curves"]
    board.show_views([first, second])
    kept = board.widgets[1]
    board.show_views([first])
    assert board.widgets == [board.widgets[0]] and not kept.isVisible()
    board.show_views([first, replace(second, title="another")])
    assert board.widgets[1] is not kept
    board.show_views([first])
    board.show_views([first, second])
    assert board.widgets[1] is kept
