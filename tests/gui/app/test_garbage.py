"""Cyclic garbage goes while the event loop runs, and at no other time."""

from __future__ import annotations

import gc
import weakref

from PySide6.QtCore import QObject

from robgui.gui.app.garbage import Garbage


class Ring:
    """Refers to itself."""

    def __init__(self) -> None:
        self.me = self


def test_rings_are_collected_between_events_and_at_no_other_time(qtbot):
    owner = QObject()
    Garbage(owner)
    assert not gc.isenabled()
    first = weakref.ref(Ring())
    rings = [Ring() for _ in range(10 * gc.get_threshold()[0])]
    rings.clear()
    assert first() is not None
    qtbot.waitUntil(lambda: first() is None)
