"""Runs Python's cyclic garbage collector only between two events.

Started inside a Qt call, or in another thread, it may destroy a widget while Qt holds a lock, and
the window hangs.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

#: Milliseconds between two checks.
_EVERY = 1000
#: Passes between two collections of the middle generation, and of all objects.
_MIDDLE, _ALL = 10, 60
#: Passes after which the parts of the window are made.
SETTLED = 5


class Garbage(QObject):
    """Collects in the window's thread; the older the objects, the more rarely.

    The parts of the window are never garbage, and looking through all of them would hold up the
    event loop every minute, so they are left out from then on.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._looks = 0
        gc.disable()
        self._timer = QTimer(self, interval=_EVERY)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def collect(self) -> None:
        """Collects the youngest garbage, older generations less often."""
        self._looks += 1
        middle = self._looks % _MIDDLE == 0
        gc.collect(2 if self._looks % _ALL == 0 else int(middle))
        if self._looks == SETTLED:
            gc.freeze()
