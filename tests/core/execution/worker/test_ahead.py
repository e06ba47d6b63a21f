"""What a worker does before it is asked: engines are imported, models loaded, and nobody waits."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from robgui.core.execution.execution import Execution
from robgui.core.execution.run import RunState
from robgui.core.execution.worker.niceness import NICENESS, SESSION_NICENESS
from robgui.core.execution.worker.process import Place
from robgui.core.execution.worker.terms import Terms
from robgui.core.execution.worker.workers import Workers
from tests.core.execution.worker import foreign
from tests.core.execution.worker.runs import assert_next_run_works, run, seconds_to_stop, wait
from tests.patience import wait_for

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="looks at /proc")


@pytest.mark.cold_workers
def test_a_polite_worker_steps_back_with_all_its_threads_once_its_first_picture_is_there(files):
    workers = Workers(terms=Terms(pace=0.0, polite=True))
    workers.start()
    try:
        wait_for(lambda: workers.work(0.05) or workers.ready, "the worker")
        assert nice(workers.pid) == {os.getpriority(os.PRIO_PROCESS, 0)}
        assert session_niceness(workers.pid) in (0, None)
        execution = run(workers, files, "good")
        wait(workers, execution)
        assert execution.state is RunState.DONE
        assert min(nice(workers.pid)) >= NICENESS
        assert session_niceness(workers.pid) in (SESSION_NICENESS, None)
    finally:
        workers.close()


def session_niceness(pid):
    """Of its session, by which Linux shares the processor first; None where it does not."""
    try:
        return int(Path(f"/proc/{pid}/autogroup").read_text().split()[-1])
    except FileNotFoundError:
        return None


def nice(pid):
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {os.getpriority(os.PRIO_PROCESS, int(task.name)) for task in tasks}


@pytest.fixture
def warming(workers, files):
    """A worker that loads a model ahead which never gets loaded; its request."""
    wait_for(lambda: workers.work(0.05) or workers.ready, "the worker")
    request = foreign.ask(files, "hangs_in_warming")
    (files / foreign.HANG).touch()
    workers.warm(request, foreign.trusted(files, "hangs_in_warming"))
    yield request
    (files / foreign.HANG).unlink(missing_ok=True)


def test_a_run_does_not_wait_for_another_model_that_is_loaded_ahead_for_ever(
    workers, files, warming
):
    execution = run(workers, files, "good")
    wait(workers, execution)
    assert execution.state is RunState.DONE


def test_a_run_that_waits_for_its_own_model_to_be_loaded_ahead_can_be_stopped(
    workers, files, warming
):
    execution = Execution(warming, trusted=foreign.trusted(files, "hangs_in_warming"))
    workers.submit(execution)
    workers.work(0.5)
    assert seconds_to_stop(workers, execution) < 3
    assert execution.state is RunState.CANCELLED
    (files / foreign.HANG).unlink()
    assert_next_run_works(workers, files)


@pytest.mark.cold_workers
@pytest.mark.slow  # waits for a slow start
def test_a_worker_that_is_slow_to_start_is_not_ended_for_what_waits_to_be_loaded_ahead(
    files, monkeypatch
):
    monkeypatch.setattr("robgui.core.execution.worker.slot.WARM_SECONDS", 0.05)
    workers = Workers([Place("cpu", 1)], Terms(pace=0.0, keep=True))
    workers.start()
    try:
        pid = workers.pid
        workers.warm(foreign.ask(files, "loops"), foreign.trusted(files, "loops"))
        time.sleep(0.2)
        execution = run(workers, files, "good")
        workers.work(0.3)
        assert (workers.ready, workers.pid) == (False, pid)
        wait(workers, execution)
        assert execution.state is RunState.DONE
    finally:
        workers.close()
