"""Time on a machine that may be busy with something else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

#: Seconds after which nothing comes any more, however slow the machine is.
LONGEST = 600.0
_TICK = 0.02


class Stopwatch:
    """Seconds that this process could have used: what other programs took from it is not counted.

    A thread that wants to wake fifty times a second notices how long the machine did not let it.
    """

    def __enter__(self) -> Stopwatch:
        self._over = threading.Event()
        self._stolen = 0.0
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._tick, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._seconds = time.monotonic() - self._began
        self._over.set()
        self._thread.join()

    @property
    def seconds(self) -> float:
        """What the block took, without what was stolen from it."""
        return self._seconds - self._stolen

    def _tick(self) -> None:
        before = time.monotonic()
        while not self._over.wait(_TICK):
            now = time.monotonic()
            self._stolen += max(0.0, now - before - 2 * _TICK)
            before = now


def wait_for(condition: Callable[[], object], what: str = "it", seconds: float = LONGEST) -> None:
    """Waits until ``condition`` holds."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"waited in vain for {what}"
        time.sleep(0.01)
