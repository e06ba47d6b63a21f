"""Kept: drawings that were made before, for the next report of the same runs."""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from robgui.core.view import View

if TYPE_CHECKING:
    from robgui.report.shelf import Shelf

#: Bytes of drawings that are kept, those that were asked for last.
MOST = 64_000_000


class Kept:
    """Drawings by what they show: another view, look or size is another drawing."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._drawings: OrderedDict[bytes, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()
        self._shelf: Shelf | None = None

    def use_shelf(self) -> None:
        """From now on other processes find the drawings too, and this one finds theirs."""
        if self._shelf is None:
            from robgui.report.shelf import Shelf

            self._shelf = Shelf()
            self._shelf.tidy()

    @staticmethod
    def key(view: View, *, dark: bool, large: bool) -> bytes:
        """What a drawing is found by: every number and word of its view."""
        # Pickled only to be hashed: it reaches every field, and nobody reads it back.
        whole = pickle.dumps((type(view).__name__, view, dark, large), pickle.HIGHEST_PROTOCOL)
        return hashlib.sha256(whole).digest()

    def get(self, key: bytes) -> bytes | None:
        """The drawing; None if it was not made yet, or long ago."""
        with self._lock:
            if key in self._drawings:
                self._drawings.move_to_end(key)
                return self._drawings[key]
        # Outside the lock: a slow disk must not hold up those who draw.
        if self._shelf is None:
            found = None
        else:
            found = self._shelf.get(key)
        if found is not None:
            self._hold(key, found)
        return found

    def __len__(self) -> int:
        return len(self._drawings)

    def clear(self) -> None:
        """Lets go of all."""
        with self._lock:
            self._drawings.clear()
            self._size = 0

    def put(self, key: bytes, drawing: bytes) -> None:
        """Keeps a drawing, and drops those not asked for."""
        self._hold(key, drawing)
        if self._shelf is not None:
            self._shelf.put(key, drawing)

    def _hold(self, key: bytes, drawing: bytes) -> None:
        with self._lock:
            # The same drawing may be put again, by a process that draws ahead.
            self._size += len(drawing) - len(self._drawings.get(key, b""))
            self._drawings[key] = drawing
            while self._size > self._most:
                self._size -= len(self._drawings.popitem(last=False)[1])


#: Of this process.
KEPT = Kept()
