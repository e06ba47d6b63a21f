"""Entrance: what a panel shows before its first run, and how the first picture takes its place."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QStackedLayout, QWidget

from robgui.gui.widgets.sized import keep_room
from robgui.gui.widgets.when_seen import TURN_MS, in_turn


class Entrance(QStackedLayout):
    """The two pages of a panel: what to do next, and the run on show.

    The page of a run comes first, its picture is drawn in a later turn of the event loop and
    painted in one more: all together take longer than a window may stand still. Until then there is
    no picture, so none of an earlier run is seen.

    Args:
        panel: Whose pages they are.
        empty: What to do next.
        page: What is shown of a run.
        picture: The part of ``page`` that comes later.
        draw: Draws the picture.
    """

    def __init__(
        self,
        panel: QWidget,
        empty: QWidget,
        page: QWidget,
        picture: QWidget,
        draw: Callable[[], object],
    ) -> None:
        super().__init__(panel)
        self._picture = picture
        keep_room(picture)  # The words above it must not move.
        self._later = QTimer(panel, singleShot=True, interval=TURN_MS)
        self._later.timeout.connect(self._draw_first)
        self._draw = draw
        self.addWidget(empty)
        self.addWidget(page)

    @property
    def waits(self) -> bool:
        """Whether the page is there and its picture is not."""
        return self._later.isActive()

    def _draw_first(self) -> None:
        # Drawing and painting in one turn would block the window for the sum of both.
        self._picture.setUpdatesEnabled(False)
        self._draw()
        in_turn(self._picture, lambda: self._picture.setUpdatesEnabled(True))

    def show_empty(self) -> None:
        """Says what to do next."""
        self._later.stop()
        self._picture.hide()
        self.setCurrentIndex(0)

    def show_page(self, *, live: bool) -> bool:
        """Shows the page of a run; whether the picture may be drawn at once.

        Where it may not, ``draw`` is called soon.
        """
        first = self.currentIndex() == 0
        self.setCurrentIndex(1)
        # Only the first picture of a live run is dear: later ones fill widgets that are there
        # already.
        if live and first:
            self._later.start()
            return False
        self._later.stop()
        self._picture.show()
        return True
