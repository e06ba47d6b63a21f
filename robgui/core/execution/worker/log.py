"""Log: the last output of a worker, however much it prints."""

from __future__ import annotations

import os
import threading
import time
from typing import IO

from robgui.core.execution.worker.pipes import LARGEST, widen

#: Bytes of recent output kept.
_KEPT = 4 * 2**10
#: Pause in seconds after a large read: a worker that prints without end continues, and costs this
#: program next to nothing.
_REST_SECONDS = 0.005


class Log:
    """Reads a pipe to its end on its own thread and keeps the end of it.

    Args:
        pipe: The worker's output; closed at its end.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._last = b""
        self._thread = threading.Thread(target=self._read, name="worker log", daemon=True)
        self._thread.start()

    @property
    def last(self) -> str:
        """The latest output so far."""
        return self._last.decode(errors="replace")

    def text(self, seconds: float = 0.2) -> str:
        """The latest output; waits a moment for a worker that has just ended."""
        self._thread.join(seconds)
        return self.last

    def _read(self) -> None:
        with self._pipe as pipe:
            widen(pipe)
            while chunk := os.read(pipe.fileno(), LARGEST):
                self._last = (self._last + chunk[-_KEPT:])[-_KEPT:]
                if len(chunk) > _KEPT:
                    time.sleep(_REST_SECONDS)
