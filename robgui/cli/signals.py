"""Ctrl-C, and the termination request that schedulers send."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def ending_like_ctrl_c() -> Iterator[None]:
    """Treats SIGTERM like Ctrl-C, which keeps the partial result."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    with _handled({signal.SIGTERM: end}):
        yield


@contextmanager
def deaf() -> Iterator[None]:
    """Ignores both signals while results are written."""
    with _handled(dict.fromkeys(_NUMBERS, signal.SIG_IGN)):
        yield


@contextmanager
def _handled(handlers: dict[signal.Signals, object]) -> Iterator[None]:
    # Only the main thread may change signal handlers.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Restored afterwards: a notebook or pytest has handlers of its own.
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}  # type: ignore[arg-type]
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
