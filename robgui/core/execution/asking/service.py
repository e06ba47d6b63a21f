"""Service: a worker process that answers the questions of many threads, the most urgent first."""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from robgui.core.errors import ModelError
from robgui.core.execution.worker.asked import LostError
from robgui.core.execution.worker.graphics import Graphics
from robgui.core.execution.worker.process import Place
from robgui.core.execution.worker.slot import GRACE_SECONDS
from robgui.core.execution.worker.terms import Terms
from robgui.core.execution.worker.workers import Workers

#: Seconds between checks, when idle and while a question is being answered.
_IDLE_SECONDS, _BUSY_SECONDS = 0.25, 0.1
#: Seconds before the user is told that a model has not answered yet.
_PATIENCE_SECONDS = 1.0
#: A model that has cost this many processes is asked only on the user's request.
_MOST_KILLS = 2
#: Questions that a new process need not get: it has nothing to forget.
_FORGET = "let_go"
_CLOSED = "The program is being closed, so no model answers any more."


@dataclass(eq=False)
class _Order:
    """A question on its way.

    Attributes:
        topic: What it is for; a topic can be stopped.
        urgent: Whether a person waits for it.
        subject: The model file that it is about; empty for none.
        process: The process at the time it was asked.
        end_by: When its process is killed; 0 while it is in no hurry.
    """

    what: str
    values: Mapping[str, Any]
    topic: str
    urgent: bool
    subject: str
    number: int
    process: int
    answer: Future[Any] = field(default_factory=Future)
    began: float = 0.0
    end_by: float = 0.0
    why: str = ""


