"""One worker process seen from this program: starting it, talking to it, ending it."""

from __future__ import annotations

import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

from robgui.core.execution.worker.folder import remove, worker_folder
from robgui.core.execution.worker.frames import Frame, FrameError, Pipe, read_frame, write_frame
from robgui.core.execution.worker.log import Log
from robgui.core.execution.worker.niceness import SESSION_NICENESS
from robgui.core.execution.worker.pipes import widen

#: Environment variables passed to a worker: paths and how to compute; no secrets, no display.
_ENVIRONMENT = re.compile(
    "PATH|HOME|USER|LOGNAME|LANG|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|APPDATA|LOCALAPPDATA|USERPROFILE"
    "|XDG_(DATA|CONFIG|CACHE|STATE)_HOME|(LC|OMP|MKL|KMP|GOMP|OPENBLAS|NUMEXPR|TORCH|PYTORCH|CUDA|NVIDIA|HIP|ROCR|LD|DYLD|PYTHON|ROBGUI)_?.*",
    re.IGNORECASE,
)
#: Variables that point to its own folder; the caches are those of libraries that trusted code may
#: use.
_IN_OWN_FOLDER = (
    "TMPDIR",
    "TEMP",
    "TMP",
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
    "NUMBA_CACHE_DIR",
    "MPLCONFIGDIR",
)
#: joblib would look for semaphores, which are refused, and print a warning.
_SET = {"JOBLIB_MULTIPROCESSING": "0"}
#: Seconds to wait for the system to tear a process down before going on without it.
_CLEAR_SECONDS = 1.0
#: A frozen application is its own worker, started with this word.
FROZEN = "--robgui-worker"
_ENTRY = "robgui.core.execution.worker.entry:main"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker computes.

    Attributes:
        device: Empty leaves it to each task.
        threads: How many torch may use; 0 leaves it to torch.
        cluster: The address of the cluster that computes; empty for this machine.
        entry: Its entry point as ``module:function``, in place of a confined worker: for a process
            that runs no foreign code itself and has all the rights of this program.
        asked: It takes only tasks sent to its device.
    """

    device: str = ""
    threads: int = 0
    cluster: str = ""
    entry: str = ""
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """News from a process: a frame, or its end (no frame)."""

    process: WorkerProcess
    frame: Frame | None
    problem: str = ""


class WorkerProcess:
    """One process, from its start to its end.

    Args:
        place: Where it computes.
        events: Queue for its news, filled by a reading thread.
        imports: Modules it imports first.
        memory: Bytes it may allocate; 0 sets no limit.
        polite: It yields the processor after its first picture, which a person waits for.
        ahead: It imports every engine while idle.
    """

    def __init__(
        self,
        place: Place,
        events: queue.SimpleQueue[Event | None],
        *,
        imports: tuple[str, ...] = (),
        memory: int = 0,
        polite: bool = False,
        ahead: bool = False,
    ) -> None:
        self._folder = worker_folder()
        self._to_step_back = polite
        # On a thread that lives as long as this program: Linux ends the child with the thread that
        # started it.
        self._process = _starter().submit(_start, self._folder, place.entry).result()
        pipes = [self._process.stdin, self._process.stdout, self._process.stderr]
        self._to, self._from, errors = (cast(IO[bytes], pipe) for pipe in pipes)
        for pipe in (self._to, self._from):
            widen(pipe)
        self._log = Log(errors)
        self._reader = threading.Thread(
            target=self._read, args=(events,), name="worker reader", daemon=True
        )
        hello = {
            "parent": os.getpid(),
            "device": place.device,
            "threads": place.threads,
            "cluster": place.cluster,
            "imports": list(imports),
            "memory": memory,
            "polite": polite,
            "ahead": ahead,
        }
        # Before the reader starts: the child answers nothing until it has its first frame.
        self.send(Frame(hello))
        self._reader.start()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def memory(self) -> int:
        """Bytes it holds now; 0 if unknown."""
        try:
            # The second field is the resident set: memory really used, unlike the reserved
            # addresses.
            pages = Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    @property
    def words(self) -> str:
        """Its latest output so far."""
        return self._log.last

    @property
    def last_words(self) -> str:
        """Its latest output before it ended."""
        return self._log.text()

    def send(self, frame: Frame) -> bool:
        """Sends a frame; False if it is gone."""
        try:
            write_frame(cast(Pipe, self._to), frame)
        except (OSError, ValueError):  # ValueError: already closed.
            return False
        return True

    def step_back(self) -> None:
        """Lets other programs go first, if it is polite; called at its first picture.

        Linux shares the processor between sessions before it considers process priorities
        (autogroups, sched(7)), and each worker leads its own session: what it does to its own
        threads counts only among them. It may not write this file itself.
        """
        if not self._to_step_back:
            return
        self._to_step_back = False
        with contextlib.suppress(OSError):  # A system without autogroups.
            Path(f"/proc/{self.pid}/autogroup").write_text(str(SESSION_NICENESS), encoding="ascii")

    def kill(self, seconds: float = 0.0) -> None:
        """Ends it, and whatever it started, at once.

        The system may take a while to tear it down: waits at most ``seconds`` for that, and the
        reading thread clears up.
        """
        with contextlib.suppress(OSError):  # Already gone; unsent frames no longer matter.
            if self._process.poll() is not None:
                pass
            elif hasattr(os, "killpg"):
                # Trusted code may have started helpers (a data loader, say), which would outlive a
                # plain kill.
                os.killpg(self.pid, signal.SIGKILL)  # It leads its own process group.
            else:
                self._process.kill()
        with contextlib.suppress(OSError):
            # The child sees the end of its input and leaves by itself if the signal could not be
            # sent.
            self._to.close()
        if seconds:
            self._reader.join(seconds)

    def leave(self, seconds: float) -> None:
        """Asks it to end and waits; kills it if it is late."""
        self.send(Frame({"do": "leave"}))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        self.kill(_CLEAR_SECONDS)

    def how_it_ended(self) -> str:
        """Why it is gone, as the end of a sentence."""
        code = self._process.wait()
        if code >= 0:
            return f"ended by itself with exit code {code}"
        try:
            name = f" ({signal.Signals(-code).name})"
        except ValueError:
            name = ""
        # The kernel's out-of-memory killer sends the same signal as we do, and it is the likelier
        # sender: a process that we kill is not asked how it ended.
        if code == -signal.SIGKILL:
            hint = ", perhaps because memory ran out"
        else:
            hint = ""
        return f"was ended by signal {-code}{name}{hint}"

    def _read(self, events: queue.SimpleQueue[Event | None]) -> None:
        problem = ""
        # Reads until the process closes its output, which it also does by dying: the end is always
        # an event.
        with self._from as pipe:
            try:
                while (frame := read_frame(cast(Pipe, pipe))) is not None:
                    events.put(Event(self, frame))
            except FrameError as error:
                problem = str(error)
        events.put(Event(self, None, problem))
        # Reaps the process, then removes its folder: nothing can write there any more.
        self._process.wait()
        remove(self._folder)


def _start(folder: Path, entry: str) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C in a terminal reaches only the parent, and killpg reaches the
    # worker with everything it started.
    options: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return subprocess.Popen(
        _command(entry),
        # Frames are read and written straight from arrays; a buffer would copy each once more.
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ) if entry else _environment(folder),
        **options,
    )


def _environment(folder: Path) -> dict[str, str]:
    """The environment of a worker, with all temporary files and caches in its own folder."""
    known = {name: value for name, value in os.environ.items() if _ENVIRONMENT.fullmatch(name)}
    return known | dict.fromkeys(_IN_OWN_FOLDER, str(folder)) | _SET


def _command(entry: str) -> list[str]:
    if getattr(sys, "frozen", False):
        return [sys.executable, FROZEN, *([entry] if entry else [])]
    module, _, function = (entry or _ENTRY).partition(":")
    # The parent's import path, written into the command: a checkout, a notebook and an installed
    # program all start the same code.
    code = f"import sys; sys.path[:] = {sys.path!r}; from {module} import {function} as go; go()"
    return [sys.executable, "-c", code]


@cache
def _starter() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "worker starter")
