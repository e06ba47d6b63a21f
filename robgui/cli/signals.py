"""Ctrl-C and the request to end that schedulers send."""

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
    """A request to end (SIGTERM) is heard as Ctrl-C, so the partial result is kept."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    with _handled({signal.SIGTERM: end}):
        yield


@contextmanager
def deaf() -> Iterator[None]:
    """While what has been computed is written, neither signal is heard."""
    with _handled(dict.fromkeys(_NUMBERS, signal.SIG_IGN)):
        yield


@contextmanager
def _handled(handlers: dict[signal.Signals, object]) -> Iterator[None]:
    if (
        threading.current_thread() is not threading.main_thread()
    ):  # only the main thread may change what a signal does
        yield
        return
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}  # type: ignore[arg-type]
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
