"""Clock: computing time, pauses left out."""

from __future__ import annotations

import time


class Clock:
    """Counts the seconds between ``start`` and ``stop``; starting a running clock does nothing."""

    def __init__(self) -> None:
        self._spent = 0.0
        self._since: float | None = None

    @property
    def seconds(self) -> float:
        """Counted so far."""
        since = self._since
        if since is None:
            return self._spent
        return self._spent + time.monotonic() - since

    def start(self) -> None:
        """Counts from now on."""
        if self._since is None:
            self._since = time.monotonic()

    def stop(self) -> None:
        """Counts no longer; ``start`` goes on."""
        self._spent = self.seconds
        self._since = None

    def reset(self) -> None:
        """Back to zero, and not counting."""
        self._spent, self._since = 0.0, None
