"""WhenSeen: hidden widgets are not drawn; and how much is done before the user is heard."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QShowEvent
from shiboken6 import isValid

Work = Callable[[], object]
#: Milliseconds after which what is done has a turn of the event loop of its own: what was drawn
#: before is painted, and the user is heard.
TURN_MS = 8
_waiting: deque[tuple[QObject, Work]] = deque()


def in_turn(owner: QObject, work: Work) -> None:
    """Does ``work`` in a later turn of the event loop, of which it has one for itself.

    What several widgets ask for is done in the order in which they ask. What belongs to an
    ``owner`` that is gone by then is left.
    """
    _waiting.append((owner, work))
    if len(_waiting) == 1:
        _wait()


def _wait() -> None:
    # The second timer: painting may take longer than the first, and both would be due in one turn.
    QTimer.singleShot(TURN_MS, lambda: QTimer.singleShot(0, _do_next))


def _do_next() -> None:
    owner, work = _waiting[0]
    try:
        # Python may still hold an object whose C++ part is gone.
        if isValid(owner):
            work()
    finally:
        # Not before: what asks for a turn meanwhile must not start a second chain.
        _waiting.popleft()
        if _waiting:
            _wait()


class WhenSeen:
    """Mixin for a widget that works only while it can be seen.

    It precedes the Qt class among the bases. What is asked of a hidden widget is done once, when it
    is next shown, however often it was asked.
    """

    # A tuple: one list at the class would be shared by all widgets.
    _due: tuple[Work, ...] = ()

    @property
    def behind(self) -> bool:
        """Whether something has changed that it does not show yet."""
        return bool(self._due)

    def when_seen(self, work: Work) -> None:
        """Does ``work`` now, or, while the widget is hidden, when it is next shown."""
        if self.isVisible():  # type: ignore[attr-defined]  # of the Qt class
            work()
        elif work not in self._due:
            self._due = (*self._due, work)

    def up_to_date(self) -> None:
        """All is shown: nothing is due any more."""
        self._due = ()

    def catch_up(self) -> None:
        """Does what is due even while hidden, because its content is asked for."""
        due, self._due = self._due, ()
        for work in due:
            work()

    def showEvent(self, event: QShowEvent) -> None:
        """Shows what has changed while it was hidden."""
        super().showEvent(event)  # type: ignore[misc]  # of the Qt class
        self.catch_up()
