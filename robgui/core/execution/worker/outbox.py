"""Outbox: sends a worker's newest Step without ever waiting for the other side."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from robgui.core.errors import sentence
from robgui.core.execution.run import RunState
from robgui.core.execution.task import Report
from robgui.core.execution.worker.messages import report_frame

if TYPE_CHECKING:
    from robgui.core.execution.worker.frames import Frame

#: Share of the time that sending results may take.
_SHARE = 0.04
#: Seconds between progress-only reports.
_PROGRESS_SECONDS = 0.1


class Outbox:
    """A one-slot mailbox and a thread that empties it: an unsent report is replaced.

    A result is sent only after the other side has taken the previous one, so none piles up in the
    pipe.

    Args:
        send: Sends a frame.
        pace: Seconds between two results; the first goes at once.

    Attributes:
        problem: Why a Step cannot be sent; None while all can.
    """

    def __init__(self, send: Callable[[Frame], None], pace: float) -> None:
        self.problem: Exception | None = None
        self._send = send
        self._pace = pace
        self._newest: Report | None = None
        self._told = False
        self._taken = True
        self._ended = False
        self._next_result = 0.0
        self._next_progress = 0.0
        # One lock for everything below; whoever changes what the thread waits for notifies it.
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="outbox", daemon=True)
        self._thread.start()

    def put(self, report: Report) -> None:
        """Posts a report of a running task."""
        with self._changed:
            self._newest, self._told = _both(self._newest, report), False
            self._changed.notify()

    def hurry(self) -> None:
        """Sends the newest result as soon as it can be taken, because the task pauses."""
        with self._changed:
            self._next_result = 0.0
            self._changed.notify()

    def taken(self) -> None:
        """Notes that the other side has taken the last result."""
        with self._changed:
            self._taken = True
            self._changed.notify()

    def close(self, last: Report) -> None:
        """Sends the last report, with the newest Step if that is still unsent."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        # The thread is gone after this: the last report cannot overtake, or be overtaken by,
        # another.
        self._thread.join()
        last = _both(self._newest, last)
        try:
            self._send(report_frame(last))
        # For example an object the codec refuses, or a Step that is too large. Uncaught, it would
        # end the process, and the run would be told that its worker ended by itself.
        except Exception as error:  # noqa: BLE001 - whatever an engine puts into a result
            self._send(report_frame(_failed(last, error)))

    def _work(self) -> None:
        while True:
            # The report is taken under the lock and sent outside it: sending may block, and ``put``
            # must not.
            with self._changed:
                while not self._ended and not self._due():
                    self._changed.wait(self._patience())
                report = self._newest
                if self._ended or report is None:
                    return
                whole = self._whole(report)
                self._told = True
                # A report sent without its result stays, in case nothing newer comes before the
                # result is due.
                if whole:
                    self._newest = None
            self._tell(report, whole)

    def _due(self) -> bool:
        report = self._newest
        if report is None:
            return False
        return self._whole(report) or (not self._told and time.monotonic() >= self._next_progress)

    def _whole(self, report: Report) -> bool:
        """Whether all of it may be sent now."""
        return report.step is None or (self._taken and time.monotonic() >= self._next_result)

    def _patience(self) -> float | None:
        """Seconds until the waiting report may go; None if only the other side can change that."""
        if self._taken:
            moments = [self._next_result]
        else:
            moments = []
        # Progress may be sent at any time; a result only once the previous one was taken.
        moments += [] if self._told else [self._next_progress]
        if self._newest is None or not moments:
            return None
        # Not 0, which would spin until the moment arrives.
        return max(0.001, min(moments) - time.monotonic())

    def _tell(self, report: Report, whole: bool) -> None:
        began = time.monotonic()
        if not whole or report.step is None:
            self._send(report_frame(replace(report, step=None)))
        else:
            try:
                frame = report_frame(report)
                self._taken = False
                self._send(frame)
            except Exception as error:  # noqa: BLE001 - whatever an engine puts into a result
                # Not raised here, on the wrong thread: the worker's loop raises it in the run.
                self.problem = error
                return
            now = time.monotonic()
            # A result that took long to encode and send earns a longer pause, which keeps sending
            # below its share of the time.
            self._next_result = now + max(self._pace, (now - began) / _SHARE)
        self._next_progress = time.monotonic() + _PROGRESS_SECONDS


def _both(earlier: Report | None, later: Report) -> Report:
    """The later report, with gaps filled from the earlier one."""
    if earlier is None:
        return later
    if later.step is None:
        step = earlier.step
    else:
        step = later.step.after(earlier.step)
    if later.done or later.total:
        done, total = later.done, later.total
    else:
        done, total = earlier.done, earlier.total
    return replace(
        later,
        step=step,
        done=done,
        total=total,
        calls=later.calls or earlier.calls,
        device=later.device or earlier.device,
        versions=later.versions or earlier.versions,
    )


def _failed(report: Report, error: Exception) -> Report:
    return replace(report, state=RunState.FAILED, step=None, error=sentence(error), problem=error)
