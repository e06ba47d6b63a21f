"""The worker's side: a process that loads models and data, computes tasks and answers questions."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from robgui.core.errors import sentence
from robgui.core.execution.carrying import carry_out
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Pace
from robgui.core.execution.task import Report
from robgui.core.execution.worker.confinement.limits import set_limits
from robgui.core.execution.worker.frames import Frame, FrameError, Pipe, read_frame, write_frame
from robgui.core.execution.worker.graphics import GraphicsLook
from robgui.core.execution.worker.messages import error_words, read_task
from robgui.core.execution.worker.niceness import NICENESS
from robgui.core.execution.worker.outbox import Outbox

#: Marks that nothing is left to do ahead.
_OVER = object()
#: Messages that may run foreign code; their start is reported first, to know whom to blame for a
#: crash.
_WORK = ("run", "warm", "ask")


@dataclass(frozen=True)
class Channel:
    """Both directions to the parent process.

    A thread reads incoming frames, which lets a stop be heard at once.
    """

    incoming: queue.SimpleQueue[Frame]
    outgoing: Pipe
    lock: threading.Lock
    look: GraphicsLook = field(default_factory=GraphicsLook)

    def send(self, frame: Frame) -> None:
        """Sends a frame, now and then with the memory of graphics cards.

        Ends the process if the parent is gone.
        """
        try:
            with self.lock:
                write_frame(self.outgoing, Frame(frame.header | self.look.header(), frame.arrays))
        except OSError:
            _leave()


def main(held: tuple[str, ...]) -> None:
    """A worker's life: from the first frame, which sets it up, until it is told to leave.

    Args:
        held: What confines it already, in words.
    """
    reached = connect()
    if reached is None:
        return
    channel, hello = reached
    # Limits come after the imports: they count from what the libraries already take.
    _prepare(hello)
    held += set_limits(hello["memory"])
    channel.send(Frame({"ready": True, "held": list(held)}))
    Worker(
        channel,
        hello["device"],
        polite=hello["polite"],
        ahead=_engines() if hello["ahead"] else _records(),
    ).serve()


def connect() -> tuple[Channel, dict[str, Any]] | None:
    """The channel to the parent and its first frame; None if the parent is already gone."""
    # Ctrl-C is for the parent, which tells its workers what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    incoming, outgoing = _private_pipes()
    hello = read_frame(incoming)
    if hello is None:
        return None
    if sys.platform == "linux" and os.getppid() != hello.header["parent"]:
        return None  # The parent was gone before prctl could register its death.
    # A crash in native code leaves its Python stack on standard error, which the parent keeps.
    faulthandler.enable(file=2)
    channel = Channel(queue.SimpleQueue(), outgoing, threading.Lock())
    # A separate thread, because the main one is inside the model for most of a run.
    threading.Thread(target=_listen, args=(incoming, channel.incoming), daemon=True).start()
    return channel, hello.header


class Worker:
    """Takes one message after another.

    Args:
        channel: To the other side.
        device: Where models are put; empty leaves it to each request.
        polite: It yields the processor after its first picture, which a person waits for.
        ahead: Work to do while idle, piece by piece.
    """

    def __init__(
        self,
        channel: Channel,
        device: str,
        *,
        polite: bool = False,
        ahead: Iterator[object] = iter(()),
    ) -> None:
        self._channel = channel
        self._polite = polite
        self._ahead = ahead
        self._shelf = LoadedCache(device, notice=self._notice)

    def serve(self) -> None:
        """Works until it is told to leave."""
        while True:
            # Idle work goes in small pieces: an order that arrives waits for one import at most.
            while self._channel.incoming.empty() and next(self._ahead, _OVER) is not _OVER:
                continue
            frame = self._channel.incoming.get()
            do = frame.header.get("do")
            if do in _WORK:  # A crash from here on is blamed on this message.
                self._channel.send(Frame({"begun": do}))
            match do:
                case "run":
                    self._run(frame)
                case "warm":
                    self._warm(frame)
                case "ask":
                    self._answer(frame)
                case "leave":
                    return
                case _:  # A late message about a task that has ended.
                    continue

    def _run(self, frame: Frame) -> None:
        Pace.awaited = False  # A stop that came too late was meant for the previous task.
        outbox = Outbox(self._channel.send, frame.header["pace"])
        last = Report(RunState.FAILED, error="The task could not be read.")
        try:
            for report in self._reports(frame, outbox):
                last = report
                if not report.state.ended:
                    outbox.put(report)
                # Only now: a person waits for the first picture, and nothing else is in a hurry.
                if self._polite and report.step is not None:
                    self._polite = False
                    _step_back()
        except Exception as error:  # noqa: BLE001 - told as the end of this task; the worker lives on
            last = Report(RunState.FAILED, error=sentence(error), problem=error)
        outbox.close(last)

    def _reports(self, frame: Frame, outbox: Outbox) -> Iterator[Report]:
        """The reports of a task; a stop ends them."""
        task = read_task(frame)
        if task.data is not None and task.request.dataset is not None:
            self._shelf.add_dataset(task.data, task.request.dataset.fingerprint)
        # Closing the iterator closes the engine, even if a Step could not be sent.
        with contextlib.closing(carry_out(task, self._shelf)) as reports:
            for report in reports:
                yield report
                if outbox.problem is not None:
                    raise outbox.problem
                if not report.state.ended and not self._may_go_on(outbox):
                    break
            else:
                return
        yield Report(RunState.CANCELLED)

    def _may_go_on(self, outbox: Outbox) -> bool:
        """Handles what the parent has said and waits during a pause; False ends the task."""
        paused = False
        # Without a pause this takes what is there and returns; during one it blocks in ``get``.
        while paused or not self._channel.incoming.empty():
            match self._channel.incoming.get().header.get("do"):
                case "taken":
                    outbox.taken()
                case "pause":
                    paused = True
                    outbox.hurry()
                case "resume":
                    paused = False
                case "stop":
                    return False
        return True

    def _warm(self, frame: Frame) -> None:
        """Loads what the next task will need; errors are reported when that task comes."""
        from robgui.core.execution.request import Request

        request = Request.model_validate(frame.header["request"])
        # Errors are dropped here: the task itself will hit them again and report them.
        with contextlib.suppress(Exception):
            self._shelf.models(request, frozenset(frame.header["trusted"]))
            self._shelf.dataset(request)
        self._channel.send(Frame({"warm": True}))

    def _answer(self, frame: Frame) -> None:
        from robgui.core.codec import put_together, take_apart
        from robgui.core.execution.asking.questions import answer

        number = frame.header["number"]
        try:
            values = put_together(dict, frame.header["values"], frame.arrays)
            document, arrays = take_apart(answer(self._shelf, frame.header["what"], values))
            self._channel.send(Frame({"answer": number, "value": document}, arrays))
        # SystemExit too: foreign code may call sys.exit, and the worker must survive it.
        except (Exception, SystemExit) as error:  # noqa: BLE001 - told to whoever asked
            self._channel.send(Frame({"refusal": number, **error_words(error, sentence(error))}))

    def _notice(self, words: str) -> None:
        self._channel.send(Frame({"notice": words}))


def _private_pipes() -> tuple[Pipe, Pipe]:
    """Takes standard input and output for the protocol; a model's prints go to standard error."""
    # The protocol keeps private copies of both pipes. Descriptor 0 becomes empty and 1 a copy of
    # standard error, so that a model's prints, even from C, cannot corrupt a frame.
    incoming = os.fdopen(os.dup(0), "rb", buffering=0)
    outgoing = os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return incoming, outgoing


