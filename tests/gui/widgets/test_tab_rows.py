"""TabRows: every tab is whole, and behaves as one of QTabBar."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics

from robgui.gui.widgets.tab_rows import TabRows

NAMES = ["Confidence and uncertainty", "Random inputs", "How samples disagree", "In numbers"]


@pytest.fixture
def rows(qtbot):
    made = TabRows()
    qtbot.addWidget(made)
    for name in NAMES:
        made.addTab(name)
    made.resize(640, 60)
    made.show()
    return made


@pytest.mark.parametrize("width", [1000, 420, 300])
def test_every_tab_is_whole_within_the_width_and_touches_no_other(rows, width, qtbot):
    rows.resize(width, 60)
    qtbot.wait(10)
    shown = [tab for tab in rows.tabs if tab.isVisible()]
    places = [tab.geometry() for tab in shown]
    assert len(shown) == 4 or rows.more.isVisible()
    if rows.more.isVisible():
        places.append(rows.more.geometry())
    assert all(place.right() < width for place in places)
    for tab, place in zip(shown, places, strict=False):
        assert place.right() < width and place.bottom() < rows.height()
        bold = tab.font()
        bold.setBold(True)
        assert place.width() >= QFontMetrics(bold).horizontalAdvance(tab.text()), "the words fit"
        assert tab.text() == tab.accessibleName()
    assert not any(one.intersects(two) for one in places for two in places if one is not two)


def test_what_does_not_fit_into_two_rows_stands_behind_more(rows, qtbot):
    for number in range(8):
        rows.addTab(f"Another long name, number {number}")
    rows.resize(420, 60)
    qtbot.wait(10)
    hidden = [place for place, tab in enumerate(rows.tabs) if not tab.isVisible()]
    assert rows.more.isVisible() and hidden and hidden[-1] == 11
    shown = [tab.geometry() for tab in rows.tabs if tab.isVisible()]
    assert not any(one.intersects(two) for one in shown for two in shown if one is not two)
    assert rows.height() <= 2 * rows.tabs[0].height() + 8
    rows.more.menu().aboutToShow.emit()
    actions = rows.more.menu().actions()
    assert [action.text() for action in actions] == [rows.tabText(place) for place in hidden]
    actions[-1].trigger()
    assert rows.currentIndex() == 11 and rows.more.isChecked()
    rows.tabs[0].click()
    assert rows.currentIndex() == 0 and not rows.more.isChecked()
    rows.resize(4000, 60)
    qtbot.wait(10)
    assert not rows.more.isVisible() and all(tab.isVisible() for tab in rows.tabs)


def test_a_name_wider_than_the_window_loses_its_middle_and_has_a_tool_tip(rows, qtbot):
    rows.setTabText(0, "A very long name of a view that no window of this width could ever hold")
    rows.resize(240, 60)
    qtbot.wait(10)
    assert "…" in rows.tabs[0].text() and rows.tabs[0].toolTip() == rows.tabText(0)


def test_a_click_chooses_and_tells_and_a_tab_taken_away_leaves_its_neighbour(rows, qtbot):
    heard = []
    rows.currentChanged.connect(heard.append)
    rows.tabs[2].click()
    assert (rows.currentIndex(), heard) == (2, [2])
    rows.insertTab(0, "First")
    assert (rows.currentIndex(), rows.tabText(3), heard) == (3, NAMES[2], [2])
    rows.removeTab(3)
    assert rows.currentIndex() == 3 and rows.tabText(3) == NAMES[3] and rows.tabs[3].isChecked()
    while rows.count():
        rows.removeTab(0)
    assert rows.currentIndex() == -1


def test_the_tint_of_the_focus_goes_along_with_a_click(rows, qtbot):
    rows.resize(4000, 60)
    rows.activateWindow()
    rows.tabs[0].setFocus()
    qtbot.waitUntil(rows.tabs[0].hasFocus)
    qtbot.mouseClick(rows.tabs[2], Qt.MouseButton.LeftButton)
    assert rows.currentIndex() == 2
    assert rows.tabs[2].hasFocus() and not rows.tabs[0].hasFocus()
