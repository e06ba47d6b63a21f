"""Saved sets: searches with a name, kept in the workspace."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QInputDialog, QMenu, QToolButton, QWidget

from robgui.core.workspace.marks import SavedSet
from robgui.gui.app.theme import icon, theme
from robgui.gui.widgets.plain import in_menu, set_tip

if TYPE_CHECKING:
    from robgui.gui.state.history.marking import Marking


class SetsButton(QToolButton):
    """A menu of the saved sets; it also saves what is searched now.

    Attributes:
        now: What is searched now.

    Signals:
        taken: The set to show.
    """

    taken = Signal(object)

    def __init__(self, marking: Marking, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._marking = marking
        self.now = SavedSet("")
        self.setAutoRaise(True)
        theme.changed.connect(self._tint)
        self._tint()
        # The default opens a menu only when the button is held down, which is easy to miss.
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolTip("Sets: searches that you have saved")
        self.setAccessibleName("Saved sets")
        self.setMenu(QMenu(self))
        self.menu().setToolTipsVisible(True)
        # Filled when it opens: sets belong to the data in use, which change without telling this
        # button.
        self.menu().aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """The sets of the data in use, and what can be done with them."""
        menu, sets = self.menu(), self._marking.marks.sets
        menu.clear()
        for name, saved in sets.items():
            action = menu.addAction(in_menu(name))
            set_tip(action, saved.query)
            action.triggered.connect(partial(self._take, saved))
        if not sets:
            menu.addAction("No set is saved yet").setEnabled(False)
        menu.addSeparator()
        save = menu.addAction("Save this search …")
        save.setEnabled(bool(self.now.query.strip()) or self.now.order != "index")
        # ``triggered`` hands over whether the action is checked.
        save.triggered.connect(lambda _=False: self.save())
        if sets:
            gone = menu.addMenu("Forget")
            for name in sets:
                action = gone.addAction(in_menu(name))
                action.triggered.connect(partial(self._forget, name))

    def save(self) -> None:
        """Asks for a name and keeps what is searched now under it."""
        name, chosen = QInputDialog.getText(self, "Save this search", "A name for this search:")
        if chosen:
            self._marking.save_set(name, self.now)

    def _tint(self) -> None:
        self.setIcon(icon("star"))

    def _take(self, saved: SavedSet, *_: object) -> None:
        self.taken.emit(saved)

    def _forget(self, name: str, *_: object) -> None:
        self._marking.save_set(name, None)
