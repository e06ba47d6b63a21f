"""The command palette, the shortcut sheet and the table behind them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QLabel, QMainWindow

from robgui.gui.app.actions import Actions, Entry
from robgui.gui.app.palette import CommandPalette, PaletteLine, ShortcutSheet, match_rank


@pytest.fixture
def done():
    return []


@pytest.fixture
def actions(qtbot, done):
    window = QMainWindow()
    qtbot.addWidget(window)
    entries = [
        Entry("open", "Open model …", "File", lambda: done.append("open"), "Ctrl+O", "open"),
        Entry("save", "Save picture …", "File", lambda: done.append("save"), "Ctrl+E"),
        Entry("run", "Run", "Run", lambda: done.append("run"), "Ctrl+R", "run"),
    ]
    made = Actions(window, entries)
    made.window = window
    return made


def test_a_few_letters_and_enter_do_it(actions, done, qtbot):
    palette = CommandPalette(actions, actions.window)
    qtbot.addWidget(palette)
    palette.show()
    qtbot.keyClicks(palette.line, "pict")
    assert palette.list.count() == 1
    qtbot.keyClick(palette.line, Qt.Key.Key_Return)
    assert done == ["save"]


def test_arrow_keys_choose_and_grey_commands_do_nothing(actions, done, qtbot):
    actions.enable(open=False)
    palette = CommandPalette(actions, actions.window)
    qtbot.addWidget(palette)
    palette.show()
    texts = [palette.list.item(i).text().split("    ")[0] for i in range(palette.list.count())]
    for _ in range(texts.index("Open model …")):
        qtbot.keyClick(palette.line, Qt.Key.Key_Down)
    qtbot.keyClick(palette.line, Qt.Key.Key_Return)
    assert done == []
    assert palette.isVisible()


def test_nothing_found_and_enter_is_harmless(actions, done, qtbot):
    palette = CommandPalette(actions, actions.window)
    qtbot.addWidget(palette)
    qtbot.keyClicks(palette.line, "zzz")
    qtbot.keyClick(palette.line, Qt.Key.Key_Return)
    assert done == []


def words_in(palette):
    return [palette.list.item(row).text() for row in range(palette.list.count())]


def test_what_can_be_done_comes_first_what_was_done_lately_before_it(actions, done, qtbot):
    CommandPalette.recent.clear()
    actions.enable(open=False)
    palette = CommandPalette(actions, actions.window)
    qtbot.addWidget(palette)
    assert words_in(palette) == ["Run", "Save picture …", "Open model …"]
    qtbot.keyClicks(palette.line, "pict")
    qtbot.keyClick(palette.line, Qt.Key.Key_Return)
    again = CommandPalette(actions, actions.window)
    qtbot.addWidget(again)
    assert words_in(again) == ["Save picture …", "Run", "Open model …"]
    CommandPalette.recent.clear()


def test_pages_are_found_by_name_and_by_their_question_and_nothing_says_so(actions, done, qtbot):
    page = PaletteLine(
        "Go to Coverage", lambda: done.append("page"), QIcon(), also="Which neurons fire?"
    )
    palette = CommandPalette(actions, actions.window, [page])
    qtbot.addWidget(palette)
    for typed in ("cover", "neurons"):
        palette.line.setText(typed)
        assert words_in(palette) == ["Go to Coverage"]
    qtbot.keyClick(palette.line, Qt.Key.Key_Return)
    assert done == ["page"]
    palette.line.setText("zzz")
    assert words_in(palette) == ["Nothing is called “zzz”; try fewer letters."]


def test_the_sheet_lists_every_shortcut(actions, qtbot):
    sheet = ShortcutSheet(actions, actions.window)
    qtbot.addWidget(sheet)
    shown = [label.text() for label in sheet.findChildren(QLabel)]
    assert {"Ctrl+O", "Ctrl+E", "Ctrl+R"} <= set(shown)


@pytest.mark.parametrize(
    ("typed", "text", "rank"),
    [
        ("", "Run", 0),
        ("op", "Open", 0),
        ("pic", "Save picture", 1),
        ("svp", "Save picture", 2),
        ("x", "Run", -1),
    ],
)
def test_rank(typed, text, rank):
    assert match_rank(typed, text) == rank
