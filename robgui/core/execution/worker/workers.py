"""Workers: the executor that computes each Execution in its own process."""

from __future__ import annotations

import os
import queue
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from robgui.core.execution.execution import Execution
from robgui.core.execution.request import Request
from robgui.core.execution.worker.asked import Asked
from robgui.core.execution.worker.graphics import Graphics
from robgui.core.execution.worker.process import Event, Place
from robgui.core.execution.worker.slot import Slot
from robgui.core.execution.worker.terms import Terms

#: Seconds between two checks of deadlines and of the processes' memory.
_LOOK_SECONDS = 0.25
#: Seconds that an idle process may take to leave by itself.
_LEAVE_SECONDS = 1.0
#: Default share of the machine's memory that a process may take.
_MEMORY_SHARE = 0.8
#: A model that has cost this many processes is loaded again only on request.
_MOST_KILLS = 2


@dataclass(frozen=True, slots=True)
class Doing:
    """What one worker is doing.

    Attributes:
        pid: Its process; 0 while there is none.
        place: Where it computes.
        execution: What it computes; None while idle.
        words: What else it does, for example ``starting``; empty while idle.
    """

    pid: int
    place: Place
    execution: Execution | None
    words: str


class Workers:
    """Worker processes, each with its models loaded once; one that is lost is replaced.

    Only one thread may use it; what people ask of an Execution may come from any.

    Args:
        places: One worker each, started when first needed.
        terms: How they are set up; a memory of 0 means most of what the machine has.
    """

    def __init__(self, places: Sequence[Place] = (Place(),), terms: Terms | None = None) -> None:
        self._events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._kills: Counter[str] = Counter()
        self._questions: deque[Asked] = deque()
        self._slots: list[Slot] = []
        self._leaving: list[Slot] = []
        self.arrange(places, terms or Terms())

    def arrange(self, places: Sequence[Place], terms: Terms) -> None:
        """Switches to other places.

        A busy worker finishes first and blocks one new place until then.
        """
        self.terms = replace(terms, memory=terms.memory or usual_memory())
        old, self._slots = self._slots, []
        for place in places:
            kept = next((slot for slot in old if slot.suits(place, self.terms)), None)
            if kept is not None:
                old.remove(kept)
            self._slots.append(kept or self._slot(place))
        # Not killed: what they compute was asked for under the old terms and should end under them.
        self._leaving += old
        self._end_leaving()

    def _slot(self, place: Place) -> Slot:
        made = Slot(place, self.terms, self._events)
        made.kills = self._count
        return made

    def _end_leaving(self) -> None:
        for slot in [one for one in self._leaving if one.free]:
            self._leaving.remove(slot)
            slot.end(_LEAVE_SECONDS)

    @property
    def attempts(self) -> int:
        """How often an Execution is tried."""
        return self.terms.attempts

    @property
    def room(self) -> int:
        """Idle workers of this machine."""
        return self.room_at("")

    def room_at(self, cluster: str, device: str = "") -> int:
        """Idle workers that would take a task for a cluster or device.

        Args:
            cluster: Its address; empty for this machine.
            device: Of this machine; empty for any.
        """
        # A slot that is leaving but still busy uses the machine of one new slot.
        leaving = [slot for slot in self._leaving if self._takes(slot.place, cluster, device)]
        return max(0, len(list(self._free(cluster, device))) - len(leaving))

    def _free(self, cluster: str, device: str = "") -> Iterator[Slot]:
        return (
            slot for slot in self._slots if slot.free and self._takes(slot.place, cluster, device)
        )

    def _takes(self, place: Place, cluster: str, device: str) -> bool:
        """Whether a worker takes a task for this device.

        One sent to a device goes to that device's workers, or to any if it has none.
        """
        if place.cluster != cluster:
            return False
        if device and any(slot.place.device == device for slot in self._slots):
            return place.device == device
        return not place.asked

    @property
    def pids(self) -> list[int]:
        """The processes that compute."""
        return [slot.pid for slot in self._all if slot.execution is not None]

    @property
    def processes(self) -> list[int]:
        """All processes that there are."""
        return [slot.pid for slot in self._all if slot.pid]

    @property
    def doings(self) -> list[Doing]:
        """What each worker does now; may be asked from any thread."""
        return [_doing(slot) for slot in self._all]

    @property
    def graphics(self) -> Graphics:
        """Memory of the graphics cards, as last reported; may be asked from any thread."""
        # Slots report at different times: the newest figures count, whoever sent them.
        return max((slot.graphics for slot in self._all), key=lambda one: one.when)

    @property
    def _all(self) -> list[Slot]:
        return [*self._slots, *self._leaving]

    @property
    def pid(self) -> int:
        """The process of the first worker; 0 while there is none."""
        return self._slots[0].pid

    @property
    def ready(self) -> bool:
        """Whether a worker has been started and has answered."""
        return any(slot.ready for slot in self._slots if not slot.place.cluster)

    @property
    def words(self) -> str:
        """The workers' latest output: models may print anything."""
        return "\n".join(filter(None, (slot.words for slot in self._all)))

    def start(self, count: int = 1) -> None:
        """Starts the first workers ahead of need, all at once."""
        for slot in self._slots[:count]:
            slot.start()

    def submit(self, execution: Execution, cluster: str = "", device: str = "") -> None:
        """Takes an Execution; only when there is room.

        Args:
            execution: What to carry out.
            cluster: The cluster that is to compute it; empty for this machine.
            device: The device of this machine; empty for any.
        """
        if execution.claim():
            next(self._free(cluster, device)).run(execution)

    def warm(self, request: Request, trusted: frozenset[str] = frozenset()) -> bool:
        """Preloads the models and data of a request.

        Skipped if one of its models has cost two processes.
        """
        # Unasked preloading of a model that keeps killing processes would kill them for ever.
        if any(self._kills[model.fingerprint] >= _MOST_KILLS for model in request.models):
            return False
        self._slots[0].warm(request, trusted)
        return True

    def ask(self, what: str, **values: Any) -> Any:
        """Asks a question and waits for the answer; errors are raised.

        Args:
            what: The question, see ``questions``.
            **values: What it is about.
        """
        answers: list[Any] = []
        self.post(what, values, answers.append)
        while not answers:
            self.work(_LOOK_SECONDS)
        if isinstance(answers[0], BaseException):
            raise answers[0]
        return answers[0]

    def post(self, what: str, values: Mapping[str, Any], done: Any) -> None:
        """Asks a question when a worker is free.

        ``done`` is called with the answer or the error, in ``work``.
        """
        self._questions.append(Asked(what, values, done))

    def stop_questions(self, why: str) -> None:
        """Ends the processes that are answering; callers get the reason ``why``."""
        for slot in self._all:
            if slot.question is not None:
                slot.lose(why)

    def wake(self) -> None:
        """Interrupts a wait in ``work``; may be called from any thread."""
        self._events.put(None)

    def work(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while True:
            self._hand_out_questions()
            for slot in self._all:
                slot.look()
            self._end_leaving()
            left = until - time.monotonic()
            if left > 0:
                event = self._next(min(_LOOK_SECONDS, left))
            else:
                event = None
            if event is not None:
                self._hear(event)
                # Takes what has piled up, so a burst of Steps ends in one round of the caller.
                while (event := self._next(0.0)) is not None:
                    self._hear(event)
                return
            # The wait above has used up the rest of the time.
            if left <= _LOOK_SECONDS:
                return

    def end(self) -> None:
        """Ends all workers at once, whatever they are doing."""
        for slot in self._all:
            slot.end()

    def close(self) -> None:
        for slot in self._all:
            slot.end(_LEAVE_SECONDS)

    def _hand_out_questions(self) -> None:
        while self._questions and self.room:
            next(self._free("")).ask(self._questions.popleft())

    def _next(self, seconds: float) -> Event | None:
        try:
            if seconds > 0:
                return self._events.get(timeout=seconds)
            return self._events.get_nowait()
        except queue.Empty:
            return None

    def _hear(self, event: Event) -> None:
        for slot in self._all:
            # Each slot ignores events of processes that are not its own.
            slot.hear(event)

    def _count(self, request: Request) -> None:
        self._kills.update(model.fingerprint for model in request.models)


def _doing(slot: Slot) -> Doing:
    words = ""
    if slot.pid and not slot.ready:
        words = "starting"
    elif slot.question is not None:
        words = "answering"
    elif slot.warming:
        words = "loading the model"
    return Doing(slot.pid, slot.place, slot.execution, words)


def usual_memory() -> int:
    """Most of the machine's memory, in bytes; 0 if unknown."""
    try:
        return int(_MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not POSIX
        return 0
