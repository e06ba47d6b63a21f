"""One table of actions feeds menus, toolbar, command palette and shortcut sheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from robgui.gui.app.theme import icon, theme
from robgui.gui.widgets.plain import in_menu


@dataclass(frozen=True)
class Entry:
    """One thing a user can do.

    Attributes:
        name: Stable identifier.
        text: Its text; starts with a verb.
        menu: Which menu it stands in.
        do: What happens.
        keys: Shortcut; a standard one is what the desktop calls it.
        hint: The tool tip; if empty, the text.
        icon: Name or file of its icon.
        toolbar: Whether it stands in the toolbar.
        checkable: Whether it is a switch.
        separator: Whether a line stands before it in the menu.
    """

    name: str
    text: str
    menu: str
    do: Callable[[], object]
    keys: str | QKeySequence.StandardKey = ""
    icon: str | Path = ""
    toolbar: bool = False
    checkable: bool = False
    separator: bool = False
    hint: str = ""


class Actions(QObject):
    """The QActions made from a table of entries, by name."""

    def __init__(self, window: QMainWindow, entries: list[Entry]) -> None:
        super().__init__(window)
        self.entries = {entry.name: entry for entry in entries}
        self._actions = {entry.name: _make(window, entry) for entry in entries}
        self._marked: dict[QMenu, str] = {}
        # A shortcut works only while its action belongs to a visible widget, and an entry need
        # not be in a menu.
        window.addActions(list(self._actions.values()))
        self._fill_menus(window)
        theme.changed.connect(self._tint)
        self._tint()

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def enable(self, **states: bool) -> None:
        """Enables or greys actions by name."""
        for name, on in states.items():
            self._actions[name].setEnabled(on)

    def for_toolbar(self) -> list[QAction]:
        """The actions that stand in the toolbar, in order."""
        return [self._actions[name] for name, entry in self.entries.items() if entry.toolbar]

    def _fill_menus(self, window: QMainWindow) -> None:
        menus: dict[str, QMenu] = {}
        for name, entry in self.entries.items():
            if not entry.menu:
                continue
            if entry.menu not in menus:
                menus[entry.menu] = window.menuBar().addMenu(f"&{entry.menu}")
            if entry.separator:
                menus[entry.menu].addSeparator()
            menus[entry.menu].addAction(self._actions[name])
        self.menus = menus

    def mark(self, menus: Mapping[QMenu, str]) -> None:
        """Gives menus within menus an icon each, by name."""
        self._marked = dict(menus)
        self._tint()

    def _tint(self) -> None:
        for name, entry in self.entries.items():
            if entry.icon:
                self._actions[name].setIcon(icon(entry.icon))
        for menu, sign in self._marked.items():
            menu.setIcon(icon(sign))


def _make(window: QMainWindow, entry: Entry) -> QAction:
    action = QAction(in_menu(entry.text), window)
    action.setObjectName(entry.name)
    action.setCheckable(entry.checkable)
    # Qt passes whether the action is checked, which the functions do not take.
    action.triggered.connect(lambda _=False: entry.do())
    tip = entry.hint or entry.text.rstrip(" …")
    if entry.keys:
        action.setShortcut(QKeySequence(entry.keys))
    if keys := action.shortcut().toString(QKeySequence.SequenceFormat.NativeText):
        tip = f"{tip} ({keys})"
    action.setToolTip(tip)
    action.setStatusTip(tip)
    return action
