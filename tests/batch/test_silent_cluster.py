"""An address where something listens that is no Ray cluster: said in one sentence, and Stop works."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from robgui.batch.places import cluster_place
from robgui.core.execution.execution import Execution
from robgui.core.execution.run import RunState
from robgui.core.execution.worker.terms import Terms
from robgui.core.execution.worker.workers import Workers
from tests.core.execution.worker import foreign
from tests.patience import Stopwatch, wait_for

pytestmark = [
    pytest.mark.ray,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed"),
]


@contextlib.contextmanager
def listener(host: str) -> Iterator[str]:
    """Takes every connection and never says a word."""
    with socket.create_server((host, 0)) as server, contextlib.ExitStack() as taken:
        server.settimeout(0.1)
        over = threading.Event()

        def take() -> None:
            while not over.is_set():
                with contextlib.suppress(TimeoutError):
                    taken.enter_context(server.accept()[0])

        thread = threading.Thread(target=take)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        over.set()
        thread.join()


def told(address: str) -> str:
    """What a command prints that connects to ``address``: in a process of its own, which ends
    though a thread of Ray is left behind.
    """
    code = (
        "import sys; from robgui.batch import cluster; cluster._CONNECT_SECONDS = 3.0\n"
        "try: cluster.Cluster(sys.argv[1])\n"
        "except cluster.ParamsError as error: print(error)"
    )
    words = [sys.executable, "-c", code, address]
    usual = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    ended = subprocess.run(
        words, capture_output=True, text=True, timeout=100, check=True, env=usual
    )
    return ended.stdout


def test_a_listener_of_loopback_alone_is_told_at_once():
    with listener("127.0.0.1") as address, Stopwatch() as watch:
        said = told(address)
    assert said.startswith(f"Ray looks for {address} at ")
    assert "and nothing answers there" in said and said.count("\n") == 1
    assert watch.seconds < 30, "most of it is the import of Ray"


def test_a_listener_that_never_speaks_is_told_within_seconds():
    with listener("0.0.0.0") as address:
        assert told(address) == (
            f"Something answers at {address}, but no Ray cluster within 3 s; check the address, and"
            " whether its head is well.\n"
        )


def test_a_run_on_a_cluster_that_never_answers_can_be_stopped(tmp_path):
    files = foreign.write_files(tmp_path)
    with listener("0.0.0.0") as address:
        workers = Workers([cluster_place(address)], Terms())
        try:
            execution = Execution(foreign.ask(files, "good"))
            workers.submit(execution, address)
            for _ in range(20):
                workers.work(0.1)
            assert not execution.state.ended
            with Stopwatch() as watch:
                execution.stop()
                wait_for(lambda: workers.work(0.1) or execution.state.ended, "the stop")
        finally:
            workers.close()
    assert watch.seconds < 3 and execution.state is RunState.CANCELLED


def test_the_run_itself_says_that_there_is_no_cluster(tmp_path):
    files = foreign.write_files(tmp_path)
    said: list[str] = []
    with listener("0.0.0.0") as address:
        workers = Workers([cluster_place(address)], Terms(notice=said.append))
        try:
            execution = Execution(foreign.ask(files, "good"))
            workers.submit(execution, address)
            wait_for(lambda: workers.work(0.1) or execution.state.ended, "the end")
        finally:
            workers.close()
    assert execution.state is RunState.FAILED
    words = f"Something answers at {address}, but no Ray cluster within"
    assert execution.error.startswith(words) and said[0].startswith(words)
