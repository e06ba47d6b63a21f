"""The rail of pages: words under the icons where there is room, icons alone in a low window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from robgui.gui.app.app import application
from robgui.gui.app.rail import Rail

PAGES = [("home", "Welcome"), ("overview", "Overview"), ("compare", "Compare"), ("app", "Semantic maps")]


@pytest.fixture
def rail(qtbot):
    application()
    around = QWidget()
    qtbot.addWidget(around)
    made = Rail(PAGES)
    made.setParent(around)
    with qtbot.waitExposed(around):
        around.show()
    made.show()
    yield made
    around.close()


@pytest.mark.parametrize(
    ("spare", "style"), [(0, Qt.ToolButtonStyle.ToolButtonIconOnly), (200, Qt.ToolButtonStyle.ToolButtonTextUnderIcon)]
)
def test_no_button_is_squeezed_at_any_height(qtbot, rail, spare, style):
    rail.resize(rail.minimumSizeHint().width(), rail.minimumSizeHint().height() + spare)
    qtbot.wait(20)
    buttons = rail.findChildren(QToolButton)
    assert [button.toolButtonStyle() for button in buttons] == [style] * len(PAGES)
    assert all(button.height() >= button.sizeHint().height() for button in buttons)
