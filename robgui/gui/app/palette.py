"""The command palette (everything by typing) and the shortcut sheet."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from robgui.gui.app.actions import Actions
from robgui.gui.app.theme import heading_font
from robgui.gui.widgets.plain import Label


class CommandPalette(QDialog):
    """Type a few letters of what you want; Enter does it."""

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self._actions = actions
        self.setWindowTitle("Commands")
        self.line = QLineEdit(placeholderText="Type what you want to do …", clearButtonEnabled=True)
        self.line.setAccessibleName("Command")
        self.line.textChanged.connect(self._filter)
        self.line.installEventFilter(self)
        self.list = QListWidget()
        self.list.setAccessibleName("Commands")
        self.list.itemActivated.connect(lambda _: self._do())
        layout = QVBoxLayout(self)
        layout.addWidget(self.line)
        layout.addWidget(self.list)
        self.resize(self.fontMetrics().averageCharWidth() * 72, self.fontMetrics().height() * 20)
        self._filter("")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrow keys move in the list while the line has the focus."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                step = 1 if event.key() == Qt.Key.Key_Down else -1
                self.list.setCurrentRow((self.list.currentRow() + step) % max(1, self.list.count()))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._do()
                return True
        return False

    def _filter(self, text: str) -> None:
        self.list.clear()
        ranked = sorted(
            (rank, entry.text, name)
            for name, entry in self._actions.entries.items()
            if (rank := match_rank(text, entry.text)) >= 0
        )
        for _, shown, name in ranked:
            self._add(shown, name, self._actions[name])
        self.list.setCurrentRow(0)

    def _add(self, shown: str, name: str, action: QAction) -> None:
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        item = QListWidgetItem(action.icon(), f"{shown}    {keys}" if keys else shown)
        item.setData(Qt.ItemDataRole.UserRole, name)
        if not action.isEnabled():
            item.setFlags(Qt.ItemFlag.NoItemFlags)
        self.list.addItem(item)

    def _do(self) -> None:
        item = self.list.currentItem()
        if not self.list.count() or not item.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        self.accept()
        self._actions[item.data(Qt.ItemDataRole.UserRole)].trigger()


class ShortcutSheet(QDialog):
    """Every shortcut on one page."""

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        inner = QWidget()
        grid = QGridLayout(inner)
        grid.setHorizontalSpacing(32)
        row = 0
        for menu in dict.fromkeys(entry.menu for entry in actions.entries.values() if entry.menu):
            title = Label(menu, font=heading_font(1.15))
            grid.addWidget(title, row, 0, 1, 2)
            row += 1
            for name, entry in actions.entries.items():
                if entry.menu == menu and entry.keys:
                    grid.addWidget(Label(entry.text.rstrip(" …")), row, 0)
                    keys = actions[name].shortcut().toString(QKeySequence.SequenceFormat.NativeText)
                    grid.addWidget(Label(keys), row, 1)
                    row += 1
        grid.setRowStretch(row, 1)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setWidget(inner)
        QVBoxLayout(self).addWidget(scroll)
        self.resize(self.fontMetrics().averageCharWidth() * 64, self.fontMetrics().height() * 30)


def match_rank(typed: str, text: str) -> int:
    """How well ``typed`` fits ``text``: 0 best; -1 not at all.

    Letters must come in order, words count more.
    """
    typed, text = typed.lower().strip(), text.lower()
    if not typed or text.startswith(typed):
        return 0
    if typed in text:
        return 1
    place = -1
    for letter in typed:
        place = text.find(letter, place + 1)
        if place < 0:
            return -1
    return 2
