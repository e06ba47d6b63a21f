"""Painters: processes that draw the pictures of a report, so that every core has work and the
window stays free.
"""

from __future__ import annotations

import io
import os
import pickle
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import IO

from robgui.core.execution.choice import one_process
from robgui.core.execution.worker.cores import cores
from robgui.core.view import View
from robgui.report.kept import KEPT

#: A process begins with a second of imports; fewer drawings are not worth it.
WORTH = 24
#: More processes than this take more memory than they save time.
_MOST = 8
#: Drawings that wait for each process: enough that it never waits, few enough to hold in memory.
_AHEAD = 2
#: The length of what follows.
_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Job:
    """One drawing.

    Attributes:
        view: What to draw.
        dark: On a dark ground.
        large: False for a detail.
    """

    view: View
    dark: bool = False
    large: bool = True


class Painters:
    """Draws with several processes; used in a ``with`` block, which ends them.

    Args:
        count: How many.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._own = threading.local()
        self._started: list[subprocess.Popen[bytes]] = []

    @staticmethod
    def worth(drawings: int) -> int:
        """How many processes so many drawings deserve; 0 where this one draws them sooner."""
        many = min(_MOST, cores() - 1, drawings // (WORTH // 2))  # one is left for the window
        alone = one_process() or getattr(sys, "frozen", False)
        return 0 if many < 2 or drawings < WORTH or alone else many

    def __enter__(self) -> Painters:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._started:
            process.kill()
            process.communicate()

    def paint(self, jobs: Iterable[Job]) -> Iterator[bytes]:
        """The PNG file of each job, in their order; a few are under way at any time."""
        waiting: deque[Future[bytes]] = deque()
        with ThreadPoolExecutor(self._count, "painter") as threads:
            for job in jobs:
                waiting.append(threads.submit(self._paint, job))
                if len(waiting) > _AHEAD * self._count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _paint(self, job: Job) -> bytes:
        """What was drawn before, or what the process of this thread draws; what it cannot is drawn
        here, and told.
        """
        key = KEPT.key(job.view, dark=job.dark, large=job.large)
        found = KEPT.get(key)
        if found is None and (found := self._ask(job)):
            KEPT.put(key, found)
        return found or _drawn(job)

    def _ask(self, job: Job) -> bytes:
        """What the process of this thread draws; nothing where it cannot."""
        process: subprocess.Popen[bytes] | None = getattr(self._own, "process", None)
        if process is None:
            process = self._own.process = _start()
            self._started.append(process)
        try:
            assert process.stdin is not None and process.stdout is not None
            _send(process.stdin, pickle.dumps(job, pickle.HIGHEST_PROTOCOL))
            return _receive(process.stdout)
        except OSError:
            return b""


def serve() -> None:
    """Draws what comes in until nothing does; what cannot be drawn is answered with nothing."""
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = io.TextIOWrapper(io.BytesIO())  # whatever else is printed is no drawing
    while job := _receive(asked):
        try:
            drawn = _drawn(pickle.loads(job))  # noqa: S301 - from the process that started this one
        except Exception:  # noqa: BLE001 - who asked draws it again and tells what is wrong
            drawn = b""
        _send(answers, drawn)


def _drawn(job: Job) -> bytes:
    from robgui.report.pictures import png_of

    return png_of(job.view, dark=job.dark, large=job.large)


def _start() -> subprocess.Popen[bytes]:
    code = f"import sys; sys.path[:] = {sys.path!r}; from robgui.report.painters import serve as go"
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", f"{code}; go()"],
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


def _send(pipe: IO[bytes], content: bytes) -> None:
    pipe.write(_LENGTH.pack(len(content)) + content)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes:
    """What was sent; nothing at the end."""
    head = pipe.read(_LENGTH.size)
    return pipe.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else b""
