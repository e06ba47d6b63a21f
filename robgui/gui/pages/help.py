"""Help: the manual in its own window, searchable, offline.

F1 opens the page of the panel on show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextBlockFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from robgui import manual
from robgui.gui.app.theme import theme
from robgui.gui.widgets.sized import resize_within

#: Per cent of a line of the manual from one line to the next.
_LEADING = 125

if TYPE_CHECKING:
    from robgui.gui.state.store import Store


class Help(QWidget):
    """A list of pages or of search hits, and the page beside it.

    Attributes:
        page: The name of the page on show; empty before there is one.
    """

    def __init__(self, store: Store, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._store = store
        self.page = ""
        self.setWindowTitle("robgui help")
        self.words = QLineEdit(clearButtonEnabled=True)
        self.words.setPlaceholderText("Search the manual")
        self.words.setAccessibleName("Search the manual")
        self.list = QListWidget()
        self.list.setAccessibleName("Pages of the manual")
        self.list.setWordWrap(True)
        self.list.setSpacing(4)
        self.text = QTextBrowser(openLinks=False)
        self.text.setAccessibleName("The page")
        left = QVBoxLayout()
        left.addWidget(self.words)
        left.addWidget(self.list, 1)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addLayout(left, 1)
        layout.addWidget(self.text, 3)
        resize_within(self, 124, 44)
        self.words.textChanged.connect(self._fill)
        self.list.currentItemChanged.connect(lambda item, _: self._chosen(item))
        theme.changed.connect(self._draw)
        self._fill("")

    def show_page(self, name: str, section: str = "") -> None:
        """Shows the page called ``name``, at ``section`` if one is named."""
        self.page = name
        self._draw()
        if section:
            # find looks from the cursor on, and a new text puts it at the start.
            self.text.find(section, QTextDocument.FindFlag.FindCaseSensitively)
            self.text.ensureCursorVisible()
        for row in range(self.list.count()):
            item = self.list.item(row)
            if not self.words.text() and item.data(Qt.ItemDataRole.UserRole) == (name, ""):
                # To mark the page that is on show must not draw it once more.
                self.list.blockSignals(True)
                self.list.setCurrentItem(item)
                self.list.blockSignals(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the manual, wherever in it the keyboard is."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def _fill(self, words: str) -> None:
        # While it is emptied and filled the list chooses pages that nobody asked for.
        self.list.blockSignals(True)
        self.list.clear()
        if words.strip():
            for hit in manual.search(words):
                self._add(
                    f"{manual.page(hit.page).title}: {hit.section}\n{hit.text}",
                    (hit.page, hit.section),
                )
            if not self.list.count():
                self._add("Nothing found.", ("", ""))
        else:
            for page in manual.pages():
                self._add(page.title, (page.name, ""))
        self.list.blockSignals(False)

    def _add(self, words: str, place: tuple[str, str]) -> None:
        item = QListWidgetItem(words)
        item.setData(Qt.ItemDataRole.UserRole, place)
        self.list.addItem(item)

    def _chosen(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            name, section = item.data(Qt.ItemDataRole.UserRole)
            if name:
                self.show_page(name, section)

    def _draw(self) -> None:
        if not self.page:
            return
        page = manual.page(self.page)
        mine = [
            known
            for known in self._store.analyses.values()
            if manual.page_of(known.name) is page and page.name != manual.START
        ]
        self.text.document().setDefaultStyleSheet(f"a {{ color: {theme.colours.accent}; }}")
        self.text.setMarkdown(page.text + ("\n\n" + manual.settings(mine) if mine else ""))
        _set_apart(self.text.document(), self.fontMetrics().height())


def _set_apart(document: QTextDocument, line: int) -> None:
    """Room around the page, above its headings and between its lines."""
    document.setDocumentMargin(1.5 * line)
    block = document.begin()
    while block.isValid():
        style = block.blockFormat()
        if style.headingLevel():
            style.setTopMargin(0 if block.blockNumber() == 0 else 1.2 * line)
            style.setBottomMargin(0.4 * line)
        else:
            style.setLineHeight(_LEADING, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        # A block hands out a copy of its format; only a cursor writes it back.
        QTextCursor(block).setBlockFormat(style)
        block = block.next()
