"""Clock: computing time, pauses left out, and how much of it is left."""

from __future__ import annotations

import time

#: How much must be done, and for how long, before the time left can be told.
_LEAST_SHARE, _LEAST_SECONDS = 0.02, 1.0


class Clock:
    """Counts the seconds between ``start`` and ``stop``; starting a running clock does nothing.

    Args:
        spent: Seconds that were counted before.
    """

    def __init__(self, spent: float = 0.0) -> None:
        self._spent = spent
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


def seconds_left(share: float | None, seconds: float) -> float | None:
    """What the rest takes if this share took ``seconds``; None until there is enough to go by."""
    if share is None or share < _LEAST_SHARE or seconds < _LEAST_SECONDS:
        return None
    return seconds * (1 - share) / share
