"""Worker processes without the seconds that their imports take: a warm interpreter forks them.

A forked worker confines itself, reads its first frame and ends as a started one does. All that
differs is what it has imported before it was confined: tests of the start itself, of what a worker
imports or holds, and of attacks are marked ``cold_workers``.
"""

from __future__ import annotations

import ctypes
import inspect
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from robgui.core.execution.worker import process
from tests.patience import LONGEST

_PR_SET_CHILD_SUBREAPER = 36
#: Bytes of a request: a program, its folder and its environment.
_MOST = 200_000

#: Forks twice for each message, which says what to run where and brings three pipes. The first
#: child ends at once, and the second is adopted by the process that has asked; its number is the
#: answer, 0 if it was not adopted.
_SERVER = """
import gc, json, os, socket, sys, time, types, warnings
asking, parent = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    exec(sys.argv[4], {})
gc.freeze()

def live(asked, pipes, first):
    while os.getppid() == first:
        time.sleep(0.0005)
    if os.getppid() != parent:
        asking.sendall(b"0")
        os._exit(1)
    os.setsid()
    for number, pipe in enumerate(pipes):
        os.dup2(pipe, number)
        os.close(pipe)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    asking.sendall(b"%d" % os.getpid())
    asking.close()
    sys.argv[:] = ["-c"]
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    exec(asked["code"], vars(main))

while True:
    words, pipes, _, _ = socket.recv_fds(asking, int(sys.argv[3]), 3)
    if not words:
        break
    first = os.fork()
    if not first:
        first = os.getpid()
        if os.fork():
            os._exit(0)
        live(json.loads(words), pipes, first)
        sys.exit()
    for pipe in pipes:
        os.close(pipe)
    os.waitpid(first, 0)
"""

#: Imports what a worker of the window has imported after its first idle second; which methods
#: there are each worker finds out by itself.
_IMPORTS = """
import torch, scipy.stats
import robgui.core.dataset.opening, robgui.core.execution.asking.questions
import robgui.core.execution.worker.entry, robgui.core.loading.loader
from robgui.core.execution import method
from robgui.core.execution.worker.child import _engines
list(_engines())
method.refresh()
"""


class Server:
    """The warm interpreter; it ends with this process, its workers as started ones do."""

    def __init__(self, imports: str = _IMPORTS) -> None:
        self._lock = threading.Lock()
        self._asking, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._asking.settimeout(LONGEST)
        with theirs:
            words = (theirs.fileno(), os.getpid(), _MOST, imports)
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVER, *map(str, words)],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # it gets no Ctrl-C
            )

    def fork(self, pipes: list[int], **asked: Any) -> int:
        """Runs code in a child of this process; returns its number, 0 if there is none."""
        with self._lock:
            # Only for this moment: what other tests leave behind is not this process's to adopt.
            _adopt(True)
            try:
                socket.send_fds(self._asking, [json.dumps(asked).encode()], pipes)
                return int(self._asking.recv(100) or 0)
            finally:
                _adopt(False)

    def close(self) -> None:
        """Ends it; its workers live on."""
        self._asking.close()
        self._process.wait()


class _Forked(subprocess.Popen[bytes]):
    """A worker process that is forked in place of being started, where that works."""

    def _execute_child(self, *words: Any) -> None:
        given = _given(self, *words)
        try:
            self.pid = _server().fork(
                [given[name] for name in ("p2cread", "c2pwrite", "errwrite")],
                code=given["args"][-1],
                environment=given["env"],
                folder=str(Path.cwd()),
            )
        except OSError:  # no folder, or no answer
            self.pid = 0
        if not self.pid:
            super()._execute_child(*words)
            return
        self._child_created = True
        for name in ("p2cread", "c2pwrite", "errwrite"):
            os.close(given[name])


#: In place of the module: all of it, but for the one way to start a process.
_FORKING = SimpleNamespace(**{**vars(subprocess), "Popen": _Forked})


@contextmanager
def forked_workers() -> Iterator[None]:
    """Forks the workers that this process starts meanwhile, where the system can."""
    if sys.platform != "linux":
        yield
        return
    with mock.patch.object(process, "subprocess", _FORKING):
        yield


def end_server() -> None:
    """Ends the warm interpreter, if there is one."""
    if _server.cache_info().currsize:
        _server().close()
        _server.cache_clear()


@cache
def _server() -> Server:
    return Server()


def _given(popen: subprocess.Popen[bytes], *words: Any) -> dict[str, Any]:
    """What Popen starts a child with, by the names it has there."""
    names = inspect.signature(subprocess.Popen._execute_child)
    return names.bind(popen, *words).arguments


def _adopt(orphans: bool) -> None:
    zero = ctypes.c_ulong(0)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(orphans), zero, zero, zero) != 0:
        raise OSError(ctypes.get_errno(), "this system has no subreaper")
