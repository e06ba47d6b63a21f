"""Runs of models that misbehave, in a real worker process."""

from __future__ import annotations

import time

from robgui.core.execution.execution import Execution
from robgui.core.execution.run import RunState
from tests.core.execution.worker import foreign
from tests.patience import LONGEST, Stopwatch


def wait(workers, execution, until=lambda: False):
    end = time.monotonic() + LONGEST
    while not execution.state.ended and not until():
        workers.work(0.1)
        assert time.monotonic() < end, "waited in vain"


def run(workers, files, build, workspace=None, **params):
    execution = Execution(
        foreign.ask(files, build, **params), workspace, trusted=foreign.trusted(files, build)
    )
    workers.submit(execution)
    return execution


def misbehave(workers, files, build, workspace=None):
    """Runs until the mischief has begun."""
    execution = run(workers, files, build, workspace)
    wait(workers, execution, lambda: execution.newest is not None and "MISCHIEF" in workers.words)
    return execution


def seconds_to_stop(workers, execution):
    with Stopwatch() as watch:
        execution.stop()
        wait(workers, execution)
    return watch.seconds


def assert_next_run_works(workers, files):
    good = run(workers, files, "good")
    wait(workers, good)
    assert (good.state, good.error) == (RunState.DONE, "")
