"""Slot: a place for one worker process, and what that process is doing."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable

from robgui.core.errors import RobguiError
from robgui.core.execution.asking.questions import find_question
from robgui.core.execution.execution import Execution
from robgui.core.execution.executor import loss_sentence, lost
from robgui.core.execution.request import Request
from robgui.core.execution.run import RunState
from robgui.core.execution.task import Report
from robgui.core.execution.worker.asked import Asked, LostError
from robgui.core.execution.worker.frames import Frame, FrameError
from robgui.core.execution.worker.graphics import Graphics, read_graphics
from robgui.core.execution.worker.messages import read_answer, read_report, read_text, task_frame
from robgui.core.execution.worker.process import Event, Place, WorkerProcess
from robgui.core.execution.worker.terms import Terms
from robgui.core.text.words import amount

#: Seconds between asking a process to stop and killing it.
GRACE_SECONDS = 2.0
#: Seconds to wait for the system to tear a killed process down.
_CLEAR_SECONDS = 1.0
#: Seconds that a process may preload models while something else waits for it.
WARM_SECONDS = 5.0


class Slot:
    """One worker at a time: started on demand, killed if it does not stop, replaced if it is lost.

    Args:
        place: Where it computes.
        terms: How it is set up.
        events: Queue for its news.

    Attributes:
        execution: What it computes; None while idle.
        question: What it was asked; None while nothing is.
        kills: Called with the request whose model has cost a process.
        ready: Whether its process has answered.
        graphics: Memory of the graphics cards, as its process last reported.
        place: Where it computes.
    """

    def __init__(self, place: Place, terms: Terms, events: queue.SimpleQueue[Event | None]) -> None:
        self.execution: Execution | None = None
        self.question: Asked | None = None
        self.kills: Callable[[Request], None] = lambda request: None
        self.ready = False
        self.graphics = Graphics()
        self.place = place
        self._terms = terms
        self._events = events
        self._process: WorkerProcess | None = None
        self._told: RunState | None = None
        self._stop_by = 0.0
        self._warming: tuple[Request, float] | None = None
        # The last order, kept in case its process dies before beginning it.
        self._asked = Frame({})
        self._begun = False
        self._sent_again = False

    @property
    def free(self) -> bool:
        """Whether it could take something on."""
        return self.execution is None and self.question is None

    @property
    def warming(self) -> bool:
        """Whether it is preloading models and data."""
        return self._warming is not None

    def suits(self, place: Place, terms: Terms) -> bool:
        """Whether its process was started under the current terms."""
        return (self.place, self._terms) == (place, terms)

    @property
    def pid(self) -> int:
        """The number of its process; 0 while there is none."""
        if self._process is None:
            return 0
        return self._process.pid

    @property
    def words(self) -> str:
        """The latest output of its process."""
        if self._process is None:
            return ""
        return self._process.words

    def start(self) -> WorkerProcess:
        """Its process, started if there is none."""
        if self._process is None:
            terms = self._terms
            self._process = WorkerProcess(
                self.place,
                self._events,
                imports=terms.imports,
                memory=terms.memory,
                polite=terms.polite,
                ahead=terms.ahead,
            )
        return self._process

    def run(self, execution: Execution) -> None:
        """Starts computing ``execution``."""
        self._end_long_warming(execution)
        try:
            task = execution.task.at(self.place.device)
            frame = task_frame(task, execution.workspace, self._terms.pace)
        except RobguiError as error:  # A file is gone.
            execution.take(Report(RunState.FAILED, error=str(error), problem=error))
            return
        self.execution, self._told, self._stop_by = execution, RunState.RUNNING, 0.0
        # Called from the thread of whoever pauses or stops: None only interrupts the executor's
        # wait, and ``look`` on its own thread sees what changed.
        execution.wake = lambda: self._events.put(None)
        self._send(frame)

    def ask(self, question: Asked) -> None:
        """Asks a question."""
        self._end_long_warming(None)
        self.question = question
        self._send(question.frame())

    def warm(self, request: Request, trusted: frozenset[str] = frozenset()) -> None:
        """Preloads the models and data of a request; code runs as in Task."""
        if self.free and self._warming is None:
            self._warming = (request, time.monotonic())
            self._send(
                Frame(
                    {
                        "do": "warm",
                        "request": request.model_dump(mode="json"),
                        "trusted": sorted(trusted),
                    }
                )
            )

    def look(self) -> None:
        """Passes on pause and stop; kills a process that is late or takes too much memory."""
        execution, process = self.execution, self._process
        if process is None:
            return
        if not self.free and self._end_long_warming(execution):
            self._send(self._asked)  # It was waiting behind a model that never loads.
            return
        if execution is not None:
            self._pass_on(execution, process)
            if self._stop_by and time.monotonic() >= self._stop_by:
                self.lose(
                    f"it did not stop within {GRACE_SECONDS:g} s, so its worker process was ended"
                )
                return
        if self._terms.memory and process.memory > self._terms.memory:
            self.lose(
                f"its worker process took more than {amount(self._terms.memory)} of memory and was"
                " ended"
            )

    def hear(self, event: Event) -> None:
        """Takes what its process has sent."""
        if event.process is not self._process:  # Late news from a process that is already gone.
            return
        try:
            if event.frame is not None:
                self._take(event.frame)
            elif event.problem:
                raise FrameError(event.problem)
            elif self._may_send_again():
                self._send_again()
            else:
                self.lose(f"its worker process {event.process.how_it_ended()}")
        except FrameError as error:
            self.lose(
                f"its worker process sent something that is not understood ({error}) and was ended"
            )

    def end(self, seconds: float = 0.0) -> None:
        """Ends its process; ``seconds`` are given to an idle one."""
        process, self._process, self._warming, self.ready = self._process, None, None, False
        if process is not None:
            if self.free and seconds:
                process.leave(seconds)
            else:
                process.kill(_CLEAR_SECONDS)

    def _send(self, frame: Frame) -> None:
        """Sends a frame, to a new process if the old one died while idle."""
        self._asked, self._begun, self._sent_again = frame, False, False
        # The pipe of a process that died while idle breaks on the first write; a second process
        # gets the frame. If that fails too, its end arrives as an event.
        if not self.start().send(frame):
            self.end()
            self.start().send(frame)

    def _may_send_again(self) -> bool:
        """Whether its process died before it began this order, and not because of it.

        It was idle, or was preloading another model. Allowed once, since a process may die at every
        start.
        """
        if self.free or self._begun or self._sent_again or self._stop_by:
            return False
        return self._warming is None or not self._loads_for(self.execution)

    def _send_again(self) -> None:
        # The process died while preloading another model: that model is to blame, not this order.
        if self._warming is not None:
            self.kills(self._warming[0])
        frame = self._asked
        self.end()
        self._told = RunState.RUNNING
        self._send(frame)
        self._sent_again = True

    def _pass_on(self, execution: Execution, process: WorkerProcess) -> None:
        if execution.stop_asked and not self._stop_by:
            self._stop_by = execution.stop_asked + GRACE_SECONDS
            process.send(Frame({"do": "stop"}))
        if execution.state is RunState.PAUSED:
            state = RunState.PAUSED
        else:
            state = RunState.RUNNING
        if state is not self._told:
            self._told = state
            process.send(Frame({"do": "pause" if state is RunState.PAUSED else "resume"}))
        execution.record()

    def _take(self, frame: Frame) -> None:
        header = frame.header
        if "graphics" in header:
            self.graphics = read_graphics(header["graphics"])
        if "report" in header:
            self._take_report(frame)
        elif "answer" in header or "refusal" in header:
            self._take_answer(frame)
        elif "notice" in header:
            self._terms.notice(read_text(header["notice"]))
        elif "warm" in header:
            self._warming = None
        elif "begun" in header:
            # Only the announcement of the current order counts: a preload that was under way
            # announces its own.
            self._begun = self._begun or header["begun"] == self._asked.header.get("do")
        elif "ready" in header:
            self.ready = True
            if self._warming is not None:  # It has only now begun to load.
                self._warming = (self._warming[0], time.monotonic())
        else:
            raise FrameError("a message of no known kind")

    def _take_report(self, frame: Frame) -> None:
        execution = self.execution
        if execution is None:
            raise FrameError("a report without a request")
        report = read_report(frame, execution.analysis.result, execution.analysis.kept)
        # A bridge reports QUEUED if a node is lost; a worker on this machine never does.
        lost_node = report.state is RunState.QUEUED and bool(self.place.cluster)
        if report.state in (RunState.QUEUED, RunState.PAUSED) and not lost_node:
            raise FrameError("a report of a state that a worker cannot be in")
        if lost_node and execution.stop_asked:
            return  # Its end comes next.
        self._warming = None
        execution.take(report)
        if execution.state.ended:
            self._let_go()
            # It ended on this side, for example because the disk is full. Its worker computes on,
            # and what it tells would be taken for the next run.
            if not report.state.ended:
                self.end()
                self.start()
        # Flow control: the next result is sent only after this one was taken.
        elif report.step is not None and self._process is not None:
            self._process.step_back()
            self._process.send(Frame({"do": "taken"}))

    def _take_answer(self, frame: Frame) -> None:
        question, header = self.question, frame.header
        if question is None or header.get("answer", header.get("refusal")) != question.number:
            raise FrameError("an answer without a question")
        self._warming = None
        answer = read_answer(frame, find_question(question.what).answer)
        self.question = None
        question.done(answer)

    def lose(self, why: str) -> None:
        """The process is gone or must go: ends what it was doing and starts another one."""
        process, execution = self._process, self.execution
        question, warming = self.question, self._warming
        assert process is not None
        # Killed first, then its last output is read: a process that still prints could delay that.
        process.kill()
        words = process.last_words
        self._process, self.question, self._warming, self.ready = None, None, None, False
        # The model is blamed for the loss only if it was being loaded or called; a process that
        # died idle says nothing about it.
        if warming is not None:
            self.kills(warming[0])
        elif execution is not None and self._begun:
            self.kills(execution.request)
        again = None
        if execution is not None:
            self._let_go()
            # A model that has already given a result loads: preload it, so that Run works at once.
            if execution.newest is not None:
                again = execution.task
            if execution.stop_asked:
                execution.take(Report(RunState.CANCELLED, error=loss_sentence(execution, why)))
            else:
                execution.take(lost(execution, why, self._terms.attempts, words))
        if question is not None:
            question.done(LostError(f"The model could not be used: {why}."))
        if self._terms.keep:
            self.start()
            if again is not None:
                self.warm(again.request, again.trusted)

    def _let_go(self) -> None:
        if self.execution is not None:
            self.execution.wake = lambda: None
        self.execution = None

    def _end_long_warming(self, wanted: Execution | None) -> bool:
        """Stops a preload that blocks other work for too long; True if that killed its process.

        Work that needs the same model waits for it.
        """
        # Before ``ready`` the process is still importing, which is not the model's fault.
        if self._warming is None or not self.ready:
            return False
        request, since = self._warming
        if self._loads_for(wanted) or time.monotonic() - since <= WARM_SECONDS:
            return False
        self.kills(request)
        self.end()
        return True

    def _loads_for(self, wanted: Execution | None) -> bool:
        """Whether the preloaded model is the one ``wanted`` needs."""
        loading = self._warming
        return (
            wanted is not None
            and loading is not None
            and wanted.request.models == loading[0].models
        )
