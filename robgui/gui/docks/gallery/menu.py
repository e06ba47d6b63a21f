"""What can be done with an input of the gallery: the menu on the right mouse button."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QInputDialog, QMenu, QWidget

from robgui.core.dataset.query.completing import quoted
from robgui.core.text.words import count
from robgui.gui.widgets.plain import in_menu, set_tip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from robgui.gui.docks.gallery.items import InputEntry
    from robgui.gui.state.store import Store


class InputMenu(QMenu):
    """Looks at an input with an analysis, tags it, searches for those like it.

    Args:
        store: Where the input is.
        entry: What is known of it.
        shown: The inputs that pass the search now.
        search: Shows the inputs that fit a query.
        second: Makes it the second input, or lets go of it.
        parent: The gallery.
    """

    def __init__(
        self,
        store: Store,
        entry: InputEntry,
        shown: Sequence[int],
        search: Callable[[str], None],
        second: Callable[[], None],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._store, self._entry, self._shown = store, entry, shown
        # Menus hide tool tips unless asked, and there a greyed entry says why.
        self.setToolTipsVisible(True)
        self._add_analyses()
        self.tags = self.addMenu("Tag")
        self._fill_tags(self.tags, [entry.index])
        self._add_searches(search)
        self.addSeparator()
        if entry.second:
            words = "Let go of the second input"
        else:
            words = "Make it the second input"
        self.addAction(words).triggered.connect(lambda _=False: second())
        self.addAction("Copy its name").triggered.connect(
            lambda _=False: QApplication.clipboard().setText(entry.key)
        )
        if len(shown) > 1:
            self.addSeparator()
            self.all_tags = self.addMenu(f"Tag all {count(len(shown), 'input')} shown")
            self._fill_tags(self.all_tags, shown)

    def _add_analyses(self) -> None:
        menu = self.addMenu("Look at it with")
        menu.setToolTipsVisible(True)
        for target in self._store.sending.targets(1):
            if target.suits:
                action = menu.addAction(target.title)
                action.setEnabled(not target.reason)
                set_tip(action, target.reason or target.question)
                action.triggered.connect(partial(self._look, target.name))
        menu.setEnabled(bool(menu.actions()))

    def _look(self, analysis: str, *_: object) -> None:
        self._store.select(self._store.selection.replace(input=self._entry.index, second=None))
        self._store.sending.arrived.emit(analysis)

    def _fill_tags(self, menu: QMenu, indices: Sequence[int]) -> None:
        marking = self._store.marking
        for tag, tagged in marking.tags.items():
            action = menu.addAction(in_menu(tag))
            action.setCheckable(True)
            # Ticked only if all of them have it; a click then gives it to the rest.
            action.setChecked(set(indices) <= set(tagged))
            action.toggled.connect(lambda on, tag=tag: marking.tag(tag, indices, on=on))
        menu.addSeparator()
        menu.addAction("New tag …").triggered.connect(
            lambda _=False: ask_tag(self._store, indices, self.parentWidget())
        )

    def _add_searches(self, search: Callable[[str], None]) -> None:
        entry = self._entry
        known = {
            f"label:{quoted(entry.title)}": f"Only label {entry.title}" if entry.label >= 0 else "",
            f"predicted:{quoted(entry.guess)}": f"Only predicted as {entry.guess}"
            if entry.guess
            else "",
            f"label:{quoted(entry.title)} predicted:{quoted(entry.guess)}": (
                f"Only {entry.title} taken for {entry.guess}" if entry.right is False else ""
            ),
            **{f"tag:{quoted(tag)}": f"Only tagged {tag}" for tag in entry.tags},
        }
        self.addSeparator()
        for query, words in known.items():
            if words:
                self.addAction(in_menu(words)).triggered.connect(
                    lambda _=False, query=query: search(query)
                )


def ask_tag(store: Store, indices: Sequence[int], parent: QWidget | None) -> None:
    """Asks for a word and tags these inputs with it."""
    if len(indices) == 1:
        what = "this input"
    else:
        what = f"these {count(len(indices), 'input')}"
    tag, chosen = QInputDialog.getText(parent, "New tag", f"A word for {what}:")
    if chosen:
        store.marking.tag(tag, indices, on=True)
