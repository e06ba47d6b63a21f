"""F1 opens the manual at the page of the panel; the search leads to a section."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from robgui.core.execution.registry import analyses
from robgui.gui.pages.help import Help
from robgui.gui.state.store import Store


def test_the_manual_shows_a_page_with_its_settings_and_finds_sections(qtbot):
    store, parent = Store(), QWidget()
    store.analyses = analyses()
    qtbot.addWidget(parent)
    window = Help(store, parent)
    window.show_page("zonnscan")
    text = window.text.toPlainText()
    assert "In plain words" in text and "Most samples per radius" in text
    window.words.setText("clopper")
    assert window.list.count() >= 1
    window.list.setCurrentRow(0)
    assert window.page == "zonnscan"
    window.words.setText("zzzz")
    assert window.list.item(0).text() == "Nothing found."
    assert store.shutdown()


def test_hits_are_plain_words_and_escape_closes_the_manual(qtbot):
    store, parent = Store(), QWidget()
    qtbot.addWidget(parent)
    window = Help(store, parent)
    for words in ("radius", "seed", "the", "model"):
        window.words.setText(words)
        shown = [
            window.list.item(row).text().partition("\n")[2] for row in range(window.list.count())
        ]
        assert shown and not any(
            mark in text for text in shown for mark in ("**", "`", "](", "|", "##")
        )
    with qtbot.waitExposed(window):
        window.show()
    for part in (window.words, window.list, window.text):
        window.show()
        qtbot.keyClick(part, Qt.Key.Key_Escape)
        assert not window.isVisible()
    assert store.shutdown()
