"""A process that dies while it has nothing to do costs nobody anything."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from robgui.core.execution.run import RunState
from robgui.core.execution.worker.asked import LostError
from tests.core.execution.worker import foreign
from tests.core.execution.worker.runs import assert_next_run_works, run, wait
from tests.patience import wait_for

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="stops processes")


@contextmanager
def dying(workers, files) -> Iterator[None]:
    """What is asked here is written to a process that never reads it."""
    assert_next_run_works(workers, files)
    pid = workers.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)


def test_a_run_that_a_dying_process_never_began_is_computed_by_the_next(workers, files, workspace):
    with dying(workers, files):
        execution = run(workers, files, "good", workspace)
    wait(workers, execution)
    assert (execution.state, execution.error, execution.attempts) == (RunState.DONE, "", 1)
    assert workspace.run(execution.run_id).state is RunState.DONE


def test_a_question_that_a_dying_process_never_heard_is_answered_by_the_next(workers, files):
    answers = []
    values = {"path": str(files / "data.npz"), "options": {}, "query": ""}
    with dying(workers, files):
        workers.post("data", values, answers.append)
        workers.work(0)
    wait_for(lambda: workers.work(0.1) or answers, "the answer")
    assert not isinstance(answers[0], LostError) and answers[0].inputs == 5


@pytest.mark.slow  # each waits for processes to die
def test_a_pause_asked_meanwhile_is_kept(workers, files):
    with dying(workers, files):
        execution = run(workers, files, "good", samples=1_000_000)
    wait(workers, execution, lambda: execution.state is RunState.RUNNING)
    execution.pause()
    assert execution.state is RunState.PAUSED
    execution.stop()
    wait(workers, execution)
    assert execution.state is RunState.CANCELLED


@pytest.mark.slow  # each waits for processes to die
def test_a_model_is_not_blamed_for_a_process_that_never_opened_it(workers, files):
    request, trusted = foreign.ask(files, "good"), foreign.trusted(files, "good")
    for _ in range(2):
        with dying(workers, files):
            execution = run(workers, files, "good")
        wait(workers, execution)
    assert workers.warm(request, trusted)


@pytest.mark.cold_workers
@pytest.mark.slow  # starts three processes
def test_a_process_that_cannot_start_is_tried_twice_and_then_told(files, monkeypatch):
    from robgui.core.execution.worker.process import Place
    from robgui.core.execution.worker.terms import Terms
    from robgui.core.execution.worker.workers import Workers

    workers = Workers([Place("cpu", 1)], Terms(imports=("no_such_module",)))
    try:
        execution = run(workers, files, "good")
        wait(workers, execution)
    finally:
        workers.close()
    assert execution.state is RunState.FAILED
    assert execution.error == "Its worker process ended by itself with exit code 1."
