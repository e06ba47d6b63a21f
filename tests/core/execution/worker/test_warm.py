"""Workers that tests fork: they are what started ones are, and nothing outlives the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from robgui.core.execution.worker.process import Place
from robgui.core.execution.worker.workers import Workers
from tests.core.execution.worker import warm
from tests.patience import LONGEST, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere all workers are started")


@pytest.fixture
def workers():
    made = Workers([Place("cpu", 1)])
    made.start()
    yield made
    made.close()


def is_started(pid):
    """Whether a process was started as a worker, and not forked by the warm interpreter."""
    return "recv_fds" not in Path(f"/proc/{pid}/cmdline").read_text()


def held(pid):
    """What a process holds open, without the numbers of pipes."""
    kinds = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # Closed meanwhile.
            kinds.add(str(each.readlink()).partition(":")[0])
    return kinds


def test_a_forked_worker_is_a_child_with_a_session_of_its_own_and_holds_pipes_only(workers):
    wait_for(lambda: workers.work(0.05) or workers.ready, "the worker")
    pid = workers.pid
    assert not is_started(pid)
    assert (os.getsid(pid), os.getpgid(pid)) == (pid, pid)
    assert f"PPid:\t{os.getpid()}\n" in Path(f"/proc/{pid}/status").read_text()
    # A worker that is ready looks for methods, so it opens and closes a few files more.
    wait_for(lambda: held(pid) <= {"pipe", "/dev/null"}, "the end of what it reads")


@pytest.mark.cold_workers
def test_a_cold_worker_is_started(workers):
    assert is_started(workers.pid)


def test_where_nothing_can_be_forked_a_worker_is_started(monkeypatch):
    monkeypatch.setattr(warm.Server, "fork", lambda *_given, **_named: 0)
    made = Workers([Place("cpu", 1)])
    try:
        made.start()
        assert is_started(made.pid)
        wait_for(lambda: made.work(0.05) or made.ready, "the worker")
    finally:
        made.close()


def test_nothing_outlives_tests_that_are_killed():
    code = (
        "import os; from tests.core.execution.worker import warm; server = warm.Server('');"
        "end = 'from robgui.core.execution.worker.confinement import kernel; import time;"
        ' kernel.end_with_parent(9); print("sleeps", flush=True); time.sleep(600)\';'
        "given, said = os.pipe(); environment = dict(os.environ);"
        "pid = server.fork([given, said, 2], code=end, environment=environment, folder='/');"
        "os.read(given, 6); print(server._process.pid, pid, flush=True); os.kill(os.getpid(), 9)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=LONGEST, check=False
    )
    assert ended.returncode == -9, ended.stderr
    server, worker = map(int, ended.stdout.split())
    wait_for(lambda: not (_lives(server) or _lives(worker)), "their end")


def _lives(pid):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
