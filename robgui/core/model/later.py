"""Later: conditions on a device that the host asks about once, not every time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from robgui.core.devices import Passenger


class Later:
    """Collects whether all was well, on the device; the next read brings it to the host."""

    def __init__(self) -> None:
        self._taking = False
        self._asked: list[Passenger] = []

    @contextmanager
    def on(self, taking: bool) -> Iterator[None]:
        """While it lasts conditions are collected, if ``taking``."""
        before, self._taking = self._taking, taking
        try:
            yield
        finally:
            self._taking = before
            for asked in self._asked:
                asked.arrive(True)  # nobody asks any more
            self._asked.clear()

    def takes(self, sound: Tensor) -> bool:
        """Collects a condition; False if it must be asked about now."""
        if not self._taking:
            return False
        if self._asked:
            last = self._asked[-1]
        else:
            last = None
        if last is not None and last.number is not None:
            last.number = last.number & sound
        else:
            self._asked.append(Passenger(sound))
        return True

    def sound(self) -> bool:
        """Whether all conditions held since it was last asked."""
        asked, self._asked = self._asked, []
        return all(one.read() for one in asked)
