"""The rail of pages: words under the icons where there is room, icons alone in a low window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QToolButton, QWidget

from robgui.gui.app.app import application
from robgui.gui.app.rail import Rail, RailEntry, rail_entries, shortcut
from robgui.gui.app.theme import icon, theme
from robgui.gui.panels import pages

PAGES = [
    RailEntry("Welcome", "home"),
    RailEntry("Overview", "overview"),
    RailEntry("Compare", "compare"),
    RailEntry("Semantic maps", "app"),
]


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
    ("spare", "style"),
    [
        (0, Qt.ToolButtonStyle.ToolButtonIconOnly),
        (80, Qt.ToolButtonStyle.ToolButtonTextUnderIcon),
        (300, Qt.ToolButtonStyle.ToolButtonTextUnderIcon),
    ],
)
def test_no_button_is_squeezed_at_any_height(qtbot, rail, spare, style):
    rail.resize(rail.minimumSizeHint().width(), rail.minimumSizeHint().height() + spare)
    qtbot.wait(20)
    buttons = rail.findChildren(QToolButton)
    assert [button.toolButtonStyle() for button in buttons] == [style] * len(PAGES)
    assert all(button.height() >= button.sizeHint().height() for button in buttons)


def test_on_a_small_screen_every_page_of_ours_keeps_its_words(qtbot, rail):
    """1366 × 768: about 640 pixels are left for the rail."""
    whole = Rail(rail_entries())
    whole.setParent(rail.parentWidget())
    whole.resize(whole.sizeHint().width(), 640)
    whole.show()
    qtbot.wait(20)
    buttons = whole.findChildren(QToolButton)
    assert {button.toolButtonStyle() for button in buttons} == {
        Qt.ToolButtonStyle.ToolButtonTextUnderIcon
    }
    assert all(button.height() >= button.sizeHint().height() for button in buttons)


def test_the_methods_stand_between_the_overview_and_the_findings_with_icons_of_their_own():
    found = rail_entries()
    assert [place.title for place in found[:2]] == ["Welcome", "Overview"]
    assert [place.title for place in found[-2:]] == ["Findings", "Compare"]
    methods = found[2:-2]
    assert [place.title for place in methods] == [page.title for page in pages()]
    assert all(place.icon.is_file() and not icon(place.icon).isNull() for place in methods)


def icon_height(button):
    """Rows of ink above the words of a button, as painted."""
    image = button.grab().toImage()
    ground = image.pixelColor(2, image.height() // 2)
    inked = [
        any(image.pixelColor(x, y) != ground for x in range(4, image.width() - 4))
        for y in range(image.height())
    ]
    first = inked.index(True)
    return inked.index(False, first) - first


def test_icons_grow_with_the_text(qtbot, rail):
    usual, heights = QApplication.font(), []
    try:
        for factor in (1.0, 1.5, 2.0):
            font = QApplication.font()
            font.setPointSizeF(usual.pointSizeF() * factor)
            QApplication.setFont(font)
            theme.apply(theme.dark)
            rail.resize(400, 1000)
            heights.append(icon_height(rail.findChildren(QToolButton)[1]))
    finally:
        QApplication.setFont(usual)
        theme.apply(theme.dark)
    assert heights[1] > 1.35 * heights[0] and heights[2] > 1.8 * heights[0], heights


def test_every_page_of_ours_has_keys_of_its_own():
    keys = [shortcut(number) for number in range(len(rail_entries()))]
    assert all(keys) and len(set(keys)) == len(keys)
