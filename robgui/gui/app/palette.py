"""The command palette (everything by typing) and the shortcut sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QIcon, QKeyEvent, QKeySequence, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from robgui.gui.app.actions import Actions
from robgui.gui.app.theme import set_heading
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.sized import resize_within, within

#: Columns of the sheet, and the height of a heading in lines.
COLUMNS, _HEADING = 3, 2
#: Pixels of a sign.
_ICON = QSize(20, 20)
#: Where the shortcut of a line stands.
_KEYS = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True)
class PaletteLine:
    """One line of the palette.

    Attributes:
        text: What it says.
        do: What choosing it does.
        sign: Its icon.
        keys: Its shortcut.
        also: Other words that find it.
        enabled: Whether it can be chosen now.
    """

    text: str
    do: Callable[[], object]
    sign: QIcon
    keys: str = ""
    also: str = ""
    enabled: bool = True


class CommandPalette(QDialog):
    """Type a few letters of what you want; Enter does it.

    Args:
        actions: The commands.
        parent: The window.
        others: More that can be chosen: pages, models.
    """

    #: What was chosen in this session, the newest first.
    recent: ClassVar[list[str]] = []

    def __init__(
        self, actions: Actions, parent: QWidget, others: Sequence[PaletteLine] = ()
    ) -> None:
        super().__init__(parent)
        self._choices = [*_commands(actions), *others]
        self._shown: list[PaletteLine] = []
        self.setWindowTitle("Commands")
        self.line = QLineEdit(
            placeholderText="Type what you want to do, or a page or a model …",
            clearButtonEnabled=True,
        )
        self.line.setAccessibleName("Command")
        self.line.textChanged.connect(self._filter)
        self.line.installEventFilter(self)
        self.list = QListWidget()
        self.list.setAccessibleName("Commands")
        self.list.setIconSize(_ICON)
        self.list.itemActivated.connect(lambda _: self._do())
        layout = QVBoxLayout(self)
        layout.addWidget(self.line)
        layout.addWidget(self.list)
        self.list.setItemDelegate(_Keys(self.list))
        resize_within(self, 72, 26)
        self._filter("")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrow keys move in the list while the line has the focus."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                if event.key() == Qt.Key.Key_Down:
                    step = 1
                else:
                    step = -1
                self.list.setCurrentRow((self.list.currentRow() + step) % max(1, self.list.count()))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._do()
                return True
        return False

    def _filter(self, text: str) -> None:
        self.list.clear()
        ranked = [(_rank(text, choice), choice) for choice in self._choices]
        fitting = [(rank, choice) for rank, choice in ranked if rank >= 0]
        # What cannot be done now goes last, however well it fits; what was chosen lately first.
        fitting.sort(
            key=lambda each: (
                not each[1].enabled,
                each[0],
                self._age(each[1].text),
                each[1].text,
            )
        )
        self._shown = [choice for _, choice in fitting]
        for choice in self._shown:
            item = QListWidgetItem(choice.sign, choice.text)
            item.setData(_KEYS, choice.keys)
            if not choice.enabled:
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(item)
        if not self._shown:
            nothing = QListWidgetItem(f"Nothing is called “{text.strip()}”; try fewer letters.")
            nothing.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(nothing)
        self.list.setCurrentRow(0)

    def _age(self, text: str) -> int:
        if text in self.recent:
            return self.recent.index(text)
        return len(self.recent)

    def _do(self) -> None:
        row = self.list.currentRow()
        if not 0 <= row < len(self._shown) or not self._shown[row].enabled:
            return
        chosen = self._shown[row]
        self.recent[:] = [chosen.text, *(one for one in self.recent if one != chosen.text)]
        # Closed first: the command may open a dialog of its own.
        self.accept()
        chosen.do()


def _commands(actions: Actions) -> list[PaletteLine]:
    return [
        PaletteLine(
            entry.text,
            actions[name].trigger,
            _sign(actions[name].icon()),
            actions[name].shortcut().toString(QKeySequence.SequenceFormat.NativeText),
            entry.hint,
            actions[name].isEnabled(),
        )
        for name, entry in actions.entries.items()
    ]


def _rank(typed: str, choice: PaletteLine) -> int:
    """As ``match_rank``; other words that hold it come last."""
    rank = match_rank(typed, choice.text)
    if rank < 0 and typed.lower().strip() in choice.also.lower():
        return 3
    return rank


class _Keys(QStyledItemDelegate):
    """A command with its shortcut at the right end of the line."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """The line as the style draws it, then the keys."""
        super().paint(painter, option, index)
        palette, roles = option.palette, QPalette.ColorRole
        chosen = option.state & QStyle.StateFlag.State_Selected
        painter.setPen(palette.color(roles.HighlightedText if chosen else roles.PlaceholderText))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(option.rect.adjusted(0, 0, -12, 0), right.value, index.data(_KEYS) or "")

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """All lines are as high as one with a sign."""
        hint = super().sizeHint(option, index)
        return QSize(hint.width(), max(hint.height(), 2 * option.fontMetrics.height()))


def _sign(sign: QIcon) -> QIcon:
    """The icon of a command, or an empty one of the same size to align the words."""
    if not sign.isNull():
        return sign
    empty = QPixmap(_ICON)
    # A new pixmap holds whatever was in that memory before.
    empty.fill(Qt.GlobalColor.transparent)
    return QIcon(empty)


class ShortcutSheet(QDialog):
    """Every shortcut on one page, menu by menu in columns."""

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        inner = QWidget()
        across = QHBoxLayout(inner)
        across.setContentsMargins(24, 16, 24, 16)
        across.setSpacing(48)
        for menus in _columns(_by_menu(actions)):
            across.addLayout(_column_of(menus, actions))
        scroll = QScrollArea(widgetResizable=True, frameShape=QScrollArea.Shape.NoFrame)
        scroll.setWidget(inner)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(scroll)
        self.resize(within(self, inner.sizeHint() + QSize(4, 4)))


def _by_menu(actions: Actions) -> dict[str, list[str]]:
    """The commands with a shortcut, by the menu they are in."""
    found: dict[str, list[str]] = {}
    for name, entry in actions.entries.items():
        if entry.menu and entry.keys:
            found.setdefault(entry.menu, []).append(name)
    return found


def _columns(menus: dict[str, list[str]]) -> list[dict[str, list[str]]]:
    """The menus in columns of about the same height, in order."""
    height = sum(len(names) + _HEADING for names in menus.values()) / COLUMNS
    columns: list[dict[str, list[str]]] = [{}]
    filled = 0
    for menu, names in menus.items():
        if columns[-1] and len(columns) < COLUMNS and filled + (len(names) + _HEADING) / 2 > height:
            columns.append({})
            filled = 0
        columns[-1][menu] = names
        filled += len(names) + _HEADING
    return columns


def _column_of(menus: dict[str, list[str]], actions: Actions) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(24)
    grid.setVerticalSpacing(6)
    for menu, names in menus.items():
        title = set_heading(Label(menu), "section")
        title.setContentsMargins(0, 12 if grid.count() else 0, 0, 0)
        grid.addWidget(title, grid.rowCount(), 0, 1, 2)
        for name in names:
            row = grid.rowCount()
            grid.addWidget(Label(actions.entries[name].text.rstrip(" …")), row, 0)
            keys = Label(actions[name].shortcut().toString(QKeySequence.SequenceFormat.NativeText))
            keys.setProperty("role", "quiet")
            grid.addWidget(keys, row, 1)
    grid.setRowStretch(grid.rowCount(), 1)
    return grid


def match_rank(typed: str, text: str) -> int:
    """How well ``typed`` matches ``text``: 0 best, -1 not at all.

    Letters must come in order; whole words count more.
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
