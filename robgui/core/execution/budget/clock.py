"""Clock: computing time without pauses, and an estimate of the time left."""

from __future__ import annotations

import time

#: Share of the work, and seconds, needed before the time left can be estimated.
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
        """Seconds counted so far."""
        # Read once: another thread may stop the clock between the test and the sum.
        since = self._since
        if since is None:
            return self._spent
        return self._spent + time.monotonic() - since

    def start(self) -> None:
        """Starts or continues counting."""
        if self._since is None:
            self._since = time.monotonic()

    def stop(self) -> None:
        """Stops counting; ``start`` continues."""
        self._spent = self.seconds
        self._since = None

    def reset(self) -> None:
        """Back to zero, and not counting."""
        self._spent, self._since = 0.0, None


def seconds_left(share: float | None, seconds: float) -> float | None:
    """Estimated time for the rest, if this share took ``seconds``.

    None until there is enough to go by.
    """
    if share is None or share < _LEAST_SHARE or seconds < _LEAST_SECONDS:
        return None
    return seconds * (1 - share) / share
