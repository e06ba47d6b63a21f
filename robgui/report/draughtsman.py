"""Draughtsman: a second process that draws pictures of a report while the first one draws too.

What is asked and answered goes through its pipes: a picture to draw as a pickle that this program
made, the drawing as the bytes of a PNG file. It ends with its pipe, so it never outlives who asked.
"""

from __future__ import annotations

import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from robgui.core.view import View

#: How many drawings are given away at once: one is drawn, one waits.
_WAITING = 1
#: Seconds after which the process ends when nobody has asked for a drawing.
IDLE = 3.0
_LENGTH = struct.Struct(">Q")


@dataclass
class WantedPicture:
    """A picture to be drawn.

    Attributes:
        key: What the drawing is kept under.
        view: What it shows; None once that is no longer needed.
        dark: On a dark ground.
        large: False for a detail.
        png: The drawing; empty while there is none.
    """

    key: bytes
    view: View | None
    dark: bool
    large: bool
    png: bytes = b""


class Draughtsman:
    """Takes drawings while it has nothing else to draw; its process ends when nobody asks.

    Where no process can be started, or it dies, what it has taken stays empty.

    Args:
        cores: That this program may use; with one there is no second process.
        idle: Seconds after which the process ends when nobody has asked for a drawing.

    Attributes:
        process: The second process; None while there is none.
    """

    def __init__(self, cores: int | None = None, idle: float = IDLE) -> None:
        self._idle = idle
        self._waiting: queue.Queue[WantedPicture] = queue.Queue(_WAITING)
        self._lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self._ready = False
        self._able = (cores or _cores()) > 1 and not getattr(sys, "frozen", False)

    def take(self, drawing: WantedPicture) -> bool:
        """Whether the second process has been asked for a drawing; while it starts it is not."""
        with self._lock:
            if self.process is None:
                self._start()
            if not self._ready:
                return False
            try:
                self._waiting.put_nowait(drawing)
            except queue.Full:
                return False
        return True

    def settle(self) -> None:
        """Waits for what was taken."""
        self._waiting.join()

    def _start(self) -> None:
        if not self._able:
            return
        code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
        quiet = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **quiet},
            )
        except OSError:
            self._able = False
            return
        hand = threading.Thread(target=self._pass_on, args=(self.process,), daemon=True)
        hand.start()

    def _pass_on(self, process: subprocess.Popen[bytes]) -> None:
        """Gives one drawing after the other to the process; on a thread of its own."""
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError), process:
            with suppress(EOFError):
                _read(process.stdout)
                self._ready = True
            while (drawing := self._next()) is not None:
                with suppress(OSError, EOFError, pickle.PicklingError, TypeError):
                    asked = (drawing.view, drawing.dark, drawing.large)
                    _write(process.stdin, pickle.dumps(asked, pickle.HIGHEST_PROTOCOL))
                    drawing.png = _read(process.stdout)
                self._waiting.task_done()

    def _next(self) -> WantedPicture | None:
        """The next drawing; None when nobody has asked for a while."""
        with suppress(queue.Empty):
            return self._waiting.get(timeout=self._idle)
        with self._lock:
            with suppress(queue.Empty):
                return self._waiting.get_nowait()
            self.process, self._ready = None, False
            return None


def serve() -> None:
    """Draws what comes in until nothing comes any more; in the process of its own."""
    there, back = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what a library prints is no drawing
    from robgui.report.pictures import draw_png

    _write(back, b"")  # ready
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            view, dark, large = pickle.loads(_read(there))  # noqa: S301 - of our own process
            png = b""
            with suppress(Exception):  # whoever asked draws it again and says what is wrong
                png = draw_png(view, dark=dark, large=large)
            _write(back, png)


def _write(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(_LENGTH.pack(len(data)) + data)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes:
    return _exactly(pipe, _LENGTH.unpack(_exactly(pipe, _LENGTH.size))[0])


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


#: Of this process.
DRAUGHTSMAN = Draughtsman()
