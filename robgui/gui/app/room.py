"""Room: pages that fill the window hide docks, which come back unchanged afterwards."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QDockWidget, QWidget


class Room:
    """Which docks stand beside which page.

    Args:
        docks: Those that may be put away.
        pages: What each page that fills the window puts away.
    """

    def __init__(
        self, docks: Sequence[QDockWidget], pages: Mapping[QWidget, Collection[QDockWidget]]
    ) -> None:
        self._docks, self._pages = docks, dict(pages)
        self._away: list[QDockWidget] = []
        self._front: QDockWidget | None = None
        self._also: Collection[QDockWidget] = ()

    def make(self, page: QWidget | None, front: QDockWidget | None = None) -> None:
        """Hides what ``page`` has no room for, and shows the rest.

        Args:
            page: The page on show.
            front: Which of several tabs to show; by default the one on show.
        """
        if page is not None:
            wanted = [*self._pages.get(page, ()), *self._also]
        else:
            wanted = []
        if front is not None:
            self._front = front
        # Before any is hidden: afterwards none is in front.
        if self._front is None:
            self._front = next((one for one in self._docks[1:] if in_front(one)), None)
        for dock in self._docks:
            # A floating dock takes no room from the page.
            if dock in wanted and not dock.isHidden() and not dock.isFloating():
                dock.hide()
                self._away.append(dock)
            # Only those that were put away here: what the user has closed stays closed.
            elif dock not in wanted and dock in self._away:
                self._away.remove(dock)
                dock.show()
        if not self._away:
            lists = (one for one in self._docks[1:] if not one.isHidden())
            # Shown again, the last would cover the others.
            first = self._front or next(lists, None)
            if first is not None:
                come_forward(first)
            self._front = None

    def keep_away(self, docks: Collection[QDockWidget], page: QWidget | None) -> None:
        """Hides these on every page, until called with others or none."""
        self._also = docks
        self.make(page)

    def keep(self, page: QWidget, dock: QDockWidget) -> None:
        """From now on ``dock`` stands beside ``page`` too."""
        self._pages[page] = [one for one in self._pages[page] if one is not dock]

    def give_back(self) -> None:
        """Puts everything back where the user had it."""
        for dock in self._away:
            dock.show()
        self._away = []


def come_forward(dock: QDockWidget) -> None:
    """Puts one of several tabs in front, also when they have been shown only just now."""
    dock.raise_()
    QTimer.singleShot(0, dock, dock.raise_)  # The tabs are laid out only then.


def in_front(dock: QDockWidget) -> bool:
    """Whether it is the one of several tabs that is seen."""
    return not dock.isHidden() and not dock.visibleRegion().isEmpty()