def _listen(pipe: Pipe, incoming: queue.SimpleQueue[Frame]) -> None:
    try:
        while (frame := read_frame(pipe)) is not None:
            incoming.put(frame)
            # Set here and not by the main thread, which may be inside a long model call: the
            # engine's next ``Pace.due`` then ends the batch early.
            if frame.header.get("do") == "stop":
                Pace.awaited = True
    except (OSError, FrameError):
        pass
    _leave()


def _leave() -> NoReturn:
    """The parent is gone, and with it everyone who could want an answer."""
    # sys.exit would end only this thread: the main one may be inside a model that never returns.
    os._exit(0)


def _records() -> Iterator[object]:
    """Reads the records of all methods; a task needs only its own and does not wait for this."""
    from robgui.core.execution.registry import analyses

    yield analyses()


def _engines() -> Iterator[object]:
    """Imports one engine after another, before a run needs them."""
    from robgui.core.execution.registry import analyses

    for known in analyses().values():
        with contextlib.suppress(Exception):  # Reported when it is run.
            yield getattr(known.engine, "function", known.engine)


def _step_back() -> None:
    """Lowers the priority of every current thread and of those they will start."""
    if not hasattr(os, "setpriority"):
        return
    tasks = Path("/proc/self/task")  # On Linux a priority belongs to a thread.
    if tasks.exists():
        threads = [int(task.name) for task in tasks.iterdir()]
    else:
        threads = [0]
    for thread in threads:
        with contextlib.suppress(ProcessLookupError):  # It has just ended.
            # An absolute value: a thread that is already polite may have started this process.
            os.setpriority(
                os.PRIO_PROCESS, thread, max(NICENESS, os.getpriority(os.PRIO_PROCESS, thread))
            )


def _prepare(hello: dict[str, Any]) -> None:
    """Sets up threads and imports as the parent wants them."""
    threads = hello["threads"]
    if threads:
        # Before torch is imported: OpenMP reads the variable only once.
        os.environ["OMP_NUM_THREADS"] = str(threads)
    import torch

    if threads:
        torch.set_num_threads(threads)
    for module in hello["imports"]:
        importlib.import_module(module)
