"""Processes of their own without the seconds that imports take: a warm interpreter forks them."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: Forks a child for each line, which says what it runs, where, and in which environment; answers
#: with its number and, when it has ended, with its exit code.
_SERVER = """
import importlib, json, os, sys, traceback, types
for name in sys.argv[1:]:
    importlib.import_module(name)
first_path, server = list(sys.path), sys.modules["__main__"]

def live(asked):
    os.setsid()
    for number, place in enumerate((os.devnull, asked["out"], asked["err"])):
        opened = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    named = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    sys.path[:] = ["", *named, *(one for one in first_path[1:] if one not in named)]
    sys.argv[:] = ["-c"]
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        exec(asked["code"], vars(main))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

print("ready", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    pid = os.fork()
    if not pid:
        end, flush = os._exit, (sys.stdout.flush, sys.stderr.flush)
        code = live(asked)
        for one in flush:
            one()
        end(code)
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Warm:
    """Runs programs, each in a process that has imported ``modules`` already.

    A program sees its own environment, folder, output and session, as one that was started by
    itself does; only what is decided when an interpreter starts is that of the first one.
    """

    def __init__(self, modules: Sequence[str], environment: Mapping[str, str]) -> None:
        self._files = tempfile.TemporaryDirectory()
        self._server = subprocess.Popen(
            [sys.executable, "-c", _SERVER, *modules],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._answer() == "ready"

    def run(
        self, code: str, folder: Path, environment: Mapping[str, str], seconds: float
    ) -> subprocess.CompletedProcess[str] | None:
        """Runs ``code`` to its end, and ends with it all that it has started; None when it took
        longer than ``seconds``.
        """
        out, err = (Path(self._files.name, name) for name in ("out", "err"))
        for path in (out, err):
            path.write_bytes(b"")
        asked: dict[str, Any] = {"code": code, "folder": str(folder), "out": str(out)}
        asked |= {"err": str(err), "environment": dict(environment)}
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        pid = int(self._answer())
        in_time = _ends(pid, seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        ended = int(self._answer())
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in (out, err)]
        return subprocess.CompletedProcess("", ended, *texts) if in_time else None

    def close(self) -> None:
        """Ends the warm interpreter."""
        self._server.kill()
        self._server.communicate()
        self._files.cleanup()

    def _answer(self) -> str:
        assert self._server.stdout is not None
        return self._server.stdout.readline().strip()


def _ends(pid: int, seconds: float) -> bool:
    """Waits for a process of somebody else; False when it is late."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], seconds)[0])
    finally:
        os.close(watched)