class Service:
    """Answers questions from any thread, one after another, in one worker process.

    A question that nobody waits for, or that delays a more urgent one, gets two more seconds; then
    its process is killed and replaced.

    Args:
        terms: How the process is set up.
        told: Called with what the process is doing, in words; empty while there is nothing to say.
    """

    def __init__(self, terms: Terms, told: Callable[[str], None] = lambda words: None) -> None:
        self._workers = Workers([Place()], terms)
        self._told = told
        self._said = ""
        # Requests from other threads go through queues; everything below them belongs to the
        # service's own thread and needs no lock.
        self._orders: queue.SimpleQueue[_Order] = queue.SimpleQueue()
        self._stops: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._limits: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._numbers = itertools.count()
        self._waiting: list[_Order] = []
        self._present: _Order | None = None
        self._kills: Counter[str] = Counter()
        self._leaving = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="model questions", daemon=True)
        self._thread.start()

    @property
    def ready(self) -> bool:
        """Whether the process has started and answered."""
        return self._workers.ready

    @property
    def pid(self) -> int:
        """The number of its process; 0 while there is none."""
        return self._workers.pid

    @property
    def words(self) -> str:
        """What its process has printed, the end of it."""
        return self._workers.words

    @property
    def graphics(self) -> Graphics:
        """How full graphics cards are, as its process has said last."""
        return self._workers.graphics

    def ask(
        self, what: str, *, topic: str = "", urgent: bool = True, subject: str = "", **values: Any
    ) -> Any:
        """The answer to a question, see ``questions``; errors are raised.

        Args:
            what: The question.
            topic: What it is for; ``stop`` ends all questions of a topic. A question without one
                cannot be stopped.
            urgent: Whether a person waits for it: it goes first, even if its model has cost
                processes before.
            subject: The model file that it is about.
            **values: What it is about, as plain values.
        """
        order = _Order(what, values, topic, urgent, subject, next(self._numbers), self.pid)
        # Under the lock, because an order put after the last ``_take_orders`` would wait for ever.
        with self._lock:
            if self._leaving.is_set():
                raise ModelError(_CLOSED)
            self._orders.put(order)
        self._workers.wake()
        return order.answer.result()

    def stop(self, topic: str = "") -> None:
        """Abandons the questions of a ``topic``; an empty one means all topics."""
        self._stops.put(topic)
        self._workers.wake()

    def arrange(self, memory: int) -> None:
        """Limits the memory of the process, in bytes; 0 lets the program choose.

        A process with another limit is replaced once it has answered.
        """
        self._limits.put(memory)
        self._workers.wake()

    def forgive(self, subject: str) -> None:
        """Allows a model file again, after the user asked for it, whatever it did before."""
        # From any thread: one operation on a dictionary needs neither lock nor queue.
        self._kills.pop(subject, None)

    def close(self) -> None:
        """Ends the process and the thread; callers still waiting get an error."""
        with self._lock:
            self._leaving.set()
        self._workers.wake()
        self._thread.join()

    # The rest is on the thread of the service

    def _work(self) -> None:
        self._workers.start()
        while not self._leaving.is_set():
            self._take_orders()
            self._take_stops()
            self._take_limits()
            self._begin()
            self._hurry()
            # Shorter while a question runs: its deadline is checked between two waits.
            self._workers.work(_BUSY_SECONDS if self._present is not None else _IDLE_SECONDS)
            self._tell()
        # Orders that came in between: every caller gets an answer.
        self._take_orders()
        for order in (*self._waiting, *([self._present] if self._present else [])):
            _answer(order, ModelError(_CLOSED))
        self._workers.end()

    def _take_orders(self) -> None:
        while not self._orders.empty():
            order = self._orders.get()
            if not order.urgent and self._kills[order.subject] >= _MOST_KILLS:
                name = Path(order.subject).name
                refusal = f"{name} has cost two processes already, so it is not asked any more"
                _answer(order, ModelError(f"{refusal}; open it again to retry."))
            else:
                self._waiting.append(order)

    def _take_stops(self) -> None:
        while not self._stops.empty():
            topic = self._stops.get()
            for order in [one for one in self._waiting if _is_of(one, topic)]:
                self._waiting.remove(order)
                _answer(order, ModelError("It was stopped before it began."))
            if self._present is not None and _is_of(self._present, topic):
                self._end_later("it was stopped")

    def _take_limits(self) -> None:
        while not self._limits.empty():
            terms = replace(self._workers.terms, memory=self._limits.get())
            self._workers.arrange([Place()], terms)
            self._workers.start()

    def _begin(self) -> None:
        if self._present is None and self._waiting:
            # Urgent first, then in the order they were asked.
            order = min(self._waiting, key=lambda one: (not one.urgent, one.number))
            self._waiting.remove(order)
            if order.what == _FORGET and order.process != self.pid:
                _answer(order, True)
                return
            self._present, order.began = order, time.monotonic()
            self._workers.post(order.what, order.values, lambda given: self._over(order, given))

    def _hurry(self) -> None:
        """Ends a question that has blocked a more urgent one for too long."""
        present = self._present
        if present is None:
            return
        # Only background work gives way: one urgent question never ends another.
        if not present.urgent and any(one.urgent for one in self._waiting):
            self._end_later(f"it had not answered after {GRACE_SECONDS:g} s, and others waited")
        if present.end_by and time.monotonic() >= present.end_by:
            self._workers.stop_questions(present.why)

    def _end_later(self, why: str) -> None:
        present = self._present
        # The first deadline stays: asking again must not extend it.
        if present is not None and not present.end_by:
            present.end_by, present.why = time.monotonic() + GRACE_SECONDS, why

    def _over(self, order: _Order, given: Any) -> None:
        self._present = None
        # Only a lost process counts; an error that a model raises is an answer.
        if isinstance(given, LostError) and order.subject:
            self._kills[order.subject] += 1
        _answer(order, given)

    def _tell(self) -> None:
        """Says what the process is doing, if that takes long."""
        present = self._present
        words = ""
        if not self._workers.ready:
            words = "Starting the process for models …"
        elif present is not None and time.monotonic() - present.began > _PATIENCE_SECONDS:
            words = f"Waiting for {Path(present.subject).name or 'the model'} to answer …"
        if words != self._said:
            self._said = words
            self._told(words)


def _is_of(order: _Order, topic: str) -> bool:
    """Whether a question belongs to a topic; the empty topic includes all."""
    if topic:
        return order.topic == topic
    # A question without a topic belongs to none, so it is never abandoned.
    return bool(order.topic)


def _answer(order: _Order, given: Any) -> None:
    if isinstance(given, BaseException):
        order.answer.set_exception(given)
    else:
        order.answer.set_result(given)
