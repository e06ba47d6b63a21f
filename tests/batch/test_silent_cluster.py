"""An address where something listens that is no Ray cluster: said in one sentence, and Stop works."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from robgui.batch import cluster
from robgui.batch.cluster import Cluster
from robgui.batch.places import cluster_place
from robgui.core.errors import ParamsError
from robgui.core.execution.execution import Execution
from robgui.core.execution.run import RunState
from robgui.core.execution.worker.slot import Terms
from robgui.core.execution.worker.workers import Workers
from tests.core.execution.worker import foreign
from tests.patience import Stopwatch, wait_for

pytestmark = pytest.mark.ray


@contextlib.contextmanager
def listener(host: str) -> Iterator[str]:
    """Takes every connection and never says a word."""
    pytest.importorskip("ray", reason="Ray is not installed")
    taken: list[socket.socket] = []
    with socket.create_server((host, 0)) as server:

        def take() -> None:
            with contextlib.suppress(OSError):
                while True:
                    taken.append(server.accept()[0])

        threading.Thread(target=take, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
    for one in taken:
        one.close()


def test_a_listener_of_loopback_alone_is_told_at_once():
    with (
        listener("127.0.0.1") as address,
        Stopwatch() as watch,
        pytest.raises(ParamsError, match=r"Ray looks for .* nothing answers there"),
    ):
        Cluster(address)
    assert watch.seconds < 15


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


def test_a_listener_that_never_speaks_is_told_within_seconds(monkeypatch):
    """Last: its thread stays behind."""
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 3.0)
    with (
        listener("0.0.0.0") as address,
        Stopwatch() as watch,
        pytest.raises(ParamsError, match="but no Ray cluster within 3 s"),
    ):
        Cluster(address)
    assert watch.seconds < 20
